"""``rigc-rig/1`` to the representation.

The envelope stops the reader at the first fault, as upstream's parser does. Faults that only a compiler would meet are
noted, and what bears them is kept as its file said it: a target that does not need it is not held up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import UNSET
from msgspec.structs import replace

from ...ir import codes, paths
from ...ir.errors import FormatError, quoted
from ...ir.exchange import Problem, Reading
from ...ir.matrix import planar
from ...ir.native import Native
from ...ir.rig import (
    Attachment,
    BlendMode,
    Bone,
    Constraint,
    Inherit,
    MeshAttachment,
    NativeAttachment,
    NativeConstraint,
    Rig,
    Skeleton,
    Skin,
    Slot,
    Stage,
)
from ..json_text import convert, decode
from .attachments import read_attachment
from .constraints import read_constraint
from .envelope import check_envelope
from .generators import KEPT_KINDS
from .manifest import read_manifest, resolve
from .structs import BLEND_MODES, INHERIT_MODES, RigBone, RigBoneFrom, RigSkeletonHeader, RigSlot, RigSpec
from .values import canonical, color_from_hex, given, is_read_by_runtime

FORMAT = "rigc"

BLEND = {
    "normal": BlendMode.NORMAL,
    "additive": BlendMode.ADD,
    "multiply": BlendMode.MULTIPLY,
    "screen": BlendMode.SCREEN,
}

LISTS = ("bones", "slots", "skins", "constraints", "skeleton")
"""Fields of the file whose content has records of its own."""

SKIN_MEMBERS = ("attachments", "bones", "ik", "transform", "path", "physics", "slider")
"""Keys that tell the long form of a skin from a map of slots (specs/rigc-facts.md §7)."""


def read(reading: Reading) -> Rig:
    """The rig that a file describes.

    Raises:
        FormatError: The file is no rig spec.
    """
    document = decode(reading.source.data, reading.file)
    check_envelope(document, reading.file)
    spec = convert(document, RigSpec, reading.file)
    reading.images = given(spec.images, None)
    skeleton = _read_skeleton(spec, document["bones"], reading)
    names = skeleton.names
    slots = [_read_slot(slot, fields, reading) for slot, fields in zip(spec.slots, document["slots"], strict=True)]
    rig = Rig(
        name=spec.name,
        origin=FORMAT,
        skeleton=skeleton,
        stage=_read_stage(spec, document),
        slots=slots,
        skins=_read_skins(document.get("skins", {}), slots, names, reading),
        constraints=_read_constraints(document.get("constraints", []), set(names), reading),
        native={FORMAT: _own_fields(document)},
    )
    _check_parts(rig, spec, reading)
    return rig


def _own_fields(document: dict[str, Any]) -> Native:
    """The fields of the file itself; those with records of their own stay as keys, for their order."""
    fields = {key: None if key in LISTS else value for key, value in document.items()}
    return Native(fields=fields, unmapped=tuple(key for key in fields if key not in (*LISTS, "spec", "name")))


# -- bones ------------------------------------------------------------------------------------------------------------


def _read_skeleton(spec: RigSpec, authored: list[dict[str, Any]], reading: Reading) -> Skeleton:
    index = {bone.name: place for place, bone in enumerate(spec.bones)}
    parent = [-1 if bone.parent is UNSET else index[bone.parent] for bone in spec.bones]
    bones = [_read_bone(bone, fields, reading) for bone, fields in zip(spec.bones, authored, strict=True)]
    skeleton = Skeleton(bones=bones, parent=np.array(parent, dtype=np.int64), local=local_of(spec.bones))
    if any(map(takes_from_manifest, spec.bones)):
        _place_by_manifest(spec.bones, skeleton, reading)
    return skeleton


def _read_bone(bone: RigBone, fields: dict[str, Any], reading: Reading) -> Bone:
    mode = Inherit.NORMAL if bone.inherit is UNSET else Inherit(canonical(bone.inherit, INHERIT_MODES))
    if bone.inherit is not UNSET and not is_read_by_runtime(bone.inherit, INHERIT_MODES):
        message = f"Inherit mode {quoted(bone.inherit)} was read as {mode}; the official runtime would not know it."
        reading.report.add(codes.VALUE_NORMALISED, f"{paths.bone(bone.name)}.inherit", message)
    sheared = mode in (Inherit.NO_SCALE, Inherit.NO_SCALE_OR_REFLECTION)
    unmapped = ["from"] if bone.from_ is not UNSET else []
    unmapped += [key for key in fields if key not in RigBone.__struct_encode_fields__]
    return Bone(
        name=bone.name,
        length=given(bone.length, 0.0),
        inherit=mode,
        shear_x=float(np.radians(given(bone.shearX, 0.0))) if sheared else 0.0,
        skin_required=given(bone.skin, False),
        color=given(bone.color, None),
        icon=given(bone.icon, None),
        native={FORMAT: Native(fields=fields, unmapped=tuple(unmapped))},
    )


_POSE_FIELDS = {"x": 0.0, "y": 0.0, "rotation": 0.0, "shearX": 0.0, "shearY": 0.0, "scaleX": 1.0, "scaleY": 1.0}


def local_of(bones: list[RigBone]) -> np.ndarray:
    """(n, 4, 4) local matrices that bones state."""
    stated = [[given(getattr(bone, name), default) for name, default in _POSE_FIELDS.items()] for bone in bones]
    x_y, rotation, shear, scale = np.split(np.array(stated, dtype=np.float64).reshape(-1, 7), [2, 3, 5], axis=1)
    return planar(x_y, np.radians(rotation[:, 0]), np.radians(shear), scale)


def _place_by_manifest(bones: list[RigBone], skeleton: Skeleton, reading: Reading) -> None:
    manifest = read_manifest(reading.options.manifest) if reading.options.manifest else None
    for index, bone in enumerate(bones):
        if not takes_from_manifest(bone):
            continue
        if manifest is None:
            message = f"Bone {quoted(bone.name)} takes its place from a cut manifest; give it with --manifest FILE."
            reading.report.add(codes.POSITION_UNKNOWN, paths.bone(bone.name), message)
            continue
        derived = resolve(given(bone.from_, RigBoneFrom()), skeleton, index, manifest, reading.file)
        skeleton.bones[index].native[FORMAT].derived = derived
        skeleton.local[index] = local_of([replace(bone, **derived)])[0]


def takes_from_manifest(bone: RigBone) -> bool:
    """Whether a bone takes anything from a manifest; an empty ``from`` takes nothing."""
    return bone.from_ is not UNSET and bone.from_ != RigBoneFrom()


# -- stage and slots --------------------------------------------------------------------------------------------------


def _read_stage(spec: RigSpec, document: dict[str, Any]) -> Stage | None:
    if spec.skeleton is UNSET:
        return None
    header, fields = spec.skeleton, document["skeleton"]
    unknown = tuple(key for key in fields if key not in RigSkeletonHeader.__struct_encode_fields__)
    return Stage(
        x=given(header.x, None),
        y=given(header.y, None),
        width=given(header.width, None),
        height=given(header.height, None),
        fps=given(header.fps, None),
        reference_scale=given(header.referenceScale, None),
        images=given(header.images, None),
        native={FORMAT: Native(fields=fields, unmapped=unknown)},
    )


def _read_slot(slot: RigSlot, fields: dict[str, Any], reading: Reading) -> Slot:
    where = f"$.slots ({quoted(slot.name)})"
    color = _read_color(slot.color, f"{where}.color", "rrggbbaa", reading)
    dark = None if slot.dark is UNSET else _read_color(slot.dark, f"{where}.dark", "rrggbb", reading)[:3]
    unknown = tuple(key for key in fields if key not in RigSlot.__struct_encode_fields__)
    return Slot(
        name=slot.name,
        bone=slot.bone,
        attachment=given(slot.attachment, None),
        color=color,
        dark=dark,
        blend=BLEND[canonical(given(slot.blend, "normal"), BLEND_MODES)],
        native={FORMAT: Native(fields=fields, unmapped=unknown)},
    )


def _read_color(text: Any, where: str, expected: str, reading: Reading) -> tuple[float, float, float, float]:
    try:
        return color_from_hex(given(text, "ffffffff"))
    except ValueError as error:
        reading.add("color", FormatError(reading.file, where, str(error), expected), "skins")
        return color_from_hex("ffffffff")


# -- skins ------------------------------------------------------------------------------------------------------------


def _read_skins(skins: dict[str, Any], slots: list[Slot], bones: list[str], reading: Reading) -> list[Skin]:
    slot_bones = {slot.name: slot.bone for slot in slots}
    return [_read_skin(name, fields, slot_bones, bones, reading) for name, fields in skins.items()]


def _read_skin(
    name: str, fields: dict[str, Any], slot_bones: dict[str, str], bones: list[str], reading: Reading
) -> Skin:
    where = f"$.skins.{name}"
    if not is_long_form(fields, slot_bones):
        return Skin(name=name, attachments=_read_attachments(name, fields, where, slot_bones, bones, reading))
    members = {key: value for key, value in fields.items() if key in SKIN_MEMBERS[2:]}
    unknown = tuple(key for key in fields if key not in SKIN_MEMBERS)
    authored = {key: None if key in SKIN_MEMBERS else value for key, value in fields.items()}
    return Skin(
        name=name,
        bones=fields.get("bones", []),
        constraints=members,
        attachments=_read_attachments(
            name, fields.get("attachments", {}), f"{where}.attachments", slot_bones, bones, reading
        ),
        native={FORMAT: Native(fields=authored, unmapped=unknown)},
    )


def is_long_form(fields: dict[str, Any], slots: dict[str, str]) -> bool:
    """Whether a skin states members beside its attachments."""
    return any(key in fields and key not in slots for key in SKIN_MEMBERS)


def _read_attachments(
    skin: str, fields: dict[str, Any], where: str, slot_bones: dict[str, str], bones: list[str], reading: Reading
) -> dict[str, dict[str, Attachment]]:
    attachments: dict[str, dict[str, Attachment]] = {}
    for slot, items in fields.items():
        place = f"{where}.{slot}"
        if slot not in slot_bones or not isinstance(items, dict):
            problem = f"skin {quoted(skin)} fills slot {quoted(slot)}, which this rig does not declare"
            if slot in slot_bones:
                problem = f"skin {quoted(skin)} fills slot {quoted(slot)} with {quoted(items)}"
            expected = "a map of attachments in a declared slot"
            reading.add("skin_slot", FormatError(reading.file, place, problem, expected), "skins")
            continue
        attachments[slot] = {
            placeholder: _read_attachment(skin, slot, placeholder, item, place, slot_bones, bones, reading)
            for placeholder, item in items.items()
        }
    return attachments


def _read_attachment(
    skin: str,
    slot: str,
    placeholder: str,
    fields: Any,
    where: str,
    slot_bones: dict[str, str],
    bones: list[str],
    reading: Reading,
) -> Attachment:
    try:
        attachment = read_attachment(fields, slot_bones[slot], bones, f"{where}.{placeholder}", reading.file)
    except FormatError as error:
        reading.add("attachment", error, "skins")
        return NativeAttachment(kind="faulty", native={FORMAT: Native(fields=fields)})
    if isinstance(attachment, NativeAttachment):
        message = f"Attachment {quoted(placeholder)} is a {attachment.kind}; it is kept as the file states it."
        reading.report.add(codes.NATIVE_ONLY, paths.attachment(skin, slot, placeholder), message)
    if isinstance(attachment, MeshAttachment) and (attachment.generator or {}).get("kind") in KEPT_KINDS:
        message = f"The generator of attachment {quoted(placeholder)} is kept as the file states it."
        reading.report.add(codes.NATIVE_ONLY, paths.attachment(skin, slot, placeholder), message)
    return attachment


# -- constraints ------------------------------------------------------------------------------------------------------


def _read_constraints(authored: list[dict[str, Any]], bones: set[str], reading: Reading) -> list[Constraint]:
    return [
        _read_constraint(fields, bones, f"$.constraints[{index}]", reading) for index, fields in enumerate(authored)
    ]


def _read_constraint(fields: dict[str, Any], bones: set[str], where: str, reading: Reading) -> Constraint:
    try:
        constraint = read_constraint(fields, bones, where, reading.file)
    except FormatError as error:
        reading.add("constraint", error, "constraints")
        return NativeConstraint(name=fields["name"], kind=fields["type"], native={FORMAT: Native(fields=fields)})
    if isinstance(constraint, NativeConstraint):
        message = f"Constraint {quoted(constraint.name)} is a {constraint.kind}; it is kept as the file states it."
        reading.report.add(codes.NATIVE_ONLY, paths.record("constraints", constraint), message)
    return constraint


# -- the whole --------------------------------------------------------------------------------------------------------


def _check_parts(rig: Rig, spec: RigSpec, reading: Reading) -> None:
    """Faults that lie between the parts (specs/rigc-facts.md §3)."""
    filled: dict[str, set[str]] = {}
    for skin in rig.skins:
        for slot, items in skin.attachments.items():
            filled.setdefault(slot, set()).update(items)
    for index, shown in enumerate(rig.slots):
        if shown.attachment is not None and shown.attachment not in filled.get(shown.name, set()):
            problem = f"slot {quoted(shown.name)} shows {quoted(shown.attachment)}, which no skin gives it"
            error = FormatError(reading.file, f"$.slots[{index}].attachment", problem, "an attachment of the slot")
            reading.add("setup_attachment", error, "skins")
    _check_invariants(spec, set(rig.skeleton.names), reading)
    _check_stage(spec, reading)


def _check_invariants(spec: RigSpec, bones: set[str], reading: Reading) -> None:
    if spec.invariants is UNSET:
        return
    for name in ("axisBone", "massBone"):
        bone = getattr(spec.invariants, name)
        if bone is not UNSET and bone not in bones:
            problem = f"{name} is {quoted(bone)}, which this rig does not declare"
            error = FormatError(reading.file, f"$.invariants.{name}", problem, "the name of a bone")
            reading.add("invariant_bone", error, "invariants")


def _check_stage(spec: RigSpec, reading: Reading) -> None:
    header = RigSkeletonHeader() if spec.skeleton is UNSET else spec.skeleton
    stated = header.width is not UNSET and header.height is not UNSET
    from_manifest = reading.options.manifest is not None or any(map(takes_from_manifest, spec.bones))
    if not stated and not from_manifest:
        problem = Problem(
            rule="stage",
            where="$.skeleton",
            problem="the stage has no size",
            expected="a width and a height, or a cut manifest",
            affects="stage_size",
        )
        reading.problems.append(problem)
