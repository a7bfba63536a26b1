"""World matrices: by hand for each inherit mode, and the way back to local matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from rigconv.ir.matrix import planar
from rigconv.ir.pose import inverse_bind_of_rest, levels, local_matrices, world_matrices
from rigconv.ir.rig import Bone, Inherit, Skeleton
from rigconv.testing import skeletons


def chain(parent: np.ndarray, local: np.ndarray, mode: Inherit, shear_x: float = 0.0) -> Skeleton:
    bones = [Bone(name="parent"), Bone(name="child", inherit=mode, shear_x=shear_x)]
    return Skeleton(bones=bones, parent=np.array([-1, 0]), local=np.stack([parent, local]))


def spine(x: float, y: float, rotation: float, scale: tuple[float, float] = (1, 1)) -> np.ndarray:
    return planar(np.array([x, y]), np.radians(rotation), np.zeros(2), np.array(scale, dtype=float))


# Parent: at (10, 0), turned by 90 degrees, scaled by (2, 3). Child: at (1, 2), turned by 30 degrees.
# In every mode the child stands at (10 - 3 * 2, 2 * 1) = (4, 2).
@pytest.mark.parametrize(
    ("mode", "x_axis", "y_axis"),
    [
        (Inherit.NORMAL, (-3 * 0.5, 2 * np.cos(np.pi / 6)), (-3 * np.cos(np.pi / 6), -2 * 0.5)),
        (Inherit.ONLY_TRANSLATION, (np.cos(np.pi / 6), 0.5), (-0.5, np.cos(np.pi / 6))),
        # Q = columns (0, 2), (-3, 0); turned back by 90 degrees, then by 30: Q @ R(-60).
        (
            Inherit.NO_ROTATION_OR_REFLECTION,
            (3 * np.sin(np.pi / 3), 2 * 0.5),
            (-3 * 0.5, 2 * np.sin(np.pi / 3)),
        ),
    ],
)
def test_inherit_modes_by_hand(mode: Inherit, x_axis: tuple[float, float], y_axis: tuple[float, float]) -> None:
    world = world_matrices(chain(spine(10, 0, 90, (2, 3)), spine(1, 2, 30), mode))[1]
    assert world[:2, 3] == pytest.approx([4, 2])
    assert world[:2, 0] == pytest.approx(x_axis)
    assert world[:2, 1] == pytest.approx(y_axis)


@pytest.mark.parametrize(("mode", "mirror"), [(Inherit.NO_SCALE, -1.0), (Inherit.NO_SCALE_OR_REFLECTION, 1.0)])
def test_modes_without_scale_keep_unit_axes(mode: Inherit, mirror: float) -> None:
    # Parent scaled by (2, -3): its image of (1, 0) is (2, 0), of unit length (1, 0); its determinant is negative.
    world = world_matrices(chain(spine(0, 0, 0, (2, -3)), spine(0, 0, 0, (4, 5)), mode))[1]
    assert world[:2, 0] == pytest.approx([4, 0])
    assert world[:2, 1] == pytest.approx([0, 5 * mirror])


def test_shear_of_the_x_axis_is_no_rotation_where_scale_is_not_inherited() -> None:
    # Parent stretched along x turns the direction at 45 degrees to (2, 1) / sqrt(5); shear comes on top of that.
    local = planar(np.zeros(2), np.radians(45), np.radians([20.0, 0.0]), np.ones(2))
    world = world_matrices(chain(spine(0, 0, 0, (2, 1)), local, Inherit.NO_SCALE, np.radians(20)))[1]
    angle = np.arctan2(1, 2) + np.radians(20)
    assert world[:2, 0] == pytest.approx([np.cos(angle), np.sin(angle)])


def test_a_root_stands_where_its_local_matrix_says_whatever_it_inherits() -> None:
    skeleton = Skeleton(
        bones=[Bone(name="root", inherit=Inherit.NO_SCALE)], parent=np.array([-1]), local=spine(1, 2, 30, (2, 3))[None]
    )
    assert np.array_equal(world_matrices(skeleton), skeleton.local)


def test_a_locked_bone_hangs_on_the_root_of_its_tree() -> None:
    skeleton = Skeleton(
        bones=[Bone(name="root"), Bone(name="arm"), Bone(name="hand", lock_to_root=True)],
        parent=np.array([-1, 0, 1]),
        local=np.stack([spine(100, 0, 0), spine(10, 0, 90), spine(1, 0, 0)]),
    )
    assert world_matrices(skeleton)[2, :2, 3] == pytest.approx([101, 0])


def test_levels_are_the_depths_below_the_roots() -> None:
    assert [level.tolist() for level in levels(np.array([-1, 0, -1, 1, 2, 0]))] == [[1, 4, 5], [3]]


@given(skeletons(inherit=False))
def test_world_matrices_are_products_down_the_tree(skeleton: Skeleton) -> None:
    world = world_matrices(skeleton)
    for index, above in enumerate(skeleton.parent.tolist()):
        wanted = skeleton.local[index] if above < 0 else world[above] @ skeleton.local[index]
        assert np.allclose(world[index], wanted, atol=1e-12 * np.abs(world).max())


@given(skeletons(inherit=False))
def test_local_matrices_of_world_matrices_give_them_back(skeleton: Skeleton) -> None:
    world = world_matrices(skeleton)
    again = world_matrices(skeleton, local_matrices(skeleton, world))
    assert np.allclose(again, world, atol=1e-9 * np.abs(world).max())


@given(skeletons(dimensions=3))
def test_a_bind_that_is_rest_undoes_the_world(skeleton: Skeleton) -> None:
    products = world_matrices(skeleton) @ inverse_bind_of_rest(skeleton)
    assert np.allclose(products, np.eye(4), atol=1e-8 * max(1.0, np.abs(world_matrices(skeleton)).max()))
