"""The cut manifest: where bones that say ``from`` take their setup transform (specs/rigc-facts.md §4).

Only what a rig spec refers to is read: the crop, the axis, the anchors, and the windows and centres of parts.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from ...ir.errors import FormatError, quoted
from ...ir.exchange import Source
from ...ir.pose import world_matrices
from ...ir.rig import Skeleton
from ..json_text import convert, decode
from .structs import RigBoneFrom
from .values import round6


class Crop(msgspec.Struct):
    """The cut's frame, in pixels."""

    w: float
    h: float


class Axis(msgspec.Struct):
    """The insertion axis: screen angle in degrees, y down, and the same as a unit vector."""

    deg: float
    unit: tuple[float, float] | UnsetType = UNSET


class PartMesh(msgspec.Struct):
    """The part of a mesh declaration that places bones."""

    center: tuple[float, float] | UnsetType = UNSET


class Part(msgspec.Struct):
    """A part of the cut; it fills the rig slot ``rig_slot``, or else ``slot``."""

    slot: str
    rig_slot: str | UnsetType = UNSET
    offset: tuple[float, float] | UnsetType = UNSET
    size: tuple[float, float] | UnsetType = UNSET
    mesh: PartMesh | UnsetType | None = UNSET


class Manifest(msgspec.Struct):
    """A cut manifest; points are crop pixels, y down."""

    crop: Crop
    axis: Axis | UnsetType = UNSET
    anchors: dict[str, list[float]] = {}
    parts: list[Part] = []


_UNIT_TOLERANCE = 1e-3


def read_manifest(source: Source) -> Manifest:
    """The manifest that a file holds.

    Raises:
        FormatError: It is no manifest, or contradicts itself.
    """
    manifest = convert(decode(source.data, source.file), Manifest, source.file)
    if manifest.axis is not UNSET and manifest.axis.unit is not UNSET:
        angle = np.radians(manifest.axis.deg)
        if np.abs(np.array(manifest.axis.unit) - [np.cos(angle), np.sin(angle)]).max() > _UNIT_TOLERANCE:
            raise FormatError(
                source.file, "$.axis.unit", "the unit vector is not that of axis.deg", "cos and sin of it"
            )
    return manifest


def resolve(source: RigBoneFrom, skeleton: Skeleton, index: int, manifest: Manifest, file: str) -> dict[str, float]:
    """The fields that a bone's ``from`` gives it.

    Args:
        source: The bone's ``from``.
        skeleton: All bones; those before ``index`` are resolved.
        index: The bone's place.
        manifest: Where to look.
        file: Name of the rig, for errors.

    Returns:
        ``x`` and ``y`` where it names a position, ``rotation`` where it names one; rounded as the compiler does.
    """
    where = f"$.bones[{index}].from ({quoted(skeleton.bones[index].name)})"
    fields: dict[str, float] = {}
    point = _point(source, manifest, where, file)
    if point is not None:
        world = np.array([point[0], manifest.crop.h - point[1]])
        fields["x"], fields["y"] = (round6(value) for value in _in_parent(world, skeleton, index, where, file))
    if source.rotation is not UNSET:
        fields["rotation"] = round6(_rotation(source, manifest, where, file))
    return fields


def _point(source: RigBoneFrom, manifest: Manifest, where: str, file: str) -> tuple[float, float] | None:
    if source.anchor is not UNSET:
        anchor = _anchor(source.anchor, manifest, where, file)
        return anchor[0], anchor[1]
    if source.slotWindow is not UNSET:
        part = _part(source.slotWindow, manifest, where, file)
        if part.offset is UNSET:
            raise FormatError(file, where, f"the part for slot {quoted(source.slotWindow)} has no offset", "an offset")
        width, height = (manifest.crop.w, manifest.crop.h) if part.size is UNSET else part.size
        return part.offset[0] + width / 2, part.offset[1] + height / 2
    if source.meshCenter is not UNSET:
        part = _part(source.meshCenter, manifest, where, file)
        if not isinstance(part.mesh, PartMesh) or part.mesh.center is UNSET:
            problem = f"the part for slot {quoted(source.meshCenter)} has no mesh.center"
            raise FormatError(file, where, problem, "a part with one")
        return part.mesh.center
    return None


def _anchor(name: str, manifest: Manifest, where: str, file: str) -> list[float]:
    anchor = manifest.anchors.get(name)
    if anchor is None or len(anchor) < 2:
        raise FormatError(file, where, f"the manifest has no anchor {quoted(name)}", _known(manifest.anchors))
    return anchor


def _part(slot: str, manifest: Manifest, where: str, file: str) -> Part:
    parts: dict[Any, Part] = {part.slot if part.rig_slot is UNSET else part.rig_slot: part for part in manifest.parts}
    if slot not in parts:
        raise FormatError(file, where, f"the manifest has no part for slot {quoted(slot)}", _known(parts))
    return parts[slot]


def _known(names: dict[Any, Any]) -> str:
    return f"one of {', '.join(map(quoted, names))}" if names else "one"


def _in_parent(point: np.ndarray, skeleton: Skeleton, index: int, where: str, file: str) -> list[float]:
    parent = int(skeleton.parent[index])
    if parent < 0:
        return [float(value) for value in point]
    world = world_matrices(skeleton)[parent]
    if abs(np.linalg.det(world[:2, :2])) < 1e-9:
        problem = f"the parent {quoted(skeleton.bones[parent].name)} has no extent, so nothing can be placed in it"
        raise FormatError(file, where, problem, "a parent whose scale is not zero")
    return [float(value) for value in np.linalg.solve(world[:2, :2], point - world[:2, 3])]


def _rotation(source: RigBoneFrom, manifest: Manifest, where: str, file: str) -> float:
    if source.rotation == "axis":
        if manifest.axis is UNSET:
            raise FormatError(file, where, "the manifest has no axis", "an axis")
        facing = manifest.axis.deg
    else:
        anchor = _anchor(str(source.anchor), manifest, where, file)
        if len(anchor) < 3:
            raise FormatError(file, where, f"anchor {quoted(source.anchor)} has no facing angle", "a third number")
        facing = anchor[2]
    turned = -facing % 360.0
    return turned - 360.0 if turned > 180.0 else turned
