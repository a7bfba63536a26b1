"""What was edited in B beats what B carries, and carried items whose anchor is gone are dropped with a report."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rigconv
from rigconv.ir.pose import world_matrices
from rigconv.ir.report import ConversionReport
from rigconv.ir.rig import Rig
from support import FILE_NAMES

HOSTS = ("engine", "inr", "ir")


def load(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return json.loads(data[16 : 16 + struct.unpack_from("<I", data, 8)[0]] if data[:4] == b"INR1" else data)


def save(path: Path, document: dict[str, Any]) -> None:
    data = path.read_bytes()
    text = json.dumps(document).encode()
    if data[:4] == b"INR1":
        length = struct.unpack_from("<I", data, 8)[0]
        text += b" " * (-len(text) % 4)
        binary = data[16 + length :]
        text = struct.pack("<4sIII", b"INR1", 1, len(text), len(binary)) + text + binary
    path.write_bytes(text)


def entries(document: dict[str, Any]) -> list[dict[str, Any]]:
    return document["nodes" if "nodes" in document else "bones"]


def entry(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(item for item in entries(document) if item["name"] == name)


@pytest.fixture(params=HOSTS)
def edited(
    request: pytest.FixtureRequest, fixtures: Path, tmp_path: Path
) -> Callable[[Callable[[dict[str, Any]], None]], tuple[Rig, ConversionReport, dict[str, Any]]]:
    """Converts the swing, applies an edit to the file, and converts back."""

    def run(change: Callable[[dict[str, Any]], None]) -> tuple[Rig, ConversionReport, dict[str, Any]]:
        host = tmp_path / FILE_NAMES[request.param]
        rigconv.convert(fixtures / "swing.rig.json", host)
        document = load(host)
        change(document)
        save(host, document)
        back = tmp_path / "back.rig.json"
        report = rigconv.convert(host, back)
        return rigconv.read(back), report, json.loads(back.read_text())

    return run


def move(item: dict[str, Any], x: float, y: float) -> None:
    """Put a bone somewhere else; y is up, whatever the file's space."""
    if "local" in item:
        item["local"][0][3], item["local"][1][3] = x, y
    else:
        item["translation"] = [x, -y if "uuid" in item else y, 0.0]


def remove(document: dict[str, Any], name: str) -> None:
    """Delete a bone without children; the indices behind it move up."""
    items = entries(document)
    place = next(index for index, item in enumerate(items) if item["name"] == name)
    del items[place]
    for item in items:
        parent = item.get("parent")
        if isinstance(parent, int) and parent > place:
            item["parent"] = parent - 1


def test_an_untouched_file_gives_the_rig_back(edited: Any, fixtures: Path) -> None:
    _, report, document = edited(lambda _: None)
    assert document == json.loads((fixtures / "swing.rig.json").read_text())
    assert not report.losses


def test_a_moved_bone_stays_where_it_was_put(edited: Any) -> None:
    rig, _, document = edited(lambda document: move(entry(document, "hand"), 31.5, 62.25))
    world = dict(zip(rig.skeleton.names, world_matrices(rig.skeleton), strict=True))
    assert world["hand"][:2, 3] == pytest.approx([31.5, 62.25])
    assert entry(document, "hand") == {"name": "hand", "parent": "root", "x": 31.5, "y": 62.25}
    assert document["constraints"][0]["target"] == "hand"
    assert document["note"].startswith("A sheared rope")


def test_what_was_not_moved_keeps_its_authored_values(edited: Any) -> None:
    _, _, document = edited(lambda document: move(entry(document, "hand"), 1, 2))
    assert entry(document, "rope")["shearY"] == 10
    assert entry(document, "seat")["inherit"] == "noScale"


@pytest.mark.parametrize("edited", ["engine", "inr"], indirect=True)
def test_a_moved_bone_loses_the_inherit_mode_that_was_baked_into_its_pose(edited: Any) -> None:
    rig, report, document = edited(lambda document: move(entry(document, "seat~shear"), 10, 0))
    assert entry(document, "seat")["inherit"] == "normal"
    assert [item.code for item in report if item.path == 'bones["seat"]'] == ["CARRY_DROPPED"]
    # The file says where the axes are, and they stay there.
    seat = world_matrices(rig.skeleton)[rig.skeleton.names.index("seat")]
    assert np.linalg.norm(seat[:2, 0]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("edited", ["engine", "inr"], indirect=True)
def test_a_deleted_bone_takes_what_hangs_on_it_along(edited: Any) -> None:
    rig, report, document = edited(lambda document: remove(document, "hand"))
    assert "hand" not in rig.skeleton.names
    assert document["constraints"] == []
    dropped = {item.path for item in report if item.code == "CARRY_DROPPED"}
    assert dropped == {'bones["hand"]', 'constraints["ik/pull"]'}


@pytest.mark.parametrize("edited", ["engine", "inr"], indirect=True)
def test_a_renamed_bone_has_its_new_name(edited: Any) -> None:
    def rename(document: dict[str, Any]) -> None:
        entry(document, "hand")["name"] = "paw"

    rig, report, document = edited(rename)
    assert "paw" in rig.skeleton.names
    assert "hand" not in rig.skeleton.names
    assert entry(document, "paw")["x"] == pytest.approx(30)
    assert {item.path for item in report if item.code == "CARRY_DROPPED"} >= {'bones["hand"]'}


def test_a_hub_document_that_refers_to_a_deleted_bone_is_refused(fixtures: Path, tmp_path: Path) -> None:
    host = tmp_path / FILE_NAMES["ir"]
    rigconv.convert(fixtures / "swing.rig.json", host)
    document = load(host)
    remove(document, "hand")
    save(host, document)
    with pytest.raises(rigconv.FormatError, match=r'constraints\["ik/pull"\].*no bone "hand"'):
        rigconv.read(host)


def test_a_new_bone_is_there(edited: Any) -> None:
    def add(document: dict[str, Any]) -> None:
        new = json.loads(json.dumps(entry(document, "hand")))
        new["name"] = "foot"
        if "uuid" in new:
            new["uuid"] = 99
        entries(document).append(new)

    rig, _, document = edited(add)
    assert rig.skeleton.names == ["root", "beam", "rope", "seat", "hand", "foot"]
    assert document["constraints"][0]["name"] == "pull"


def test_a_bone_may_hang_elsewhere(edited: Any) -> None:
    def hang(document: dict[str, Any]) -> None:
        names = [item["name"] for item in entries(document)]
        parent = "beam" if isinstance(entry(document, "seat")["parent"], str) else names.index("beam")
        entry(document, "hand")["parent"] = parent

    rig, _, _ = edited(hang)
    parents = dict(zip(rig.skeleton.names, rig.skeleton.parent_names, strict=True))
    assert parents["hand"] == "beam"
