"""``rigconv-ir/1``: complete, editable, and strict about what it refers to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rigconv
from hypothesis import given
from rigconv import FormatError
from rigconv.ir.document import from_builtins, to_builtins
from rigconv.ir.rig import Rig
from rigconv.testing import assert_same, rigs
from support import dumped, read_bytes

EYE = np.eye(4).tolist()


def document(**fields: Any) -> dict[str, Any]:
    return {
        "spec": "rigconv-ir/1",
        "bones": [{"name": "root", "local": EYE}, {"name": "arm", "parent": "root", "local": EYE}],
    } | fields


@given(rigs() | rigs(dimensions=3))
def test_a_document_says_all_that_a_rig_says(rig: Rig) -> None:
    again = from_builtins(json.loads(json.dumps(to_builtins(rig))))
    assert_same(rig, again, 0)
    assert to_builtins(again) == to_builtins(rig)


def test_everything_of_a_puppet_is_stored(fixtures: Path, tmp_path: Path) -> None:
    rigconv.convert(fixtures / "puppet.inr", tmp_path / "a.rigir.json")
    before, after = rigconv.read(fixtures / "puppet.inr"), rigconv.read(tmp_path / "a.rigir.json")
    assert_same(before, after, 0)
    assert after.textures[0].data.tobytes() == before.textures[0].data.tobytes()


def test_a_bone_stands_in_the_document_with_its_parent_and_its_rows() -> None:
    moved = [[1, 0, 0, 5], [0, 1, 0, 6], [0, 0, 1, 7], [0, 0, 0, 1]]
    rig, _ = read_bytes(dumped(document(bones=[{"name": "root", "local": moved}])), "ir")
    assert rig.skeleton.local[0, :3, 3].tolist() == [5, 6, 7]
    assert to_builtins(rig)["bones"] == [{"name": "root", "local": [[float(value) for value in row] for row in moved]}]


def test_what_an_element_is_comes_before_what_its_file_said(fixtures: Path) -> None:
    bone = to_builtins(rigconv.read(fixtures / "swing.rig.json"))["bones"][2]
    assert next(iter(bone)) == "name"
    assert list(bone)[-1] == "native"


def test_children_may_stand_before_their_parents() -> None:
    bones = [{"name": "arm", "parent": "root", "local": EYE}, {"name": "root", "local": EYE}]
    assert read_bytes(dumped(document(bones=bones)), "ir")[0].skeleton.names == ["root", "arm"]


def test_an_edited_document_wins_over_what_the_file_said(fixtures: Path, tmp_path: Path) -> None:
    rigconv.convert(fixtures / "swing.rig.json", tmp_path / "a.rigir.json")
    stored = json.loads((tmp_path / "a.rigir.json").read_text())
    stored["bones"][1]["local"][1][3] = 99
    stored["slots"][1]["color"] = [1, 0, 0, 1]
    (tmp_path / "a.rigir.json").write_text(json.dumps(stored))
    rigconv.convert(tmp_path / "a.rigir.json", tmp_path / "back.rig.json")
    back = json.loads((tmp_path / "back.rig.json").read_text())
    original = json.loads((fixtures / "swing.rig.json").read_text())
    original["bones"][1]["y"] = 99
    original["slots"][1]["color"] = "ff0000ff"
    assert back == original


MESH = {
    "type": "mesh",
    "mesh": {
        "bones": ["arm"],
        "starts": [0, 1, 2, 3],
        "influence_bones": [0, 0, 0],
        "positions": [[0, 0, 0], [1, 0, 0], [1, 1, 0]],
        "weights": [1, 1, 1],
        "uvs": [[0, 0], [1, 0], [1, 1]],
        "triangles": [[0, 1, 2]],
    },
}


def meshed(change: Callable[[dict[str, Any]], None] = lambda _: None) -> dict[str, Any]:
    attachment = json.loads(json.dumps(MESH))
    change(attachment["mesh"])
    return document(
        slots=[{"name": "s", "bone": "arm"}], skins=[{"name": "default", "attachments": {"s": {"a": attachment}}}]
    )


def test_whole_numbers_may_stand_for_any() -> None:
    mesh = read_bytes(dumped(meshed()), "ir")[0].skins[0].attachments["s"]["a"].mesh
    assert mesh.positions.dtype == np.float64
    assert mesh.triangles.dtype == np.int64


def put(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda mesh: mesh.update(fields)


BINDING = {"bone": "arm", "target": "opacity", "values": [[0], [1]], "is_set": [[True], [True]]}
PARAM = {"name": "p", "axis_points": [[0, 1], [0]], "bindings": [BINDING]}

FAULTS = {
    "no object": ([], "not an object"),
    "version": (document(spec="rigconv-ir/2"), 'unknown version "rigconv-ir/2"; expected "rigconv-ir/1"'),
    "type": (document(name=3), r"\$.name"),
    "no bones": (document(bones=[]), "no bone"),
    "bone without matrix": (document(bones=[{"name": "root"}]), "local"),
    "name empty": (document(bones=[{"name": "", "local": EYE}]), r"bones\[0\].name: the name is empty"),
    "name twice": (document(bones=[{"name": "a", "local": EYE}] * 2), "two elements have this name"),
    "parent unknown": (document(bones=[{"name": "a", "parent": "b", "local": EYE}]), 'no bone "b"'),
    "cycle": (document(bones=[{"name": "a", "parent": "a", "local": EYE}]), "its own ancestor"),
    "matrix shape": (document(bones=[{"name": "a", "local": EYE[:3]}]), "shape 3 x 4; expected 4 x 4"),
    "matrix ragged": (document(bones=[{"name": "a", "local": [[1], [2, 3]]}]), "array"),
    "matrix of text": (document(bones=[{"name": "a", "local": "xyz!"}]), r"bones\[0\].local: .*base64"),
    "bind on some": (
        document(bones=[{"name": "a", "local": EYE, "inverse_bind": EYE}, {"name": "b", "local": EYE}]),
        r'bones\["b"\]: inverse_bind is missing',
    ),
    "slot bone": (document(slots=[{"name": "s", "bone": "leg"}]), r'slots\["s"\]: there is no bone "leg"'),
    "mask bone": (document(slots=[{"name": "s", "bone": "arm", "masks": [{"bone": "x"}]}]), 'no bone "x"'),
    "skin slot": (document(skins=[{"name": "default", "attachments": {"t": {}}}]), 'no slot "t"'),
    "mesh bone": (meshed(put(bones=["leg"])), 'no bone "leg"'),
    "starts": (meshed(put(starts=[0, 2, 1, 3])), "starts do not ascend"),
    "influence": (meshed(put(influence_bones=[0, 0, 1])), "influence_bones: an index is out of range"),
    "positions": (meshed(put(positions=[[0, 0, 0]])), "positions: the array has shape 1 x 3; expected 3 x 3"),
    "triangle": (meshed(put(triangles=[[0, 1, 3]])), "triangles: an index is out of range"),
    "triangle fraction": (meshed(put(triangles=[[0, 1, 1.5]])), "whole numbers"),
    "uvs": (meshed(put(uvs=[[0, 0]])), "uvs: there are 1 pairs; expected 3"),
    "constraint bone": (
        document(constraints=[{"type": "ik", "name": "c", "bones": ["leg"], "target": "arm"}]),
        r'constraints\["ik/c"\]: there is no bone "leg"',
    ),
    "constraint type": (document(constraints=[{"type": "spring", "name": "c"}]), "spring"),
    "binding bone": (document(params=[{**PARAM, "bindings": [{**BINDING, "bone": "x"}]}]), 'no bone "x"'),
    "binding grid": (
        document(params=[{**PARAM, "bindings": [{**BINDING, "values": [[0]]}]}]),
        "shape 1 x 1; expected 2 x 1",
    ),
    "lane param": (
        document(animations=[{"name": "a", "lanes": [{"param": "p", "keyframes": []}]}]),
        'no param "p"',
    ),
    "texture size": (
        document(textures=[{"width": 1, "height": 1, "data": "AAAA"}]),
        r"textures\[0\]: the texture has 3 bytes",
    ),
    "texture base64": (document(textures=[{"width": 1, "height": 1, "data": "?"}]), r"textures\[0\].data: .*base64"),
    "texture index": (
        document(
            slots=[{"name": "s", "bone": "arm"}],
            skins=[{"name": "d", "attachments": {"s": {"a": {"type": "mesh", "textures": [0, -1, -1]}}}}],
        ),
        "no texture 0",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named_by_their_place(fault: str) -> None:
    value, message = FAULTS[fault]
    with pytest.raises(FormatError, match=message):
        read_bytes(dumped(value), "ir")
