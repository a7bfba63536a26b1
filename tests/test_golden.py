"""Rigs without an authored spelling, byte for byte against files that were put down by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rigconv.ir.rig import BlendMode, Bone, Rig, Skeleton, Slot, Stage
from support import read_bytes, write_bytes

GOLDEN = Path(__file__).parent / "golden"


def local(x: float, y: float, x_axis: tuple[float, float], y_axis: tuple[float, float]) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:2, :2] = np.transpose([x_axis, y_axis])
    matrix[:2, 3] = x, y
    return matrix


ROOT = local(0, 0, (1, 0), (0, 1))
TURNED_ARM = local(10, 5, (0, 1), (-1, 0))
ARM = local(10, 5, (1, 0), (0, 1))
HAND = local(2, 0, (2, 0), (0, -0.5))


def skeleton(*matrices: np.ndarray, **arm: float) -> Skeleton:
    bones = [Bone(name="root"), Bone(name="arm", **arm), Bone(name="hand")]
    return Skeleton(bones=bones, parent=np.array([-1, 0, 1]), local=np.stack(matrices))


def rigc() -> Rig:
    return Rig(
        name="plain",
        skeleton=skeleton(ROOT, TURNED_ARM, HAND, length=4.0),
        stage=Stage(x=0.0, y=0.0, width=20.0, height=10.0),
        slots=[Slot(name="sleeve", bone="arm", color=(1, 0.5, 0, 1), blend=BlendMode.ADD)],
    )


def engine() -> Rig:
    rig = Rig(skeleton=skeleton(ROOT, ARM, HAND))
    rig.skeleton.bones[0].node_index = 7
    return rig


def inr() -> Rig:
    return Rig(name="plain", skeleton=skeleton(ROOT, TURNED_ARM, HAND))


def hub() -> Rig:
    bones = [Bone(name="root"), Bone(name="hand", length=4.0)]
    return Rig(
        name="plain",
        skeleton=Skeleton(bones=bones, parent=np.array([-1, 0]), local=np.stack([ROOT, HAND])),
        slots=[Slot(name="sleeve", bone="hand", color=(1.0, 0.5, 0.0, 1.0), blend=BlendMode.ADD)],
    )


CASES = {
    "rigc": (rigc, "plain.rig.json"),
    "engine": (engine, "rig.json"),
    "inr": (inr, "plain.inr"),
    "ir": (hub, "plain.rigir.json"),
}


@pytest.mark.parametrize("format_id", CASES)
def test_a_rig_is_written_as_the_golden_file(format_id: str) -> None:
    make, name = CASES[format_id]
    assert write_bytes(make(), format_id)[0] == (GOLDEN / name).read_bytes()


@pytest.mark.parametrize("format_id", CASES)
def test_the_golden_file_is_read_and_written_again(format_id: str) -> None:
    data = (GOLDEN / CASES[format_id][1]).read_bytes()
    assert write_bytes(read_bytes(data, format_id)[0], format_id)[0] == data
