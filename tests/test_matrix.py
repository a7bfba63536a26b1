"""The matrix mathematics, against hand calculation and against its own inverses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rigconv.ir import matrix
from rigconv.testing import planar_matrices, spatial_matrices

ANGLES = st.floats(-10, 10)
HALF = np.sqrt(0.5)


def test_euler_angles_turn_about_x_first() -> None:
    # Rz(90) @ Rx(90) takes y to z and then leaves z alone.
    rotation = matrix.rotation_from_euler(np.radians([90.0, 0.0, 90.0]))
    assert rotation @ [0, 1, 0] == pytest.approx([0, 0, 1])
    assert rotation @ [1, 0, 0] == pytest.approx([0, 1, 0])


def test_a_quaternion_is_x_y_z_w() -> None:
    quarter_about_z = matrix.rotation_from_quaternion(np.array([0.0, 0.0, HALF, HALF]))
    assert quarter_about_z @ [1, 0, 0] == pytest.approx([0, 1, 0])


def test_a_quaternion_need_not_be_of_length_one() -> None:
    assert matrix.rotation_from_quaternion(np.array([0.0, 0.0, 3.0, 3.0])) @ [1, 0, 0] == pytest.approx([0, 1, 0])


def test_a_planar_transform_has_spine_axes() -> None:
    # rotation 30, shear 10 and 20, scale 2 and 3: x axis at 40 degrees, y axis at 30 + 90 + 20.
    local = matrix.planar(np.array([5.0, 6.0]), np.radians(30), np.radians([10.0, 20.0]), np.array([2.0, 3.0]))
    assert local[:2, 0] == pytest.approx([2 * np.cos(np.radians(40)), 2 * np.sin(np.radians(40))])
    assert local[:2, 1] == pytest.approx([3 * np.cos(np.radians(140)), 3 * np.sin(np.radians(140))])
    assert local[:2, 3] == pytest.approx([5, 6])


@given(ANGLES, ANGLES, ANGLES)
def test_euler_angles_of_a_rotation_give_it_back(x: float, y: float, z: float) -> None:
    rotation = matrix.rotation_from_euler(np.array([x, y, z]))
    assert np.allclose(matrix.rotation_from_euler(matrix.euler_from_rotation(rotation)), rotation, atol=1e-7)


@pytest.mark.parametrize("y", [np.pi / 2, -np.pi / 2])
def test_euler_angles_survive_gimbal_lock(y: float) -> None:
    rotation = matrix.rotation_from_euler(np.array([0.3, y, 1.1]))
    assert np.allclose(matrix.rotation_from_euler(matrix.euler_from_rotation(rotation)), rotation, atol=1e-12)


@given(ANGLES, ANGLES, ANGLES)
def test_the_quaternion_of_a_rotation_gives_it_back(x: float, y: float, z: float) -> None:
    rotation = matrix.rotation_from_euler(np.array([x, y, z]))
    quaternion = matrix.quaternion_from_rotation(rotation)
    assert np.linalg.norm(quaternion) == pytest.approx(1)
    assert np.allclose(matrix.rotation_from_quaternion(quaternion), rotation, atol=1e-12)


@given(spatial_matrices())
def test_a_matrix_without_shear_is_t_r_s(local: np.ndarray) -> None:
    assert not matrix.is_sheared(local)
    translation, rotation, scale = matrix.decompose(local[None])
    assert np.linalg.det(rotation[0]) == pytest.approx(1)
    assert np.allclose(matrix.compose(translation, rotation, scale)[0], local, atol=1e-12)


def test_a_sheared_matrix_is_told_by_its_axes() -> None:
    # Turned by 30, then the y axis 20 degrees further from the x axis than at a right angle.
    local = matrix.planar(np.array([5.0, 6.0]), np.radians(30), np.radians([0.0, 20.0]), np.array([2.0, 3.0]))
    translation, rotation, scale, shear = matrix.decompose_sheared(local[None])
    assert translation[0] == pytest.approx([5, 6, 0])
    assert np.degrees(matrix.euler_from_rotation(rotation))[0] == pytest.approx([0, 0, 30])
    assert scale[0] == pytest.approx([2, 3, 1])
    assert np.degrees(shear)[0] == pytest.approx([20, 0, 0])


@pytest.mark.parametrize("linear", [np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, 0.0, 1.0])], ids=str)
def test_flattened_axes_still_get_a_rotation(linear: np.ndarray) -> None:
    local = np.eye(4)[None]
    local[0, :3, :3] = linear
    _, rotation, scale, _ = matrix.decompose_sheared(local)
    assert np.allclose(rotation[0] @ rotation[0].T, np.eye(3))
    assert np.linalg.det(rotation[0]) == pytest.approx(1)
    assert np.abs(scale[0]) == pytest.approx(np.linalg.norm(linear, axis=0))


@pytest.mark.parametrize("scale", [[0, 1, 1], [0, 0, 1], [0, 0, 0], [1, 0, 1], [-1, 0, 1]])
def test_a_vanished_axis_gets_a_direction(scale: list[float]) -> None:
    turned = matrix.rotation_from_euler(np.array([0.0, 0.0, 0.4]))
    local = matrix.compose(np.zeros(3), turned, np.array(scale, dtype=float))[None]
    translation, rotation, found = matrix.decompose(local)
    assert np.allclose(rotation[0] @ rotation[0].T, np.eye(3))
    assert np.allclose(matrix.compose(translation, rotation, found), local)


def test_a_mirrored_flat_matrix_turns_about_z_alone() -> None:
    mirrored = np.diag([-1.0, 1.0, 1.0, 1.0])
    _, rotation, scale = matrix.decompose(mirrored[None])
    assert scale[0] == pytest.approx([1, -1, 1])
    assert rotation[0] == pytest.approx(np.diag([-1.0, -1.0, 1.0]))


@given(planar_matrices(), st.floats(-1, 1))
def test_planar_parts_of_a_matrix_give_it_back(local: np.ndarray, shear_x: float) -> None:
    rotation, shear, scale = matrix.decompose_planar(local[None], np.array([shear_x]))
    again = matrix.planar(local[None, :2, 3], rotation, shear, scale)
    assert np.allclose(again[0], local, atol=1e-9 * np.abs(local).max())
    assert shear[0, 0] == shear_x
    assert -np.pi / 2 < shear[0, 1] <= np.pi / 2


def test_a_pure_reflection_has_no_shear() -> None:
    _, shear, scale = matrix.decompose_planar(np.diag([1.0, -1.0, 1.0, 1.0])[None], np.zeros(1))
    assert shear[0] == pytest.approx([0, 0])
    assert scale[0] == pytest.approx([1, -1])


@given(planar_matrices() | spatial_matrices())
def test_shear_factors_have_no_shear_and_give_the_matrix(local: np.ndarray) -> None:
    outer, inner = matrix.factor_shear(local[None])
    assert not matrix.is_sheared(outer).any()
    assert np.allclose(inner[0, :3, :3] @ inner[0, :3, :3].T, np.eye(3))
    assert np.allclose(outer @ inner, local, atol=1e-12 * np.abs(local).max())


@given(planar_matrices())
def test_shear_factors_of_a_flat_matrix_are_flat(local: np.ndarray) -> None:
    for factor in matrix.factor_shear(local[None]):
        assert matrix.is_flat(factor[:, :3, :3]).all()


@given(spatial_matrices())
def test_depth_factors_scale_no_z(local: np.ndarray) -> None:
    factors = matrix.factor_depth_scale(local[None])
    for factor in factors:
        _, _, scale = matrix.decompose(factor)
        assert abs(scale[0, 2]) == pytest.approx(1)
    assert np.allclose(factors[0] @ factors[1] @ factors[2], local, atol=1e-12 * np.abs(local).max())


@given(spatial_matrices())
def test_the_inverse_undoes_a_matrix(local: np.ndarray) -> None:
    assert np.allclose(matrix.inverse(local[None])[0] @ local, np.eye(4), atol=1e-9)


@pytest.mark.parametrize(
    ("axes", "singular"),
    [
        (np.eye(3), False),
        (np.eye(3) * 1e-9, False),
        (np.diag([1.0, 0.0, 1.0]), True),
        (np.zeros((3, 3)), True),
        (np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), True),
        (np.array([[1.0, 1.0, 0.0], [1.0, 1.001, 0.0], [0.0, 0.0, 1.0]]), False),
    ],
)
def test_a_singular_matrix_is_known_as_such(axes: np.ndarray, singular: bool) -> None:
    local = np.eye(4)
    local[:3, :3] = axes
    assert matrix.is_singular(local) == singular
    if not singular:
        assert not matrix.is_singular(matrix.inverse(local[None]))[0]


@pytest.mark.parametrize(("angle", "wrapped"), [(0, 0), (np.pi, np.pi), (-np.pi, np.pi), (7, 7 - 2 * np.pi)])
def test_angles_are_wrapped(angle: float, wrapped: float) -> None:
    assert matrix.wrap_angle(np.array(angle)) == pytest.approx(wrapped)
