"""Matrix mathematics: building affine transforms, taking them apart, and factoring out what is not T·R·S.

Every function works on stacks: a leading shape ``(...)`` is kept. Matrices are (..., 4, 4) float64 acting on column
vectors, angles are radians. Nothing here knows bones or parents; that is :mod:`rigconv.ir.pose`.
"""

from __future__ import annotations

import numpy as np

from .errors import ConversionError

SHEAR_TOLERANCE = 1e-11
"""Cosine between two axes above which a matrix counts as sheared; leaves world matrices exact to 1e-9."""

SINGULAR_RATIO = 1e-12
"""Shortest to longest semi-axis of the image of a sphere below which a matrix counts as singular."""


# -- building ---------------------------------------------------------------------------------------------------------


def identity(count: int) -> np.ndarray:
    """(count, 4, 4) identity matrices."""
    return np.tile(np.eye(4), (count, 1, 1))


def compose(translation: np.ndarray, rotation: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """T·R·S.

    Args:
        translation: (..., 3).
        rotation: (..., 3, 3).
        scale: (..., 3).

    Returns:
        (..., 4, 4).
    """
    matrix = np.zeros((*translation.shape[:-1], 4, 4))
    matrix[..., :3, :3] = rotation * scale[..., None, :]
    matrix[..., :3, 3] = translation
    matrix[..., 3, 3] = 1.0
    return matrix


def rotation_from_quaternion(quaternion: np.ndarray) -> np.ndarray:
    """(..., 3, 3) rotations from (..., 4) quaternions x, y, z, w, which are normalised first and must not be zero."""
    x, y, z, w = np.moveaxis(quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def rotation_from_euler(angles: np.ndarray) -> np.ndarray:
    """(..., 3, 3) rotations Rz·Ry·Rx from (..., 3) angles about x, y, z: the x axis is turned first."""
    (cx, cy, cz), (sx, sy, sz) = np.moveaxis(np.cos(angles), -1, 0), np.moveaxis(np.sin(angles), -1, 0)
    rows = [
        [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
        [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
        [-sy, cy * sx, cy * cx],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def planar(
    position: np.ndarray,
    rotation: np.ndarray,
    shear: np.ndarray,
    scale: np.ndarray,
) -> np.ndarray:
    """Spine's local transform as a matrix at z = 0 (specs/spine-facts.md §4).

    Args:
        position: (..., 2).
        rotation: (...).
        shear: (..., 2) angles added to the x axis and to the y axis.
        scale: (..., 2).

    Returns:
        (..., 4, 4).
    """
    x_angle = rotation + shear[..., 0]
    y_angle = rotation + shear[..., 1]
    matrix = np.zeros((*position.shape[:-1], 4, 4))
    matrix[..., 0, 0], matrix[..., 1, 0] = np.cos(x_angle) * scale[..., 0], np.sin(x_angle) * scale[..., 0]
    # The y axis is a quarter turn ahead; saying it so keeps the zeros of an unturned bone exact.
    matrix[..., 0, 1], matrix[..., 1, 1] = -np.sin(y_angle) * scale[..., 1], np.cos(y_angle) * scale[..., 1]
    matrix[..., :2, 3] = position
    matrix[..., 2, 2] = matrix[..., 3, 3] = 1.0
    return matrix


# -- taking apart -----------------------------------------------------------------------------------------------------


def inverse(matrix: np.ndarray) -> np.ndarray:
    """Inverses of affine matrices that are not singular.

    Raises:
        ConversionError: One is singular in float64.
    """
    result = np.zeros_like(matrix)
    try:
        linear = np.linalg.inv(matrix[..., :3, :3])
    except np.linalg.LinAlgError:
        raise ConversionError("a matrix is singular, or its numbers are too large") from None
    result[..., :3, :3] = linear
    result[..., :3, 3] = -(linear @ matrix[..., :3, 3, None])[..., 0]
    result[..., 3, 3] = 1.0
    return result


def is_singular(matrix: np.ndarray) -> np.ndarray:
    """(...) bool: which matrices have no usable inverse; a matrix and its inverse are judged alike."""
    linear = matrix[..., :3, :3]
    lengths = np.linalg.norm(linear, axis=-2)
    directions = linear / np.where(lengths > 0, lengths, 1.0)[..., None, :]
    uneven = lengths.min(axis=-1) < 1e-6 * lengths.max(axis=-1)
    # Singular values are dear, so they are computed only where axes are nearly parallel or of very different length.
    doubtful = np.atleast_1d(uneven | (np.abs(np.linalg.det(directions)) < 1e-4) | (lengths.max(axis=-1) == 0))
    singular = np.zeros(doubtful.shape, dtype=bool)
    values = np.linalg.svd(linear.reshape(*doubtful.shape, 3, 3)[doubtful], compute_uv=False)
    singular[doubtful] = values[:, -1] <= SINGULAR_RATIO * values[:, 0]
    return singular.reshape(uneven.shape)


def is_sheared(matrix: np.ndarray) -> np.ndarray:
    """(...) bool: which matrices are not T·R·S, because two of their axes are not perpendicular."""
    linear = matrix[..., :3, :3]
    lengths = np.linalg.norm(linear, axis=-2)
    directions = linear / np.where(lengths > 0, lengths, 1.0)[..., None, :]
    cosines = np.swapaxes(directions, -1, -2) @ directions
    off_diagonal = np.abs(cosines[..., [0, 0, 1], [1, 2, 2]])
    return np.asarray(off_diagonal.max(axis=-1) > SHEAR_TOLERANCE)


def decompose(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Translation, rotation and scale of matrices without shear.

    A mirrored matrix gets a negative y scale, so that what lies flat in the xy plane turns about z alone. An axis of
    length zero gets a direction perpendicular to the others.

    Returns:
        (..., 3) translation, (..., 3, 3) proper rotation, (..., 3) scale.
    """
    linear = matrix[..., :3, :3]
    scale = np.linalg.norm(linear, axis=-2)
    rotation = linear / np.where(scale > 0, scale, 1.0)[..., None, :]
    flat = (scale == 0).any(axis=-1)
    if flat.any():
        rotation[flat] = _complete_axes(rotation[flat])
    mirrored = np.linalg.det(rotation) < 0
    rotation[..., :, 1] = np.where(mirrored[..., None], -rotation[..., :, 1], rotation[..., :, 1])
    scale[..., 1] = np.where(mirrored, -scale[..., 1], scale[..., 1])
    return matrix[..., :3, 3].copy(), rotation, scale


def decompose_sheared(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Translation, rotation, scale and shear of any affine matrices.

    The rotation is that of the x axis and of the plane of x and y, scale is the length of the axes, and shear is how
    much further than a right angle two axes stand apart; without shear all is as :func:`decompose` says.

    Returns:
        (..., 3) translation, (..., 3, 3) proper rotation, (..., 3) scale, (..., 3) shear in radians between the axes
        x and y, x and z, y and z.
    """
    translation, axes, scale = decompose(matrix)
    cosines = np.swapaxes(axes, -1, -2) @ axes
    shear = -np.arcsin(np.clip(cosines[..., [0, 0, 1], [1, 2, 2]], -1.0, 1.0))
    shear[np.abs(shear) <= SHEAR_TOLERANCE] = 0.0
    first = axes[..., :, 0]
    second = axes[..., :, 1] - cosines[..., 0, 1, None] * first
    length = np.linalg.norm(second, axis=-1, keepdims=True)
    parallel = length[..., 0] < _PARALLEL
    second = np.where(parallel[..., None], 0.0, second / np.where(length > 0, length, 1.0))
    rotation = np.stack([first, second, np.cross(first, second)], axis=-1)
    if parallel.any():
        rotation[parallel] = _complete_axes(rotation[parallel])
    return translation, rotation, scale, shear


_PARALLEL = 1e-9
"""Sine between two axes below which they span no plane."""


def _complete_axes(axes: np.ndarray) -> np.ndarray:
    """(k, 3, 3) axes, some of which are zero, completed to orthonormal right-handed triples, z last."""
    completed = axes.copy()
    for triple in completed:
        missing = [column for column in (2, 1, 0) if not triple[:, column].any()]
        for column in missing:
            triple[:, column] = _perpendicular(triple, column)
    return completed


def _perpendicular(triple: np.ndarray, column: int) -> np.ndarray:
    """A unit vector perpendicular to the other axes of ``triple`` that are not zero, as near to its own axis as can."""
    others = [triple[:, other] for other in range(3) if other != column and triple[:, other].any()]
    if len(others) == 2:
        following, last = triple[:, (column + 1) % 3], triple[:, (column + 2) % 3]
        return np.cross(following, last)
    for axis in np.roll(np.eye(3), -column, axis=0):
        candidate = axis - sum(((axis @ other) * other for other in others), np.zeros(3))
        if np.linalg.norm(candidate) > 0.5:
            break
    return np.asarray(candidate / np.linalg.norm(candidate))


def quaternion_from_rotation(rotation: np.ndarray) -> np.ndarray:
    """(..., 4) unit quaternions x, y, z, w with w >= 0 from (..., 3, 3) rotations, by the largest component."""
    xx, yy, zz = rotation[..., 0, 0], rotation[..., 1, 1], rotation[..., 2, 2]
    wx, wy, wz = (rotation[..., i, j] - rotation[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0)))
    xy, xz, yz = (rotation[..., i, j] + rotation[..., j, i] for i, j in ((0, 1), (0, 2), (1, 2)))
    candidates = np.stack(
        [
            np.stack([1 + xx - yy - zz, xy, xz, wx], axis=-1),
            np.stack([xy, 1 - xx + yy - zz, yz, wy], axis=-1),
            np.stack([xz, yz, 1 - xx - yy + zz, wz], axis=-1),
            np.stack([wx, wy, wz, 1 + xx + yy + zz], axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(np.stack([xx - yy - zz, yy - xx - zz, zz - xx - yy, xx + yy + zz], axis=-1), axis=-1)
    quaternion = np.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :]
    quaternion = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
    return np.asarray(np.where(quaternion[..., 3:] < 0, -quaternion, quaternion))


def euler_from_rotation(rotation: np.ndarray) -> np.ndarray:
    """(..., 3) angles about x, y, z so that Rz·Ry·Rx is ``rotation``; in gimbal lock the x angle is zero."""
    cos_y = np.hypot(rotation[..., 0, 0], rotation[..., 1, 0])
    locked = cos_y < 1e-9
    x = np.where(locked, 0.0, np.arctan2(rotation[..., 2, 1], rotation[..., 2, 2]))
    y = np.arctan2(-rotation[..., 2, 0], cos_y)
    z_free = np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
    z_locked = np.arctan2(-rotation[..., 0, 1], rotation[..., 1, 1])
    return np.stack([x, y, np.where(locked, z_locked, z_free)], axis=-1)


def decompose_planar(matrix: np.ndarray, shear_x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotation, shear and scale of a transform in the xy plane, as :func:`planar` takes them.

    Args:
        matrix: (..., 4, 4); only x and y are looked at.
        shear_x: (...) the part of the x axis's angle that is shear and not rotation.

    Returns:
        (...) rotation in (-pi, pi], (..., 2) shear with the second in (-pi/2, pi/2], (..., 2) scale.
    """
    x_axis, y_axis = matrix[..., :2, 0], matrix[..., :2, 1]
    scale_x, scale_y = np.hypot(*np.moveaxis(x_axis, -1, 0)), np.hypot(*np.moveaxis(y_axis, -1, 0))
    y_angle = np.arctan2(y_axis[..., 1], y_axis[..., 0])
    x_angle = np.where(scale_x > 0, np.arctan2(x_axis[..., 1], x_axis[..., 0]), y_angle - np.pi / 2)
    rotation = x_angle - shear_x
    shear_y = np.where(scale_y > 0, wrap_angle(y_angle - np.pi / 2 - rotation), 0.0)
    mirrored = (shear_y > np.pi / 2) | (shear_y <= -np.pi / 2)
    shear_y = np.where(mirrored, wrap_angle(shear_y + np.pi), shear_y)
    scale_y = np.where(mirrored, -scale_y, scale_y)
    return wrap_angle(rotation), np.stack([shear_x, shear_y], axis=-1), np.stack([scale_x, scale_y], axis=-1)


def wrap_angle(angle: np.ndarray) -> np.ndarray:
    """Angles brought into (-pi, pi]."""
    wrapped = np.remainder(angle + np.pi, 2 * np.pi) - np.pi
    return np.where(wrapped == -np.pi, np.pi, wrapped)


# -- factoring --------------------------------------------------------------------------------------------------------

_QUARTER_TURN_X = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def factor_shear(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two matrices without shear whose product is ``matrix``: T·R1·S and R2.

    Returns:
        (..., 4, 4) outer and (..., 4, 4) inner; the inner one is a pure rotation. Flat matrices give flat ones.
    """
    left, scale, right = _singular_factors(matrix[..., :3, :3])
    zero, one = np.zeros_like(scale), np.ones_like(scale)
    return compose(matrix[..., :3, 3], left, scale), compose(zero, right, one)


def factor_depth_scale(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three matrices without shear and without z scale whose product is ``matrix``.

    With ``matrix`` = T·R1·diag(a, b, c)·R2 and Q a quarter turn about x, they are T·R1·diag(a, b, 1),
    Q·diag(1, c, 1) and Q⁻¹·R2: a scale along z is one along y, turned.

    Returns:
        Three (..., 4, 4); the innermost is a pure rotation.
    """
    left, scale, right = _singular_factors(matrix[..., :3, :3])
    zero, one = np.zeros_like(scale), np.ones_like(scale)
    flat_scale, turned_scale = scale.copy(), one.copy()
    flat_scale[..., 2] = 1.0
    turned_scale[..., 1] = scale[..., 2]
    turn = np.broadcast_to(_QUARTER_TURN_X, left.shape)
    return (
        compose(matrix[..., :3, 3], left, flat_scale),
        compose(zero, turn, turned_scale),
        compose(zero, np.swapaxes(turn, -1, -2) @ right, one),
    )


def depth_scale(matrix: np.ndarray) -> np.ndarray:
    """(...) the scale along z that is left when ``matrix`` is factored into rotation, scale and rotation."""
    return _singular_factors(matrix[..., :3, :3])[1][..., 2]


def _singular_factors(linear: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(..., 3, 3) proper rotation, (..., 3) scale and (..., 3, 3) proper rotation whose product is ``linear``."""
    left, scale, right = np.linalg.svd(linear)
    # The value nearest to 1 comes last: a target without z scale can then often do without a factor for it.
    order = np.argsort(-np.abs(scale - 1.0), axis=-1, kind="stable")
    left = np.take_along_axis(left, order[..., None, :], axis=-1)
    scale = np.take_along_axis(scale, order, axis=-1)
    right = np.take_along_axis(right, order[..., :, None], axis=-2)

    flat = is_flat(linear)
    left[flat] = right[flat] = np.eye(3)
    left[flat, :2, :2], scale[flat, :2], right[flat, :2, :2] = np.linalg.svd(linear[flat][:, :2, :2])
    scale[flat, 2] = linear[flat, 2, 2]

    left_sign, right_sign = np.sign(np.linalg.det(left)), np.sign(np.linalg.det(right))
    left[..., :, 1] *= left_sign[..., None]
    right[..., 1, :] *= right_sign[..., None]
    scale[..., 1] *= left_sign * right_sign
    return left, scale, right


def is_flat(linear: np.ndarray) -> np.ndarray:
    """(...) bool: which (..., 3, 3) keep the xy plane in place and the z axis upright."""
    return np.asarray(
        (linear[..., :2, 2] == 0).all(axis=-1) & (linear[..., 2, :2] == 0).all(axis=-1) & (linear[..., 2, 2] > 0)
    )
