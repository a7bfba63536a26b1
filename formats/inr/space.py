"""Between puppet space, Y down, and the representation's space, Y up (DESIGN §3; specs/inr-facts.md §4).

With F = diag(1, -1, 1, 1): matrices become F·M·F, positions F·p; angles about x and z change sign.
Mirroring twice gives every float back, so nothing is lost between the two.
"""

from __future__ import annotations

import numpy as np

from ...ir.matrix import compose, decompose, euler_from_rotation, rotation_from_euler

_FLIP = np.outer([1.0, -1.0, 1.0, 1.0], [1.0, -1.0, 1.0, 1.0])

FLIPPED_TARGETS = ("transform.t.y", "transform.r.x", "transform.r.z")
"""Bound values that change sign."""


def flip_matrices(matrices: np.ndarray) -> np.ndarray:
    """F·M·F for (..., 4, 4)."""
    return np.asarray(matrices * _FLIP)


def flip_points(points: np.ndarray) -> np.ndarray:
    """(..., 2) points with y negated, as float64."""
    return np.asarray(points.astype(np.float64) * [1.0, -1.0])


def flip_values(values: np.ndarray, target: str, kind: str) -> np.ndarray:
    """Values of a binding: (x, y) scalars or (x, y, v, 2) offsets."""
    if kind == "deform":
        return flip_points(values)
    return values.astype(np.float64) * (-1.0 if target in FLIPPED_TARGETS else 1.0)


def local_matrices(translation: np.ndarray, rotation: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """(n, 4, 4) matrices in the representation's space.

    Args:
        translation: (n, 3) pixels, Y down.
        rotation: (n, 3) radians about x, y, z, applied in this order.
        scale: (n, 2).
    """
    spatial = np.concatenate([scale, np.ones((len(scale), 1))], axis=1)
    return flip_matrices(compose(translation, rotation_from_euler(rotation), spatial))


def transforms(local: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The inverse of :func:`local_matrices`, for matrices without shear and z scale."""
    translation, rotation, scale = decompose(flip_matrices(local))
    return translation, euler_from_rotation(rotation), scale[:, :2]
