"""The rules of INR (specs/inr-facts.md §2): what is refused, what is tolerated, what is only warned of."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import rigconv
from rigconv import FormatError
from rigconv.converters.registry import find
from rigconv.converters.validate import validate_file
from rigconv.ir.exchange import ANYTHING, Reading, Source
from support import PART, QUAD, inr_bytes, inr_document, node, part, read_bytes

NAN_QUAD = [struct.pack("<8f", float("nan"), *([0.0] * 7)), *QUAD[1:]]


def texture(**fields: Any) -> dict[str, Any]:
    return inr_document(textures=[{"width": 1, "height": 1, "format": "rgba8", "view": 0} | fields])


def param(bindings: list[dict[str, Any]] | None = None, **fields: Any) -> dict[str, Any]:
    plain = {
        "name": "p",
        "uuid": 9,
        "is_vec2": False,
        "min": [0, 0],
        "max": [1, 1],
        "defaults": [0, 0],
        "axis_points": [[0, 1], [0]],
        "merge_mode": "additive",
        "bindings": bindings or [],
    }
    return inr_document(part("a", 2), params=[plain | fields])


def binding(**fields: Any) -> dict[str, Any]:
    plain = {
        "node": 1,
        "target": "opacity",
        "interpolation": "linear",
        "x_count": 2,
        "y_count": 1,
        "is_set": [True, True],
        "kind": "scalar",
        "view": 3,
    }
    return param([plain | fields])


def animation(*lanes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    clip = {"name": "c", "timestep": 0.1, "length": 2, "lanes": list(lanes)} | fields
    return {**param(), "animations": [clip]}


def lane(**fields: Any) -> dict[str, Any]:
    return {"param": 0, "target": 0, "interpolation": "linear", "merge_mode": "forced", "keyframes": []} | fields


TWO = struct.pack("<2f", 0, 1)
BROKEN_TREE = {"physics": {"pixels_per_meter": 1, "gravity": 1}, "nodes": [node("r", 1), node("a", 2, parent=9)]}
RING = {**BROKEN_TREE, "nodes": [node("r", 1), node("a", 2, parent=2), node("b", 3, parent=1)]}

REFUSED: dict[str, tuple[bytes, str]] = {
    "truncated: no header": (b"INR1\1\0", "the file has 6 bytes"),
    "truncated: json": (inr_bytes(inr_document())[:40], "ends inside the JSON chunk"),
    "truncated: bin": (inr_bytes(inr_document(part("a", 2)), QUAD)[:-4], "ends inside the BIN chunk"),
    "bad_magic": (inr_bytes(inr_document(), magic=b"INR2"), "byte 0: the magic is"),
    "bad_version": (inr_bytes(inr_document(), version=2), "byte 4: the container version is 2"),
    "invalid_utf8": (inr_bytes(inr_document(node("xyz", 2))).replace(b"xyz", b"x\xff\xfe"), "UTF-8"),
    "json_syntax": (inr_bytes(inr_document()).replace(b'"nodes":', b'"nodes";'), "not valid JSON"),
    "json_depth": (
        inr_bytes({**inr_document(), "deep": json.loads("[" * 200 + "]" * 200)}),
        "too deeply",
    ),
    "json_constant": (
        inr_bytes(inr_document(node("a", 2, zsort=12345.5))).replace(b"12345.5", b"    NaN"),
        "not finite",
    ),
    "duplicate_key": (inr_bytes(inr_document()).replace(b'"gravity":', b'"nodes"  :'), "missing|twice"),
    "duplicate_key of an unknown field": (
        inr_bytes({**inr_document(), "aa": 1, "bb": 2}).replace(b'"bb"', b'"aa"'),
        r'the key "aa" stands twice',
    ),
    "lone_surrogate": (
        inr_bytes(inr_document(node("\\ud800", 2))).replace(b"\\\\ud800", b"\\ud800 "),
        "not valid JSON",
    ),
    "missing": (inr_bytes({"nodes": [node("r", 1)]}), "physics is missing"),
    "missing in a node": (inr_bytes(inr_document({"name": "a", "uuid": 2})), r"nodes\[1\] .*kind is missing"),
    "type": (inr_bytes(inr_document(node("a", 2, enabled=1))), r"enabled .*\"a\".*type int; expected bool"),
    "type: 1.0 for an int": (inr_bytes(inr_document(node("a", 2.0))), "uuid"),
    "type: null for a required field": (inr_bytes(inr_document(node("a", 2, zsort=None))), "zsort"),
    "int_range": (inr_bytes(inr_document(node("a", 2**32))), "4294967295"),
    "not_finite as float32": (inr_bytes(inr_document(node("a", 2, zsort=1e39))), "zsort"),
    "not_finite in a view": (
        inr_bytes(inr_document(part("a", 2)), NAN_QUAD),
        "view 0 holds a number that is not finite",
    ),
    "view_range": (inr_bytes({**inr_document(), "buffer_views": [{"offset": 0, "length": 4}]}), "ends at byte 4"),
    "view_range beyond 32 bits": (
        inr_bytes({**inr_document(), "buffer_views": [{"offset": 0xFFFFFFFC, "length": 8}]}),
        "ends at byte 4294967300",
    ),
    "view_index": (inr_bytes(inr_document(part("a", 2)), QUAD[:2]), "there is no view 2"),
    "view_length": (inr_bytes(inr_document(part("a", 2)), [QUAD[0][:-1], *QUAD[1:]]), "31 bytes"),
    "texture_dimension: none": (inr_bytes(texture(width=0), [b""]), "the texture is 0 x 1"),
    "texture_dimension: huge": (inr_bytes(texture(width=16385), [b"abcd"]), "16385 x 1"),
    "texture_size": (inr_bytes(texture(), [b"abcdefgh"]), "8 bytes; expected 4"),
    "texture_size of blocks": (inr_bytes(texture(format="bc7", width=5, height=4), [b"a" * 16]), "expected 32"),
    "no_nodes": (inr_bytes({**inr_document(), "nodes": []}), "there are no nodes"),
    "parent_range": (inr_bytes(BROKEN_TREE), "there is no node 9"),
    "parent_cycle": (inr_bytes(RING), "its own ancestor"),
    "mesh_size: positions": (inr_bytes(inr_document(part("a", 2)), [QUAD[0][:-8], *QUAD[1:]]), "6 numbers; expected 8"),
    "mesh_size: uvs of a part": (
        inr_bytes(inr_document(part("a", 2)), [QUAD[0], b"", QUAD[2]]),
        "0 numbers; expected 8",
    ),
    "index_count": (inr_bytes(inr_document(part("a", 2)), [*QUAD[:2], QUAD[2][:-4]]), "multiple of 12"),
    "index_range": (
        inr_bytes(inr_document(part("a", 2)), [*QUAD[:2], struct.pack("<3I", 0, 1, 4)]),
        "vertex 4; expected 0 to 3",
    ),
    "texture_index": (
        inr_bytes(inr_document(part("a", 2, part={**PART, "textures": [-2, -1, -1]})), QUAD),
        r"textures\[0\]: the texture index is -2",
    ),
    "texture_index beyond": (
        inr_bytes(inr_document(part("a", 2, part={**PART, "textures": [0, -1, -1]})), QUAD),
        "is 0",
    ),
    "mask_node": (
        inr_bytes(inr_document(part("a", 2, part={**PART, "masks": [{"node": 7, "mode": "mask"}]})), QUAD),
        "there is no node 7",
    ),
    "physics_param": (
        inr_bytes(
            inr_document(
                node(
                    "a",
                    2,
                    kind="simplephysics",
                    physics={
                        "param": 0,
                        "model": "pendulum",
                        "map_mode": "xy",
                        "gravity": 1,
                        "length": 1,
                        "frequency": 1,
                        "angle_damping": 1,
                        "length_damping": 1,
                        "output_scale": [1, 1],
                    },
                )
            )
        ),
        "there is no param 0",
    ),
    "binding_node": (inr_bytes(binding(node=8), [*QUAD, TWO]), "there is no node 8"),
    "binding_grid": (inr_bytes(binding(x_count=3), [*QUAD, TWO]), "the grid is 3 x 1; expected 2 x 1"),
    "binding_grid of nothing": (
        inr_bytes(
            {**binding(x_count=0), "params": [{**binding(x_count=0)["params"][0], "axis_points": [[], [0]]}]},
            [*QUAD, TWO],
        ),
        "the grid is 0 x 1",
    ),
    "is_set_size": (inr_bytes(binding(is_set=[True]), [*QUAD, TWO]), "1 flags; expected 2"),
    "binding_size": (inr_bytes(binding(), [*QUAD, TWO[:4]]), "1 numbers; expected 2"),
    "binding_size of a deform": (inr_bytes(binding(kind="deform"), [*QUAD, TWO]), "2 numbers; expected 16"),
    "lane_param": (inr_bytes(animation(lane(param=1)), QUAD), "there is no param 1"),
    "lane_param below": (inr_bytes(animation(lane(param=-2)), QUAD), "there is no param -2"),
}

UNORDERED = {"physics": BROKEN_TREE["physics"], "nodes": [node("a", 2, parent=1), node("r", 1)]}
APART = inr_document(node("a", 2), node("b", 3), node("c", 4, parent=1))

TOLERATED: dict[str, tuple[bytes, set[str]]] = {
    "json_len_unaligned": (
        struct.pack("<4sIII", b"INR1", 1, 3 + len(inr_bytes(inr_document())[16:]), 0)
        + inr_bytes(inr_document())[16:]
        + b"   ",
        {"json_len_unaligned"},
    ),
    "view_unaligned": (
        inr_bytes({**inr_document(), "buffer_views": [{"offset": 1, "length": 2}]}, [b"abcd"]),
        {"view_unaligned"},
    ),
    "texture_format": (inr_bytes(texture(format="astc"), [b"ab"]), {"texture_format"}),
    "second_root": (inr_bytes({**inr_document(), "nodes": [node("r", 1), node("s", 2)]}), {"second_root"}),
    "parent_order": (inr_bytes(UNORDERED), {"root_has_parent", "parent_order", "second_root"}),
    "not_preorder": (inr_bytes(APART), {"not_preorder"}),
    "duplicate_uuid": (inr_bytes(inr_document(node("a", 1))), {"duplicate_uuid"}),
    "missing payload": (inr_bytes(inr_document(node("a", 2, kind="part"))), {"missing"}),
    "axis_order": (inr_bytes(param(axis_points=[[1, 0], [0]]), QUAD), {"axis_order"}),
    "axis_range": (inr_bytes(param(axis_points=[[0, 2], [0]]), QUAD), {"axis_range"}),
    "param_range": (inr_bytes(param(min=[2, 0]), QUAD), {"param_range"}),
    "deform_without_mesh": (inr_bytes(binding(node=0, kind="deform"), [*QUAD, TWO]), {"deform_without_mesh"}),
    "anim_timestep": (inr_bytes(animation(timestep=0), QUAD), {"anim_timestep"}),
    "lane_target": (inr_bytes(animation(lane(target=2)), QUAD), {"lane_target"}),
    "keyframe_order": (inr_bytes(animation(lane(keyframes=[[5, 0, 0], [4, 0, 0]])), QUAD), {"keyframe_order"}),
    "contour_key": (inr_bytes(inr_document(mask_contours={"x": []})), {"contour_key"}),
    "contour_node": (inr_bytes(inr_document(mask_contours={"77": []})), {"contour_node"}),
    "contour_points": (inr_bytes(inr_document(mask_contours={"1": [[[0, 0], [1, 1]]]})), {"contour_points"}),
}

WARNED: dict[str, tuple[bytes, set[str]]] = {
    "unknown kind": (inr_bytes(inr_document(node("a", 2, kind="flower"))), {"unknown_value"}),
    "unknown blend mode": (
        inr_bytes(inr_document(part("a", 2, part={**PART, "blend_mode": "glow"})), QUAD),
        {"unknown_value"},
    ),
    "binding kind": (inr_bytes(binding(kind="quaternion"), [*QUAD, TWO]), {"binding_kind"}),
    "trailing bytes": (inr_bytes(inr_document()) + b"abc", {"trailing_bytes"}),
    "opacity": (inr_bytes(inr_document(part("a", 2, part={**PART, "opacity": 2})), QUAD), {"share_range"}),
    "contour outside": (
        inr_bytes(inr_document(mask_contours={"1": [[[0, 0], [1.5, 1], [0, 1]]]})),
        {"contour_points"},
    ),
}


@pytest.mark.parametrize("rule", REFUSED)
def test_unsafe_files_are_refused(rule: str) -> None:
    data, message = REFUSED[rule]
    with pytest.raises(FormatError, match=message):
        read_bytes(data, "inr")


@pytest.mark.parametrize("rule", TOLERATED)
def test_harmless_faults_are_tolerated_and_noted(rule: str) -> None:
    data, rules = TOLERATED[rule]
    _, reading = read_bytes(data, "inr")
    assert {problem.rule for problem in reading.problems} == rules
    assert not any(problem.warning or problem.affects == ANYTHING for problem in reading.problems)


@pytest.mark.parametrize("what", WARNED)
def test_what_breaks_no_rule_is_warned_of(what: str) -> None:
    data, rules = WARNED[what]
    _, reading = read_bytes(data, "inr")
    assert {problem.rule for problem in reading.problems} == rules
    assert all(problem.warning for problem in reading.problems)


@pytest.mark.parametrize("rule", [*REFUSED, *TOLERATED, *WARNED])
def test_validate_tells_rules_from_warnings(rule: str, tmp_path: Path) -> None:
    data = {**REFUSED, **TOLERATED, **WARNED}[rule][0]
    path = tmp_path / "puppet.inr"
    path.write_bytes(data)
    assert validate_file(str(path), "inr").ok == (rule in WARNED)


@pytest.mark.parametrize("rule", TOLERATED)
def test_tolerated_faults_are_in_the_report_of_a_conversion(rule: str, tmp_path: Path) -> None:
    path = tmp_path / "puppet.inr"
    path.write_bytes(TOLERATED[rule][0])
    report = rigconv.convert(path, tmp_path / "out.inr")
    assert report.counts["RULE_BROKEN"] >= 1
    again = validate_file(str(tmp_path / "out.inr"))
    repaired = {"second_root", "parent_order", "root_has_parent", "not_preorder", "json_len_unaligned"}
    assert not {problem.rule for problem in again.problems} & repaired


def test_validate_lists_all_faults() -> None:
    broken = inr_document(part("a", 2, part={**PART, "textures": [5, -3, -1]}), node("b", 2))
    reading = Reading(source=Source("file", inr_bytes(broken, QUAD)))
    with pytest.raises(FormatError):
        find("inr").read(reading)
    assert [problem.rule for problem in reading.problems] == ["duplicate_uuid", "texture_index", "texture_index"]
