"""The structs of ``rig.json``, named as specs/seed-engine-rig.txt has them."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
# fmt: off
Matrix = tuple[
    float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float
]
# fmt: on


class Transform(msgspec.Struct, kw_only=True):
    """A transform relative to the parent; an absent part is that of the identity."""

    translation: Vector | UnsetType = UNSET
    rotation: Quaternion | UnsetType = UNSET
    scale: Vector | UnsetType = UNSET


class Bone(msgspec.Struct, kw_only=True):
    """One bone. The rest transform stands on the bone itself or under one of three names."""

    name: str
    parent: int
    node: int | UnsetType = UNSET
    translation: Vector | UnsetType = UNSET
    rotation: Quaternion | UnsetType = UNSET
    scale: Vector | UnsetType = UNSET
    rest: Transform | UnsetType = UNSET
    local: Transform | UnsetType = UNSET
    transform: Transform | UnsetType = UNSET
    inverseBind: Matrix


class Reference(msgspec.Struct, kw_only=True):
    """Another asset, by guid."""

    guid: str = msgspec.field(name="__ref")


class RigFile(msgspec.Struct, kw_only=True):
    """The document; ``overrides`` are kept whole: ``{avatar type guid: {"roles": {role: bone name or false}}}``."""

    bones: list[Bone]
    bind: str | Reference | UnsetType = UNSET
    overrides: dict[str, dict[str, Any]] | UnsetType = UNSET


NESTED = ("rest", "local", "transform")
"""Names under which the rest transform may stand, besides the bone itself."""
