"""``rig.json`` to the representation."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import UNSET

from ...ir import codes, paths
from ...ir.edit import CycleError, reordered, topological_order, unique_names
from ...ir.errors import FormatError, quoted
from ...ir.exchange import Reading
from ...ir.matrix import compose, is_singular, rotation_from_quaternion
from ...ir.native import Native
from ...ir.rig import Bind, BindReference, Rig, Skeleton
from ...ir.rig import Bone as RigBone
from ..json_text import convert, decode
from .structs import NESTED, Bone, Reference, RigFile, Transform

FORMAT = "engine"
UNNAMED = "bone"
"""What a bone without a name is called in the representation."""

_AFFINE = 1e-9


def read(reading: Reading) -> Rig:
    """The rig that a file describes.

    Raises:
        FormatError: Naming the bone and the field at fault.
    """
    document = decode(reading.source.data, reading.file)
    if not isinstance(document, dict):
        raise FormatError(reading.file, "$", "the document is not an object", "an object with bones")
    if not document.get("bones"):
        raise FormatError(reading.file, "$.bones", "the rig has no bones", "a list of at least one bone")
    file = convert(document, RigFile, reading.file)
    _check_overrides(file, reading.file)
    skeleton = _read_skeleton(file, document["bones"], reading)
    fields = {key: None if key == "bones" else value for key, value in document.items()}
    unmapped = tuple(key for key in fields if key not in ("bones", "bind"))
    return Rig(origin=FORMAT, skeleton=skeleton, native={FORMAT: Native(fields=fields, unmapped=unmapped)})


def _place(index: int, name: str, field: str) -> str:
    return f"$.bones[{index}].{field} ({quoted(name)})"


def _read_skeleton(file: RigFile, authored: list[dict[str, Any]], reading: Reading) -> Skeleton:
    order = _order(file.bones, reading)
    names = unique_names([bone.name for bone in file.bones], UNNAMED)
    for bone, name in zip(file.bones, names, strict=True):
        if bone.name != name:
            message = f"The bone named {quoted(bone.name)} is called {quoted(name)} here."
            reading.report.add(codes.NAME_REPAIRED, f"{paths.bone(name)}.name", message)
    if order != sorted(order):
        message = "The file lists children before their parents; the representation does not."
        reading.report.add(codes.BONES_REORDERED, "bones.order", message)
    skeleton = Skeleton(
        bones=[
            _read_bone(bone, name, index, fields)
            for index, (bone, name, fields) in enumerate(zip(file.bones, names, authored, strict=True))
        ],
        parent=np.array([bone.parent for bone in file.bones], dtype=np.int64),
        local=_read_local(file.bones, reading.file),
        inverse_bind=_read_inverse_bind(file.bones, reading),
        bind=_read_bind(file, reading.file),
    )
    return reordered(skeleton, order)


def _order(bones: list[Bone], reading: Reading) -> list[int]:
    for index, bone in enumerate(bones):
        if not -1 <= bone.parent < len(bones):
            problem = f"the parent is {bone.parent}, which is out of range"
            expected = f"-1 for a root, or the index of one of the {len(bones)} bones"
            raise FormatError(reading.file, _place(index, bone.name, "parent"), problem, expected)
    try:
        return topological_order([bone.parent for bone in bones])
    except CycleError as error:
        name = bones[error.index].name
        problem = "the bone is its own ancestor"
        raise FormatError(
            reading.file, _place(error.index, name, "parent"), problem, "parents that lead to a root"
        ) from None


def _read_bone(bone: Bone, name: str, index: int, fields: dict[str, Any]) -> RigBone:
    unknown = tuple(key for key in fields if key not in Bone.__struct_encode_fields__)
    return RigBone(
        name=name,
        node_index=None if bone.node is UNSET else bone.node,
        native={FORMAT: Native(fields=fields, unmapped=unknown, index=index)},
    )


def rest_of(bone: Bone) -> tuple[str, Bone | Transform]:
    """The name under which a bone's rest transform stands, empty for the bone itself, and the transform.

    The first of :data:`~rigconv.formats.engine.structs.NESTED` that is there counts.
    """
    for name in NESTED:
        nested = getattr(bone, name)
        if nested is not UNSET:
            return name, nested
    return "", bone


def local_of(bones: list[Bone]) -> np.ndarray:
    """(n, 4, 4) local matrices that bones state."""
    rests = [rest_of(bone)[1] for bone in bones]
    translation = [(0.0, 0.0, 0.0) if rest.translation is UNSET else rest.translation for rest in rests]
    rotation = [(0.0, 0.0, 0.0, 1.0) if rest.rotation is UNSET else rest.rotation for rest in rests]
    scale = [(1.0, 1.0, 1.0) if rest.scale is UNSET else rest.scale for rest in rests]
    return compose(np.array(translation), rotation_from_quaternion(np.array(rotation)), np.array(scale))


def _read_local(bones: list[Bone], file: str) -> np.ndarray:
    for index, bone in enumerate(bones):
        nested, rest = rest_of(bone)
        if rest.rotation is not UNSET and not any(rest.rotation):
            field = f"{nested}.rotation" if nested else "rotation"
            raise FormatError(file, _place(index, bone.name, field), "the quaternion is zero", "a unit quaternion")
    return local_of(bones)


# -- bind -------------------------------------------------------------------------------------------------------------


def _read_inverse_bind(bones: list[Bone], reading: Reading) -> np.ndarray:
    stored = np.array([bone.inverseBind for bone in bones], dtype=np.float64).reshape(-1, 4, 4)
    by_columns, by_rows = _is_affine(stored.swapaxes(1, 2)), _is_affine(stored)
    neither = np.flatnonzero(~by_columns & ~by_rows)
    if len(neither) or not (by_columns.all() or by_rows.all()):
        index = int(neither[0]) if len(neither) else int(np.flatnonzero(~by_columns)[0])
        if not stored[index].any():
            raise _singular(bones, index, reading.file)
        problem = "the matrix is not affine in the layout of the others"
        place = _place(index, bones[index].name, "inverseBind")
        raise FormatError(reading.file, place, problem, "0, 0, 0, 1 at places 3, 7, 11, 15")
    matrices = stored.swapaxes(1, 2).copy()
    if not by_columns.all():
        matrices = stored
        message = "The inverse bind matrices are stored row by row; they are written column by column."
        reading.report.add(codes.ROW_MAJOR, "bind", message)
    matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)  # which they are but for rounding
    singular = np.flatnonzero(is_singular(matrices))
    if len(singular):
        raise _singular(bones, int(singular[0]), reading.file)
    return matrices


def _singular(bones: list[Bone], index: int, file: str) -> FormatError:
    place = _place(index, bones[index].name, "inverseBind")
    return FormatError(file, place, "the matrix is singular", "one that has an inverse")


def _is_affine(matrices: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(matrices[:, 3] - [0.0, 0.0, 0.0, 1.0]).max(axis=1) <= _AFFINE)


def _read_bind(file: RigFile, name: str) -> Bind | None:
    if file.bind is UNSET:
        return None
    if isinstance(file.bind, Reference):
        return BindReference(guid=file.bind.guid)
    if file.bind not in ("skin", "rest"):
        expected = '"skin", "rest", or {"__ref": guid}'
        raise FormatError(name, "$.bind", f"the bind is {quoted(file.bind)}", expected)
    return file.bind


def _check_overrides(file: RigFile, name: str) -> None:
    if file.overrides is UNSET:
        return
    for guid, overrides in file.overrides.items():
        where = f"$.overrides[{quoted(guid)}].roles"
        roles = overrides.get("roles", {})
        if not isinstance(roles, dict):
            raise FormatError(name, where, f"the roles are {quoted(roles)}", "an object")
        for role, bone in roles.items():
            if not isinstance(bone, str) and bone is not False:
                problem = f"role {quoted(role)} is {quoted(bone)}"
                raise FormatError(name, f"{where}.{role}", problem, "the name of a bone, or false")
