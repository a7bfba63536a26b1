"""Lowering of all that hangs on the skeleton: what a format has no place for is dropped, item by item."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec.structs import replace

from ...ir import codes, paths
from ...ir.capabilities import Capabilities, SlotKind
from ...ir.errors import quoted
from ...ir.native import Native
from ...ir.report import Code, ConversionReport
from ...ir.rig import Attachment, BlendMode, MeshAttachment, RegionAttachment, Rig, Skin, Slot


def drop_parts(rig: Rig, format_id: str, capabilities: Capabilities, report: ConversionReport) -> Rig:
    """The rig without the parts that the format lacks."""
    rig = _without_texts(rig, capabilities, report)
    rig = _without_slots(rig, format_id, capabilities, report)
    constraints = [item for item in rig.constraints if _holds_constraint(item, format_id, capabilities)]
    _report_lost(rig.constraints, constraints, "constraints", codes.CONSTRAINT_DROPPED, report)
    rig = replace(rig, constraints=constraints)
    for part, code in (("params", codes.PARAM_DROPPED), ("animations", codes.ANIMATION_DROPPED)):
        if part not in capabilities.parts:
            _report_lost(getattr(rig, part), [], part, code, report)
            rig = replace(rig, **{part: []})
    if "textures" not in capabilities.parts:
        for index, texture in enumerate(rig.textures):
            message = f"The texture of {texture.width} x {texture.height} has no place in the format."
            report.add(codes.TEXTURE_DROPPED, paths.element("textures", index), message)
        rig = replace(rig, textures=[])
    return rig


def _report_lost(before: list[Any], after: list[Any], collection: str, code: Code, report: ConversionReport) -> None:
    kept = {id(item) for item in after}
    for item in before:
        if id(item) not in kept:
            message = f"{collection[:-1].capitalize()} {quoted(item.name)} has no place in the format."
            report.add(code, paths.record(collection, item), message)


def _without_texts(rig: Rig, capabilities: Capabilities, report: ConversionReport) -> Rig:
    if rig.name is not None and "name" not in capabilities.parts:
        report.add(codes.NAME_DROPPED, "name", f"The name {quoted(rig.name)} has no place in the format.")
        rig = replace(rig, name=None)
    if rig.meta and "meta" not in capabilities.parts:
        for key in rig.meta:
            message = f"The field {key} has no place in the format."
            report.add(codes.META_DROPPED, f"meta[{quoted(key)}]", message)
        rig = replace(rig, meta={})
    if rig.stage is not None and "stage" not in capabilities.parts:
        report.add(codes.STAGE_DROPPED, "stage", "Bounding box and runtime hints have no place in the format.")
        rig = replace(rig, stage=None)
    return rig


def _holds_constraint(constraint: Any, format_id: str, capabilities: Capabilities) -> bool:
    tag = constraint.__struct_config__.tag
    return tag in capabilities.constraints or (tag == "native" and format_id in constraint.native)


# -- slots and skins --------------------------------------------------------------------------------------------------


def _without_slots(rig: Rig, format_id: str, capabilities: Capabilities, report: ConversionReport) -> Rig:
    if capabilities.slots is SlotKind.NONE:
        _report_lost(rig.slots, [], "slots", codes.SLOT_DROPPED, report)
        _report_lost(rig.skins, [], "skins", codes.SKIN_DROPPED, report)
        return replace(rig, slots=[], skins=[])
    nodes_only = capabilities.slots is SlotKind.NODE
    held = node_slots(rig) if nodes_only else {slot.name for slot in rig.slots}
    skins = [_lowered_skin(skin, held, format_id, capabilities, report) for skin in rig.skins]
    before, after = _placeholders(rig.skins), _placeholders(skins)
    slots = [
        _lowered_slot(slot, after.get(slot.name, set()), capabilities, report)
        for slot in rig.slots
        if slot.name in held and (after.get(slot.name) or not before.get(slot.name))
    ]
    kept = {slot.name for slot in slots}
    _report_lost([slot for slot in rig.slots if slot.name not in kept], [], "slots", codes.SLOT_DROPPED, report)
    skins = [replace(skin, attachments=_within(skin.attachments, kept)) for skin in skins]
    if nodes_only:
        filled = [skin for skin in skins if skin.attachments]
        empty = [skin for skin, lowered in zip(rig.skins, skins, strict=True) if not lowered.attachments]
        _report_lost(empty, [], "skins", codes.SKIN_DROPPED, report)
        skins = filled
    return replace(rig, slots=slots, skins=skins)


def _within(attachments: dict[str, Any], slots: set[str]) -> dict[str, Any]:
    return {slot: items for slot, items in attachments.items() if slot in slots}


def _placeholders(skins: list[Skin]) -> dict[str, set[str]]:
    """The names under which any skin fills each slot."""
    filled: dict[str, set[str]] = {}
    for skin in skins:
        for slot, items in skin.attachments.items():
            filled.setdefault(slot, set()).update(items)
    return filled


def node_slots(rig: Rig) -> set[str]:
    """Slots that are one node with their bone and their attachment: all of one name, nothing else there."""
    on_bone = Counter(slot.bone for slot in rig.slots)
    attachments: dict[str, list[tuple[str, Attachment]]] = {}
    for skin in rig.skins:
        for slot_name, items in skin.attachments.items():
            attachments.setdefault(slot_name, []).extend(items.items())
    return {
        slot.name
        for slot in rig.slots
        if slot.bone == slot.name == slot.attachment
        and on_bone[slot.bone] == 1
        and len(attachments.get(slot.name, [])) == 1
        and attachments[slot.name][0][0] == slot.name
        and _is_own_mesh(attachments[slot.name][0][1], slot.bone)
    }


_EDITOR_FIELDS = ("path", "image", "width", "height", "color", "generator")
"""What a mesh attachment says that a node's mesh does not."""


def _is_own_mesh(attachment: Attachment, bone: str) -> bool:
    """Whether an attachment moves with its own bone alone and says nothing that only an editor of meshes says."""
    mesh = getattr(attachment, "mesh", None)
    if isinstance(attachment, RegionAttachment):
        return False
    if isinstance(attachment, MeshAttachment):
        blank = MeshAttachment()
        if any(getattr(attachment, name) != getattr(blank, name) for name in _EDITOR_FIELDS):
            return False
    if mesh is None:
        return True
    return mesh.bones == [bone] and mesh.is_rigid and mesh.hull is None and mesh.edges is None


def _lowered_slot(slot: Slot, filled: set[str], capabilities: Capabilities, report: ConversionReport) -> Slot:
    path, name = paths.record("slots", slot), quoted(slot.name)
    if slot.attachment is not None and slot.attachment not in filled:
        report.add(codes.SETUP_ATTACHMENT_DROPPED, f"{path}.attachment", f"Slot {name} shows nothing.")
        slot = replace(slot, attachment=None)
    if slot.blend not in capabilities.blend_modes:
        message = f"Blend mode {slot.blend} of slot {name} became normal."
        report.add(codes.BLEND_APPROXIMATED, f"{path}.blend", message)
        slot = replace(slot, blend=BlendMode.NORMAL)
    if slot.masks and not capabilities.masks:
        report.add(codes.MASKS_DROPPED, f"{path}.masks", f"The masks of slot {name} have no place in the format.")
        slot = replace(slot, masks=[])
    return slot


def _lowered_skin(
    skin: Skin, slots: set[str], format_id: str, capabilities: Capabilities, report: ConversionReport
) -> Skin:
    attachments: dict[str, dict[str, Attachment]] = {}
    for slot, items in skin.attachments.items():
        kept = {key: item for key, item in items.items() if _holds_attachment(item, format_id, capabilities)}
        if slot in slots:
            attachments[slot] = kept
        for placeholder in items:
            if slot not in slots or placeholder not in kept:
                message = f"Attachment {quoted(placeholder)} of slot {quoted(slot)} has no place in the format."
                report.add(codes.ATTACHMENT_DROPPED, paths.attachment(skin.name, slot, placeholder), message)
    return replace(skin, attachments=attachments)


def _holds_attachment(attachment: Attachment, format_id: str, capabilities: Capabilities) -> bool:
    tag = attachment.__struct_config__.tag
    if tag == "native":
        return format_id in attachment.native
    return tag in capabilities.attachments and ("textures" in capabilities.parts or _shows_a_file(attachment))


def _shows_a_file(attachment: Attachment) -> bool:
    """Whether an attachment can be said by a format whose images are files of their own."""
    if not isinstance(attachment, MeshAttachment):
        return True
    blank = MeshAttachment()
    return (attachment.mesh is not None or attachment.generator is not None) and all(
        getattr(attachment, name) == getattr(blank, name)
        for name in ("textures", "emission_strength", "mask_threshold")
    )


# -- native records ---------------------------------------------------------------------------------------------------


def drop_foreign_natives(rig: Rig, format_id: str, report: ConversionReport) -> Rig:
    """The rig without native records of other formats; what only they said is reported."""
    bones = [_own(bone, paths.bone(bone.name), format_id, report) for bone in rig.skeleton.bones]
    rig = replace(rig, skeleton=replace(rig.skeleton, bones=bones))
    rig = _own(rig, "", format_id, report)
    return replace(
        rig,
        stage=_own(rig.stage, "stage", format_id, report) if rig.stage else None,
        skins=[_own_skin(skin, format_id, report) for skin in rig.skins],
        params=[_own_with(param, "params", "bindings", format_id, report) for param in rig.params],
        animations=[_own_with(item, "animations", "lanes", format_id, report) for item in rig.animations],
        slots=[_own(slot, paths.record("slots", slot), format_id, report) for slot in rig.slots],
        constraints=[_own(item, paths.record("constraints", item), format_id, report) for item in rig.constraints],
        textures=[
            _own(texture, paths.element("textures", index), format_id, report)
            for index, texture in enumerate(rig.textures)
        ],
    )


def _own(record: Any, path: str, format_id: str, report: ConversionReport) -> Any:
    """``record`` with no native record but that of ``format_id``."""
    foreign = {key: native for key, native in record.native.items() if key != format_id}
    if not foreign:
        return record
    for key, native in foreign.items():
        _report_unmapped(native, key, path, report)
    return replace(record, native={key: native for key, native in record.native.items() if key == format_id})


def _report_unmapped(native: Native, source: str, path: str, report: ConversionReport) -> None:
    for name in native.unmapped:
        place = f"{path}.native.{source}.{name}" if path else f"native.{source}.{name}"
        report.add(codes.NATIVE_FIELDS_DROPPED, place, f"Only {source} knows the field {quoted(name)}.")


def _own_with(record: Any, collection: str, children: str, format_id: str, report: ConversionReport) -> Any:
    path = paths.record(collection, record)
    owned = [
        _own(child, f"{path}.{children}[{index}]", format_id, report)
        for index, child in enumerate(getattr(record, children))
    ]
    return replace(_own(record, path, format_id, report), **{children: owned})


def _own_skin(skin: Skin, format_id: str, report: ConversionReport) -> Skin:
    attachments = {
        slot: {
            placeholder: _own(item, paths.attachment(skin.name, slot, placeholder), format_id, report)
            for placeholder, item in items.items()
        }
        for slot, items in skin.attachments.items()
    }
    skin = _own(skin, paths.record("skins", skin), format_id, report)
    return replace(skin, attachments=attachments)
