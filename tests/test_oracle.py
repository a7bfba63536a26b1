"""World matrices against the official Spine runtime, on skeleton JSON that says what a rig spec says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rigconv
from hypothesis import given, settings
from rigconv.converters.files import read as read_source
from rigconv.formats.rigc.manifest import read_manifest
from rigconv.formats.rigc.writer import document_of
from rigconv.ir.exchange import ReadOptions
from rigconv.ir.pose import world_matrices
from rigconv.ir.rig import Rig
from rigconv.testing import rigs
from support import lowered, read_bytes, write_bytes

Ask = Callable[[dict[str, Any]], dict[str, Any]]

RUNTIME_TOLERANCE = 1e-5
"""Share of the skeleton's size; the runtime's pi has eight digits."""

SAMPLES = ("crane_constraints", "jellyfish_generators", "kite_meshes", "lantern_regions", "weathervane_bones")


_OURS = ("from", "skin")


def _first_letter_lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def skeleton_json(bones: list[dict[str, Any]]) -> dict[str, Any]:
    """Skeleton JSON with these rig spec bones, whose fields Spine has by the same names."""
    plain = [
        {
            key: _first_letter_lowered(value) if key == "inherit" else value
            for key, value in bone.items()
            if key not in _OURS
        }
        for bone in bones
    ]
    return {"skeleton": {"spine": "4.3.13"}, "bones": plain, "slots": [], "skins": [], "animations": {}}


def assert_runtime_agrees(rig: Rig, bones: list[dict[str, Any]], ask: Ask) -> None:
    """Fail unless the runtime poses ``bones`` as we pose the rig."""
    answer = {bone["name"]: bone for bone in ask(skeleton_json(bones))["bones"]}
    world = world_matrices(rig.skeleton)
    size = np.abs(world).max()
    for name, matrix in zip(rig.skeleton.names, world, strict=True):
        bone = answer[name]
        wanted = [[bone["a"], bone["b"], bone["worldX"]], [bone["c"], bone["d"], bone["worldY"]]]
        assert np.abs(matrix[:2, [0, 1, 3]] - wanted).max() <= RUNTIME_TOLERANCE * size, name


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_stand_as_in_the_runtime(name: str, shared: Path, spine_runtime: Ask) -> None:
    rig = rigconv.read(shared / "samples" / "rigc" / f"{name}.rig.json")
    assert_runtime_agrees(rig, document_of(rig)["bones"], spine_runtime)


def test_the_fixture_stands_as_in_the_runtime(fixtures: Path, spine_runtime: Ask) -> None:
    rig = rigconv.read(fixtures / "swing.rig.json")
    assert_runtime_agrees(rig, document_of(rig)["bones"], spine_runtime)


def test_bones_placed_by_a_manifest_stand_as_in_the_runtime(shared: Path, spine_runtime: Ask) -> None:
    folder = shared / "samples" / "rigc"
    manifest = read_source(str(folder / "barge.manifest.json"))
    rig = rigconv.read(folder / "barge_from.rig.json", options=ReadOptions(manifest=manifest))
    bones = document_of(rig)["bones"]
    placed = [{**fields, **bone.native["rigc"].derived} for fields, bone in zip(bones, rig.skeleton.bones, strict=True)]
    assert_runtime_agrees(rig, placed, spine_runtime)
    world = dict(zip(rig.skeleton.names, world_matrices(rig.skeleton), strict=True))
    # The anchor boom is at crop pixel (170.5, 90.25) of a crop 240 high.
    assert read_manifest(manifest).anchors["boom"][:2] == [170.5, 90.25]
    assert world["boom"][:2, 3] == pytest.approx([170.5, 240 - 90.25], abs=1e-5)


@settings(max_examples=25)
@given(rig=rigs(several_roots=False))
def test_written_rig_specs_stand_as_in_the_runtime(rig: Rig, spine_runtime: Ask) -> None:
    fitted, _ = lowered(rig, "rigc")
    assert_runtime_agrees(fitted, document_of(fitted)["bones"], spine_runtime)


@settings(max_examples=15)
@given(rig=rigs(several_roots=False))
def test_what_went_through_inr_stands_as_in_the_runtime(rig: Rig, spine_runtime: Ask) -> None:
    original, _ = lowered(rig, "rigc")
    data, _ = write_bytes(original, "inr")
    back, _ = lowered(read_bytes(data, "inr")[0], "rigc")
    bones = document_of(back)["bones"]
    answer = {bone["name"]: bone for bone in spine_runtime(skeleton_json(bones))["bones"]}
    world = world_matrices(original.skeleton)
    size = np.abs(world).max()
    for name, matrix in zip(original.skeleton.names, world, strict=True):
        assert abs(answer[name]["worldX"] - matrix[0, 3]) <= 2e-5 * size
        assert abs(answer[name]["worldY"] - matrix[1, 3]) <= 2e-5 * size
