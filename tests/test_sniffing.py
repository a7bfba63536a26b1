"""A file's format is told by its content; a name only breaks ties."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import rigconv
from rigconv import UnknownFormatError
from rigconv.converters.sniff import HEAD_BYTES, of_content, of_name, recognise
from support import dumped, inr_bytes, inr_document, rigc_document

ENGINE = dumped({"bones": [{"name": "root", "parent": -1, "inverseBind": []}]})
CONTENT = {
    "rigc": dumped(rigc_document()),
    "engine": ENGINE,
    "inr": inr_bytes(inr_document()),
    "ir": dumped({"spec": "rigconv-ir/1"}),
}


@pytest.mark.parametrize("format_id", CONTENT)
@pytest.mark.parametrize("name", ["a.rig.json", "rig.json", "a.inr", "a.rigir.json", "picture.png", "-"])
def test_content_decides(format_id: str, name: str) -> None:
    assert of_content(CONTENT[format_id], name).id == format_id


@pytest.mark.parametrize(
    ("data", "format_id"),
    [
        (b'\xef\xbb\xbf  {"spec": "rigc-rig/1"}', "rigc"),
        (b'{"spec" :\n "rigc-rig/2"}', "rigc"),
        (b'{"note": "\\"spec\\": \\"rigconv-ir/1\\"", "bones": [{"inverseBind": []}]}', "engine"),
        (b'{"x": {"spec": "rigc-rig/1"}, "bones": [{}, {"inverseBind": 1}]}', "engine"),
        (b'{"bones": [{"name": "cut off", "inverseBind": [1, 0,', "engine"),
        (json.dumps({"note": "x" * 2 * HEAD_BYTES, "spec": "rigc-rig/1"}).encode(), "rigc"),
    ],
)
def test_marks_are_keys_in_their_place(data: bytes, format_id: str) -> None:
    assert of_content(data, "x").id == format_id


@pytest.mark.parametrize(
    ("name", "format_id"), [("rig.json", "engine"), ("a.rig.json", "rigc"), ("a.rigir.json", "ir")]
)
def test_the_name_breaks_the_tie_of_a_json_object_without_marks(name: str, format_id: str) -> None:
    assert recognise(b'{"bones": []}') is None
    assert of_content(b'{"bones": []}', name).id == format_id


@pytest.mark.parametrize(
    ("data", "name", "nature"),
    [
        (b"", "a.inr", "an empty file"),
        (b"{}", "a.json", "a JSON object"),
        (b"[]", "x", "a JSON list"),
        (b"hello", "a.rig.json", "a file"),
        (b"\x89PNG", "rig.json", "a file"),
    ],
)
def test_what_no_format_recognises_is_an_error(data: bytes, name: str, nature: str) -> None:
    with pytest.raises(UnknownFormatError, match=f"{name}: {nature} that no format recognises; known are rigc"):
        of_content(data, name)


@pytest.mark.parametrize(
    ("name", "format_id"),
    [
        ("a.rig.json", "rigc"),
        ("A.RIG.JSON", "rigc"),
        ("folder/rig.json", "engine"),
        ("hero.rig", "engine"),
        ("hero.rig/", "engine"),
        ("a.inr", "inr"),
        ("a.rigir.json", "ir"),
        (".inr", None),
        ("a.json", None),
        ("inr", None),
    ],
)
def test_output_names_decide(name: str, format_id: str | None) -> None:
    found = of_name(name)
    assert (found.id if found else None) == format_id


def test_a_folder_without_a_rig_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.rig").mkdir()
    with pytest.raises(rigconv.RigconvError, match="No such file"):
        rigconv.read(tmp_path / "empty.rig")


def test_a_plain_folder_that_holds_a_rig_is_read(fixtures: Path, tmp_path: Path) -> None:
    folder = tmp_path / "walker"
    folder.mkdir()
    (folder / "rig.json").write_bytes((fixtures / "walker.rig" / "rig.json").read_bytes())
    assert rigconv.read(folder).skeleton.names == ["hips", "chest", "leg"]
