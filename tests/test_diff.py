"""``rigconv diff``: what counts as a change, how it is named, and how it is shown."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rigconv as library
from command import rigconv
from conftest import shared_folder
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from rigconv import Carry, ConvertOptions
from rigconv.converters.diff import Change, Kind, RigDiff, diff_rigs, empty_rig
from rigconv.converters.transform import transforms
from rigconv.ir import paths
from rigconv.ir.matrix import identity
from rigconv.ir.pose import local_matrices, world_matrices
from rigconv.ir.renaming import Renaming, renamed
from rigconv.ir.rig import (
    Binding,
    Bone,
    Inherit,
    MaskAttachment,
    Mesh,
    MeshAttachment,
    Param,
    PendulumConstraint,
    RegionAttachment,
    Rig,
    Skeleton,
    Skin,
    Slot,
    Texture,
)
from rigconv.testing import odd_names, rigs, skeletons
from support import (
    FILE_NAMES,
    FORMATS,
    PAIRS,
    dumped,
    inr_bytes,
    inr_document,
    node,
    rigc_document,
    sample_id,
    samples,
    write_bytes,
)

ALL_SAMPLES = samples(shared_folder(), "good")


def skeleton(*rows: tuple[str, str | None, tuple[float, float]], **fields: Any) -> Skeleton:
    """Bones with name, name of the parent, and translation; ``fields`` are the first bone's."""
    names = [name for name, _, _ in rows]
    local = identity(len(rows))
    local[:, :2, 3] = [place for _, _, place in rows]
    bones = [Bone(name=name) for name in names]
    bones[0] = replace(bones[0], **fields)
    parent = np.array([-1 if above is None else names.index(above) for _, above, _ in rows])
    return Skeleton(bones=bones, parent=parent, local=local)


ARM = [("root", None, (0, 0)), ("arm", "root", (10, 0)), ("hand", "arm", (5, 0)), ("leg", "root", (0, -8))]


def with_row(index: int, *row: Any) -> list[Any]:
    """The rows of the arm with another one in the place of one."""
    return [row if place == index else kept for place, kept in enumerate(ARM)]


def rig(rows: list[Any] = ARM, **fields: Any) -> Rig:
    return Rig(skeleton=skeleton(*rows), **fields)


def told(diff: RigDiff) -> list[tuple[str, str]]:
    """Kind and path of each change."""
    return [(change.kind.value, change.path) for change in diff.changes]


def only(diff: RigDiff) -> Change:
    """The one change that there is."""
    assert len(diff.changes) == 1, told(diff)
    return diff.changes[0]


# -- nothing ----------------------------------------------------------------------------------------------------------


@given(st.one_of(rigs(), rigs(dimensions=3)))
def test_a_rig_is_the_same_as_itself(rig: Rig) -> None:
    assert diff_rigs(rig, rig) == RigDiff([], [])


def test_nothing_is_the_same_as_nothing() -> None:
    assert diff_rigs(empty_rig(), empty_rig()).same


@given(st.one_of(rigs(), rigs(dimensions=3)))
def test_all_of_a_rig_is_added_to_nothing_and_removed_again(rig: Rig) -> None:
    added, removed = diff_rigs(empty_rig(), rig), diff_rigs(rig, empty_rig())
    bones = {f"bones[{json.dumps(name, ensure_ascii=False)}]" for name in rig.skeleton.names}
    assert {path for kind, path in told(added) if kind == "added"} >= bones
    assert {path for kind, path in told(removed) if kind == "removed"} >= bones


# -- bones ------------------------------------------------------------------------------------------------------------


def test_an_added_bone_is_told_with_its_place() -> None:
    change = only(diff_rigs(rig(), rig([*ARM, ("thumb", "hand", (1, 2))])))
    assert (change.kind, change.path, change.before) == (Kind.ADDED, 'bones["thumb"]', None)
    assert change.after["parent"] == "hand"
    assert change.after["local"]["translation"] == (1, 2, 0)
    assert change.after["world"]["translation"] == (16, 2, 0)


def test_a_removed_bone_is_told_with_its_place() -> None:
    change = only(diff_rigs(rig(), rig(ARM[:3])))
    assert (change.kind, change.path, change.after) == (Kind.REMOVED, 'bones["leg"]', None)
    assert change.before["world"]["translation"] == (0, -8, 0)


def test_a_moved_bone_is_told_in_local_and_in_world_terms() -> None:
    diff = diff_rigs(rig(), rig(with_row(2, "hand", "arm", (8, 4))))
    change = only(diff)
    assert (change.kind, change.path) == (Kind.MOVED, 'bones["hand"]')
    assert change.before["local"]["translation"] == (5, 0, 0)
    assert change.after["local"]["translation"] == (8, 4, 0)
    assert change.before["world"]["translation"] == (15, 0, 0)
    assert change.after["world"]["translation"] == (18, 4, 0)
    assert change.distance == 5  # a triangle of 3, 4 and 5
    assert diff.moved_along == []


def test_bones_that_move_along_with_another_are_no_changes_of_their_own() -> None:
    diff = diff_rigs(rig(), rig(with_row(1, "arm", "root", (10, 7))))
    assert told(diff) == [("moved", 'bones["arm"]')]
    assert diff.moved_along == ["hand"]


def test_a_bone_may_be_turned_where_it_stands() -> None:
    before, after = rig(), rig()
    after.skeleton.local[1, :2, :2] = [[0, -1], [1, 0]]
    change = diff_rigs(before, after).changes[0]
    assert (change.before["world"]["rotation"], change.after["world"]["rotation"]) == ((0, 0, 0), (0, 0, 90))
    assert change.distance == 0


def test_a_bone_that_hangs_elsewhere_and_stays_is_moved_in_local_terms_only() -> None:
    diff = diff_rigs(rig(), rig(with_row(3, "leg", "arm", (-10, -8))))
    assert told(diff) == [("reparented", 'bones["leg"].parent'), ("moved", 'bones["leg"]')]
    assert (diff.changes[0].before, diff.changes[0].after) == ("root", "arm")
    assert list(diff.changes[1].before) == list(diff.changes[1].after) == ["local"]


def test_a_bone_that_hangs_elsewhere_and_keeps_its_local_matrix_is_moved_in_the_world_only() -> None:
    diff = diff_rigs(rig(), rig(with_row(3, "leg", "arm", (0, -8))))
    assert told(diff) == [("reparented", 'bones["leg"].parent'), ("moved", 'bones["leg"]')]
    assert list(diff.changes[1].after) == ["world"]
    assert diff.changes[1].distance == 10


def test_a_bone_may_become_a_root() -> None:
    diff = diff_rigs(rig(), rig(with_row(3, "leg", None, (0, -8))))
    assert [(change.kind, change.before, change.after) for change in diff.changes] == [(Kind.REPARENTED, "root", None)]


def test_another_inherit_mode_moves_a_bone_in_the_world() -> None:
    before = rig()
    before.skeleton.local[1, 0, 0] = 2.0
    after = replace(before, skeleton=replace(before.skeleton, bones=list(before.skeleton.bones)))
    after.skeleton.bones[2] = replace(after.skeleton.bones[2], inherit=Inherit.NO_SCALE)
    diff = diff_rigs(before, after)
    assert told(diff) == [("changed", 'bones["hand"].inherit'), ("moved", 'bones["hand"]')]
    assert (diff.changes[1].before["world"]["scale"], diff.changes[1].after["world"]["scale"]) == ((2, 1, 1), (1, 1, 1))


def test_a_field_of_a_bone_is_told_by_its_path() -> None:
    change = only(diff_rigs(rig(), Rig(skeleton=skeleton(*ARM, length=3.0))))
    assert change == Change(kind=Kind.CHANGED, path='bones["root"].length', before=0.0, after=3.0)


def test_an_order_is_explained_by_as_few_moves_as_possible() -> None:
    slots = [Slot(name=name, bone="root") for name in "abcdef"]
    change = only(diff_rigs(rig(slots=slots), rig(slots=[slots[place] for place in (4, 0, 1, 2, 3, 5)])))
    assert (change.kind, change.path, change.parts) == (Kind.REORDERED, "slots.order", ["e"])
    assert "".join(change.after) == "eabcdf"


@given(st.permutations(range(8)))
def test_those_that_did_not_move_kept_their_order(order: list[int]) -> None:
    slots = [Slot(name=str(place), bone="root") for place in range(8)]
    for change in diff_rigs(rig(slots=slots), rig(slots=[slots[place] for place in order])).changes:
        kept = [name for name in change.after if name not in change.parts]
        assert kept == sorted(kept)
        assert change.parts


@given(st.data())
def test_one_move_is_one_change(data: st.DataObject) -> None:
    before: Rig = data.draw(rigs(inherit=False) | rigs(dimensions=3))
    place = data.draw(st.integers(0, len(before.skeleton) - 1))
    local = before.skeleton.local.copy()
    local[place, :2, 3] += [300, -400]
    diff = diff_rigs(before, replace(before, skeleton=replace(before.skeleton, local=local)))
    change = only(diff)
    assert change.kind == Kind.MOVED
    above = before.skeleton.parent[place]
    frame = world_matrices(before.skeleton)[above, :3, :3] if above >= 0 else np.eye(3)
    assert change.distance == pytest.approx(np.linalg.norm(frame @ [300, -400, 0]), rel=1e-6)


@given(st.data())
def test_hanging_a_bone_elsewhere_where_it_stands_is_told_as_that(data: st.DataObject) -> None:
    before: Rig = data.draw(rigs(inherit=False, sheared=False))
    place = data.draw(st.integers(0, len(before.skeleton) - 1))
    parent = before.skeleton.parent.copy()
    parent[place] = data.draw(st.integers(-1, place - 1).filter(lambda above: above != parent[place])) if place else -1
    hung = replace(before.skeleton, parent=parent)
    after = replace(before, skeleton=replace(hung, local=local_matrices(hung, world_matrices(before.skeleton))))
    diff = diff_rigs(before, after)
    path = f"bones[{json.dumps(before.skeleton.names[place], ensure_ascii=False)}]"
    assert [item for item in told(diff) if item[0] == "reparented"] == [("reparented", f"{path}.parent")] * bool(place)
    assert {kind for kind, _ in told(diff)} <= {"reparented", "moved"}
    assert diff.moved_along == []


# -- renaming ---------------------------------------------------------------------------------------------------------


def assert_renamed(diff: RigDiff, **names: str) -> None:
    """Fail unless these new names by old ones are all that changed."""
    assert {change.before: change.after for change in diff.changes if change.kind == Kind.RENAMED} == names
    assert {change.kind for change in diff.changes} <= {Kind.RENAMED}


@given(st.data())
def test_a_new_name_is_one_change(data: st.DataObject) -> None:
    before: Rig = data.draw(rigs() | rigs(dimensions=3))
    old = data.draw(st.sampled_from(before.skeleton.names))
    after = renamed(before, Renaming(bones={old: "new name"}))
    assert_renamed(diff_rigs(before, after), **{old: "new name"})


@given(rigs())
def test_bones_of_known_uuids_may_all_have_new_names(before: Rig) -> None:
    bones = [replace(bone, uuid=place) for place, bone in enumerate(before.skeleton.bones)]
    before = replace(before, skeleton=replace(before.skeleton, bones=bones))
    names = {name: f"new {name}" for name in before.skeleton.names}
    if set(names) & set(names.values()):
        return
    assert_renamed(diff_rigs(before, renamed(before, Renaming(bones=names))), **names)


def test_a_bone_of_the_same_uuid_is_the_same_wherever_it_went() -> None:
    before = Rig(skeleton=skeleton(*ARM, uuid=7))
    after = Rig(
        skeleton=skeleton(
            ("base", None, (3, 4)), *[(n, "base" if p == "root" else p, t) for n, p, t in ARM[1:]], uuid=7
        )
    )
    diff = diff_rigs(before, after)
    assert told(diff) == [("renamed", 'bones["base"]'), ("moved", 'bones["base"]')]
    assert diff.moved_along == ["arm", "hand", "leg"]


def test_a_bone_in_the_same_place_is_the_same() -> None:
    diff = diff_rigs(rig(), rig([ARM[0], ("limb", "root", (10, 0)), ("hand", "limb", (5, 0)), ARM[3]]))
    assert_renamed(diff, arm="limb")
    assert diff.changes[0].path == 'bones["limb"]'


def test_a_parent_and_its_child_may_both_have_new_names() -> None:
    assert_renamed(
        diff_rigs(rig(), rig([ARM[0], ("limb", "root", (10, 0)), ("paw", "limb", (5, 0)), ARM[3]])),
        arm="limb",
        hand="paw",
    )


TWINS = [("root", None, (0, 0)), ("a", "root", (1, 1)), ("b", "root", (1, 1))]


def test_bones_that_nothing_tells_apart_are_not_guessed_at() -> None:
    diff = diff_rigs(rig(TWINS), rig([TWINS[0], ("c", "root", (1, 1)), ("d", "root", (1, 1))]))
    assert [kind for kind, _ in told(diff)] == ["removed", "removed", "added", "added"]


def test_children_tell_bones_of_one_place_apart() -> None:
    before = rig([*TWINS, ("of a", "a", (2, 0)), ("of b", "b", (2, 0))])
    after = rig([TWINS[0], ("d", "root", (1, 1)), ("c", "root", (1, 1)), ("of a", "d", (2, 0)), ("of b", "c", (2, 0))])
    assert_renamed(diff_rigs(before, after), a="d", b="c")


def test_a_bone_elsewhere_is_another() -> None:
    diff = diff_rigs(rig(), rig(with_row(3, "foot", "root", (0, -9))))
    assert told(diff) == [("removed", 'bones["leg"]'), ("added", 'bones["foot"]')]


def test_a_bone_whose_children_are_elsewhere_is_another() -> None:
    after = rig([ARM[0], ("limb", "root", (10, 0)), ARM[3], ("hand", "leg", (5, 0)), ("nail", "limb", (1, 0))])
    before = rig([*ARM, ("nail", "leg", (1, 0))])
    assert ("removed", 'bones["arm"]') in told(diff_rigs(before, after))


def test_a_name_that_both_rigs_have_is_never_given_to_another_bone() -> None:
    after = rig([ARM[0], ("arm", "root", (0, -8)), ARM[2], ("leg", "root", (10, 0))])
    assert told(diff_rigs(rig(), after)) == [("moved", 'bones["arm"]'), ("moved", 'bones["leg"]')]


def test_what_refers_to_a_bone_by_its_old_name_is_unchanged() -> None:
    before = rig(
        slots=[Slot(name="sleeve", bone="arm", attachment="cloth")],
        skins=[
            Skin(name="default", bones=["arm"], attachments={"sleeve": {"cloth": MeshAttachment(mesh=square("arm"))}})
        ],
        params=[
            Param(
                name="bend", bindings=[Binding(bone="arm", target="transform.r.z", is_set=np.ones((2, 1), dtype=bool))]
            )
        ],
    )
    after = renamed(before, Renaming(bones={"arm": "limb"}))
    assert after.slots[0].bone == "limb"
    assert_renamed(diff_rigs(before, after), arm="limb")


def test_what_bears_the_name_of_its_bone_goes_with_it() -> None:
    # All that a node of a puppet holds has the node's name.
    def puppet(name: str) -> Rig:
        return rig(
            with_row(3, name, "root", (0, -8)),
            slots=[Slot(name=name, bone=name, attachment=name)],
            skins=[Skin(name="default", attachments={name: {name: MaskAttachment(mesh=square(name))}})],
            constraints=[PendulumConstraint(name=name, bone=name)],
        )

    assert_renamed(diff_rigs(puppet("leg"), puppet("foot")), leg="foot")


def test_a_parameter_of_the_same_uuid_is_the_same() -> None:
    before, after = (rig(params=[Param(name=name, uuid=5)]) for name in ("turn", "yaw"))
    assert only(diff_rigs(before, after)) == Change(kind=Kind.RENAMED, path='params["yaw"]', before="turn", after="yaw")


def test_a_uuid_that_a_format_made_up_is_no_change() -> None:
    assert diff_rigs(rig(), Rig(skeleton=skeleton(*ARM, uuid=123))).same
    assert only(diff_rigs(Rig(skeleton=skeleton(*ARM, uuid=122)), Rig(skeleton=skeleton(*ARM, uuid=123)))).after == 123


# -- what hangs on bones ----------------------------------------------------------------------------------------------


def square(bone: str, **fields: Any) -> Mesh:
    """A square of side 2 on one bone."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=np.float64)
    plain: dict[str, Any] = {
        "bones": [bone],
        "starts": np.arange(5),
        "influence_bones": np.zeros(4, dtype=np.int64),
        "positions": corners,
        "weights": np.ones(4),
        "uvs": (corners[:, :2] + 1) / 2,
        "triangles": np.array([[0, 1, 2], [0, 2, 3]]),
    }
    return Mesh(**plain | fields)


def clothed(*attachments: Any, textures: tuple[Texture, ...] = (), **fields: Any) -> Rig:
    """The arm with one slot, and these attachments in it."""
    slot = Slot(name="sleeve", bone="arm", **fields)
    items = {f"cloth {place}": item for place, item in enumerate(attachments)}
    skins = [Skin(name="default", attachments={"sleeve": items} if items else {})]
    return rig(slots=[slot], skins=skins, textures=list(textures))


CLOTH = 'skins["default"].attachments["sleeve"]["cloth 0"]'


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (rig(), rig(slots=[Slot(name="s", bone="arm")]), [("added", 'slots["s"]')]),
        (clothed(attachment=None), clothed(attachment="cloth 0"), [("changed", 'slots["sleeve"].attachment')]),
        (clothed(), clothed(color=(1, 1, 1, 0.5)), [("changed", 'slots["sleeve"].color')]),
        (clothed(), clothed(RegionAttachment()), [("added", CLOTH)]),
        (clothed(RegionAttachment()), clothed(RegionAttachment(x=1)), [("changed", f"{CLOTH}.x")]),
        (clothed(RegionAttachment()), clothed(MeshAttachment()), [("changed", CLOTH)]),
        (clothed(MeshAttachment()), clothed(MeshAttachment(mesh=square("arm"))), [("added", f"{CLOTH}.mesh")]),
        (rig(params=[Param(name="p")]), rig(params=[Param(name="p", max=(2, 1))]), [("changed", 'params["p"].max')]),
        (rig(params=[Param(name="p")]), rig(), [("removed", 'params["p"]')]),
        (clothed(), replace(clothed(), skins=[Skin(name="default")]), []),
        (replace(clothed(), skins=[Skin(name="default", attachments={"sleeve": {}})]), clothed(), []),
        (rig(skins=[Skin(name="s", bones=["arm"])]), rig(skins=[Skin(name="s", bones=["leg"])]),
         [("changed", 'skins["s"].bones[0]')]),
        (rig(skins=[Skin(name="s", constraints={"ik": ["c"]})]), rig(skins=[Skin(name="s")]),
         [("removed", 'skins["s"].constraints["ik"]')]),
        (rig(name="a"), rig(name="b"), [("changed", "name")]),
        (rig(meta={"artist": "A"}), rig(), [("removed", 'meta["artist"]')]),
    ],
    ids=lambda value: str(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_a_change_is_told_by_kind_and_path(before: Rig, after: Rig, expected: list[tuple[str, str]]) -> None:
    assert told(diff_rigs(before, after)) == expected


def test_a_mesh_is_told_by_what_of_it_changed_and_how_far_it_moved() -> None:
    mesh = square("arm")
    positions = mesh.positions.copy()
    positions[2] += [3, 4, 0]
    moved = replace(mesh, positions=positions, uvs=mesh.uvs / 2)
    change = only(diff_rigs(clothed(MeshAttachment(mesh=mesh)), clothed(MeshAttachment(mesh=moved))))
    assert (change.path, change.parts, change.distance) == (f"{CLOTH}.mesh", ["positions", "uvs"], 5)


def test_a_mesh_does_not_move_by_what_its_bone_does() -> None:
    before = clothed(MeshAttachment(mesh=square("arm")))
    after = replace(before, skeleton=skeleton(*with_row(1, "arm", "root", (99, 0))))
    assert told(diff_rigs(before, after)) == [("moved", 'bones["arm"]')]


def test_the_order_in_which_a_mesh_lists_its_bones_says_nothing() -> None:
    mesh = square("arm", bones=["arm", "leg"])
    turned = square("arm", bones=["leg", "arm"], influence_bones=np.ones(4, dtype=np.int64))
    assert diff_rigs(clothed(MeshAttachment(mesh=mesh)), clothed(MeshAttachment(mesh=turned))).same


def test_another_number_of_vertices_is_told() -> None:
    fewer = square("arm", starts=np.arange(4), influence_bones=np.zeros(3, dtype=np.int64), positions=np.zeros((3, 3)),
                   weights=np.ones(3), uvs=np.zeros((3, 2)), triangles=np.array([[0, 1, 2]]))  # fmt: skip
    change = only(diff_rigs(clothed(MeshAttachment(mesh=square("arm"))), clothed(MeshAttachment(mesh=fewer))))
    assert (change.before, change.after) == ({"vertices": 4, "triangles": 2}, {"vertices": 3, "triangles": 1})
    assert change.distance is None


def picture(value: int, width: int = 1) -> Texture:
    return Texture(width=width, height=1, data=np.full(4 * width, value, dtype=np.uint8))


def showing(*textures: Texture, index: int = 0) -> Rig:
    return clothed(MeshAttachment(textures=(index, -1, -1)), textures=textures)


def test_a_texture_is_told_by_size_and_checksum() -> None:
    change = only(diff_rigs(showing(picture(1)), showing(picture(2, width=2))))
    assert (change.kind, change.path) == (Kind.CHANGED, "textures[0]")
    assert (change.before["width"], change.after["width"]) == (1, 2)
    # printf '\1\1\1\1' | sha256sum
    assert change.before["sha256"] == "27ecd0a598e76f8a2fd264d427df0a119903e8eae384e478902541756f089dd1"


def test_a_texture_is_the_same_wherever_it_went() -> None:
    assert diff_rigs(showing(picture(1), picture(2)), showing(picture(2), picture(1), index=1)).same


def test_a_texture_before_others_does_not_change_them() -> None:
    before, after = showing(picture(1), picture(2)), showing(picture(3), picture(1), picture(2), index=1)
    assert told(diff_rigs(before, after)) == [("added", "textures[0]")]
    assert told(diff_rigs(after, before)) == [("removed", "textures[0]")]


def test_another_texture_of_the_same_index_is_a_change_of_what_shows_it() -> None:
    diff = diff_rigs(showing(picture(1), picture(2)), showing(picture(2)))
    assert told(diff) == [("changed", f"{CLOTH}.textures"), ("removed", "textures[0]")]


@pytest.mark.parametrize("name", ["a[b", 'a["b', "a]", ".", "order", "local", "uuid", "a.mesh.b", "[0]", ""])
def test_fields_that_only_a_format_knows_may_have_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(dumped(rigc_document()))
    bones = [{"name": "root", name: 1}, {"name": "arm", "parent": "root", "x": 1}]
    (tmp_path / "b").write_bytes(dumped(rigc_document(**({name: 1} if name else {}), bones=bones)))
    result = rigconv("diff", tmp_path / "a", tmp_path / "b", "--json")
    paths_told = [change["path"] for change in json.loads(result.output)["changes"]]
    assert f'bones["root"].native.rigc.{name}' in paths_told
    text = rigconv("diff", tmp_path / "a", tmp_path / "b").output
    assert f"native.rigc.{name}" in text


@given(odd_names(), odd_names())
def test_a_path_is_taken_apart_into_its_steps(slot: str, placeholder: str) -> None:
    path = paths.attachment("default", slot, placeholder) + ".mesh.bones[3]"
    steps = paths.segments(path)
    assert "".join(steps) == path
    assert [paths.key_of(step) for step in steps] == [None, "default", None, slot, placeholder, None, None, 3]


# -- bind poses -------------------------------------------------------------------------------------------------------


def bound(offset: float, **fields: Any) -> Rig:
    """The arm, bound with everything ``offset`` to the right of where it rests."""
    plain = skeleton(*ARM)
    inverse_bind = np.linalg.inv(world_matrices(plain))
    inverse_bind[:, 0, 3] -= offset
    return Rig(skeleton=replace(plain, inverse_bind=inverse_bind, **fields))


def test_a_bind_pose_that_is_the_rest_pose_is_none() -> None:
    assert diff_rigs(rig(), bound(0, bind="rest")).same


def test_a_bind_pose_is_told_where_it_begins_to_differ() -> None:
    change = only(diff_rigs(bound(1, bind="skin"), bound(3, bind="skin")))
    assert (change.kind, change.path) == (Kind.REBOUND, 'bones["root"]')
    assert (change.before["translation"], change.after["translation"]) == ((1, 0, 0), (3, 0, 0))


def test_a_bind_pose_that_only_one_of_them_states_is_one_change() -> None:
    assert told(diff_rigs(bound(1), rig())) == [("removed", "bind.inverse")]


# -- across formats ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("path", ALL_SAMPLES, ids=sample_id)
def test_a_sample_is_the_same_in_every_format_with_its_carry(
    path: Path, target: str, shared: Path, tmp_path: Path
) -> None:
    library.convert(path, tmp_path / FILE_NAMES[target])
    assert told(diff_rigs(library.read(path), library.read(tmp_path / FILE_NAMES[target]))) == []


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("path", ALL_SAMPLES, ids=sample_id)
def test_without_carry_a_sample_differs_in_what_its_report_says(
    path: Path, target: str, shared: Path, tmp_path: Path
) -> None:
    report = library.convert(path, tmp_path / FILE_NAMES[target], options=ConvertOptions(carry=Carry.NONE))
    diff = diff_rigs(library.read(path), library.read(tmp_path / FILE_NAMES[target]))
    assert [change.path for change in diff.changes if not report.explains(change.path)] == []


@pytest.mark.parametrize(("source", "target"), PAIRS)
@settings(max_examples=10)
@given(data=st.data())
def test_a_rig_is_the_same_in_every_format_with_its_carry(
    source: str, target: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("diff")
    start, end = folder / FILE_NAMES[source], folder / "there" / FILE_NAMES[target]
    end.parent.mkdir()
    start.write_bytes(write_bytes(data.draw(rigs() | rigs(dimensions=3)), source)[0])
    library.convert(start, end)
    assert told(diff_rigs(library.read(start), library.read(end))) == []


@pytest.mark.parametrize("target", ["engine", "inr"])
def test_a_new_name_is_found_across_formats(target: str, fixtures: Path, tmp_path: Path) -> None:
    before = library.read(fixtures / "swing.rig.json")
    report = library.convert(
        fixtures / "swing.rig.json", tmp_path / FILE_NAMES[target], options=ConvertOptions(carry=Carry.NONE)
    )
    after = renamed(library.read(tmp_path / FILE_NAMES[target]), Renaming(bones={"beam": "bar"}))
    changes = diff_rigs(before, after).changes
    assert [change.path for change in changes if change.kind == Kind.RENAMED] == ['bones["bar"]']
    left = {change.path.replace('"bar"', '"beam"') for change in changes if change.kind != Kind.RENAMED}
    assert {path for path in left if not report.explains(path)} == set()


# -- speed ------------------------------------------------------------------------------------------------------------


MANY = 10_000


def large(shape: str, prefix: str = "bone", root: float = 0.0) -> Rig:
    """A chain, in which each bone hangs on the last, or a star, in which all hang on the first."""
    parent = np.arange(-1, MANY - 1) if shape == "chain" else np.array([-1] + [0] * (MANY - 1))
    local = identity(MANY)
    local[:, 0, 3] = 1.0 if shape == "chain" else np.arange(MANY)
    local[0, 1, 3] = root
    names = [f"{prefix} {place}" for place in range(MANY)]
    bones = Skeleton(bones=[Bone(name=name) for name in names], parent=parent, local=local)
    return Rig(skeleton=bones, slots=[Slot(name=f"slot {place}", bone=name) for place, name in enumerate(names)])


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_large_rigs_take_seconds(shape: str) -> None:
    started = time.perf_counter()
    assert diff_rigs(large(shape), large(shape)).same
    moved = diff_rigs(large(shape), large(shape, root=5.0))
    assert (len(moved.changes), len(moved.moved_along)) == (1, MANY - 1)
    new_names = diff_rigs(large(shape), large(shape, prefix="b"))
    assert len(new_names.changes) == MANY
    assert {change.kind for change in new_names.changes} == {Kind.RENAMED}
    assert time.perf_counter() - started < 30


# -- transforms -------------------------------------------------------------------------------------------------------


@given(skeletons() | skeletons(dimensions=3))
def test_a_transform_has_all_that_its_matrix_has(bones: Skeleton) -> None:
    for matrix, transform in zip(bones.local, transforms(bones.local), strict=True):
        assert transform.translation == pytest.approx(matrix[:3, 3], abs=1e-8)
        assert np.abs(transform.scale) == pytest.approx(np.linalg.norm(matrix[:3, :3], axis=0), abs=1e-8)
        volume = np.prod(transform.scale)
        cosines = np.sin(np.radians(transform.shear))
        gram = 1 - (cosines**2).sum() - 2 * np.prod(cosines)
        assert np.linalg.det(matrix[:3, :3]) == pytest.approx(volume * np.sqrt(gram), rel=1e-5, abs=1e-8)


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def pair(tmp_path: Path) -> Callable[[dict[str, Any], dict[str, Any]], tuple[Path, Path]]:
    """Writes two rig specs with these fields."""

    def write(before: dict[str, Any], after: dict[str, Any]) -> tuple[Path, Path]:
        places = tmp_path / "a.rig.json", tmp_path / "b.rig.json"
        for place, fields in zip(places, (before, after), strict=True):
            place.write_bytes(dumped(rigc_document(**fields)))
        return places

    return write


MOVED = {"bones": [{"name": "root"}, {"name": "arm", "parent": "root", "x": 4, "y": 4, "rotation": 90}]}


def test_the_same_is_status_0_and_nothing_else(pair: Any) -> None:
    assert rigconv("diff", *pair({}, {}))[:3] == (0, "", "")


def test_a_difference_is_status_1_and_a_tree(pair: Any) -> None:
    result = rigconv("diff", *pair({}, {**MOVED, "slots": []}))
    assert (result.status, result.errors) == (1, "")
    assert result.output.splitlines() == [
        "bones",
        "  ~ arm",
        "    local translation (1, 0) -> (4, 4)",
        "    local rotation 0 -> 90 deg",
        "    world translation (1, 0) -> (4, 4)",
        "    world rotation 0 -> 90 deg",
        "slots",
        '  - s on "arm"',
    ]


def test_a_difference_is_data_for_scripts(pair: Any) -> None:
    places = pair({}, MOVED)
    result = rigconv("diff", *places, "--json")
    assert result.status == 1
    value = json.loads(result.output)
    assert (value["before"], value["after"]) == tuple(map(str, places))
    assert (value["same"], value["counts"], value["moved_along"]) == (False, {"moved": 1}, [])
    change = value["changes"][0]
    assert (change["kind"], change["path"], change["distance"]) == ("moved", 'bones["arm"]', 5)
    assert change["after"]["local"]["translation"] == [4, 4, 0]


def test_the_same_is_data_for_scripts_too(pair: Any) -> None:
    result = rigconv("diff", *pair({}, {}), "--json")
    assert (result.status, json.loads(result.output)["same"]) == (0, True)


def test_the_tolerance_may_be_given(pair: Any) -> None:
    places = pair({}, {"bones": [{"name": "root"}, {"name": "arm", "parent": "root", "x": 1.001}]})
    assert rigconv("diff", *places).status == 1
    assert rigconv("diff", *places, "--tolerance", "0.01").status == 0


@pytest.mark.parametrize(
    "words", [["a"], ["a", "b", "c"], ["-", "-"], ["a", "b", "--tolerance", "-1"], ["a", "b", "--tolerance", "nan"]]
)
def test_wrong_usage_is_status_2(words: list[str]) -> None:
    result = rigconv("diff", *words)
    assert (result.status, result.output, len(result.errors.splitlines())) == (2, "", 1)


@pytest.mark.parametrize("bad", ["gone", "broken"])
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_file_that_cannot_be_read_is_an_error_and_no_difference(
    bad: str, as_json: list[str], fixtures: Path, tmp_path: Path
) -> None:
    (tmp_path / "broken").write_bytes(dumped(rigc_document(bones=[])))
    result = rigconv("diff", fixtures / "swing.rig.json", tmp_path / bad, *as_json)
    assert (result.status, result.output) == (1, "")
    assert len(result.errors.splitlines()) == 1
    assert str(tmp_path / bad) in result.errors


def test_one_of_the_rigs_may_come_from_standard_input(fixtures: Path) -> None:
    data = (fixtures / "swing.rig.json").read_bytes()
    assert rigconv("diff", "-", fixtures / "swing.rig.json", stdin=data).status == 0


def test_odd_names_break_no_line(tmp_path: Path) -> None:
    odd = 'two\nlines\x1b[31m "red" [bold]'
    for name, nodes in (("a", []), ("b", [node(odd, 2, translation=[1, 2, 0])]), ("c", [node(odd, 2)])):
        (tmp_path / name).write_bytes(inr_bytes(inr_document(*nodes)))
    added = rigconv("diff", tmp_path / "a", tmp_path / "b").output.splitlines()
    assert added == ["bones", f'  + {odd.encode("unicode_escape").decode()} under "Root"']
    moved = rigconv("diff", tmp_path / "b", tmp_path / "c").output.splitlines()
    assert len(moved) == 4
    assert all(line.isprintable() for line in moved)


def test_an_added_file_is_compared_with_nothing(fixtures: Path) -> None:
    result = rigconv("diff", "/dev/null", fixtures / "puppet.inr")
    assert result.status == 1
    assert "  + Root as a root" in result.output.splitlines()


def test_settings_files_apply(tmp_path: Path, pair: Any) -> None:
    places = pair({}, {})
    (tmp_path / "rigconv.toml").write_text('from = "engine"')
    assert rigconv("diff", *places).status == 1
    assert rigconv("diff", *places, "--from", "rigc").status == 0


def test_a_terminal_gets_a_coloured_tree(pair: Any) -> None:
    places = pair({}, MOVED)
    main, other = pty.openpty()
    command = [Path(sys.executable).parent / "rigconv", "diff", *places]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    status = subprocess.run(command, stdout=other, env=environment, check=False).returncode
    os.close(other)
    text = os.read(main, 100_000).decode()
    os.close(main)
    assert status == 1
    assert "└── bones" in text
    assert "\x1b[33m~ arm" in text
