"""What the fields of a rig spec mean in the representation, and how edits are written."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from rigconv import FormatError
from rigconv.ir.edit import with_bones
from rigconv.ir.exchange import ReadOptions, Source
from rigconv.ir.pose import world_matrices
from rigconv.ir.rig import BlendMode, Bone, IkConstraint, MeshAttachment, PhysicsConstraint, TransformConstraint
from support import dumped, read_bytes, rigc_document, write_bytes


def rig_of(**fields: Any) -> Any:
    return read_bytes(dumped(rigc_document(**fields)), "rigc")[0]


def test_slots_blend_and_tint() -> None:
    slot = rig_of(
        slots=[{"name": "s", "bone": "arm", "color": "ff800040", "dark": "330066", "blend": "Additive"}]
    ).slots[0]
    assert slot.color == pytest.approx((1, 128 / 255, 0, 64 / 255))
    assert slot.dark == pytest.approx((0.2, 0, 0.4))
    assert slot.blend is BlendMode.ADD


def test_weights_are_bound_by_name() -> None:
    weights = [
        [{"bone": "arm", "x": 1, "y": 2, "weight": 0.25}, {"bone": "root", "x": 3, "y": 4, "weight": 0.75}],
        [{"bone": "root", "x": 5, "y": 6, "weight": 1}],
        [{"bone": "root", "x": 7, "y": 8, "weight": 1}],
    ]
    mesh = {"type": "mesh", "uvs": [0, 0, 1, 0, 1, 1], "triangles": [0, 1, 2], "weights": weights}
    attachment = rig_of(skins={"default": {"s": {"a": mesh}}}).skins[0].attachments["s"]["a"]
    assert isinstance(attachment, MeshAttachment)
    assert attachment.mesh.influence_names == ["arm", "root", "root", "root"]
    assert attachment.mesh.starts.tolist() == [0, 2, 3, 4]
    assert attachment.mesh.positions[1].tolist() == [3, 4, 0]
    assert attachment.mesh.weights.tolist() == [0.25, 0.75, 1, 1]


def test_a_raw_run_indexes_the_bone_list() -> None:
    run = [2, 0, 1, 2, 0.5, 1, 3, 4, 0.5, 1, 1, 5, 6, 1, 1, 0, 7, 8, 1]
    mesh = {"type": "mesh", "uvs": [0] * 6, "triangles": [0, 1, 2], "vertices": run, "boneIndexing": "raw"}
    attachment = rig_of(skins={"default": {"s": {"a": mesh}}}).skins[0].attachments["s"]["a"]
    assert attachment.mesh.influence_names == ["root", "arm", "arm", "root"]


def test_a_raw_run_is_bound_by_name_once_the_bone_list_has_changed() -> None:
    mesh = {"type": "mesh", "uvs": [0] * 6, "triangles": [0, 1, 2], "boneIndexing": "raw"}
    run = [2, 1, 5, 6, 0.5, 0, 7, 8, 0.5] * 3
    rig = rig_of(skins={"default": {"s": {"a": {**mesh, "vertices": run}}}})
    skeleton = rig.skeleton
    parent = np.array([2, 0, -1])
    rig.skeleton = with_bones(skeleton, [Bone(name="new")], parent, np.concatenate([skeleton.local, np.eye(4)[None]]))
    attachment = json.loads(write_bytes(rig, "rigc")[0])["skins"]["default"]["s"]["a"]
    assert attachment["weights"][0] == [
        {"bone": "arm", "x": 5.0, "y": 6.0, "weight": 0.5},
        {"bone": "root", "x": 7.0, "y": 8.0, "weight": 0.5},
    ]
    assert "vertices" not in attachment
    assert "boneIndexing" not in attachment


def test_edges_are_vertex_indices_doubled() -> None:
    mesh = {"type": "mesh", "uvs": [0] * 6, "triangles": [0, 1, 2], "vertices": [0] * 6, "edges": [0, 2, 2, 4]}
    attachment = rig_of(skins={"default": {"s": {"a": mesh}}}).skins[0].attachments["s"]["a"]
    assert attachment.mesh.edges.tolist() == [[0, 1], [1, 2]]


def test_constraints_have_the_defaults_of_the_runtime() -> None:
    ik, transform, physics = rig_of(
        constraints=[
            {"name": "a", "type": "ik", "bones": ["arm"], "target": "root"},
            {"name": "b", "type": "transform", "bones": ["arm"], "source": "root", "mixX": 0.5, "mixScaleX": 0.25},
            {"name": "c", "type": "physics", "bone": "arm"},
        ]
    ).constraints
    assert isinstance(ik, IkConstraint)
    assert (ik.mix, ik.softness, ik.bend_positive, ik.scale_y) == (1, 0, True, "none")
    assert isinstance(transform, TransformConstraint)
    assert (transform.mix_rotate, transform.mix_y, transform.mix_scale_y) == (1, 0.5, 0.25)
    assert isinstance(physics, PhysicsConstraint)
    assert (physics.inertia, physics.strength, physics.damping, physics.limit) == (0.5, 100, 0.85, 5000)


def test_transform_properties_are_in_radians() -> None:
    properties = {"rotate": {"offset": 90, "to": {"x": {"offset": 1, "max": 2, "scale": 3}, "shearY": {"max": 180}}}}
    transform = rig_of(
        constraints=[{"name": "b", "type": "transform", "bones": ["arm"], "source": "root", "properties": properties}]
    ).constraints[0]
    source = transform.properties["rotate"]
    assert source.offset == pytest.approx(np.pi / 2)
    # Three length units a degree are 3 * 180 / pi a radian.
    assert source.to["x"].scale == pytest.approx(3 * 180 / np.pi)
    assert source.to["shearY"].max == pytest.approx(np.pi)
    assert source.to["shearY"].scale == pytest.approx(1)


@pytest.mark.parametrize("spelling", ["scaleY", "scaleYMode"])
def test_both_spellings_of_the_physics_scale_mode_are_read(spelling: str) -> None:
    fields = {"name": "c", "type": "physics", "bone": "arm", spelling: "volume"}
    assert rig_of(constraints=[fields]).constraints[0].scale_y == "volume"


def test_a_new_physics_scale_mode_is_written_as_the_runtime_reads_it() -> None:
    rig = rig_of()
    rig.constraints = [PhysicsConstraint(name="c", bone="arm", scale_y="uniform")]
    written = json.loads(write_bytes(rig, "rigc")[0])["constraints"]
    assert written == [{"name": "c", "type": "physics", "bone": "arm", "scaleY": "uniform"}]


def test_an_edit_rewrites_what_it_touches_and_nothing_else() -> None:
    bone = {"name": "arm", "parent": "root", "x": 0, "rotation": 370, "shearX": 0, "color": "FF0000FF", "later": 1}
    rig = rig_of(bones=[{"name": "root"}, bone])
    rig.skeleton.local[1, 0, 3] = 2.5
    written = json.loads(write_bytes(rig, "rigc")[0])["bones"][1]
    assert written == {**bone, "x": 2.5, "rotation": 10}
    assert list(written) == list(bone)


def test_a_moved_bone_no_longer_takes_its_place_from_a_manifest() -> None:
    rig = rig_of(bones=[{"name": "root"}, {"name": "arm", "parent": "root", "from": {"anchor": "a"}}])
    rig.skeleton.local[1, 0, 3] = 4
    assert json.loads(write_bytes(rig, "rigc")[0])["bones"][1] == {"name": "arm", "parent": "root", "x": 4}


# -- the cut manifest -------------------------------------------------------------------------------------------------

MANIFEST = {
    "crop": {"w": 100, "h": 80},
    "axis": {"deg": 30, "unit": [0.866025, 0.5]},
    "anchors": {"grip": [40, 20, -200], "plain": [10, 10]},
    "parts": [
        {"slot": "window", "offset": [10, 20], "size": [20, 10]},
        {"slot": "other", "rig_slot": "ring", "offset": [0, 0], "mesh": {"center": [50, 60]}},
    ],
}


def placed(source: dict[str, Any], parent: dict[str, Any] | None = None, manifest: dict[str, Any] = MANIFEST) -> Any:
    spec = rigc_document(
        bones=[{"name": "root", **(parent or {})}, {"name": "arm", "parent": "root", "from": source}], slots=[]
    )
    return read_bytes(dumped(spec), "rigc", ReadOptions(manifest=Source("cut.json", dumped(manifest))))[0]


# Crop pixels count y down from the top, so a point (x, y) stands at (x, 80 - y).
@pytest.mark.parametrize(
    ("source", "point"),
    [
        ({"anchor": "grip"}, (40, 60)),
        ({"slotWindow": "window"}, (20, 55)),
        ({"slotWindow": "ring"}, (50, 40)),
        ({"meshCenter": "ring"}, (50, 20)),
    ],
)
def test_a_manifest_places_bones(source: dict[str, Any], point: tuple[float, float]) -> None:
    assert world_matrices(placed(source).skeleton)[1, :2, 3] == pytest.approx(point)


def test_a_bone_is_placed_in_a_turned_and_sheared_parent() -> None:
    rig = placed({"anchor": "grip"}, {"x": 5, "rotation": 30, "scaleX": 2, "shearY": 20})
    assert world_matrices(rig.skeleton)[1, :2, 3] == pytest.approx([40, 60], abs=1e-5)


# The axis of 30 degrees, y down, is -30 with y up; a facing of -200 becomes 200, which is -160.
@pytest.mark.parametrize(
    ("source", "degrees"), [({"rotation": "axis"}, -30), ({"anchor": "grip", "rotation": "anchor"}, -160)]
)
def test_a_manifest_turns_bones(source: dict[str, Any], degrees: float) -> None:
    local = placed(source).skeleton.local[1]
    assert np.degrees(np.arctan2(local[1, 0], local[0, 0])) == pytest.approx(degrees)


def test_what_a_manifest_gave_is_not_written() -> None:
    rig = placed({"anchor": "grip", "rotation": "axis"})
    written = json.loads(write_bytes(rig, "rigc")[0])["bones"][1]
    assert written == {"name": "arm", "parent": "root", "from": {"anchor": "grip", "rotation": "axis"}}


@pytest.mark.parametrize(
    ("source", "manifest", "message"),
    [
        ({"anchor": "x"}, MANIFEST, 'no anchor "x"; expected one of "grip", "plain"'),
        ({"slotWindow": "x"}, MANIFEST, 'no part for slot "x"'),
        ({"meshCenter": "window"}, MANIFEST, "no mesh.center"),
        ({"anchor": "plain", "rotation": "anchor"}, MANIFEST, "no facing angle"),
        ({"rotation": "axis"}, {"crop": {"w": 1, "h": 1}}, "no axis"),
        ({"anchor": "x"}, {"crop": {"w": 1}}, "cut.json: .*h is missing"),
        ({"anchor": "x"}, {**MANIFEST, "axis": {"deg": 30, "unit": [1, 0]}}, "unit vector"),
    ],
)
def test_faults_of_a_manifest_name_the_bone(source: dict[str, Any], manifest: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        placed(source, manifest=manifest)


def test_a_bone_cannot_be_placed_in_a_parent_without_extent() -> None:
    with pytest.raises(FormatError, match='parent "root" has no extent'):
        placed({"anchor": "grip"}, {"scaleX": 0})


def test_without_a_manifest_the_place_is_reported_as_unknown() -> None:
    document = rigc_document(
        bones=[{"name": "root"}, {"name": "a", "parent": "root", "from": {"anchor": "x"}}], slots=[]
    )
    _, reading = read_bytes(dumped(document), "rigc")
    assert [(entry.code, entry.path) for entry in reading.report] == [("POSITION_UNKNOWN", 'bones["a"]')]


def test_an_empty_from_takes_nothing() -> None:
    document = rigc_document(bones=[{"name": "root"}, {"name": "a", "parent": "root", "from": {}, "x": 3}], slots=[])
    rig, reading = read_bytes(dumped(document), "rigc")
    assert rig.skeleton.local[1, 0, 3] == 3
    assert not reading.report.entries


def test_later_kinds_are_kept_and_reported() -> None:
    _, reading = read_bytes(
        dumped(
            rigc_document(
                skins={
                    "default": {
                        "s": {"box": {"type": "boundingbox"}, "grid": {"type": "mesh", "generator": {"kind": "grid"}}}
                    }
                },
                constraints=[{"name": "c", "type": "path"}],
            )
        ),
        "rigc",
    )
    assert [entry.code for entry in reading.report] == ["NATIVE_ONLY"] * 3
    assert not reading.problems


def test_renaming_a_slot_in_the_representation_renames_it_in_the_file() -> None:
    rig = rig_of()
    rig.slots = [replace(rig.slots[0], name="sleeve")]
    assert json.loads(write_bytes(rig, "rigc")[0])["slots"] == [{"name": "sleeve", "bone": "arm"}]
