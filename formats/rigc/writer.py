"""The representation to ``rigc-rig/1``.

Meets only rigs that were made to fit. A field is written exactly when its author declared it or its value is no
longer what an absent field means.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET

from ...ir.compare import matrices_agree
from ...ir.exchange import Buffers, Writing
from ...ir.matrix import decompose_planar
from ...ir.native import as_struct, fields_of, restore, stated
from ...ir.rig import Bone, Inherit, Rig, Skin, Slot, Stage
from ..json_text import encode
from .attachments import write_attachment
from .constraints import write_constraint
from .reader import BLEND, FORMAT, SKIN_MEMBERS, local_of
from .structs import BLEND_MODES, INHERIT_MODES, SPEC, RigBone, RigSkeletonHeader, RigSlot
from .values import canonical, is_read_by_runtime, stated_color, tidy, to_builtins

_SECTIONS = ("spec", "name", "skeleton", "bones", "slots", "skins", "constraints")
_BLEND_NAMES = {mode: name for name, mode in BLEND.items()}


def write(rig: Rig, writing: Writing) -> Buffers:
    """The file that describes a rig."""
    return [encode(document_of(rig))]


def document_of(rig: Rig) -> dict[str, Any]:
    """The file's JSON value."""
    fields = fields_of(rig.native, FORMAT)
    sections = {
        "spec": SPEC,
        "name": rig.name,
        "skeleton": _stage(rig.stage) if rig.stage else None,
        "bones": _bones(rig),
        "slots": [_slot(slot) for slot in rig.slots],
        "skins": {skin.name: _skin(skin, rig) for skin in rig.skins},
        "constraints": [write_constraint(constraint) for constraint in rig.constraints],
    }
    required = {"spec", "name", "bones", "slots"}
    kept = {key for key, value in sections.items() if value or key in required or (key in fields and value is not None)}
    order = [*fields, *(key for key in _SECTIONS if key not in fields)]
    return {
        key: sections[key] if key in sections else fields[key] for key in order if key in kept or key not in sections
    }


# -- bones ------------------------------------------------------------------------------------------------------------


def _bones(rig: Rig) -> list[dict[str, Any]]:
    skeleton = rig.skeleton
    authored = [fields_of(bone.native, FORMAT) for bone in skeleton.bones]
    was = [
        as_struct(fields or {"name": bone.name}, RigBone) for fields, bone in zip(authored, skeleton.bones, strict=True)
    ]
    poses = _poses(rig, was)
    rows = zip(skeleton.bones, skeleton.parent_names, authored, was, poses, strict=True)
    return [
        restore(fields, before, _bone(bone, parent, before, pose), to_builtins)
        for bone, parent, fields, before, pose in rows
    ]


def _poses(rig: Rig, was: list[RigBone]) -> list[dict[str, Any] | None]:
    """The pose fields of each bone; None where those it was authored with still hold."""
    skeleton = rig.skeleton
    resolved = [_resolved(before, bone) for before, bone in zip(was, skeleton.bones, strict=True)]
    moved = np.flatnonzero(~matrices_agree(local_of(resolved), skeleton.local))
    fresh = _pose_fields(skeleton.local[moved], np.array([skeleton.bones[index].shear_x for index in moved]))
    poses: list[dict[str, Any] | None] = [None] * len(was)
    for index, pose in zip(moved.tolist(), fresh, strict=True):
        poses[index] = pose
    return poses


def _resolved(was: RigBone, bone: Bone) -> RigBone:
    """A bone with what a manifest gave it."""
    native = bone.native.get(FORMAT)
    return msgspec.structs.replace(was, **native.derived) if native and native.derived else was


def _pose_fields(local: np.ndarray, shear_x: np.ndarray) -> list[dict[str, Any]]:
    rotation, shear, scale = decompose_planar(local, shear_x)
    reach = np.abs(local[:, :2, 3]).max(initial=0.0)
    columns = {
        "x": tidy(local[:, 0, 3], reach),
        "y": tidy(local[:, 1, 3], reach),
        "rotation": tidy(np.degrees(rotation), 360.0),
        "scaleX": tidy(scale[:, 0], np.abs(scale).max(axis=1)),
        "scaleY": tidy(scale[:, 1], np.abs(scale).max(axis=1)),
        "shearX": tidy(np.degrees(shear[:, 0]), 360.0),
        "shearY": tidy(np.degrees(shear[:, 1]), 360.0),
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _bone(bone: Bone, parent: str | None, was: RigBone, pose: dict[str, Any] | None) -> RigBone:
    now = RigBone(
        name=bone.name,
        parent=UNSET if parent is None else parent,
        length=stated(was.length, 0.0, bone.length),
        inherit=_inherit(was.inherit, bone.inherit),
        skin=stated(was.skin, False, bone.skin_required),
        color=UNSET if bone.color is None else bone.color,
        icon=UNSET if bone.icon is None else bone.icon,
    )
    if pose is None:
        for name in ("x", "y", "rotation", "scaleX", "scaleY", "shearX", "shearY", "from_"):
            setattr(now, name, getattr(was, name))
        return now
    defaults = {"scaleX": 1.0, "scaleY": 1.0}
    for name, value in pose.items():
        setattr(now, name, stated(getattr(was, name), defaults.get(name, 0.0), value))
    return now


def _inherit(was: Any, mode: Inherit) -> Any:
    """The authored spelling while the official runtime reads it as the mode; a spelling that it misses is mended."""
    meaning = "normal" if was is UNSET else canonical(was, INHERIT_MODES)
    readable = was is UNSET or is_read_by_runtime(was, INHERIT_MODES)
    return was if meaning == mode and readable else str(mode)


# -- stage, slots, skins ----------------------------------------------------------------------------------------------


def _stage(stage: Stage) -> dict[str, Any]:
    fields = fields_of(stage.native, FORMAT)
    was = as_struct(fields, RigSkeletonHeader)
    values = {
        "x": stage.x,
        "y": stage.y,
        "width": stage.width,
        "height": stage.height,
        "fps": stage.fps,
        "referenceScale": stage.reference_scale,
        "images": stage.images,
    }
    now = RigSkeletonHeader(**{name: _declared(getattr(was, name), value) for name, value in values.items()})
    return restore(fields, was, now, to_builtins)


def _declared(was: Any, value: Any) -> Any:
    if value is None:
        return None if was is None else UNSET
    return value


def _slot(slot: Slot) -> dict[str, Any]:
    fields = fields_of(slot.native, FORMAT)
    was = as_struct(fields or {"name": slot.name, "bone": slot.bone}, RigSlot)
    blend = _BLEND_NAMES.get(slot.blend, "normal")
    same_blend = canonical("normal" if was.blend is UNSET else was.blend, BLEND_MODES) == blend
    now = RigSlot(
        name=slot.name,
        bone=slot.bone,
        attachment=stated(was.attachment, None, slot.attachment),
        color=stated_color(was.color, slot.color),
        dark=UNSET if slot.dark is None else stated_color(was.dark, slot.dark),
        blend=was.blend if same_blend else blend,
    )
    return restore(fields, was, now, to_builtins)


def _skin(skin: Skin, rig: Rig) -> dict[str, Any]:
    slot_bones = {slot.name: slot.bone for slot in rig.slots}
    bones = rig.skeleton.names
    attachments = {
        slot: {key: write_attachment(item, slot_bones[slot], bones) for key, item in items.items()}
        for slot, items in skin.attachments.items()
    }
    if FORMAT not in skin.native and not skin.bones and not skin.constraints:
        return attachments
    fields = fields_of(skin.native, FORMAT)
    members = {"attachments": attachments, "bones": skin.bones, **skin.constraints}
    order = [*fields, *(key for key in SKIN_MEMBERS if key in members and key not in fields)]
    return {
        key: members.get(key, []) if key in SKIN_MEMBERS else fields[key]
        for key in order
        if key in fields or members.get(key)
    }
