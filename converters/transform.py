"""Matrices as people read them: translation, rotation in degrees, scale, shear."""

from __future__ import annotations

import msgspec
import numpy as np

from ..ir.matrix import decompose_sheared, euler_from_rotation

Triple = tuple[float, float, float]

_DECIMALS = 9


class Transform(msgspec.Struct, frozen=True):
    """An affine matrix, taken apart.

    Attributes:
        translation: In length units.
        rotation: Degrees about x, y, z; x is turned first. What lies in the plane turns about z alone.
        scale: Length of the axes; a mirrored one has a negative y.
        shear: Degrees by which two axes stand further apart than at a right angle: x and y, x and z, y and z.
    """

    translation: Triple
    rotation: Triple
    scale: Triple
    shear: Triple


def transforms(matrices: np.ndarray) -> list[Transform]:
    """(n, 4, 4) affine matrices, taken apart."""
    translation, rotation, scale, shear = decompose_sheared(matrices)
    parts = translation, np.degrees(euler_from_rotation(rotation)), scale, np.degrees(shear)
    rows = zip(*(_clean(part).tolist() for part in parts), strict=True)
    return [Transform(*(tuple(triple) for triple in row)) for row in rows]


def _clean(values: np.ndarray) -> np.ndarray:
    """(n, 3) values without the noise of computing them, and without negative zeros."""
    return np.asarray(np.round(values, _DECIMALS) + 0.0)
