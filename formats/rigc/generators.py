"""What a mesh generator's declaration must satisfy (specs/rigc-facts.md §5).

The declaration itself is kept as data.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from ...ir.errors import FormatError, quoted
from ..json_text import convert


class Bias(msgspec.Struct):
    """Directional authority across an axis."""

    axis_deg: float
    ramp: tuple[float, float]


class Ring(msgspec.Struct):
    """A mesh around an aperture; points are part pixels, y down."""

    hull: list[tuple[float, float]]
    center: tuple[float, float]
    inner: float
    size: tuple[float, float]
    controls: list[str]
    bias: Bias | UnsetType = UNSET


class Ribbon(msgspec.Struct):
    """A strip over a chain of bones."""

    size: tuple[float, float]
    rows: int
    chain: list[str]


KEPT_KINDS = ("contour", "grid", "segments")
"""Builders of later versions, and the one that the seed leaves unbuilt."""

_WINDOW_TOLERANCE = 1e-6


def check_generator(generator: dict[str, Any], bones: set[str], where: str, file: str) -> None:
    """Refuse a declaration that the builders would refuse.

    Raises:
        FormatError: Naming the field at fault.
    """
    kind = generator.get("kind")
    if kind == "ring":
        _check_ring(convert(generator, Ring, file, where), bones, where, file)
    elif kind == "ribbon":
        _check_ribbon(convert(generator, Ribbon, file, where), bones, where, file)
    elif kind not in KEPT_KINDS:
        raise FormatError(file, f"{where}.kind", f"the generator has kind {quoted(kind)}", "ring, ribbon or contour")


def _check_ring(ring: Ring, bones: set[str], where: str, file: str) -> None:
    hull, center, size = np.array(ring.hull).reshape(-1, 2), np.array(ring.center), np.array(ring.size)
    if len(hull) < 6:
        raise FormatError(file, f"{where}.hull", f"the hull has {len(hull)} points", "at least 6")
    if not 0 < ring.inner < 1:
        raise FormatError(file, f"{where}.inner", f"inner is {ring.inner}", "a number between 0 and 1")
    if not (size > 0).all():
        raise FormatError(file, f"{where}.size", f"the size is {ring.size}", "a width and height above 0")
    if (hull < -_WINDOW_TOLERANCE).any() or (hull > size + _WINDOW_TOLERANCE).any():
        raise FormatError(file, f"{where}.hull", "a hull point lies outside the window", "points within size")
    following = np.roll(hull, -1, axis=0)
    area = (hull[:, 0] * following[:, 1] - following[:, 0] * hull[:, 1]).sum() / 2
    edge, spoke = following - hull, center - hull
    if not ((edge[:, 0] * spoke[:, 1] - edge[:, 1] * spoke[:, 0]) * area > 0).all():
        raise FormatError(file, f"{where}.hull", "the hull is not star-shaped about the centre", "a hull that is")
    if (center < 0).any() or (center > size).any():
        raise FormatError(file, f"{where}.center", "the centre lies outside the window", "a point within size")
    if ring.bias is not UNSET and not ring.bias.ramp[1] > ring.bias.ramp[0]:
        raise FormatError(file, f"{where}.bias.ramp", f"the ramp is {ring.bias.ramp}", "two ascending numbers")
    _check_bones(ring.controls, bones, f"{where}.controls", file)


def _check_ribbon(ribbon: Ribbon, bones: set[str], where: str, file: str) -> None:
    if not all(length > 0 for length in ribbon.size):
        raise FormatError(file, f"{where}.size", f"the size is {ribbon.size}", "a width and height above 0")
    if ribbon.rows < 3:
        raise FormatError(file, f"{where}.rows", f"there are {ribbon.rows} rows", "at least 3")
    _check_bones(ribbon.chain, bones, f"{where}.chain", file)


def _check_bones(names: list[str], bones: set[str], where: str, file: str) -> None:
    if not names:
        raise FormatError(file, where, "no bone is named", "at least one")
    for name in names:
        if name not in bones:
            raise FormatError(file, where, f"there is no bone {quoted(name)}", "the name of a bone")
