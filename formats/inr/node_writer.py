"""Nodes: a bone, and the slot, attachment or constraint that is one node with it, back to the file's structs."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET

from ...ir import codes, paths
from ...ir.compare import displacements, matrices_agree
from ...ir.edit import is_repaired_from, with_uuids
from ...ir.errors import ConversionError, quoted
from ...ir.native import as_struct, fields_of, restore, stated
from ...ir.pose import world_matrices
from ...ir.report import ConversionReport
from ...ir.rig import (
    Attachment,
    Bone,
    CompositeAttachment,
    MaskAttachment,
    MeshAttachment,
    MeshGroupAttachment,
    PendulumConstraint,
    Rig,
    Skeleton,
    Slot,
)
from ...ir.rig import Mesh as RigMesh
from .draw_order import draw_order, zsort_for
from .numbers import PRECISION, shortest
from .reader import FORMAT, PAYLOADS, UNNAMED, dark_of, local_of
from .references import References
from .rules import BLEND_MODES
from .space import flip_points, local_matrices, transforms
from .structs import (
    COMPOSE_HINTS,
    FLOAT32_MAX,
    MAP_MODES,
    MASK_MODES,
    PHYSICS_MODELS,
    Composite,
    Mask,
    Mesh,
    Node,
    Part,
    SimplePhysics,
    known,
    or_default,
    stated_field,
    stated_text,
)

_BLANK = Node(
    name="",
    uuid=0,
    kind="node",
    enabled=True,
    zsort=0.0,
    lock_to_root=False,
    translation=(0.0, 0.0, 0.0),
    rotation=(0.0, 0.0, 0.0),
    scale=(1.0, 1.0),
)


class Hanging(msgspec.Struct, frozen=True, eq=False):
    """What makes a bone's node more than a node.

    Attributes:
        slot, attachment: Of a part, mask, mesh group or composite.
        pendulum: Of a simplephysics.
    """

    slot: Slot | None = None
    attachment: Attachment | None = None
    pendulum: PendulumConstraint | None = None


def write_nodes(rig: Rig, references: References, report: ConversionReport) -> list[dict[str, Any]]:
    """The node of each bone, in order."""
    hanging = _hanging(rig)
    bones = with_uuids(rig.skeleton.bones)
    authored = [_authored(bone, hanging[bone.name]) for bone in bones]
    was = [as_struct(fields, Node) if fields else _BLANK for fields in authored]
    poses = _poses(rig, authored, was, report)
    zsorts = _zsorts(rig, was, hanging, report)
    rows = zip(bones, rig.skeleton.parent.tolist(), authored, was, poses, zsorts, strict=True)
    nodes = []
    for bone, parent, fields, before, pose, zsort in rows:
        now = _node(bone, parent, before, hanging[bone.name], references)
        _report_dark(hanging[bone.name].slot, before, report)
        now.translation, now.rotation, now.scale = pose
        now.zsort = zsort
        nodes.append(restore(fields, before, now))
    return nodes


def _hanging(rig: Rig) -> dict[str, Hanging]:
    """What hangs on each bone, by its name."""
    slots = {slot.bone: slot for slot in rig.slots}
    pendulums = {item.bone: item for item in rig.constraints if isinstance(item, PendulumConstraint)}
    attachments = {
        slot: item for skin in rig.skins for slot, items in skin.attachments.items() for item in items.values()
    }
    return {name: Hanging(slots.get(name), attachments.get(name), pendulums.get(name)) for name in rig.skeleton.names}


def _authored(bone: Bone, hanging: Hanging) -> dict[str, Any]:
    """The authored node: what the bone kept of it, and the payload that what hangs on it kept."""
    own = fields_of(bone.native, FORMAT)
    held: dict[str, Any] = {}
    for record in (hanging.attachment, hanging.pendulum):
        if record is not None:
            held.update(fields_of(record.native, FORMAT))
    return {key: held.get(key, value) if key in PAYLOADS else value for key, value in own.items()}


def _poses(rig: Rig, authored: list[dict[str, Any]], was: list[Node], report: ConversionReport) -> list[Any]:
    """Translation, rotation and scale of each node: the authored ones where they still hold."""
    local = rig.skeleton.local
    kept = np.array([bool(fields) for fields in authored]) & matrices_agree(local_of(was), local)
    moved = np.flatnonzero(~kept)
    too_large = np.flatnonzero((np.abs(local[:, :3]) > FLOAT32_MAX).any(axis=(1, 2)))
    if len(too_large):
        raise ConversionError(f"bone {quoted(rig.skeleton.names[too_large[0]])} is too large for a float32")
    poses: list[Any] = [(node.translation, node.rotation, node.scale) for node in was]
    rounded = [shortest(part) for part in transforms(local[moved])]
    for index, *parts in zip(moved.tolist(), *(part.tolist() for part in rounded), strict=True):
        poses[index] = tuple(tuple(part) for part in parts)
    held = local.copy()
    held[moved] = local_matrices(*rounded)
    _report_rounded(rig.skeleton, held, report)
    return poses


def _report_rounded(skeleton: Skeleton, held: np.ndarray, report: ConversionReport) -> None:
    """Report the bones that float32 numbers place further off than the format promises.

    That needs very uneven frames above a bone: they stretch the error of its local numbers.
    """
    world = world_matrices(skeleton)
    errors = displacements(world, world, world_matrices(msgspec.structs.replace(skeleton, local=held)))
    for index in np.flatnonzero(errors > PRECISION):
        name = skeleton.names[index]
        message = f"Bone {quoted(name)} is off by {errors[index]:.2g} of the skeleton's size: float32 says no nearer."
        report.add(codes.POSE_ROUNDED, paths.bone(name), message)


def _zsorts(rig: Rig, was: list[Node], hanging: dict[str, Hanging], report: ConversionReport) -> list[float]:
    """The authored values while they give the draw order, else new ones."""
    parents = rig.skeleton.parent.tolist()
    place = {name: index for index, name in enumerate(rig.skeleton.names)}
    wanted = [place[slot.bone] for slot in rig.slots]
    composite = [isinstance(hanging[name].attachment, CompositeAttachment) for name in rig.skeleton.names]
    authored = [node.zsort for node in was]
    if _drawn(authored, parents, composite, wanted) == wanted:
        return authored
    fresh = zsort_for(wanted, parents)
    if _drawn(fresh, parents, composite, wanted) != wanted:
        message = "Slots of different groups are interleaved; each group is drawn in one piece."
        report.add(codes.DRAW_ORDER_CHANGED, "slots.order", message)
    return fresh


def _drawn(zsort: list[float], parents: list[int], composite: list[bool], wanted: list[int]) -> list[int]:
    shown = set(wanted)
    return [index for index in draw_order(zsort, parents, composite) if index in shown]


def _node(bone: Bone, parent: int, was: Node, hanging: Hanging, references: References) -> Node:
    native = bone.native.get(FORMAT)
    unmapped = native.unmapped if native else ()
    node = msgspec.structs.replace(
        was,
        name=was.name if native and is_repaired_from(bone.name, was.name, UNNAMED) else bone.name,
        uuid=bone.uuid or 0,
        parent=parent if parent >= 0 else _absent(was.parent),
        kind=was.kind if "kind" in unmapped else "node",
        enabled=bone.enabled,
        lock_to_root=stated(was.lock_to_root, False, bone.lock_to_root),
        **{name: _absent(getattr(was, name)) for name in PAYLOADS if name not in unmapped},
    )
    if hanging.attachment is not None and hanging.slot is not None:
        _add_attachment(node, hanging.attachment, hanging.slot, was, references)
    if hanging.pendulum is not None:
        node.kind = "simplephysics"
        node.physics = _physics(hanging.pendulum, or_default(was.physics, None), references)
    return node


def _absent(was: Any) -> Any:
    """Null where the author stated null, else nothing."""
    return None if was is None else UNSET


def _add_attachment(node: Node, attachment: Attachment, slot: Slot, was: Node, references: References) -> None:
    mesh = getattr(attachment, "mesh", None)
    if mesh is not None:
        node.mesh = _mesh(mesh, or_default(was.mesh, None), references)
    if isinstance(attachment, MeshAttachment):
        node.kind = "part"
        node.part = _part(attachment, slot, or_default(was.part, None), references)
    elif isinstance(attachment, CompositeAttachment):
        node.kind = "composite"
        node.composite = _composite(attachment, slot, or_default(was.composite, None), references)
    elif isinstance(attachment, MeshGroupAttachment):
        node.kind = "meshgroup"
        node.mesh_group_dynamic = stated(was.mesh_group_dynamic, False, attachment.dynamic)
        translate = stated(was.mesh_group_translate_children, False, attachment.translate_children)
        node.mesh_group_translate_children = translate
    elif isinstance(attachment, MaskAttachment):
        node.kind = "mask"


def _mesh(mesh: RigMesh, was: Mesh | None, references: References) -> Mesh:
    origin = (mesh.origin[0], -mesh.origin[1])
    return Mesh(
        vertex_count=mesh.vertex_count,
        positions=references.floats(flip_points(mesh.positions[:, :2]), was.positions if was else None),
        uvs=references.floats(mesh.uvs, was.uvs if was else None),
        indices=references.views.add(mesh.triangles.astype("<u4"), was.indices if was else None),
        origin=was.origin if was and was.origin == origin else _singles(origin),
    )


def _singles(values: tuple[float, ...]) -> Any:
    return tuple(shortest(np.array(values)).tolist())


def _part(attachment: MeshAttachment, slot: Slot, was: Part | None, references: References) -> Part:
    return Part(
        textures=attachment.textures,
        emission_strength=stated_field(was, "emission_strength", 0.0, attachment.emission_strength),
        mask_threshold=attachment.mask_threshold,
        **_look(slot, was, references),
    )


def _composite(attachment: CompositeAttachment, slot: Slot, was: Composite | None, references: References) -> Composite:
    hint = UNSET if was is None else was.compose_hint
    meaning = None if or_default(hint, None) is None else known(str(hint), COMPOSE_HINTS)
    return Composite(
        mask_threshold=attachment.mask_threshold,
        compose_hint=hint if meaning == attachment.overlap else attachment.overlap or UNSET,
        propagate_meshgroup=stated_field(was, "propagate_meshgroup", True, attachment.propagate_meshgroup),
        **_look(slot, was, references),
    )


def _look(slot: Slot, was: Part | Composite | None, references: References) -> dict[str, Any]:
    """What parts and composites share: blend mode, tints, opacity and masks."""
    tint, opacity = slot.color[:3], slot.color[3]
    same_tint = was is not None and was.tint == tint
    same_screen = was is not None and same_tint and dark_of(was) == slot.dark
    before = [] if was is None else or_default(was.masks, [])
    masks = [
        Mask(
            node=references.nodes[mask.bone],
            mode=stated_text(before[index] if index < len(before) else None, "mode", MASK_MODES, mask.mode),
        )
        for index, mask in enumerate(slot.masks)
    ]
    return {
        "blend_mode": stated_text(was, "blend_mode", BLEND_MODES, slot.blend),
        "tint": was.tint if was is not None and same_tint else _singles(tint),
        "screen_tint": was.screen_tint if was is not None and same_screen else _singles(_screen_tint(slot)),
        "opacity": opacity if was is not None and was.opacity == opacity else _singles((opacity,))[0],
        "masks": masks if masks or (was is not None and was.masks is not UNSET) else UNSET,
    }


def _report_dark(slot: Slot | None, was: Node, report: ConversionReport) -> None:
    """Report a dark colour that no authored screen tint stands for (docs/formats/inr.md)."""
    look = or_default(was.part, None) or or_default(was.composite, None)
    if slot is None or slot.dark is None or (look is not None and dark_of(look) == slot.dark):
        return
    message = f"The dark colour of slot {quoted(slot.name)} is a screen tint, which translucent texels show otherwise."
    report.add(codes.DARK_APPROXIMATED, f"{paths.record('slots', slot)}.dark", message)


def _screen_tint(slot: Slot) -> tuple[float, ...]:
    """The inverse of :func:`~rigconv.formats.inr.reader.dark_of`, clamped to 0..1."""
    if slot.dark is None:
        return (0.0, 0.0, 0.0)
    pairs = zip(slot.dark, slot.color[:3], strict=True)
    return tuple(min(dark / tint, 1.0) if tint > 0 else 0.0 for dark, tint in pairs)


def _physics(pendulum: PendulumConstraint, was: SimplePhysics | None, references: References) -> SimplePhysics:
    return SimplePhysics(
        param=-1 if pendulum.param is None else references.params[pendulum.param],
        model=stated_text(was, "model", PHYSICS_MODELS, pendulum.model),
        map_mode=stated_text(was, "map_mode", MAP_MODES, pendulum.map_mode),
        gravity=pendulum.gravity,
        length=pendulum.length,
        frequency=pendulum.frequency,
        angle_damping=pendulum.angle_damping,
        length_damping=pendulum.length_damping,
        output_scale=pendulum.output_scale,
        local_only=stated_field(was, "local_only", False, pendulum.local_only),
    )
