"""Slots as nodes: how regions and meshes of a rig become parts of a puppet, in the setup pose (docs/formats/inr.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rigconv
from hypothesis import given
from rigconv.converters.saving import ConvertOptions
from rigconv.ir.capabilities import Carry
from rigconv.ir.errors import ConversionError
from rigconv.ir.geometry import triangles_of, world_vertices
from rigconv.ir.pose import world_matrices
from rigconv.ir.rig import Attachment, Rig
from rigconv.testing import rigs
from support import document_of, dumped, read_bytes, rigc_document, write_bytes

SQUARE = {
    "type": "mesh",
    "uvs": [0, 0, 1, 0, 1, 1, 0, 1],
    "triangles": [0, 1, 2, 0, 2, 3],
    "vertices": [0, 0, 10, 0, 10, -10, 0, -10],
}

BARE = ConvertOptions(carry=Carry.NONE)

SAMPLES = ("kite_meshes", "lantern_regions", "postman_skins")


def rigc_rig(**fields: Any) -> Rig:
    return read_bytes(dumped(rigc_document(**fields)), "rigc")[0]


def puppet_of(**fields: Any) -> Rig:
    """What a rig spec says as a puppet."""
    return read_bytes(write_bytes(rigc_rig(**fields), "inr")[0], "inr")[0]


def nodes_of(**fields: Any) -> dict[str, dict[str, Any]]:
    """The nodes that a rig spec is written as, by name."""
    document, _ = document_of(write_bytes(rigc_rig(**fields), "inr")[0])
    return {node["name"]: node for node in document["nodes"]}


def codes_of(**fields: Any) -> set[tuple[str, str]]:
    return {(entry.code, entry.path) for entry in write_bytes(rigc_rig(**fields), "inr")[1].entries}


def vertices_of(rig: Rig, slot_name: str) -> np.ndarray:
    slot = next(slot for slot in rig.slots if slot.name == slot_name)
    index = {name: place for place, name in enumerate(rig.skeleton.names)}
    found = [skin.attachments[slot.name] for skin in rig.skins if slot.name in skin.attachments]
    return world_vertices(found[0][slot.attachment], slot.bone, world_matrices(rig.skeleton), index)


def drawn(rig: Rig) -> list[np.ndarray]:
    """World vertices of everything that a rig shows or hides, in draw order, what is hidden first in each slot."""
    index = {name: place for place, name in enumerate(rig.skeleton.names)}
    world = world_matrices(rig.skeleton)
    result = []
    for slot in rig.slots:
        items = [
            (skin.name == "default" and name == slot.attachment, item)
            for skin in rig.skins
            for name, item in skin.attachments.get(slot.name, {}).items()
        ]
        for _, item in sorted(items, key=lambda row: row[0]):
            vertices = world_vertices(item, slot.bone, world, index)
            if vertices is not None:
                result.append(vertices)
    return result


BONES = [
    {"name": "root"},
    {"name": "arm", "parent": "root", "x": 100, "y": 50, "rotation": 90, "scaleX": 2},
    {"name": "hand", "parent": "arm", "x": 10},
]


def test_a_region_is_a_quad_under_the_bone_of_its_slot() -> None:
    region = {"x": 3, "y": 4, "rotation": 90, "scaleX": 2, "width": 10, "height": 6}
    rig = puppet_of(
        bones=BONES,
        slots=[{"name": "sleeve", "bone": "arm", "attachment": "cloth"}],
        skins={"default": {"sleeve": {"cloth": region}}},
    )
    # Half of it is (10, 3). Turned a quarter, bottom left (-10, -3) is (3, -10), so (6, -6) in the bone, whose x goes
    # up and is doubled, whose y goes left: (100 - -6, 50 + 12).
    wanted = [[106, 62], [106, 50], [86, 50], [86, 62]]
    assert vertices_of(rig, "sleeve") == pytest.approx(np.array(wanted, dtype=float), abs=1e-4)
    mesh = rig.skins[0].attachments["sleeve"]["sleeve"].mesh
    assert mesh.uvs.tolist() == [[0, 1], [0, 0], [1, 0], [1, 1]]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert rig.skeleton.parent_names[rig.skeleton.names.index("sleeve")] == "arm"


def test_an_unweighted_mesh_keeps_its_own_numbers() -> None:
    rig = puppet_of(
        bones=BONES,
        slots=[{"name": "sleeve", "bone": "arm", "attachment": "cloth"}],
        skins={"default": {"sleeve": {"cloth": SQUARE}}},
    )
    mesh = rig.skins[0].attachments["sleeve"]["sleeve"].mesh
    assert mesh.positions[:, :2].ravel().tolist() == SQUARE["vertices"]
    assert mesh.uvs.ravel().tolist() == SQUARE["uvs"]
    assert mesh.triangles.ravel().tolist() == SQUARE["triangles"]


def test_a_weighted_mesh_stands_as_in_the_setup_pose() -> None:
    weights = [
        [{"bone": "root", "x": 1, "y": 2, "weight": 1}],
        [{"bone": "root", "x": 110, "y": 50, "weight": 0.25}, {"bone": "arm", "x": 5, "y": 6, "weight": 0.75}],
        [{"bone": "hand", "x": 0, "y": 0, "weight": 1}],
    ]
    mesh = {"type": "mesh", "uvs": [0, 0, 1, 0, 1, 1], "triangles": [0, 1, 2], "weights": weights}
    fields = {
        "bones": BONES,
        "slots": [{"name": "sleeve", "bone": "arm", "attachment": "cloth"}],
        "skins": {"default": {"sleeve": {"cloth": mesh}}},
    }
    # (5, 6) in the arm is (100 - 6, 50 + 10); hand is at (100, 50 + 20).
    wanted = [[1, 2], [0.25 * 110 + 0.75 * 94, 0.25 * 50 + 0.75 * 60], [100, 70]]
    assert vertices_of(puppet_of(**fields), "sleeve") == pytest.approx(np.array(wanted), abs=1e-4)
    assert ("WEIGHTS_DROPPED", 'skins["default"].attachments["sleeve"]["cloth"].mesh.weights') in codes_of(**fields)


def test_a_weighted_mesh_does_not_need_its_slot_to_stand_anywhere() -> None:
    # The slot's bone has no extent, so that nothing could be placed from it.
    bones = [
        {"name": "root"},
        {"name": "flat", "parent": "root", "scaleX": 0},
        {"name": "arm", "parent": "root", "x": 7},
    ]
    weights = [[{"bone": "arm", "x": x, "y": y, "weight": 1}] for x, y in ((0, 0), (1, 0), (1, 1))]
    mesh = {"type": "mesh", "uvs": [0, 0, 1, 0, 1, 1], "triangles": [0, 1, 2], "weights": weights}
    rig = puppet_of(
        bones=bones,
        slots=[{"name": "sleeve", "bone": "flat", "attachment": "cloth"}],
        skins={"default": {"sleeve": {"cloth": mesh}}},
    )
    assert vertices_of(rig, "sleeve").tolist() == [[7, 0], [8, 0], [8, 1]]


def test_slots_are_drawn_in_their_order() -> None:
    # Back to front: on the hand, then the root, then the arm above it, against the order of the bones.
    slots = [{"name": f"on {bone}", "bone": bone, "attachment": "cloth"} for bone in ("hand", "root", "arm")]
    skins = {"default": {slot["name"]: {"cloth": SQUARE} for slot in slots}}
    rig = puppet_of(bones=BONES, slots=slots, skins=skins)
    assert [slot.name for slot in rig.slots] == ["on hand", "on root", "on arm"]
    nodes = nodes_of(bones=BONES, slots=slots, skins=skins)
    # Bones sort at 0 and so do not move what hangs on them; higher is further back.
    depths = [nodes[slot["name"]]["zsort"] for slot in slots]
    assert all(nodes[bone["name"]]["zsort"] == 0 for bone in BONES)
    assert depths == sorted(depths, reverse=True)
    assert len(set(depths)) == 3


def test_colours_of_slot_and_attachment_are_multiplied() -> None:
    part = nodes_of(
        slots=[{"name": "s", "bone": "root", "attachment": "a", "color": "ff8000ff"}],
        skins={"default": {"s": {"a": {**SQUARE, "color": "80ff0033"}}}},
    )["s"]["part"]
    assert part["tint"] == pytest.approx([128 / 255, 128 / 255, 0])
    assert part["opacity"] == pytest.approx(0x33 / 255)


def test_a_dark_colour_is_a_screen_tint() -> None:
    fields = {
        "slots": [{"name": "s", "bone": "root", "attachment": "a", "color": "ff8080ff", "dark": "400020"}],
        "skins": {"default": {"s": {"a": SQUARE}}},
    }
    # Screening with s and then tinting with t shows texel * t + (1 - texel) * s * t: s = dark / t.
    assert nodes_of(**fields)["s"]["part"]["screen_tint"] == pytest.approx([64 / 255, 0, 32 / 128], abs=1e-7)
    assert ("DARK_APPROXIMATED", 'slots["s"].dark') in codes_of(**fields)


@pytest.mark.parametrize(
    ("blend", "mode"), [("normal", "normal"), ("additive", "add"), ("multiply", "multiply"), ("screen", "screen")]
)
def test_blend_modes(blend: str, mode: str) -> None:
    slots = [{"name": "s", "bone": "root", "attachment": "a", "blend": blend}]
    assert nodes_of(slots=slots, skins={"default": {"s": {"a": SQUARE}}})["s"]["part"]["blend_mode"] == mode


def test_what_is_not_shown_is_disabled() -> None:
    fields = {
        "slots": [{"name": "s", "bone": "root", "attachment": "a"}, {"name": "t", "bone": "root", "attachment": None}],
        "skins": {
            "default": {"s": {"a": SQUARE, "b": SQUARE}, "t": {"c": SQUARE}},
            "winter": {"s": {"a": SQUARE}},
        },
    }
    nodes = nodes_of(**fields)
    assert {name: node["enabled"] for name, node in nodes.items() if node["kind"] == "part"} == {
        "s": True,
        "s~b": False,
        "s~winter~a": False,
        "t~c": False,
    }
    assert ("HIDDEN_AS_DISABLED", 'skins["winter"].attachments["s"]["a"]') in codes_of(**fields)


def test_a_slot_named_as_its_bone_is_a_part_below_it() -> None:
    fields = {
        "bones": BONES,
        "slots": [
            {"name": "arm", "bone": "arm", "attachment": "a"},
            {"name": "arm~part", "bone": "arm", "attachment": "a"},
        ],
        "skins": {"default": {"arm": {"a": SQUARE}, "arm~part": {"a": SQUARE}}},
    }
    nodes = nodes_of(**fields)
    assert [name for name, node in nodes.items() if node["kind"] == "part"] == ["arm~part~2", "arm~part"]


def test_a_region_of_unknown_size_is_refused_by_name() -> None:
    fields = {
        "slots": [{"name": "s", "bone": "root", "attachment": "a"}],
        "skins": {"default": {"s": {"a": {"image": "lost.png"}}}},
    }
    with pytest.raises(ConversionError, match=r'skins\["default"\].attachments\["s"\]\["a"\].*"lost.png"'):
        write_bytes(rigc_rig(**fields), "inr")


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_keep_their_vertices_and_their_draw_order(name: str, shared: Path, tmp_path: Path) -> None:
    source = shared / "samples" / "rigc" / f"{name}.rig.json"
    rigconv.convert(source, tmp_path / "a.inr", options=BARE)
    before, after = drawn(rigconv.read(source)), drawn(rigconv.read(tmp_path / "a.inr"))
    assert len(before) == len(after) > 0
    for one, other in zip(before, after, strict=True):
        assert np.abs(one - other).max() <= 1e-4


@given(rigs())
def test_all_vertices_stand_where_they_stood(rig: Rig) -> None:
    before, after = drawn(rig), drawn(read_bytes(write_bytes(rig, "inr")[0], "inr")[0])
    size = max([np.abs(world_matrices(rig.skeleton)).max(), *(np.abs(points).max() for points in before)])
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        assert np.abs(one - other).max() <= max(1e-4, 1e-5 * size)


@pytest.mark.parametrize("name", SAMPLES)
def test_parts_stand_where_the_official_runtime_has_the_vertices(
    name: str, shared: Path, tmp_path: Path, spine_runtime: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    source = shared / "samples" / "rigc" / f"{name}.rig.json"
    rigconv.convert(source, tmp_path / "a.inr", options=BARE)
    rig, puppet = rigconv.read(source), rigconv.read(tmp_path / "a.inr")
    answer = spine_runtime(skeleton_json(rig))
    enabled = {bone.name for bone in puppet.skeleton.bones if bone.enabled}
    ours = [vertices_of(puppet, slot.name) for slot in puppet.slots if slot.bone in enabled]
    theirs = [np.array(item["vertices"]).reshape(-1, 2) for item in answer["attachments"]]
    assert len(ours) == len(theirs) > 0
    for one, other in zip(ours, theirs, strict=True):
        assert np.abs(one - other).max() <= 1e-3


# -- skeleton JSON for the runtime, made from the neutral values alone --------------------------------------------------


def skeleton_json(rig: Rig) -> dict[str, Any]:
    """Skeleton JSON of the bones as they are authored, and of the attachments as the representation has them."""
    names = rig.skeleton.names
    bones = [
        {key: value for key, value in bone.native["rigc"].fields.items() if key not in ("from", "skin")}
        for bone in rig.skeleton.bones
    ]
    slots = [
        {"name": slot.name, "bone": slot.bone, **({"attachment": slot.attachment} if slot.attachment else {})}
        for slot in rig.slots
    ]
    skins = [
        {
            "name": skin.name,
            "attachments": {
                slot: {key: _attachment_json(item, names) for key, item in items.items()}
                for slot, items in skin.attachments.items()
            },
        }
        for skin in rig.skins
    ]
    return {"skeleton": {"spine": "4.3.13"}, "bones": bones, "slots": slots, "skins": skins, "animations": {}}


def _attachment_json(item: Attachment, bones: list[str]) -> dict[str, Any]:
    mesh = getattr(item, "mesh", None)
    if mesh is None:
        width, height = (item.width, item.height) if item.width is not None else item.image_size
        turned = {"x": item.x, "y": item.y, "rotation": np.degrees(item.rotation)}
        return {**turned, "scaleX": item.scale_x, "scaleY": item.scale_y, "width": width, "height": height}
    run: list[float] = []
    for vertex in range(mesh.vertex_count):
        rows = range(mesh.starts[vertex], mesh.starts[vertex + 1])
        run.append(len(rows))
        for row in rows:
            bone = bones.index(mesh.bones[mesh.influence_bones[row]])
            run += [bone, *mesh.positions[row, :2].tolist(), float(mesh.weights[row])]
    return {
        "type": "mesh",
        "uvs": mesh.uvs.ravel().tolist(),
        "triangles": triangles_of(item).ravel().tolist(),
        "vertices": run,
        "hull": 0,
    }
