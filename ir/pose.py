"""Posing a skeleton: world matrices from local ones, by depth level, with every inherit mode.

Also the way back: local matrices that give wanted world matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from .matrix import SINGULAR_RATIO, identity, inverse, is_singular
from .rig import Inherit, Skeleton


def world_matrices(skeleton: Skeleton, local: np.ndarray | None = None) -> np.ndarray:
    """World matrices of all bones.

    Args:
        skeleton: The bones, in topological order.
        local: (n, 4, 4) local matrices; the rest pose by default.

    Returns:
        (n, 4, 4); ``world[i] = world[parent[i]] @ local[i]`` for bones that inherit normally, roots being their own
        local matrices. Other inherit modes follow specs/spine-facts.md §4, locked bones take their tree's root as
        parent (specs/inr-facts.md §4).
    """
    local = skeleton.local if local is None else local
    parent = transform_parents(skeleton)
    modes = np.array([_MODES.index(bone.inherit) for bone in skeleton.bones])
    shear_x = np.array([bone.shear_x for bone in skeleton.bones])
    world = local.copy()
    for level in levels(parent):
        world[level] = world[parent[level]] @ local[level]
        for mode in set(modes[level].tolist()) - {0}:
            chosen = level[modes[level] == mode]
            linear = _INHERIT[_MODES[mode]](world[parent[chosen]], local[chosen], shear_x[chosen])
            world[chosen, :3, :3] = linear
    return world


def local_matrices(skeleton: Skeleton, world: np.ndarray) -> np.ndarray:
    """Local matrices, relative to each bone's own parent, of bones that inherit normally.

    A parent whose world matrix is singular is treated as if its vanished axes had length one; what hangs on it cannot
    be reached from it otherwise.

    Args:
        skeleton: Gives the parents; its local matrices and inherit modes are not looked at.
        world: (n, 4, 4).

    Returns:
        (n, 4, 4).
    """
    local = world.copy()
    child = np.flatnonzero(skeleton.parent >= 0)
    local[child] = inverse(regular(world[skeleton.parent[child]])) @ world[child]
    return local


def inverse_bind_of_rest(skeleton: Skeleton) -> np.ndarray:
    """(n, 4, 4) inverses of the rest pose's world matrices, singular ones made regular."""
    return inverse(regular(world_matrices(skeleton)))


def regular(matrix: np.ndarray) -> np.ndarray:
    """``matrix`` with the vanished axes of singular members replaced by axes of length one.

    Beside axes that are so long or short that an axis of length one would vanish, it is as long as needed.
    """
    singular = is_singular(matrix)
    if not singular.any():
        return matrix
    left, scale, right = np.linalg.svd(matrix[singular][:, :3, :3])
    longest = scale.max(axis=-1, keepdims=True)
    floor, span = SINGULAR_RATIO * longest, np.sqrt(SINGULAR_RATIO)
    new = np.where(longest > 0, np.clip(1.0, longest * span, longest / span), 1.0)
    result = matrix.copy()
    result[singular, :3, :3] = (left * np.where(scale > floor, scale, new)[:, None, :]) @ right
    return result


def transform_parents(skeleton: Skeleton) -> np.ndarray:
    """(n,) int: the bone whose world matrix each bone's local one is applied to, -1 for roots."""
    locked = np.array([bone.lock_to_root for bone in skeleton.bones], dtype=bool) & (skeleton.parent >= 0)
    if not locked.any():
        return skeleton.parent
    return np.where(locked, roots(skeleton.parent), skeleton.parent)


def roots(parent: np.ndarray) -> np.ndarray:
    """(n,) int: the root of each bone's tree."""
    root: list[int] = []
    for index, above in enumerate(parent.tolist()):
        root.append(index if above < 0 else root[above])
    return np.array(root, dtype=np.int64)


def levels(parent: np.ndarray) -> Iterator[np.ndarray]:
    """Indices of the bones at each depth below the roots, nearest first.

    Args:
        parent: (n,) int, -1 for roots; a parent comes before its children.
    """
    depths: list[int] = []
    for above in parent.tolist():
        depths.append(0 if above < 0 else depths[above] + 1)
    depth = np.array(depths, dtype=np.int64)
    order = np.argsort(depth, kind="stable")
    ends = np.cumsum(np.bincount(depth)) if len(depth) else np.zeros(1, dtype=np.int64)
    for start, end in pairwise(ends.tolist()):
        yield order[start:end]


# -- inherit modes (specs/spine-facts.md §4) --------------------------------------------------------------------------
# Each takes (k, 4, 4) parent worlds P, (k, 4, 4) locals L and (k,) shear, and gives the (k, 3, 3) linear part of the
# world matrix. They are rules of the plane: z stays upright.


def _only_translation(parent: np.ndarray, local: np.ndarray, shear_x: np.ndarray) -> np.ndarray:
    return local[:, :3, :3]


def _no_rotation_or_reflection(parent: np.ndarray, local: np.ndarray, shear_x: np.ndarray) -> np.ndarray:
    """Q·R·L, where Q is P turned back to its x axis and unmirrored, and R takes that axis's angle off."""
    axis, other = parent[:, :2, 0], parent[:, :2, 1]
    length_squared = (axis**2).sum(axis=-1)
    vanished = length_squared <= _VANISHED_SQUARED
    stretch = np.abs(_determinant(parent)) / np.where(vanished, 1.0, length_squared)
    frame = _columns(axis, stretch[:, None] * _quarter_turn(axis))
    flat = _columns(np.zeros_like(axis), other * [-1.0, 1.0])
    angle = np.arctan2(axis[:, 1], axis[:, 0])
    flat_angle = np.pi / 2 - np.arctan2(other[:, 1], other[:, 0])
    frame = np.where(vanished[:, None, None], flat, frame)
    turn = _rotation(np.where(vanished, -flat_angle, -angle))
    return _upright(frame @ turn @ local[:, :2, :2])


def _no_scale(parent: np.ndarray, local: np.ndarray, shear_x: np.ndarray) -> np.ndarray:
    return _unit_frame(parent, local, shear_x, mirror=np.where(_determinant(parent) < 0, -1.0, 1.0))


def _no_scale_or_reflection(parent: np.ndarray, local: np.ndarray, shear_x: np.ndarray) -> np.ndarray:
    return _unit_frame(parent, local, shear_x, mirror=np.ones(len(parent)))


def _unit_frame(parent: np.ndarray, local: np.ndarray, shear_x: np.ndarray, mirror: np.ndarray) -> np.ndarray:
    """Q·L(0): Q has P's image of the rotation's direction as unit x axis and the perpendicular of it as y axis."""
    x_axis = local[:, :2, 0]
    y_axis = local[:, :2, 1]
    has_x = (x_axis**2).sum(axis=-1) > 0
    angle = np.where(has_x, np.arctan2(x_axis[:, 1], x_axis[:, 0]), np.arctan2(-y_axis[:, 0], y_axis[:, 1]))
    rotation = angle - shear_x
    direction = np.stack([np.cos(rotation), np.sin(rotation)], axis=-1)
    image = (parent[:, :2, :2] @ direction[:, :, None])[:, :, 0]
    length = np.linalg.norm(image, axis=-1, keepdims=True)
    image = image / np.where(length > 0, length, 1.0)
    frame = _columns(image, mirror[:, None] * _quarter_turn(image))
    return _upright(frame @ _rotation(-rotation) @ local[:, :2, :2])


_VANISHED_SQUARED = 1e-5
"""The squared axis length at which the official runtime takes a parent's x axis for vanished."""

_INHERIT: dict[Inherit, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    Inherit.ONLY_TRANSLATION: _only_translation,
    Inherit.NO_ROTATION_OR_REFLECTION: _no_rotation_or_reflection,
    Inherit.NO_SCALE: _no_scale,
    Inherit.NO_SCALE_OR_REFLECTION: _no_scale_or_reflection,
}
_MODES = [Inherit.NORMAL, *_INHERIT]


def _determinant(matrix: np.ndarray) -> np.ndarray:
    return np.asarray(matrix[:, 0, 0] * matrix[:, 1, 1] - matrix[:, 0, 1] * matrix[:, 1, 0])


def _quarter_turn(vector: np.ndarray) -> np.ndarray:
    return np.stack([-vector[:, 1], vector[:, 0]], axis=-1)


def _columns(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.stack([first, second], axis=-1)


def _rotation(angle: np.ndarray) -> np.ndarray:
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.stack([np.stack([cosine, -sine], axis=-1), np.stack([sine, cosine], axis=-1)], axis=-2)


def _upright(linear: np.ndarray) -> np.ndarray:
    result = identity(len(linear))[:, :3, :3]
    result[:, :2, :2] = linear
    return result
