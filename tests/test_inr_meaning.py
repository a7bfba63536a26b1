"""What the fields of INR mean in the representation (specs/inr-facts.md §4), and how rigs are written as INR."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rigconv.formats.inr.draw_order import draw_order, zsort_for
from rigconv.formats.inr.numbers import shortest
from rigconv.ir.geometry import world_vertices
from rigconv.ir.pose import world_matrices
from rigconv.ir.rig import BlendMode, Bone, CompositeAttachment, Mask, MaskMode, MeshAttachment, Rig, Skeleton
from support import PART, QUAD, QUAD_MESH, document_of, inr_bytes, inr_document, node, part, read_bytes, write_bytes


def rig_of(document: dict[str, Any], views: Any = ()) -> Rig:
    return read_bytes(inr_bytes(document, views), "inr")[0]


def test_puppet_space_is_y_down() -> None:
    # A quarter turn in a space with y down takes x to the lower side: clockwise to the eye.
    rig = rig_of(inr_document(node("a", 2, translation=[3, 4, 5], rotation=[0, 0, np.pi / 2], scale=[2, 3])))
    wanted = [[0, 3, 0, 3], [-2, 0, 0, -4], [0, 0, 1, 5], [0, 0, 0, 1]]
    assert world_matrices(rig.skeleton)[1] == pytest.approx(np.array(wanted, dtype=float))


def test_angles_are_applied_about_x_then_y_then_z() -> None:
    turn = [0.3, -0.4, 0.5]
    rig = rig_of(inr_document(node("a", 2, rotation=turn)))
    (cx, cy, cz), (sx, sy, sz) = np.cos(turn), np.sin(turn)
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    flip = np.diag([1, -1, 1])
    assert rig.skeleton.local[1, :3, :3] == pytest.approx(flip @ about_z @ about_y @ about_x @ flip)


def test_lock_to_root_ignores_the_parent() -> None:
    document = inr_document(node("a", 2, translation=[7, 0, 0]), node("b", 3, parent=1, lock_to_root=True))
    document["nodes"][0]["translation"] = [100, 0, 0]
    assert world_matrices(rig_of(document).skeleton)[2, 0, 3] == 100


def test_vertices_stand_relative_to_the_origin() -> None:
    mesh = {**QUAD_MESH, "origin": [10, 20]}
    rig = rig_of(inr_document(part("a", 2, mesh=mesh, translation=[1, 2, 0])), QUAD)
    attachment = rig.skins[0].attachments["a"]["a"]
    vertices = world_vertices(attachment, "a", world_matrices(rig.skeleton), {"Root": 0, "a": 1})
    # The first vertex is (-1, -1) - (10, 20) + (1, 2) = (-10, -19), and y is negated.
    assert vertices[0].tolist() == [-10, 19]


def test_what_sorts_higher_is_drawn_first() -> None:
    rig = rig_of(inr_document(part("near", 2, zsort=-1), part("far", 3, zsort=2), part("tie", 4, zsort=-1)), QUAD)
    assert [slot.name for slot in rig.slots] == ["far", "near", "tie"]


def test_zsort_adds_up_along_ancestors() -> None:
    document = inr_document(part("a", 2, zsort=1), node("group", 3, zsort=5), part("b", 4, parent=2, zsort=-2))
    assert [slot.name for slot in rig_of(document, QUAD).slots] == ["b", "a"]


def group(name: str, uuid: int, **fields: Any) -> dict[str, Any]:
    look = {key: value for key, value in PART.items() if key != "textures"}
    return node(name, uuid, kind="composite", composite=look, **fields)


def test_a_composite_is_drawn_in_one_piece() -> None:
    document = inr_document(
        group("g", 2, zsort=0),
        part("inside", 3, parent=1, zsort=9),
        group("inner", 4, parent=1, zsort=8),
        part("deep", 5, parent=3, zsort=-20),
        part("between", 6, zsort=5),
        part("front", 7, zsort=-1),
    )
    # g takes all parts below it into a list of its own: "inside" at 9, "inner" at 8, "deep" at -12.
    assert [slot.name for slot in rig_of(document, QUAD).slots] == ["between", "g", "inside", "inner", "deep", "front"]


@given(st.data())
def test_zsort_for_a_draw_order_gives_that_order(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    parent = [-1] + [data.draw(st.integers(0, index - 1)) for index in range(1, count)]
    order = data.draw(st.permutations(range(count)))[: data.draw(st.integers(0, count))]
    zsort = zsort_for(order, parent)
    drawn = [index for index in draw_order(zsort, parent, [False] * count) if index in set(order)]
    assert drawn == list(order)


def test_tint_opacity_and_screen_become_colour_and_dark() -> None:
    look = {**PART, "tint": [1, 0.5, 0.25], "opacity": 0.75, "screen_tint": [0.5, 0.5, 0], "blend_mode": "screen"}
    slot = rig_of(inr_document(part("a", 2, part=look)), QUAD).slots[0]
    assert slot.color == (1, 0.5, 0.25, 0.75)
    # Screening with s and then tinting with t shows t * texel + (1 - texel) * s * t.
    assert slot.dark == (0.5, 0.25, 0)
    assert slot.blend is BlendMode.SCREEN


def test_masks_refer_to_bones() -> None:
    look = {**PART, "masks": [{"node": 2, "mode": "dodge"}, {"node": 0, "mode": "mask"}]}
    rig = rig_of(inr_document(part("a", 2, part=look), node("shape", 3, kind="mask", mesh=QUAD_MESH)), QUAD)
    masks = next(slot for slot in rig.slots if slot.name == "a").masks
    assert masks == [Mask(bone="shape", mode=MaskMode.DODGE), Mask(bone="Root", mode=MaskMode.MASK)]


@pytest.mark.parametrize(
    ("target", "sign"),
    [("transform.t.x", 1), ("transform.t.y", -1), ("transform.t.z", 1), ("transform.r.x", -1), ("transform.r.y", 1),
     ("transform.r.z", -1), ("transform.s.y", 1), ("opacity", 1), ("zSort", 1), ("something.new", 1)],
)  # fmt: skip
def test_bound_values_are_turned_upright_with_the_space(target: str, sign: int) -> None:
    binding = {"node": 0, "target": target, "interpolation": "linear", "x_count": 2, "y_count": 1, "is_set": [True, False],
               "kind": "scalar", "view": 0}  # fmt: skip
    parameter = {"name": "p", "uuid": 1, "is_vec2": False, "min": [0, 0], "max": [1, 0], "defaults": [0, 0],
                 "axis_points": [[0, 1], [0]], "merge_mode": "additive", "bindings": [binding]}  # fmt: skip
    rig = rig_of(inr_document(params=[parameter]), [struct.pack("<2f", 1, 2)])
    found = rig.params[0].bindings[0]
    assert found.values.tolist() == [[sign * 1], [sign * 2]]
    assert found.is_set.tolist() == [[True], [False]]
    assert found.bone == "Root"


def test_deform_offsets_are_by_point_of_x_then_y_then_vertex() -> None:
    offsets = np.arange(2 * 1 * 4 * 2, dtype="<f4")
    binding = {"node": 1, "target": "deform", "interpolation": "linear", "x_count": 2, "y_count": 1,
               "is_set": [True, True], "kind": "deform", "view": 3}  # fmt: skip
    parameter = {"name": "p", "uuid": 1, "is_vec2": False, "min": [0, 0], "max": [1, 0], "defaults": [0, 0],
                 "axis_points": [[0, 1], [0]], "merge_mode": "additive", "bindings": [binding]}  # fmt: skip
    rig = rig_of(inr_document(part("a", 2), params=[parameter]), [*QUAD, offsets.tobytes()])
    values = rig.params[0].bindings[0].values
    assert values.shape == (2, 1, 4, 2)
    assert values[1, 0, 2].tolist() == [12, -13]


def test_unknown_values_fall_back_to_defaults() -> None:
    look = {**PART, "blend_mode": "vivid"}
    rig = rig_of(inr_document(part("a", 2, part=look), node("b", 3, kind="flower")), QUAD)
    assert rig.slots[0].blend is BlendMode.NORMAL
    assert [slot.name for slot in rig.slots] == ["a"]


def test_a_missing_hint_of_a_composite_stays_missing() -> None:
    attachment = rig_of(inr_document(group("g", 2))).skins[0].attachments["g"]["g"]
    assert isinstance(attachment, CompositeAttachment)
    assert attachment.overlap is None
    assert attachment.propagate_meshgroup


def test_textures_are_views_of_the_file() -> None:
    texels = bytes(range(16))
    data = inr_bytes(
        inr_document(textures=[{"width": 2, "height": 2, "format": "rgba8", "view": 0, "premultiplied": True}]),
        [texels],
    )
    texture = read_bytes(data, "inr")[0].textures[0]
    assert texture.data.tobytes() == texels
    assert not texture.data.flags.owndata
    assert texture.premultiplied


# -- writing ----------------------------------------------------------------------------------------------------------


def one_bone(local: np.ndarray) -> Rig:
    return Rig(skeleton=Skeleton(bones=[Bone(name="root")], parent=np.array([-1]), local=local[None]))


def test_the_container_is_padded_and_aligned() -> None:
    rig = rig_of(inr_document(textures=[{"width": 1, "height": 1, "format": "odd", "view": 0}]), [b"abcde"])
    rig.native = {}
    rig.textures[0].native = {}
    data, _ = write_bytes(rig, "inr")
    magic, version, json_length, bin_length = struct.unpack_from("<4sIII", data)
    assert (magic, version) == (b"INR1", 1)
    assert json_length % 4 == 0
    assert len(data) == 16 + json_length + bin_length
    chunk = data[16 : 16 + json_length]
    assert chunk.rstrip(b" ").endswith(b"}")
    assert all(view["offset"] % 4 == 0 for view in json.loads(chunk)["buffer_views"])


def test_nodes_are_in_pre_order() -> None:
    local = np.tile(np.eye(4), (4, 1, 1))
    bones = [Bone(name=name) for name in ("root", "left", "right", "left hand")]
    rig = Rig(skeleton=Skeleton(bones=bones, parent=np.array([-1, 0, 0, 1]), local=local))
    data, report = write_bytes(rig, "inr")
    nodes = document_of(data)[0]["nodes"]
    assert [(item["name"], item.get("parent")) for item in nodes] == [
        ("root", None),
        ("left", 0),
        ("left hand", 1),
        ("right", 0),
    ]
    assert "BONE_ORDER" in report.counts


def test_several_roots_get_one_above_them() -> None:
    local = np.tile(np.eye(4), (2, 1, 1))
    bones = [Bone(name="root"), Bone(name="other")]
    rig = Rig(skeleton=Skeleton(bones=bones, parent=np.array([-1, -1]), local=local))
    data, report = write_bytes(rig, "inr")
    nodes = document_of(data)[0]["nodes"]
    assert [(item["name"], item.get("parent")) for item in nodes] == [("root~2", None), ("root", 0), ("other", 0)]
    assert report.counts["ROOT_ADDED"] == 3


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (1 / 3, "0.33333334"), (np.pi, "3.1415927"), (16777216.0, "16777216.0"), (1e-7, "1e-7"),
     (-0.0, "0.0"), (3.4028234663852886e38, "3.4028235e38"), (1e-45, "1e-45"), (123456.789, "123456.79")],
)  # fmt: skip
def test_float32_numbers_have_their_shortest_spelling(value: float, text: str) -> None:
    import msgspec

    assert msgspec.json.encode(shortest(np.array([value])).tolist()[0]).decode() == text


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_shortest_spellings_read_back_as_the_same_float32(values: list[float]) -> None:
    numbers = shortest(np.array(values))
    assert (numbers.astype(np.float32) == np.array(values, dtype=np.float32)).all()
    # numpy's own text of a float32 is the shortest, too, found by another algorithm.
    assert [float(str(value)) for value in np.array(values, dtype=np.float32) + 0.0] == numbers.tolist()


def test_a_node_is_written_in_puppet_space() -> None:
    turned = np.array([[0, -2.0, 0, 1], [3.0, 0, 0, 2], [0, 0, 1, 0], [0, 0, 0, 1]])
    written = document_of(write_bytes(one_bone(turned), "inr")[0])[0]["nodes"][0]
    assert written["translation"] == [1.0, -2.0, 0.0]
    assert written["rotation"] == [0.0, 0.0, -1.5707964]
    assert written["scale"] == [3.0, 2.0]


def test_a_number_too_large_for_float32_is_refused() -> None:
    from rigconv import ConversionError

    huge = np.eye(4)
    huge[0, 3] = 1e39
    with pytest.raises(ConversionError, match='bone "root" is too large for a float32'):
        write_bytes(one_bone(huge), "inr")


def test_a_changed_draw_order_is_written() -> None:
    rig = rig_of(inr_document(part("a", 2, zsort=1), part("b", 3, zsort=0)), QUAD)
    rig.slots.reverse()
    again, _ = read_bytes(write_bytes(rig, "inr")[0], "inr")
    assert [slot.name for slot in again.slots] == ["b", "a"]


def test_an_edited_mesh_moves_the_views_behind_it() -> None:
    rig = rig_of(inr_document(part("a", 2)), [*QUAD, b"kept"])
    attachment = rig.skins[0].attachments["a"]["a"]
    assert isinstance(attachment, MeshAttachment)
    attachment.mesh.triangles = np.array([[0, 1, 2]])
    document, views = document_of(write_bytes(rig, "inr")[0])
    assert views == [QUAD[0], QUAD[1], struct.pack("<3I", 0, 1, 2), b"kept"]
    assert document["nodes"][1]["mesh"] == QUAD_MESH


def test_a_shared_view_is_parted_when_one_user_of_it_changes() -> None:
    rig = rig_of(inr_document(part("a", 2), part("b", 3)), QUAD)
    mesh = rig.skins[0].attachments["b"]["b"].mesh
    mesh.positions = mesh.positions * 2
    document, views = document_of(write_bytes(rig, "inr")[0])
    meshes = [item["mesh"] for item in document["nodes"][1:]]
    assert [mesh["positions"] for mesh in meshes] == [0, 3]
    assert views[0] == QUAD[0]
    assert views[3] == struct.pack("<8f", -2, -2, 2, -2, 2, 2, -2, 2)


def test_an_uneven_scale_along_z_is_said_with_helpers() -> None:
    local = np.diag([2.0, 3.0, 4.0, 1.0])
    data, report = write_bytes(one_bone(local), "inr")
    assert [item["name"] for item in document_of(data)[0]["nodes"]] == ["root~shear", "root~depth", "root"]
    assert world_matrices(read_bytes(data, "inr")[0].skeleton)[2] == pytest.approx(local, abs=1e-5)
    assert report.counts == {"DEPTH_HELPER_BONE": 3}


def test_a_sheared_bone_is_said_with_a_helper() -> None:
    local = np.eye(4)
    local[0, 1] = 0.5
    data, report = write_bytes(one_bone(local), "inr")
    assert [item["name"] for item in document_of(data)[0]["nodes"]] == ["root~shear", "root"]
    assert world_matrices(read_bytes(data, "inr")[0].skeleton)[1] == pytest.approx(local, abs=1e-6)
    assert report.counts == {"SHEAR_HELPER_BONE": 2}


@pytest.mark.parametrize(("height", "listed"), [(1e-4, ["child"]), (1.0, [])], ids=["flat", "square"])
def test_what_float32_cannot_place_is_in_the_report(height: float, listed: list[str]) -> None:
    """The child is to stand at (10.01, 100) under a frame whose axes are (1, 0) and (1, height).

    In the flat frame its local numbers are near a million, where neighbouring float32 numbers are 0.0625 apart.
    """
    flat, child = np.eye(4), np.eye(4)
    flat[:2, :2] = [[1.0, 1.0], [0.0, height]]
    child[:2, 3] = [10.01 - 100 / height, 100 / height]
    skeleton = Skeleton(
        bones=[Bone(name="flat"), Bone(name="child")], parent=np.array([-1, 0]), local=np.array([flat, child])
    )
    _, report = write_bytes(Rig(skeleton=skeleton), "inr")
    assert [entry.path for entry in report if entry.code == "POSE_ROUNDED"] == [f'bones["{name}"]' for name in listed]
