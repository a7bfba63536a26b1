"""A -> B -> A over every ordered pair: with carry A comes back, without it only what was reported differs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import rigconv
from conftest import shared_folder
from hypothesis import given, settings
from hypothesis import strategies as st
from rigconv import Carry, ConvertOptions, LoweringOptions
from rigconv.ir import paths
from rigconv.ir.compare import differences
from rigconv.ir.document import to_builtins
from rigconv.ir.pose import world_matrices
from rigconv.ir.rig import Rig
from rigconv.testing import assert_roundtrip, assert_same, assert_same_worlds, rigs
from support import (
    FILE_NAMES,
    FORMATS,
    PAIRS,
    lowered,
    read_bytes,
    sample_id,
    samples,
    spelling,
    tolerance,
    write_bytes,
)

WITHOUT_CARRY = ConvertOptions(carry=Carry.NONE)
PLAIN_SAMPLES = [path for path in samples(shared_folder(), "good") if path.parent.name != "row_major"]


def format_of(path: Path) -> str:
    return next(
        format_id for format_id, name in FILE_NAMES.items() if path.name == name or path.name.endswith(name[1:])
    )


def go(start: Path, formats: list[str], folder: Path, options: ConvertOptions = ConvertOptions()) -> tuple[Path, list]:
    """Convert a file through formats; gives the last file and the reports on the way."""
    reports = []
    for step, format_id in enumerate(formats):
        place = folder / str(step)
        place.mkdir(exist_ok=True)
        target = place / FILE_NAMES[format_id]
        reports.append(rigconv.convert(start, target, options=options))
        start = target
    return start, reports


def written(rig: Rig, format_id: str, folder: Path) -> Path:
    path = folder / FILE_NAMES[format_id]
    path.write_bytes(write_bytes(rig, format_id)[0])
    return path


@pytest.mark.parametrize(("source", "target"), PAIRS)
@settings(max_examples=15)
@given(data=st.data())
def test_with_carry_the_file_comes_back_byte_for_byte(
    source: str, target: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("trip")
    start = written(data.draw(rigs() | rigs(dimensions=3)), source, folder)
    end, _ = go(start, [target, source], folder)
    assert end.read_bytes() == start.read_bytes()
    assert [file.name for file in end.parent.iterdir()] == [end.name]


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("path", PLAIN_SAMPLES, ids=sample_id)
def test_samples_come_back(path: Path, target: str, shared: Path, tmp_path: Path) -> None:
    end, _ = go(path, [target, format_of(path)], tmp_path)
    assert spelling(end.read_bytes()) == spelling(path.read_bytes())


@pytest.mark.parametrize("way", [["inr", "engine", "rigc"], ["engine", "ir", "inr", "rigc"], ["ir", "engine", "rigc"]])
def test_a_long_way_leads_back(way: list[str], fixtures: Path, tmp_path: Path) -> None:
    start = fixtures / "swing.rig.json"
    end, _ = go(start, way, tmp_path)
    assert end.read_bytes() == start.read_bytes()


@pytest.mark.parametrize(("source", "target"), PAIRS)
@settings(max_examples=15)
@given(data=st.data())
def test_without_carry_every_difference_is_in_a_report(
    source: str, target: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("trip")
    start = written(data.draw(rigs() | rigs(dimensions=3)), source, folder)
    end, reports = go(start, [target, source], folder, WITHOUT_CARRY)
    assert_explained(start, end, reports, tolerance(source, target))


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("path", PLAIN_SAMPLES, ids=sample_id)
def test_what_samples_lose_is_in_a_report(path: Path, target: str, shared: Path, tmp_path: Path) -> None:
    source = format_of(path)
    end, reports = go(path, [target, source], tmp_path, WITHOUT_CARRY)
    assert_explained(path, end, reports, tolerance(source, target))


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("way", [None, ["inr", "engine", "rigc"]], ids=["to each other", "a long way"])
@settings(max_examples=8)
@given(data=st.data())
def test_every_conversion_tells_all_that_it_changes(
    source: str, way: list[str] | None, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("trip")
    start = written(data.draw(rigs() | rigs(dimensions=3)), source, folder)
    assert_roundtrip(start, way, folder=folder)


def assert_explained(start: Path, end: Path, reports: list, within: float) -> None:
    found = differences(rigconv.read(start), rigconv.read(end), within)
    silent = [item for item in found if not any(report.explains(item.path) for report in reports)]
    assert not silent, [(item.path, item.before, item.after) for item in silent[:5]]


@pytest.mark.parametrize("target", FORMATS)
@given(data=st.data())
def test_world_matrices_are_the_same_in_every_format(target: str, data: st.DataObject) -> None:
    dimensions = data.draw(st.sampled_from([2] if target == "rigc" else [2, 3]))
    rig: Rig = data.draw(rigs(dimensions=dimensions))
    back, _ = read_bytes(write_bytes(rig, target)[0], target)
    assert_same_worlds(rig, back, tolerance(target))


@pytest.mark.parametrize("plane", list(rigconv.Plane))
@given(data=st.data())
def test_a_rig_that_stands_in_space_is_seen_from_the_front(plane: rigconv.Plane, data: st.DataObject) -> None:
    rig: Rig = data.draw(rigs(dimensions=3, several_roots=False))
    flat, report = lowered(rig, "rigc", LoweringOptions(plane=plane))
    right, up = "xyz".index(plane.value[0]), "xyz".index(plane.value[1])
    before, after = world_matrices(rig.skeleton), world_matrices(flat.skeleton)
    size = np.abs(before).max()
    assert np.abs(after[:, 0, 3] - before[:, right, 3]).max() <= 1e-9 * size
    assert np.abs(after[:, 1, 3] - before[:, up, 3]).max() <= 1e-9 * size
    edge_on = {entry.path for entry in report if entry.code == "PROJECTED_EDGE_ON"}
    for index, name in enumerate(rig.skeleton.names):
        seen = before[index][np.ix_([right, up], [right, up])]
        if paths.bone(name) not in edge_on:
            assert np.abs(after[index, :2, :2] - seen).max() <= 1e-9 * size


@pytest.mark.parametrize("target", FORMATS)
@given(data=st.data())
def test_what_was_made_to_fit_fits(target: str, data: st.DataObject) -> None:
    rig: Rig = data.draw(rigs() | rigs(dimensions=3))
    once, _ = lowered(rig, target)
    twice, report = lowered(once, target)
    assert_same(once, twice, 0)
    assert not report.entries


@pytest.mark.parametrize("target", FORMATS)
@given(data=st.data())
def test_making_a_rig_fit_leaves_the_rig_alone(target: str, data: st.DataObject) -> None:
    rig: Rig = data.draw(rigs() | rigs(dimensions=3))
    before = to_builtins(rig)
    write_bytes(rig, target)
    assert to_builtins(rig) == before
