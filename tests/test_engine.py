"""The engine's rig: what is read, what is refused, what is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rigconv
from rigconv import FormatError, LoweringOptions, Pose
from rigconv.ir.pose import world_matrices
from rigconv.ir.rig import BindReference, Bone, Rig, Skeleton
from support import dumped, lowered, read_bytes, write_bytes

IDENTITY = np.eye(4).ravel().tolist()
HALF = float(np.sqrt(0.5))


def bone(name: str = "root", parent: int = -1, **fields: Any) -> dict[str, Any]:
    return {"name": name, "parent": parent, "inverseBind": IDENTITY} | fields


def rig_of(*bones: dict[str, Any], **fields: Any) -> Rig:
    return read_bytes(dumped({"bones": list(bones), **fields}), "engine")[0]


def test_the_rest_transform_is_translation_rotation_scale() -> None:
    # A quarter turn about z of a bone scaled by (2, 3, 4): x goes to y.
    local = rig_of(bone(translation=[1, 2, 3], rotation=[0, 0, HALF, HALF], scale=[2, 3, 4])).skeleton.local[0]
    assert local == pytest.approx(np.array([[0, -3, 0, 1], [2, 0, 0, 2], [0, 0, 4, 3], [0, 0, 0, 1]]))


@pytest.mark.parametrize("place", ["", "rest", "local", "transform"])
def test_the_rest_transform_stands_in_one_of_four_places(place: str) -> None:
    rest = {"translation": [1, 2, 3], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]}
    rig = rig_of(bone(**({place: rest} if place else rest)))
    assert rig.skeleton.local[0, :3, 3].tolist() == [1, 2, 3]
    rig.skeleton.local[0, 0, 3] = 9
    written = json.loads(write_bytes(rig, "engine")[0])["bones"][0]
    assert (written[place] if place else written)["translation"] == [9, 2, 3]


def test_what_is_left_out_of_a_rest_transform_is_that_of_the_identity() -> None:
    assert np.array_equal(rig_of(bone()).skeleton.local[0], np.eye(4))


MOVED = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1]
MOVED_BY_ROWS = [1, 0, 0, 5, 0, 1, 0, 6, 0, 0, 1, 7, 0, 0, 0, 1]


def test_inverse_binds_are_column_major() -> None:
    assert rig_of(bone(inverseBind=MOVED)).skeleton.inverse_bind[0, :3, 3].tolist() == [5, 6, 7]


def test_row_major_inverse_binds_are_known_by_their_affine_row_and_mended() -> None:
    data = dumped({"bones": [bone(), bone("arm", 0, inverseBind=MOVED_BY_ROWS)]})
    rig, reading = read_bytes(data, "engine")
    assert rig.skeleton.inverse_bind[1, :3, 3].tolist() == [5, 6, 7]
    assert [entry.code for entry in reading.report] == ["ROW_MAJOR"]
    assert json.loads(write_bytes(rig, "engine")[0])["bones"][1]["inverseBind"] == MOVED


@pytest.mark.parametrize(
    ("stated", "meant"),
    [("skin", "skin"), ("rest", "rest"), ({"__ref": "some-guid"}, BindReference(guid="some-guid"))],
)
def test_the_source_of_the_bind_pose(stated: Any, meant: Any) -> None:
    assert rig_of(bone(), bind=stated).skeleton.bind == meant


def test_a_rig_without_bind_stays_without() -> None:
    rig = rig_of(bone())
    assert rig.skeleton.bind is None
    assert "bind" not in json.loads(write_bytes(rig, "engine")[0])


def test_children_may_come_first() -> None:
    rig, reading = read_bytes(dumped({"bones": [bone("hand", 1), bone("arm", 2), bone("root")]}), "engine")
    assert rig.skeleton.names == ["root", "arm", "hand"]
    assert [entry.code for entry in reading.report] == ["BONES_REORDERED"]
    assert [item["name"] for item in json.loads(write_bytes(rig, "engine")[0])["bones"]] == ["hand", "arm", "root"]


def test_odd_names_are_repaired_and_come_back() -> None:
    names = ["", "arm", "arm", "pad\0\0", ""]
    data = dumped({"bones": [bone(names[0]), *(bone(name, 0) for name in names[1:])]})
    rig, reading = read_bytes(data, "engine")
    assert rig.skeleton.names == ["bone", "arm", "arm~2", "pad", "bone~2"]
    assert [entry.code for entry in reading.report] == ["NAME_REPAIRED"] * 4
    assert [item["name"] for item in json.loads(write_bytes(rig, "engine")[0])["bones"]] == names


FAULTS = {
    "no object": ([], "not an object"),
    "no bones": ({"bind": "rest"}, "no bones"),
    "empty bones": ({"bones": []}, "no bones"),
    "name not text": ({"bones": [bone(name=3)]}, r"bones\[0\].name: the value is of type int; expected str"),
    "no name": ({"bones": [{"parent": -1, "inverseBind": IDENTITY}]}, r"bones\[0\]: name is missing"),
    "no parent": ({"bones": [{"name": "root", "inverseBind": IDENTITY}]}, r'\("root"\): parent is missing'),
    "no inverse bind": ({"bones": [{"name": "root", "parent": -1}]}, r'\("root"\): inverseBind is missing'),
    "parent out of range": ({"bones": [bone("arm", 7)]}, r'parent \("arm"\): the parent is 7'),
    "parent below -1": ({"bones": [bone("arm", -2)]}, r"the parent is -2"),
    "cycle": ({"bones": [bone("a", 1), bone("b", 0)]}, "its own ancestor"),
    "own parent": ({"bones": [bone("a", 0)]}, r'parent \("a"\): the bone is its own ancestor'),
    "15 numbers": ({"bones": [bone(inverseBind=IDENTITY[:15])]}, r'inverseBind \("root"\): the list has 15 values'),
    "rotation of 3": ({"bones": [bone(rotation=[0, 0, 0])]}, r'rotation \("root"\): the list has 3 values; expected 4'),
    "translation of text": ({"bones": [bone(translation=["a", 0, 0])]}, r"translation\[0\]"),
    "zero quaternion": ({"bones": [bone(rotation=[0, 0, 0, 0])]}, r'rotation \("root"\): the quaternion is zero'),
    "nested zero": ({"bones": [bone(rest={"rotation": [0, 0, 0, 0]})]}, r"rest.rotation"),
    "singular": ({"bones": [bone(inverseBind=[*([0] * 15), 1])]}, r'inverseBind \("root"\): the matrix is singular'),
    "all zero": ({"bones": [bone(inverseBind=[0] * 16)]}, "the matrix is singular"),
    "not affine": ({"bones": [bone(inverseBind=[1, 0, 0, 2, 0, 1, 0, 0, 0, 0, 1, 0, 3, 0, 0, 1])]}, "not affine"),
    "two layouts": (
        {"bones": [bone(inverseBind=MOVED), bone("arm", 0, inverseBind=MOVED_BY_ROWS)]},
        r'inverseBind \("arm"\): .*layout of the others',
    ),
    "bind unknown": ({"bones": [bone()], "bind": "pose"}, 'the bind is "pose"'),
    "bind number": ({"bones": [bone()], "bind": 3}, r"\$.bind"),
    "role number": ({"bones": [bone()], "overrides": {"g": {"roles": {"hips": 3}}}}, r'overrides\["g"\].roles.hips'),
    "role true": ({"bones": [bone()], "overrides": {"g": {"roles": {"hips": True}}}}, 'role "hips" is true'),
    "roles list": ({"bones": [bone()], "overrides": {"g": {"roles": []}}}, "the roles are"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_name_the_bone_and_the_field(fault: str) -> None:
    document, message = FAULTS[fault]
    with pytest.raises(FormatError, match=message):
        read_bytes(dumped(document), "engine")


@pytest.mark.parametrize("literal", [b"NaN", b"Infinity", b"-Infinity"])
def test_numbers_must_be_finite(literal: bytes) -> None:
    data = dumped({"bones": [bone(), bone("arm", 0, translation=[1, 2, 3])]}).replace(
        b"[1, 2, 3]", b"[1, %s, 3]" % literal
    )
    with pytest.raises(FormatError, match=r'bones\[1\].translation\[1\] \("arm"\), byte \d+: the number is not finite'):
        read_bytes(data, "engine")


def test_overrides_are_kept_whole() -> None:
    overrides = {"guid": {"roles": {"hips": "root", "jaw": False}, "later": [1]}}
    rig = rig_of(bone(), overrides=overrides)
    assert json.loads(write_bytes(rig, "engine")[0])["overrides"] == overrides


# -- bind and rest ----------------------------------------------------------------------------------------------------

SHIFTED = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -3, 0, 0, 1]
"""The inverse bind of a bone that stands at x = 3."""


def test_a_format_with_one_pose_gets_the_rest_pose() -> None:
    rig = rig_of(bone(translation=[1, 0, 0], inverseBind=SHIFTED), bind="skin")
    flat, report = lowered(rig, "rigc")
    assert world_matrices(flat.skeleton)[0, 0, 3] == 1
    assert {entry.path for entry in report if entry.code == "BIND_DROPPED"} == {"bind", 'bones["root"].inverse_bind'}


def test_a_format_with_one_pose_gets_the_bind_pose_when_asked_to() -> None:
    rig = rig_of(
        bone(translation=[1, 0, 0], inverseBind=SHIFTED),
        bone("arm", 0, translation=[5, 0, 0], inverseBind=[*SHIFTED[:12], -10, 0, 0, 1]),
    )
    flat, report = lowered(rig, "rigc", LoweringOptions(pose=Pose.BIND))
    assert world_matrices(flat.skeleton)[:, 0, 3].tolist() == [3, 10]
    assert {entry.path for entry in report if entry.code == "REST_DROPPED"} == {
        'bones["root"].local',
        'bones["arm"].local',
    }


def test_a_rig_without_bind_gets_that_of_its_rest_pose() -> None:
    local = np.eye(4)[None].repeat(2, axis=0)
    local[:, 0, 3] = 2
    rig = Rig(skeleton=Skeleton(bones=[Bone(name="a"), Bone(name="b")], parent=np.array([-1, 0]), local=local))
    written = json.loads(write_bytes(rig, "engine")[0])
    assert written["bind"] == "rest"
    assert [item["inverseBind"][12] for item in written["bones"]] == [-2, -4]


def test_a_bone_without_extent_gets_a_regular_bind_and_a_report() -> None:
    local = np.diag([0.0, 1.0, 1.0, 1.0])[None]
    rig = Rig(skeleton=Skeleton(bones=[Bone(name="a")], parent=np.array([-1]), local=local))
    data, report = write_bytes(rig, "engine")
    assert "SINGULAR_BIND" in report.counts
    read_bytes(data, "engine")


# -- files ------------------------------------------------------------------------------------------------------------


def test_the_asset_may_be_a_folder(fixtures: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy.rig"
    rigconv.convert(fixtures / "walker.rig", folder)
    assert (folder / "rig.json").read_bytes() == (fixtures / "walker.rig" / "rig.json").read_bytes()
    assert rigconv.read(folder).skeleton.names == ["hips", "chest", "leg"]


def test_other_files_in_the_folder_are_left_alone(fixtures: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy.rig"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    rigconv.convert(fixtures / "walker.rig", folder)
    assert (folder / "notes.txt").read_text() == "mine"
