"""The representation to INR.

Meets only rigs that were made to fit: one root, bones in pre-order, slots that are one node with their bone.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET

from ...ir import codes
from ...ir.carry import FIELD as CARRY_FIELD
from ...ir.carry import pack as pack_carry
from ...ir.compare import matrices_agree
from ...ir.document import encode_array
from ...ir.edit import is_repaired_from
from ...ir.errors import ConversionError, quoted
from ...ir.exchange import Buffers, Carried, Writing
from ...ir.native import Native, fields_of, restore, stated
from ...ir.rig import (
    Animation,
    Attachment,
    Binding,
    Bone,
    CompositeAttachment,
    Lane,
    MaskAttachment,
    MeshAttachment,
    MeshGroupAttachment,
    Param,
    PendulumConstraint,
    Rig,
    Slot,
    Texture,
)
from ...ir.rig import Mesh as RigMesh
from . import structs
from .container import ViewBuilder, pack
from .draw_order import draw_order, zsort_for
from .numbers import shortest
from .reader import CARRIED_TYPES, DEFAULT_PHYSICS, FORMAT, GENERATOR, PAYLOADS, UNNAMED, dark_of, local_of
from .rules import BLEND_MODES
from .space import flip_points, flip_values, transforms
from .structs import (
    COLOR_SPACES,
    COMPOSE_HINTS,
    INTERPOLATIONS,
    MAP_MODES,
    MASK_MODES,
    MERGE_MODES,
    META_FIELDS,
    PHYSICS_MODELS,
    Node,
    known,
    or_default,
)

_MIN_CARRIED_BYTES = 256
"""Smaller arrays of the carry stand in the JSON chunk."""


def write(rig: Rig, writing: Writing) -> Buffers:
    """The file that describes a rig, in pieces; textures are not copied.

    Raises:
        ConversionError: A number is too large for a float32.
    """
    return _Writer(rig, writing).file()


class _Writer:
    """The parts of one file, which share its views and its indices."""

    def __init__(self, rig: Rig, writing: Writing) -> None:
        self._rig = rig
        self._writing = writing
        self._native = rig.native.get(FORMAT, Native())
        authored = self._native.fields.get("buffer_views", [])
        self._views = ViewBuilder([msgspec.convert(view, structs.BufferView) for view in authored])
        self._authored_views: list[dict[str, Any]] = authored
        self._node_index = {name: index for index, name in enumerate(rig.skeleton.names)}
        self._param_index = {param.name: index for index, param in enumerate(rig.params)}
        self._slots = {slot.bone: slot for slot in rig.slots}
        self._pendulums = {item.bone: item for item in rig.constraints if isinstance(item, PendulumConstraint)}
        self._attachments = {
            slot: item for skin in rig.skins for slot, items in skin.attachments.items() for item in items.values()
        }

    def file(self) -> Buffers:
        """The whole file."""
        for index, content in self._native.buffers.items():
            self._views.add(content, int(index))
        sections: dict[str, Any] = {
            "asset": self._native.fields.get("asset", {"generator": GENERATOR, "version": 1}),
            "meta": self._meta(),
            "physics": self._native.fields.get("physics", msgspec.to_builtins(DEFAULT_PHYSICS)),
            "buffer_views": [],
            "nodes": self._nodes(),
            "params": [self._param(param) for param in self._rig.params],
            "animations": [self._animation(animation) for animation in self._rig.animations],
            "textures": [self._texture(texture) for texture in self._rig.textures],
        }
        if self._writing.carried is not None:
            sections[CARRY_FIELD] = self._carry(self._writing.carried)
        views, binary = self._views.build()
        sections["buffer_views"] = self._view_fields(views)
        try:
            json = msgspec.json.encode(self._in_order(sections))
        except (ValueError, OverflowError) as error:
            raise ConversionError(f"the document cannot be written as JSON: {error}") from None
        return pack(json, binary)

    def _in_order(self, sections: dict[str, Any]) -> dict[str, Any]:
        """The sections in the authored order; optional ones that the author left out only where they say something."""
        fields = self._native.fields
        optional = {"asset", "meta", "params", "animations", "textures"} if fields else set()
        order = [*fields, *(key for key in sections if key not in fields)]
        return {
            key: sections.get(key, fields.get(key))
            for key in order
            if key in fields or key not in optional or (sections[key] and key != "asset")
        }

    def _view_fields(self, views: list[Any]) -> list[dict[str, Any]]:
        fresh = [{"offset": view.offset, "length": view.length} for view in views]
        kept = [{**old, **new} for old, new in zip(self._authored_views, fresh, strict=False)]
        return [*kept, *fresh[len(kept) :]]

    def _carry(self, carried: Carried) -> dict[str, Any]:
        def encode(array: np.ndarray) -> Any:
            if array.nbytes < _MIN_CARRIED_BYTES or array.dtype.str not in CARRIED_TYPES:
                return encode_array(array)
            return {"view": self._views.add(array), "dtype": array.dtype.str, "shape": list(array.shape)}

        return pack_carry(carried, encode)

    def _meta(self) -> dict[str, Any]:
        authored = self._native.fields.get("meta", {})
        now = {"name": self._rig.name, **self._rig.meta}
        kept = {
            key: now.get(key) if isinstance(value, str) and key in META_FIELDS and value else value
            for key, value in authored.items()
        }
        new = {key: now[key] for key in META_FIELDS if now.get(key) is not None and key not in authored}
        return {key: value for key, value in {**kept, **new}.items() if value is not None or authored.get(key) is None}

    # -- nodes --------------------------------------------------------------------------------------------------------

    def _nodes(self) -> list[dict[str, Any]]:
        skeleton = self._rig.skeleton
        authored = [self._node_fields(bone) for bone in skeleton.bones]
        was = [
            msgspec.convert(fields, Node) if fields else _blank_node(bone)
            for fields, bone in zip(authored, skeleton.bones, strict=True)
        ]
        poses = _poses(self._rig, authored, was)
        zsorts = self._zsorts(was)
        parents = skeleton.parent.tolist()
        nodes = []
        for index, bone in enumerate(skeleton.bones):
            now = self._node(bone, parents[index], was[index], zsorts[index])
            now.translation, now.rotation, now.scale = poses[index]
            nodes.append(restore(authored[index], was[index], now))
        return nodes

    def _node_fields(self, bone: Bone) -> dict[str, Any]:
        """The authored node: what the bone kept of it, and the payload that its attachment or constraint kept."""
        own = fields_of(bone.native, FORMAT)
        held: dict[str, Any] = {}
        for record in (self._attachments.get(bone.name), self._pendulums.get(bone.name)):
            if record is not None:
                held.update(fields_of(record.native, FORMAT))
        if not held:
            return own
        return {key: held[key] if key in PAYLOADS and key in held else value for key, value in own.items()}

    def _zsorts(self, was: list[Node]) -> list[float]:
        """The authored values while they give the draw order, else new ones."""
        parents = self._rig.skeleton.parent.tolist()
        wanted = [self._node_index[slot.bone] for slot in self._rig.slots]
        composite = [isinstance(self._attachments.get(bone.name), CompositeAttachment) for bone in self._rig.skeleton.bones]
        drawn = set(wanted)
        authored = [node.zsort for node in was]
        if _drawn(authored, parents, composite, drawn) == wanted:
            return authored
        fresh = zsort_for(wanted, parents)
        if _drawn(fresh, parents, composite, drawn) != wanted:
            message = "Slots of different groups are interleaved; each group is drawn in one piece."
            self._writing.report.add(codes.DRAW_ORDER_CHANGED, "slots.order", message)
        return fresh

    def _node(self, bone: Bone, parent: int, was: Node, zsort: float) -> Node:
        native = bone.native.get(FORMAT)
        repaired = native is not None and is_repaired_from(bone.name, was.name, UNNAMED)
        attachment = self._attachments.get(bone.name)
        node = Node(
            name=was.name if repaired else bone.name,
            uuid=was.uuid if bone.uuid is None else bone.uuid,
            parent=parent if parent >= 0 else None if was.parent is None else UNSET,
            kind=was.kind if native is not None and "kind" in native.unmapped else "node",
            enabled=bone.enabled,
            zsort=zsort,
            lock_to_root=stated(was.lock_to_root, False, bone.lock_to_root),
            translation=was.translation,
            rotation=was.rotation,
            scale=was.scale,
            mesh_group_dynamic=was.mesh_group_dynamic,
            mesh_group_translate_children=was.mesh_group_translate_children,
        )
        for payload in PAYLOADS:
            unmapped = native is not None and payload in native.unmapped
            setattr(node, payload, getattr(was, payload) if unmapped else None if _is_null(was, payload) else UNSET)
        if attachment is not None:
            self._add_attachment(node, attachment, self._slots[bone.name], was)
        if bone.name in self._pendulums:
            node.kind = "simplephysics"
            node.physics = self._physics(self._pendulums[bone.name], was.physics)
        return node

    def _add_attachment(self, node: Node, attachment: Attachment, slot: Slot, was: Node) -> None:
        mesh = getattr(attachment, "mesh", None)
        if mesh is not None:
            node.mesh = self._mesh(mesh, was.mesh)
        if isinstance(attachment, MeshAttachment):
            node.kind = "part"
            node.part = self._part(attachment, slot, was.part)
        elif isinstance(attachment, CompositeAttachment):
            node.kind = "composite"
            node.composite = self._composite(attachment, slot, was.composite)
        elif isinstance(attachment, MeshGroupAttachment):
            node.kind = "meshgroup"
            node.mesh_group_dynamic = stated(was.mesh_group_dynamic, False, attachment.dynamic)
            node.mesh_group_translate_children = stated(
                was.mesh_group_translate_children, False, attachment.translate_children
            )
        elif isinstance(attachment, MaskAttachment):
            node.kind = "mask"

    def _mesh(self, mesh: RigMesh, was: Any) -> structs.Mesh:
        views = was if isinstance(was, structs.Mesh) else None
        origin = (mesh.origin[0], -mesh.origin[1])
        return structs.Mesh(
            vertex_count=mesh.vertex_count,
            positions=self._floats(flip_points(mesh.positions[:, :2]), views.positions if views else None),
            uvs=self._floats(mesh.uvs, views.uvs if views else None),
            indices=self._views.add(mesh.triangles.astype("<u4"), views.indices if views else None),
            origin=views.origin if views and views.origin == origin else _singles(origin),
        )

    def _floats(self, values: np.ndarray, index: int | None) -> int:
        with np.errstate(over="ignore"):
            single = values.astype("<f4")
        if not np.isfinite(single).all():
            raise ConversionError("a vertex or a keypoint is too large for a float32")
        return self._views.add(single, index)

    def _part(self, attachment: MeshAttachment, slot: Slot, was: Any) -> structs.Part:
        before = was if isinstance(was, structs.Part) else None
        return structs.Part(
            textures=attachment.textures,
            emission_strength=_optional(before, "emission_strength", 0.0, attachment.emission_strength),
            mask_threshold=attachment.mask_threshold,
            **self._look(slot, before),
        )

    def _composite(self, attachment: CompositeAttachment, slot: Slot, was: Any) -> structs.Composite:
        before = was if isinstance(was, structs.Composite) else None
        hint = UNSET if before is None else before.compose_hint
        meaning = None if or_default(hint, None) is None else known(str(hint), COMPOSE_HINTS)
        return structs.Composite(
            mask_threshold=attachment.mask_threshold,
            compose_hint=hint if meaning == attachment.overlap else attachment.overlap or UNSET,
            propagate_meshgroup=_optional(before, "propagate_meshgroup", True, attachment.propagate_meshgroup),
            **self._look(slot, before),
        )

    def _look(self, slot: Slot, was: structs.Part | structs.Composite | None) -> dict[str, Any]:
        """What parts and composites share: blend mode, tints, opacity and masks."""
        blend = str(slot.blend)
        masks = [self._mask(index, slot, was) for index in range(len(slot.masks))]
        if was is None:
            tint, screen = slot.color[:3], _screen_tint(slot)
            look = {"blend_mode": blend, "tint": _singles(tint), "screen_tint": _singles(screen)}
            return {**look, "opacity": _singles(slot.color[3:])[0], "masks": masks or UNSET}
        same_tint = was.tint == slot.color[:3]
        same_screen = same_tint and dark_of(was) == slot.dark
        return {
            "blend_mode": was.blend_mode if known(was.blend_mode, BLEND_MODES) == blend else blend,
            "tint": was.tint if same_tint else _singles(slot.color[:3]),
            "screen_tint": was.screen_tint if same_screen else _singles(_screen_tint(slot)),
            "opacity": was.opacity if was.opacity == slot.color[3] else _singles(slot.color[3:])[0],
            "masks": masks if masks or was.masks is not UNSET else UNSET,
        }

    def _mask(self, index: int, slot: Slot, was: structs.Part | structs.Composite | None) -> structs.Mask:
        mask = slot.masks[index]
        before = or_default(was.masks, []) if was is not None else []
        mode = before[index].mode if index < len(before) else str(mask.mode)
        return structs.Mask(
            node=self._node_index[mask.bone], mode=mode if known(mode, MASK_MODES) == mask.mode else str(mask.mode)
        )

    def _physics(self, pendulum: PendulumConstraint, was: Any) -> structs.SimplePhysics:
        before = was if isinstance(was, structs.SimplePhysics) else None
        return structs.SimplePhysics(
            param=-1 if pendulum.param is None else self._param_index[pendulum.param],
            model=_text(before, "model", PHYSICS_MODELS, pendulum.model),
            map_mode=_text(before, "map_mode", MAP_MODES, pendulum.map_mode),
            output_scale=pendulum.output_scale,
            local_only=_optional(before, "local_only", False, pendulum.local_only),
            **{
                name: getattr(pendulum, name)
                for name in ("gravity", "length", "frequency", "angle_damping", "length_damping")
            },
        )

    # -- params, animations, textures ---------------------------------------------------------------------------------

    def _param(self, param: Param) -> dict[str, Any]:
        fields = fields_of(param.native, FORMAT)
        bindings = [self._binding(binding) for binding in param.bindings]
        own = {key: value for key, value in fields.items() if key != "bindings"}
        was = msgspec.convert(own, structs.Param) if own else None
        repaired = was is not None and is_repaired_from(param.name, was.name, UNNAMED)
        now = structs.Param(
            name=was.name if was is not None and repaired else param.name,
            uuid=param.uuid or 0,
            is_vec2=param.is_vec2,
            min=param.min,
            max=param.max,
            defaults=param.default,
            axis_points=(list(param.axis_points[0]), list(param.axis_points[1])),
            merge_mode=_text(was, "merge_mode", MERGE_MODES, param.merge_mode),
        )
        stored = restore(own, was if was is not None else now, now)
        if "bindings" in fields:
            return {key: bindings if key == "bindings" else stored[key] for key in [*fields, *stored]}
        return {**stored, "bindings": bindings} if bindings or not fields else stored

    def _binding(self, binding: Binding) -> dict[str, Any]:
        fields = fields_of(binding.native, FORMAT)
        was = msgspec.convert(fields, structs.Binding) if fields else None
        index = was.view if was is not None else None
        if binding.values is not None:
            index = self._floats(flip_values(binding.values, binding.target, binding.kind), index)
        assert index is not None
        x_count, y_count = binding.is_set.shape
        now = structs.Binding(
            node=self._node_index[binding.bone],
            target=binding.target,
            interpolation=_text(was, "interpolation", INTERPOLATIONS, binding.interpolation),
            x_count=x_count,
            y_count=y_count,
            is_set=binding.is_set.ravel().tolist(),
            kind=binding.kind,
            view=index,
        )
        return restore(fields, was if was is not None else now, now)

    def _animation(self, animation: Animation) -> dict[str, Any]:
        fields = fields_of(animation.native, FORMAT)
        lanes = [self._lane(lane) for lane in animation.lanes]
        own = {key: value for key, value in fields.items() if key != "lanes"}
        was = msgspec.convert(own, structs.Animation) if own else None
        repaired = was is not None and is_repaired_from(animation.name, was.name, UNNAMED)
        now = structs.Animation(
            name=was.name if was is not None and repaired else animation.name,
            timestep=animation.timestep,
            additive=_optional(was, "additive", False, animation.additive),
            length=animation.length,
            lead_in=_optional(was, "lead_in", 0, animation.lead_in),
            lead_out=_optional(was, "lead_out", 0, animation.lead_out),
            weight=_optional(was, "weight", 1.0, animation.weight),
        )
        stored = restore(own, was if was is not None else now, now)
        if "lanes" in fields:
            return {key: lanes if key == "lanes" else stored[key] for key in [*fields, *stored]}
        return {**stored, "lanes": lanes} if lanes or not fields else stored

    def _lane(self, lane: Lane) -> dict[str, Any]:
        fields = fields_of(lane.native, FORMAT)
        was = msgspec.convert(fields, structs.Lane) if fields else None
        now = structs.Lane(
            param=-1 if lane.param is None else self._param_index[lane.param],
            target=lane.axis,
            interpolation=_text(was, "interpolation", INTERPOLATIONS, lane.interpolation),
            merge_mode=_text(was, "merge_mode", MERGE_MODES, lane.merge_mode),
            keyframes=[tuple(row) for row in lane.keyframes.tolist()],
        )
        return restore(fields, was if was is not None else now, now)

    def _texture(self, texture: Texture) -> dict[str, Any]:
        fields = fields_of(texture.native, FORMAT)
        was = msgspec.convert(fields, structs.Texture) if fields else None
        space = UNSET if was is None else was.color_space
        same_space = known(or_default(space, "srgb"), COLOR_SPACES) == texture.color_space
        now = structs.Texture(
            width=texture.width,
            height=texture.height,
            format=texture.format,
            color_space=space if same_space and was is not None else texture.color_space,
            premultiplied=_optional(was, "premultiplied", False, texture.premultiplied)
            if was is not None
            else texture.premultiplied,
            view=self._views.add(texture.data, None if was is None else was.view),
        )
        return restore(fields, was if was is not None else now, now)


def _blank_node(bone: Bone) -> Node:
    zero = (0.0, 0.0, 0.0)
    return Node(
        name=bone.name,
        uuid=0,
        kind="node",
        enabled=True,
        zsort=0.0,
        lock_to_root=False,
        translation=zero,
        rotation=zero,
        scale=(1.0, 1.0),
    )


def _poses(rig: Rig, authored: list[dict[str, Any]], was: list[Node]) -> list[Any]:
    """Translation, rotation and scale of each node: the authored ones where they still hold."""
    local = rig.skeleton.local
    kept = np.array([bool(fields) for fields in authored]) & matrices_agree(local_of(was), local)
    moved = np.flatnonzero(~kept)
    poses: list[Any] = [(node.translation, node.rotation, node.scale) for node in was]
    translation, rotation, scale = transforms(local[moved])
    if (np.abs(local[moved][:, :3]) > structs.FLOAT32_MAX).any():
        name = rig.skeleton.names[int(moved[0])]
        raise ConversionError(f"bone {quoted(name)} or one after it is too large for a float32")
    rows = (shortest(part).tolist() for part in (translation, rotation, scale))
    for index, *parts in zip(moved.tolist(), *rows, strict=True):
        poses[index] = tuple(tuple(part) for part in parts)
    return poses


def _drawn(zsort: list[float], parents: list[int], composite: list[bool], drawn: set[int]) -> list[int]:
    return [index for index in draw_order(zsort, parents, composite) if index in drawn]


def _is_null(was: Node, payload: str) -> bool:
    return getattr(was, payload) is None


def _singles(values: tuple[float, ...]) -> Any:
    return tuple(shortest(np.array(values)).tolist())


def _screen_tint(slot: Slot) -> tuple[float, ...]:
    """The inverse of :func:`~rigconv.formats.inr.reader.dark_of`, clamped to 0..1."""
    if slot.dark is None:
        return (0.0, 0.0, 0.0)
    pairs = zip(slot.dark, slot.color[:3], strict=True)
    return tuple(min(dark / tint, 1.0) if tint > 0 else 0.0 for dark, tint in pairs)


def _optional(was: Any, name: str, default: Any, value: Any) -> Any:
    return stated(UNSET if was is None else getattr(was, name), default, value)


def _text(was: Any, name: str, values: tuple[str, ...], value: str) -> str:
    """The authored text while it means ``value``, be it unknown."""
    text = value if was is None else getattr(was, name)
    return text if known(text, values) == value else value
