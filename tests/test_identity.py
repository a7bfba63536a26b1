"""A -> IR -> A restores every authored value: values, key order, the spelling of numbers, the bytes of views."""

from __future__ import annotations

from pathlib import Path

import pytest
import rigconv
from conftest import shared_folder
from hypothesis import given
from hypothesis import strategies as st
from rigconv.ir.rig import Rig
from rigconv.testing import assert_same, rigs
from support import (
    FILE_NAMES,
    FORMATS,
    QUAD,
    dumped,
    inr_bytes,
    inr_document,
    lowered,
    node,
    part,
    read_bytes,
    rigc_document,
    sample_id,
    samples,
    spelling,
    tolerance,
    write_bytes,
)

NORMALISED = "row_major"
"""Column-major is written, whatever was read; tests/test_engine.py tells of it."""

KEPT = [path for path in samples(shared_folder(), "good") if path.parent.name != NORMALISED]


@pytest.mark.parametrize("path", KEPT, ids=sample_id)
def test_samples_come_out_as_they_went_in(path: Path, shared: Path, tmp_path: Path) -> None:
    target = tmp_path / path.name
    rigconv.convert(path, target)
    assert spelling(target.read_bytes()) == spelling(path.read_bytes())
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["swing.rig.json", "walker.rig/rig.json", "puppet.inr"])
def test_fixtures_come_out_byte_for_byte(name: str, fixtures: Path, tmp_path: Path) -> None:
    target = tmp_path / Path(name).name
    rigconv.convert(fixtures / name, target)
    assert target.read_bytes() == (fixtures / name).read_bytes()


@pytest.mark.parametrize("format_id", FORMATS)
@given(data=st.data())
def test_what_was_written_once_is_written_so_again(format_id: str, data: st.DataObject) -> None:
    rig: Rig = data.draw(rigs() | rigs(dimensions=3))
    first, _ = write_bytes(rig, format_id)
    second, report = write_bytes(read_bytes(first, format_id)[0], format_id)
    assert second == first
    assert not report.losses


@pytest.mark.parametrize("format_id", FORMATS)
@given(data=st.data())
def test_reading_gives_the_rig_that_was_made_to_fit(format_id: str, data: st.DataObject) -> None:
    rig: Rig = data.draw(rigs() | rigs(dimensions=3))
    fitted, _ = lowered(rig, format_id)
    assert_same(fitted, read_bytes(write_bytes(fitted, format_id)[0], format_id)[0], tolerance(format_id))


NUMBERS = [
    {"x": 0},
    {"x": 0.0},
    {"x": 1e-7, "y": -0.1234567},
    {"rotation": 370},
    {"rotation": -720.5, "scaleX": 1},
    {"shearX": 10, "shearY": -5, "scaleX": -1.5},
    {"inherit": "NoScale", "shearX": 30},
    {"length": 0, "skin": False, "color": "FF00ff00", "icon": "flag"},
    {"later": {"field": [1, None]}},
]


@pytest.mark.parametrize("fields", NUMBERS, ids=str)
def test_a_bone_field_is_written_exactly_when_it_was_declared(fields: dict[str, object]) -> None:
    document = rigc_document(bones=[{"name": "root"}, {**fields, "name": "arm", "parent": "root"}], slots=[])
    data = dumped(document)
    assert spelling(write_bytes(read_bytes(data, "rigc")[0], "rigc")[0]) == spelling(data)


@pytest.mark.parametrize(
    "fields",
    [
        {"constraints": []},
        {"skins": {}},
        {"skins": {"default": {}, "red": {"s": {}}}},
        {"skins": {"default": {"s": {"a": {"width": 1, "height": 2.0, "color": "FFFFFFFF", "later": {"x": 2}}}}}},
        {"skins": {"default": {"s": {"a": {"type": "boundingbox", "vertexCount": 1, "vertices": [0, 0]}}}}},
        {"skins": {"long": {"bones": ["arm"], "attachments": {"s": {"a": {"width": 1, "height": 1}}}, "ik": ["c"]}}},
        {"constraints": [{"type": "slider", "name": "c", "animation": "walk"}]},
        {"constraints": [{"name": "c", "type": "physics", "bone": "arm", "scaleYMode": "volume", "mass": 1}]},
        {"note": "n", "images": "pictures", "invariants": {"meshSlots": 0}, "events": {"step": {}}},
        {"skeleton": {"width": None, "height": None, "audio": "sounds"}},
    ],
    ids=str,
)
def test_parts_of_a_rig_spec_are_kept_as_declared(fields: dict[str, object]) -> None:
    data = dumped(rigc_document(**fields))
    assert spelling(write_bytes(read_bytes(data, "rigc")[0], "rigc")[0]) == spelling(data)


INR_FILES = {
    "no optional section": inr_bytes(inr_document()),
    "explicit nulls": inr_bytes(inr_document(node("a", 2, mesh=None, part=None, composite=None, physics=None))),
    "unknown fields": inr_bytes(inr_document(node("a", 2, later=[1, {"b": 1e300}]), zz={"x": None})),
    "unknown kind with a mesh": inr_bytes(
        inr_document(node("a", 2, kind="path_deformer", mesh={**part("a", 2)["mesh"]})), QUAD
    ),
    "a view that nothing refers to": inr_bytes(inr_document(part("a", 2)), [*QUAD, b"\1\2\3"]),
    "two parts of one mesh": inr_bytes(inr_document(part("a", 2), part("b", 3)), QUAD),
    "names used twice": inr_bytes(inr_document(node("a", 2), node("a", 3), node("", 4), node("", 5), node("a\0", 6))),
    "a part that lost its part": inr_bytes(inr_document({**part("a", 2), "part": None}), QUAD),
    "views in another order": inr_bytes(
        {**inr_document(part("a", 2, mesh={**part("a", 2)["mesh"], "positions": 1, "uvs": 0})), "asset": {}}, QUAD
    ),
    "composite and mask": inr_bytes(
        inr_document(
            node(
                "group",
                2,
                kind="composite",
                composite={
                    "blend_mode": "vivid",
                    "tint": [1, 1, 0.5],
                    "screen_tint": [0, 0.1, 0],
                    "opacity": 0.5,
                    "mask_threshold": 0.25,
                    "masks": [{"node": 2, "mode": "luma", "feather": 2}],
                    "compose_hint": None,
                },
            ),
            node("mask", 3, kind="mask", mesh=part("a", 2)["mesh"]),
        ),
        QUAD,
    ),
}


@pytest.mark.parametrize("name", INR_FILES)
def test_a_puppet_keeps_what_its_author_said(name: str) -> None:
    data = INR_FILES[name]
    assert spelling(write_bytes(read_bytes(data, "inr")[0], "inr")[0]) == spelling(data)


@pytest.mark.parametrize("format_id", FORMATS)
def test_a_file_may_be_converted_onto_itself(format_id: str, fixtures: Path, tmp_path: Path) -> None:
    path = tmp_path / FILE_NAMES[format_id]
    rigconv.convert(fixtures / "swing.rig.json", path)
    before = path.read_bytes()
    rigconv.convert(path, path)
    assert path.read_bytes() == before
