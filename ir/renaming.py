"""Giving the elements of a rig other names, with every reference to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from .paths import record_key
from .rig import Animation, Attachment, Constraint, Mesh, MeshAttachment, Param, Rig, Skeleton, Skin, Slot

NewNames = Mapping[str, str]
"""New names by old ones; what is not in it keeps its name."""


class Renaming(msgspec.Struct, frozen=True):
    """New names for the elements of a rig.

    Attributes:
        bones, slots, params: By old name.
        placeholders: By the old name of their slot, by old placeholder.
        constraints: By type and old name, as in ``ik/pull``.
        textures: New places by old ones.
    """

    bones: NewNames = {}
    slots: NewNames = {}
    params: NewNames = {}
    placeholders: Mapping[str, NewNames] = {}
    constraints: NewNames = {}
    textures: Mapping[int, int] = {}


def renamed(rig: Rig, names: Renaming) -> Rig:
    """The rig under new names; the old rig is left as it is."""
    if names == Renaming():
        return rig
    return replace(
        rig,
        skeleton=_skeleton(rig.skeleton, names),
        slots=[_slot(slot, names) for slot in rig.slots],
        skins=[_skin(skin, names) for skin in rig.skins],
        constraints=[_constraint(constraint, names) for constraint in rig.constraints],
        params=[_param(param, names) for param in rig.params],
        animations=[_animation(animation, names) for animation in rig.animations],
    )


def _new(name: Any, names: NewNames) -> Any:
    return names.get(name, name)


def _all_new(values: list[str], names: NewNames) -> list[str]:
    return [names.get(name, name) for name in values]


def _skeleton(skeleton: Skeleton, names: Renaming) -> Skeleton:
    bones = [
        replace(bone, name=names.bones[bone.name]) if bone.name in names.bones else bone for bone in skeleton.bones
    ]
    return replace(skeleton, bones=bones)


def _slot(slot: Slot, names: Renaming) -> Slot:
    return replace(
        slot,
        name=_new(slot.name, names.slots),
        bone=_new(slot.bone, names.bones),
        attachment=_new(slot.attachment, names.placeholders.get(slot.name, {})),
        masks=[replace(mask, bone=_new(mask.bone, names.bones)) for mask in slot.masks],
    )


def _skin(skin: Skin, names: Renaming) -> Skin:
    attachments = {
        _new(slot, names.slots): {
            _new(placeholder, names.placeholders.get(slot, {})): _attachment(item, names)
            for placeholder, item in items.items()
        }
        for slot, items in skin.attachments.items()
    }
    constraints = {
        kind: [_new_name_of_constraint(kind, name, names) for name in listed]
        for kind, listed in skin.constraints.items()
    }
    return replace(skin, bones=_all_new(skin.bones, names.bones), constraints=constraints, attachments=attachments)


def _attachment(attachment: Attachment, names: Renaming) -> Attachment:
    if isinstance(attachment, MeshAttachment):
        first, second, third = (names.textures.get(index, index) for index in attachment.textures)
        attachment = replace(attachment, textures=(first, second, third))
    mesh: Mesh | None = getattr(attachment, "mesh", None)
    if mesh is None:
        return attachment
    return replace(attachment, mesh=replace(mesh, bones=_all_new(mesh.bones, names.bones)))


def _constraint(constraint: Constraint, names: Renaming) -> Constraint:
    fields: dict[str, Any] = {
        field: _new(getattr(constraint, field), names.bones)
        for field in ("bone", "target", "source")
        if hasattr(constraint, field)
    }
    if hasattr(constraint, "bones"):
        fields["bones"] = _all_new(constraint.bones, names.bones)
    if hasattr(constraint, "param"):
        fields["param"] = _new(constraint.param, names.params)
    name = names.constraints.get(record_key(constraint), constraint.name)
    return replace(constraint, name=name, **fields)


def _new_name_of_constraint(kind: str, name: str, names: Renaming) -> str:
    return names.constraints.get(f"{kind}/{name}", name)


def _param(param: Param, names: Renaming) -> Param:
    bindings = [replace(binding, bone=_new(binding.bone, names.bones)) for binding in param.bindings]
    return replace(param, name=_new(param.name, names.params), bindings=bindings)


def _animation(animation: Animation, names: Renaming) -> Animation:
    lanes = [replace(lane, param=_new(lane.param, names.params)) for lane in animation.lanes]
    return replace(animation, lanes=lanes)
