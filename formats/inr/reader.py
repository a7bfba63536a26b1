"""INR to the representation.

A node becomes a bone. A part, mask, mesh group or composite also becomes a slot of the bone's name with one attachment
of that name; a simplephysics also becomes a constraint. What has no neutral place stays in native records, so that a
file that passes through unedited comes out with the same document and the same bytes in every view.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir import codes, paths
from ...ir.carry import FIELD as CARRY_FIELD
from ...ir.carry import unpack as unpack_carry
from ...ir.document import DocumentError, decode_array
from ...ir.edit import reordered, topological_order, unique_names, uuid_of
from ...ir.errors import FormatError, quoted
from ...ir.exchange import ANYTHING, Carried, Reading
from ...ir.native import Native
from ...ir.rig import (
    Animation,
    Attachment,
    Binding,
    BlendMode,
    Bone,
    CompositeAttachment,
    Lane,
    MaskAttachment,
    MaskMode,
    MeshAttachment,
    MeshGroupAttachment,
    Param,
    PendulumConstraint,
    Rig,
    Skeleton,
    Skin,
    Slot,
    Texture,
)
from ...ir.rig import Mask as RigMask
from ...ir.rig import Mesh as RigMesh
from ..json_text import convert, decode
from . import structs
from .container import Container, unpack
from .draw_order import draw_order
from .rules import BLEND_MODES, check
from .space import flip_points, flip_values, local_matrices
from .structs import (
    COLOR_SPACES,
    COMPOSE_HINTS,
    INTERPOLATIONS,
    MAP_MODES,
    MASK_MODES,
    MERGE_MODES,
    META_FIELDS,
    PHYSICS_MODELS,
    InrDoc,
    Node,
    Part,
    PuppetPhysics,
    known,
    or_default,
)
from .views import Views

FORMAT = "inr"
UNNAMED = "node"
"""What a node, parameter or animation without a name is called in the representation."""

DEFAULT_PHYSICS = PuppetPhysics(pixels_per_meter=1000.0, gravity=9.8)
GENERATOR = "rigconv"
LISTS = ("buffer_views", "nodes", "params", "animations", "textures")
PAYLOADS = ("mesh", "part", "composite", "physics")
"""Fields of a node that records of their own hold."""

MAX_DEPTH = 127
CARRIED_TYPES = ("<f8", "<i8", "|u1", "|b1")
"""Element types of arrays that the carry keeps in views."""


def read(reading: Reading) -> Rig:
    """The rig that a file describes; textures are views of the file.

    Raises:
        FormatError: The file breaks a rule without which it cannot be read safely.
    """
    container = unpack(reading.source.data, reading.file)
    authored = _decode(container, reading.file)
    document = convert(authored, InrDoc, reading.file)
    _check(document, container, reading)
    views = Views(document.buffer_views, container.bin)
    reading.carried = _carried(authored, views, reading)
    names = unique_names([node.name for node in document.nodes], UNNAMED)
    params = unique_names([param.name for param in or_default(document.params, [])], UNNAMED)
    _report_names(document, names, params, reading)
    rig = Rig(
        name=_name(document),
        origin=FORMAT,
        meta=_meta(document),
        skeleton=_skeleton(document, authored["nodes"], names),
        slots=_slots(document, names),
        skins=_skins(document, authored["nodes"], names, views),
        constraints=_constraints(document, authored["nodes"], names, params),
        params=_params(document, authored, names, params, views),
        animations=_animations(document, authored, params),
        textures=_textures(document, authored, views),
    )
    rig.native = {FORMAT: _own_fields(document, authored, views)}
    return rig


def _decode(container: Container, file: str) -> Any:
    if bytes(container.json[:3]) == b"\xef\xbb\xbf":
        raise FormatError(file, "byte 16", "the JSON chunk starts with a byte order mark", "plain UTF-8")
    authored = decode(container.json, file, MAX_DEPTH)
    if not isinstance(authored, dict):
        raise FormatError(file, "$", "the JSON chunk is not an object", "an InrDoc")
    return authored


def _check(document: InrDoc, container: Container, reading: Reading) -> None:
    found = list(check(document, container, Views(document.buffer_views, container.bin)))
    reading.problems.extend(found)
    for problem in found:
        if problem.affects == ANYTHING:
            raise problem.error(reading.file)


def _carried(authored: dict[str, Any], views: Views, reading: Reading) -> Carried | None:
    if CARRY_FIELD not in authored:
        return None
    try:
        return unpack_carry(authored[CARRY_FIELD], lambda stored: _carried_array(stored, views))
    except DocumentError as error:
        message = f"The carried data cannot be read: {error.where}: {error.problem}."
        reading.report.add(codes.CARRY_DROPPED, CARRY_FIELD, message)
        return None


def _carried_array(stored: Any, views: Views) -> np.ndarray:
    """An array of the carry: one that stands in a view, or one that stands in the JSON chunk."""
    if not isinstance(stored, dict):
        return decode_array(stored)
    index, dtype, shape = (stored.get(key) for key in ("view", "dtype", "shape"))
    if not isinstance(index, int) or index not in views or dtype not in CARRIED_TYPES or not isinstance(shape, list):
        raise ValueError(f"there is no array {stored}")
    return views.array(index, str(dtype), tuple(shape))


def _report_names(document: InrDoc, names: list[str], params: list[str], reading: Reading) -> None:
    given = [node.name for node in document.nodes], [param.name for param in or_default(document.params, [])]
    for collection, before, after in (("bones", given[0], names), ("params", given[1], params)):
        for old, new in zip(before, after, strict=True):
            if old != new:
                message = f"The name {quoted(old)} became {quoted(new)}."
                reading.report.add(codes.NAME_REPAIRED, f"{paths.element(collection, new)}.name", message)


# -- the whole --------------------------------------------------------------------------------------------------------


def _name(document: InrDoc) -> str | None:
    name = or_default(document.meta, {}).get("name")
    return name if isinstance(name, str) and name else None


def _meta(document: InrDoc) -> dict[str, str]:
    meta = or_default(document.meta, {})
    return {key: meta[key] for key in META_FIELDS[1:] if isinstance(meta.get(key), str)}


def _own_fields(document: InrDoc, authored: dict[str, Any], views: Views) -> Native:
    """The fields of the chunk itself, and the views that nothing neutral holds."""
    fields = {key: None if key in LISTS[1:] else value for key, value in authored.items() if key != CARRY_FIELD}
    unmapped = [key for key in fields if key not in InrDoc.__struct_encode_fields__]
    unmapped += [f"meta.{key}" for key, value in or_default(document.meta, {}).items() if not _is_meta(key, value)]
    if document.physics != DEFAULT_PHYSICS:
        unmapped.append("physics")
    if document.mask_contours:
        unmapped.append("mask_contours")
    if isinstance(document.asset, structs.Asset) and not _is_ours(document.asset):
        unmapped.append("asset")
    spare = {str(index): views.bytes(index) for index in range(len(views)) if index not in views.used}
    return Native(fields=fields, unmapped=tuple(unmapped), buffers=spare)


def _is_ours(asset: structs.Asset) -> bool:
    return str(or_default(asset.generator, "")).startswith(GENERATOR)


def _is_meta(key: str, value: Any) -> bool:
    return key in META_FIELDS and isinstance(value, str) and bool(value)


def _unknown(fields: dict[str, Any], struct: Any) -> list[str]:
    return [key for key in fields if key not in struct.__struct_encode_fields__]


# -- skeleton ---------------------------------------------------------------------------------------------------------


def _skeleton(document: InrDoc, authored: list[dict[str, Any]], names: list[str]) -> Skeleton:
    nodes = document.nodes
    parent = [or_default(node.parent, -1) for node in nodes]
    skeleton = Skeleton(
        bones=[_bone(*row) for row in zip(nodes, authored, names, strict=True)],
        parent=np.array(parent, dtype=np.int64),
        local=local_of(nodes),
    )
    return reordered(skeleton, topological_order(parent))


def local_of(nodes: list[Node]) -> np.ndarray:
    """(n, 4, 4) local matrices that nodes state."""
    return local_matrices(
        np.array([node.translation for node in nodes], dtype=np.float64).reshape(-1, 3),
        np.array([node.rotation for node in nodes], dtype=np.float64).reshape(-1, 3),
        np.array([node.scale for node in nodes], dtype=np.float64).reshape(-1, 2),
    )


def _bone(node: Node, fields: dict[str, Any], name: str) -> Bone:
    own = {key: None if key in PAYLOADS and value is not None else value for key, value in fields.items()}
    held = payload_of(node)
    unmapped = _unknown(fields, Node)
    unmapped += [key for key in PAYLOADS if getattr(node, key) and key not in _HELD_PAYLOADS.get(held, ())]
    own.update({key: fields[key] for key in unmapped})
    if node.kind not in (held, "node"):
        unmapped.append("kind")
    if node.zsort and held in ("node", "simplephysics"):
        unmapped.append("zsort")
    return Bone(
        name=name,
        uuid=None if node.uuid == uuid_of(name) else node.uuid,
        enabled=node.enabled,
        lock_to_root=or_default(node.lock_to_root, False),
        native={FORMAT: Native(fields=own, unmapped=tuple(unmapped))},
    )


_HELD_PAYLOADS = {
    "part": ("mesh", "part"),
    "mask": ("mesh",),
    "meshgroup": ("mesh",),
    "composite": ("composite",),
    "simplephysics": ("physics",),
}


def payload_of(node: Node) -> str:
    """The kind of a node whose payload has a neutral form, ``node`` for all others."""
    needed = {"part": node.part, "composite": node.composite, "simplephysics": node.physics}
    if node.kind in needed:
        return node.kind if or_default(needed[node.kind], None) is not None else "node"
    return node.kind if node.kind in ("mask", "meshgroup") else "node"


# -- slots and attachments --------------------------------------------------------------------------------------------

SLOT_KINDS = ("part", "mask", "meshgroup", "composite")


def _slots(document: InrDoc, names: list[str]) -> list[Slot]:
    nodes = document.nodes
    order = topological_order([or_default(node.parent, -1) for node in nodes])
    place = {old: new for new, old in enumerate(order)}
    parent = [place.get(or_default(nodes[old].parent, -1), -1) for old in order]
    drawn = draw_order(
        [nodes[old].zsort for old in order], parent, [payload_of(nodes[old]) == "composite" for old in order]
    )
    return [
        _slot(nodes[order[index]], names[order[index]], names)
        for index in drawn
        if payload_of(nodes[order[index]]) in SLOT_KINDS
    ]


def _slot(node: Node, name: str, names: list[str]) -> Slot:
    look = or_default(node.part if node.kind == "part" else node.composite, None)
    if payload_of(node) not in ("part", "composite") or look is None:
        return Slot(name=name, bone=name, attachment=name)
    return Slot(
        name=name,
        bone=name,
        attachment=name,
        color=(*look.tint, look.opacity),
        dark=dark_of(look),
        blend=BlendMode(known(look.blend_mode, BLEND_MODES)),
        masks=[
            RigMask(bone=names[mask.node], mode=MaskMode(known(mask.mode, MASK_MODES)))
            for mask in or_default(look.masks, [])
        ],
    )


def dark_of(look: Part | structs.Composite) -> tuple[float, float, float] | None:
    """The dark colour of a two-colour tint that shows what ``screen_tint`` shows.

    INR screens before it tints: (1 - (1 - texel)(1 - screen)) * tint = texel * tint + (1 - texel) * screen * tint.
    """
    if not any(look.screen_tint):
        return None
    red, green, blue = (screen * tint for screen, tint in zip(look.screen_tint, look.tint, strict=True))
    return red, green, blue


def _skins(document: InrDoc, authored: list[dict[str, Any]], names: list[str], views: Views) -> list[Skin]:
    attachments = {
        name: {name: _attachment(node, fields, name, views)}
        for node, fields, name in zip(document.nodes, authored, names, strict=True)
        if payload_of(node) in SLOT_KINDS
    }
    return [Skin(name="default", attachments=attachments)] if attachments else []


def _attachment(node: Node, fields: dict[str, Any], name: str, views: Views) -> Attachment:
    kind = payload_of(node)
    native = {FORMAT: _payload_fields(node, fields, _HELD_PAYLOADS[kind])}
    mesh = _mesh(node.mesh, name, views) if isinstance(node.mesh, structs.Mesh) else None
    if kind == "part" and isinstance(node.part, Part):
        return MeshAttachment(
            mesh=mesh,
            textures=node.part.textures,
            emission_strength=or_default(node.part.emission_strength, 0.0),
            mask_threshold=node.part.mask_threshold,
            native=native,
        )
    if kind == "composite" and isinstance(node.composite, structs.Composite):
        hint = or_default(node.composite.compose_hint, None)
        return CompositeAttachment(
            mask_threshold=node.composite.mask_threshold,
            overlap=None if hint is None else known(hint, COMPOSE_HINTS),
            propagate_meshgroup=or_default(node.composite.propagate_meshgroup, True),
            native=native,
        )
    if kind == "meshgroup":
        return MeshGroupAttachment(
            mesh=mesh,
            dynamic=or_default(node.mesh_group_dynamic, False),
            translate_children=or_default(node.mesh_group_translate_children, False),
            native=native,
        )
    return MaskAttachment(mesh=mesh, native=native)


def _payload_fields(node: Node, fields: dict[str, Any], payloads: tuple[str, ...]) -> Native:
    """The authored payload of a node; fields that it has beyond the spec, and values that fell back, are unmapped."""
    held = {key: fields[key] for key in payloads if fields.get(key) is not None}
    unmapped = []
    for key, value in held.items():
        struct = getattr(node, key)
        unmapped += [f"{key}.{name}" for name in _unknown(value, struct)]
        unmapped += [
            f"{key}.{name}" for name, values in _ENUMERATED.items() if value.get(name, values[0]) not in values
        ]
        if any(mask["mode"] not in MASK_MODES for mask in value.get("masks", [])):
            unmapped.append(f"{key}.masks")
    return Native(fields=held, unmapped=tuple(unmapped))


_ENUMERATED: dict[str, tuple[str | None, ...]] = {
    "blend_mode": BLEND_MODES,
    "compose_hint": (None, *COMPOSE_HINTS),
    "model": PHYSICS_MODELS,
    "map_mode": MAP_MODES,
}


def _mesh(mesh: structs.Mesh, bone: str, views: Views) -> RigMesh:
    count = mesh.vertex_count
    positions = np.zeros((count, 3))
    positions[:, :2] = flip_points(views.array(mesh.positions, "<f4", (count, 2)))
    return RigMesh(
        bones=[bone],
        starts=np.arange(count + 1),
        influence_bones=np.zeros(count, dtype=np.int64),
        positions=positions,
        weights=np.ones(count),
        uvs=views.array(mesh.uvs, "<f4", (-1, 2)).astype(np.float64),
        triangles=views.array(mesh.indices, "<u4", (-1, 3)).astype(np.int64),
        origin=(mesh.origin[0], -mesh.origin[1]),
    )


# -- constraints, params, animations ----------------------------------------------------------------------------------


def _constraints(document: InrDoc, authored: list[dict[str, Any]], names: list[str], params: list[str]) -> list[Any]:
    return [
        _pendulum(node, node.physics, fields, name, params)
        for node, fields, name in zip(document.nodes, authored, names, strict=True)
        if payload_of(node) == "simplephysics" and isinstance(node.physics, structs.SimplePhysics)
    ]


def _pendulum(
    node: Node, physics: structs.SimplePhysics, fields: dict[str, Any], name: str, params: list[str]
) -> PendulumConstraint:
    return PendulumConstraint(
        name=name,
        bone=name,
        param=params[physics.param] if physics.param >= 0 else None,
        model=known(physics.model, PHYSICS_MODELS),
        map_mode=known(physics.map_mode, MAP_MODES),
        gravity=physics.gravity,
        length=physics.length,
        frequency=physics.frequency,
        angle_damping=physics.angle_damping,
        length_damping=physics.length_damping,
        output_scale=physics.output_scale,
        local_only=or_default(physics.local_only, False),
        native={FORMAT: _payload_fields(node, fields, ("physics",))},
    )


def _params(
    document: InrDoc, authored: dict[str, Any], names: list[str], params: list[str], views: Views
) -> list[Param]:
    stored = or_default(document.params, [])
    return [
        _param(param, fields, name, document, names, views)
        for param, fields, name in zip(stored, authored.get("params", []), params, strict=True)
    ]


def _param(
    param: structs.Param, fields: dict[str, Any], name: str, document: InrDoc, names: list[str], views: Views
) -> Param:
    own = {key: None if key == "bindings" else value for key, value in fields.items()}
    unmapped = _unknown(fields, structs.Param)
    if param.merge_mode not in MERGE_MODES:
        unmapped.append("merge_mode")
    bindings = zip(or_default(param.bindings, []), fields.get("bindings", []), strict=True)
    return Param(
        name=name,
        uuid=None if param.uuid == uuid_of(name) else param.uuid,
        is_vec2=param.is_vec2,
        min=param.min,
        max=param.max,
        default=param.defaults,
        axis_points=(tuple(param.axis_points[0]), tuple(param.axis_points[1])),
        merge_mode=known(param.merge_mode, MERGE_MODES),
        bindings=[_binding(binding, item, document, names, views) for binding, item in bindings],
        native={FORMAT: Native(fields=own, unmapped=tuple(unmapped))},
    )


def _binding(
    binding: structs.Binding, fields: dict[str, Any], document: InrDoc, names: list[str], views: Views
) -> Binding:
    grid = binding.x_count, binding.y_count
    mesh = or_default(document.nodes[binding.node].mesh, None)
    unmapped = _unknown(fields, structs.Binding)
    if binding.interpolation not in INTERPOLATIONS:
        unmapped.append("interpolation")
    values = None
    if binding.kind == "scalar":
        values = views.array(binding.view, "<f4", grid)
    elif binding.kind == "deform" and mesh is not None:
        values = views.array(binding.view, "<f4", (*grid, mesh.vertex_count, 2))
    return Binding(
        bone=names[binding.node],
        target=binding.target,
        kind=binding.kind,
        interpolation=known(binding.interpolation, INTERPOLATIONS),
        values=None if values is None else flip_values(values, binding.target, binding.kind),
        is_set=np.array(binding.is_set, dtype=bool).reshape(grid),
        native={FORMAT: Native(fields=fields, unmapped=tuple(unmapped))},
    )


def _animations(document: InrDoc, authored: dict[str, Any], params: list[str]) -> list[Animation]:
    stored = or_default(document.animations, [])
    names = unique_names([animation.name for animation in stored], UNNAMED)
    return [_animation(*row, params) for row in zip(stored, authored.get("animations", []), names, strict=True)]


def _animation(animation: structs.Animation, fields: dict[str, Any], name: str, params: list[str]) -> Animation:
    own = {key: None if key == "lanes" else value for key, value in fields.items()}
    lanes = zip(or_default(animation.lanes, []), fields.get("lanes", []), strict=True)
    return Animation(
        name=name,
        timestep=animation.timestep,
        length=animation.length,
        additive=or_default(animation.additive, False),
        lead_in=or_default(animation.lead_in, 0),
        lead_out=or_default(animation.lead_out, 0),
        weight=or_default(animation.weight, 1.0),
        lanes=[_lane(lane, item, params) for lane, item in lanes],
        native={FORMAT: Native(fields=own, unmapped=tuple(_unknown(fields, structs.Animation)))},
    )


def _lane(lane: structs.Lane, fields: dict[str, Any], params: list[str]) -> Lane:
    unmapped = _unknown(fields, structs.Lane)
    if lane.interpolation not in INTERPOLATIONS:
        unmapped.append("interpolation")
    if lane.merge_mode not in MERGE_MODES:
        unmapped.append("merge_mode")
    return Lane(
        param=params[lane.param] if lane.param >= 0 else None,
        axis=lane.target,
        interpolation=known(lane.interpolation, INTERPOLATIONS),
        merge_mode=known(lane.merge_mode, MERGE_MODES),
        keyframes=np.array(lane.keyframes, dtype=np.float64).reshape(-1, 3),
        native={FORMAT: Native(fields=fields, unmapped=tuple(unmapped))},
    )


def _textures(document: InrDoc, authored: dict[str, Any], views: Views) -> list[Texture]:
    stored = or_default(document.textures, [])
    return [_texture(*row, views) for row in zip(stored, authored.get("textures", []), strict=True)]


def _texture(texture: structs.Texture, fields: dict[str, Any], views: Views) -> Texture:
    unmapped = _unknown(fields, structs.Texture)
    if or_default(texture.color_space, "srgb") not in COLOR_SPACES:
        unmapped.append("color_space")
    return Texture(
        width=texture.width,
        height=texture.height,
        format=texture.format,
        color_space=known(or_default(texture.color_space, "srgb"), COLOR_SPACES),
        premultiplied=or_default(texture.premultiplied, False),
        data=views.bytes(texture.view),
        native={FORMAT: Native(fields=fields, unmapped=tuple(unmapped))},
    )
