"""Faults of rig specs: those of the seed's parser in its own order, and those that a compiler would meet."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rigconv import FormatError
from rigconv.converters.loading import refuse_problems
from rigconv.converters.registry import find
from support import dumped, read_bytes, rigc_document, write_bytes

ROOT = {"name": "root"}


def bones(*items: Any) -> dict[str, Any]:
    return rigc_document(bones=[ROOT, *items], slots=[])


def arm(**fields: Any) -> dict[str, Any]:
    return bones({"name": "arm", "parent": "root", **fields})


ENVELOPE = {
    "1 not an object": ([], "not an object"),
    "2 spec tag": (rigc_document(spec="rigc-rig/2"), 'version "rigc-rig/2"'),
    "3 name missing": ({k: v for k, v in rigc_document().items() if k != "name"}, "needs a name"),
    "3 name empty": (rigc_document(name=""), "needs a name"),
    "4 bones missing": ({k: v for k, v in rigc_document().items() if k != "bones"}, "needs bones"),
    "4 bones empty": (rigc_document(bones=[]), "needs bones"),
    "5 slots missing": ({k: v for k, v in rigc_document().items() if k != "slots"}, "needs slots"),
    "6 bone without name": (bones({}), r"bones\[1\]: a bone needs a name"),
    "7 bone twice": (bones(ROOT), 'two bones are called "root"'),
    "8 parent later": (bones({"name": "a", "parent": "b"}, {"name": "b"}), 'bone "a" names parent "b"'),
    "8 parent null": (arm(parent=None), 'bone "arm" names parent null'),
    "9 inherit unknown": (arm(inherit="noShear"), 'bone "arm" has inherit "noShear"'),
    "10 two sources": (arm(**{"from": {"anchor": "a", "meshCenter": "b"}}), r"\(anchor, meshCenter\)"),
    "11 literal x": (arm(x=0, **{"from": {"anchor": "a"}}), "literal x and from.anchor"),
    "12 literal rotation": (arm(rotation=0, **{"from": {"rotation": "axis"}}), "literal rotation and from.rotation"),
    "13 anchor rotation": (arm(**{"from": {"rotation": "anchor"}}), "names no from.anchor"),
    "14 slot without name": (rigc_document(slots=[{"bone": "root"}]), r"slots\[0\]: a slot needs a name"),
    "15 slot twice": (rigc_document(slots=[{"name": "s", "bone": "root"}] * 2), 'two slots are called "s"'),
    "16 slot bone": (rigc_document(slots=[{"name": "s", "bone": "leg"}]), 'slot "s" names bone "leg"'),
    "17 blend unknown": (rigc_document(slots=[{"name": "s", "bone": "arm", "blend": "x"}]), 'slot "s" has blend "x"'),
    "18 constraint without name": (rigc_document(constraints=[{"type": "ik"}]), "a constraint needs a name"),
    "19 constraint twice": (rigc_document(constraints=[{"type": "ik", "name": "c"}] * 2), 'constraints are called "c"'),
    "hole: its own parent": (arm(parent="arm"), 'bone "arm" names parent "arm"'),
    "hole: inherit of a root": (rigc_document(bones=[{"name": "r", "inherit": "x"}], slots=[]), 'bone "r" has inherit'),
    "hole: two sources on a root": (
        rigc_document(bones=[{"name": "r", "from": {"anchor": "a", "slotWindow": "b"}}], slots=[]),
        "more than one source",
    ),
    "hole: from null": (arm(**{"from": None}), 'from of bone "arm" is null'),
    "hole: slot null": (rigc_document(slots=[None]), "a slot needs a name"),
    "hole: constraints no list": (rigc_document(constraints={"a": 1}), "expected a list"),
    "hole: type null": (rigc_document(constraints=[{"name": "c", "type": None}]), 'constraint "c" has type null'),
    "hole: rotation source": (arm(**{"from": {"rotation": "up"}}), 'takes its rotation from "up"'),
    "hole: number as text": (arm(x="1"), r'bones\[1\].x \("arm"\): the value is of type str; expected float'),
}


@pytest.mark.parametrize("fault", ENVELOPE)
def test_the_envelope_is_checked(fault: str) -> None:
    document, message = ENVELOPE[fault]
    with pytest.raises(FormatError, match=message):
        read_bytes(dumped(document), "rigc")


def test_the_first_fault_is_named() -> None:
    document = rigc_document(name="", bones=[], slots=None)
    with pytest.raises(FormatError, match="needs a name"):
        read_bytes(dumped(document), "rigc")


def skins(attachment: Any) -> dict[str, Any]:
    return rigc_document(skins={"default": {"s": {"a": attachment}}})


TRIANGLE = {"type": "mesh", "uvs": [0, 0, 1, 0, 1, 1], "triangles": [0, 1, 2]}
PULL = {"bone": "arm", "x": 0, "y": 0, "weight": 1}
RIBBON = {"kind": "ribbon", "size": [4, 4], "rows": 3, "chain": ["arm"]}
HEXAGON = [[0, 0], [5, 0], [9, 0], [9, 9], [5, 9], [0, 9]]
RING = {"kind": "ring", "hull": HEXAGON, "center": [5, 5], "inner": 0.5, "size": [9, 9], "controls": ["arm"]}


def generated(**fields: Any) -> dict[str, Any]:
    return skins({"type": "mesh", "generator": fields})


def constraint(**fields: Any) -> dict[str, Any]:
    return rigc_document(constraints=[{"name": "c", **fields}])


IK = {"type": "ik", "bones": ["arm"], "target": "root"}
TRANSFORM = {"type": "transform", "bones": ["arm"], "source": "root"}

COMPILING = {
    "region without size": (skins({"width": 4}), "skins", "no size"),
    "type null": (skins({"type": None, "width": 1, "height": 1}), "skins", "has type null"),
    "type unknown": (skins({"type": "sprite"}), "skins", 'has type "sprite"'),
    "no object": (skins([]), "skins", "an object"),
    "colour": (skins({"width": 1, "height": 1, "color": "red"}), "skins", 'colour is "red"'),
    "vertices and weights": (skins({**TRIANGLE, "vertices": [0] * 6, "weights": [[PULL]] * 3}), "skins", "both"),
    "authored and generator": (skins({**TRIANGLE, "generator": RIBBON}), "skins", "a generator and authored uvs"),
    "raw with weights": (skins({**TRIANGLE, "boneIndexing": "raw", "weights": [[PULL]] * 3}), "skins", "raw"),
    "indexing unknown": (skins({**TRIANGLE, "boneIndexing": "named", "vertices": [0] * 6}), "skins", '"named"'),
    "unflagged run": (skins({**TRIANGLE, "vertices": [1, 1, 0, 0, 1] * 3}), "skins", "15 numbers for 3 vertices"),
    "no uvs": (skins({"type": "mesh", "triangles": [], "vertices": []}), "skins", "no uvs"),
    "no triangles": (skins({"type": "mesh", "uvs": [], "vertices": []}), "skins", "no triangles"),
    "no geometry": (skins(TRIANGLE), "skins", "no geometry"),
    "weights too few": (skins({**TRIANGLE, "weights": [[PULL]] * 2}), "skins", "2 vertices; expected 3"),
    "vertex without bone": (skins({**TRIANGLE, "weights": [[PULL], [], [PULL]]}), "skins", r"weights\[1\]"),
    "weight of no bone": (skins({**TRIANGLE, "weights": [[{**PULL, "bone": "x"}]] * 3}), "skins", 'no bone "x"'),
    "odd uvs": (skins({**TRIANGLE, "uvs": [0, 0, 1], "vertices": []}), "skins", "3 numbers; expected pairs"),
    "triangle out of range": (skins({**TRIANGLE, "triangles": [0, 1, 3], "vertices": [0] * 6}), "skins", "index is 3"),
    "triangle not whole": (skins({**TRIANGLE, "triangles": [0, 1], "vertices": [0] * 6}), "skins", "multiple of 3"),
    "run with a wrong count": (
        skins({**TRIANGLE, "boneIndexing": "raw", "vertices": [1, 1, 0, 0, 1, 0.5, 0]}),
        "skins",
        "vertex 1 has 0.5",
    ),
    "run too long": (
        skins({**TRIANGLE, "boneIndexing": "raw", "vertices": [*([1, 1, 0, 0, 1] * 3), 7]}),
        "skins",
        "expected 15 for 3",
    ),
    "run with no such bone": (
        skins({**TRIANGLE, "boneIndexing": "raw", "vertices": [1, 9, 0, 0, 1] * 3}),
        "skins",
        "index is 9; expected 0 to 1",
    ),
    "ring with few points": (generated(**{**RING, "hull": HEXAGON[:5]}), "skins", "5 points"),
    "ring inner": (generated(**{**RING, "inner": 1}), "skins", "inner is 1"),
    "ring size": (generated(**{**RING, "size": [0, 9]}), "skins", "size"),
    "ring outside": (generated(**{**RING, "size": [8, 9]}), "skins", "outside the window"),
    "ring not star-shaped": (
        generated(**{**RING, "hull": [[0, 0], [9, 0], [9, 9], [5, 1], [1, 9], [0, 9]]}),
        "skins",
        "star-shaped",
    ),
    "ring ramp": (generated(**{**RING, "bias": {"axis_deg": 0, "ramp": [2, 1]}}), "skins", "ramp"),
    "ring control": (generated(**{**RING, "controls": ["leg"]}), "skins", 'no bone "leg"'),
    "ring without control": (generated(**{**RING, "controls": []}), "skins", "no bone is named"),
    "ribbon rows": (generated(**{**RIBBON, "rows": 2}), "skins", "2 rows"),
    "ribbon chain": (generated(**{**RIBBON, "chain": ["leg"]}), "skins", 'no bone "leg"'),
    "generator unknown": (generated(kind="rings"), "skins", 'kind "rings"'),
    "slot unknown": (rigc_document(skins={"default": {"t": {}}}), "skins", 'fills slot "t"'),
    "setup attachment": (
        rigc_document(slots=[{"name": "s", "bone": "arm", "attachment": "ghost"}]),
        "skins",
        'shows "ghost"',
    ),
    "slot colour": (rigc_document(slots=[{"name": "s", "bone": "arm", "color": "1234"}]), "skins", 'colour is "1234"'),
    "constraint type": (constraint(type="spring"), "constraints", 'has type "spring"'),
    "ik without bones": (constraint(**{**IK, "bones": []}), "constraints", "names no bone"),
    "ik bone": (constraint(**{**IK, "bones": ["leg"]}), "constraints", 'bone "leg"'),
    "ik target": (constraint(**{**IK, "target": "hand"}), "constraints", 'bone "hand"'),
    "ik without target": (constraint(type="ik", bones=["arm"]), "constraints", "target"),
    "ik scale mode": (constraint(**IK, scaleY="big"), "constraints", 'scaleY "big"'),
    "transform source": (constraint(**{**TRANSFORM, "source": "hand"}), "constraints", 'bone "hand"'),
    "transform from": (
        constraint(**TRANSFORM, properties={"rotation": {"to": {}}}),
        "constraints",
        'property "rotation"',
    ),
    "transform to": (constraint(**TRANSFORM, properties={"x": {"to": {"z": {}}}}), "constraints", 'property "z"'),
    "physics bone": (constraint(type="physics", bone="hand"), "constraints", 'bone "hand"'),
    "axis bone": (rigc_document(invariants={"axisBone": "leg"}), "invariants", 'axisBone is "leg"'),
    "no stage": (
        {key: value for key, value in rigc_document().items() if key != "skeleton"},
        "stage_size",
        "no size",
    ),
}


@pytest.mark.parametrize("fault", COMPILING)
def test_what_cannot_be_compiled_is_noted(fault: str) -> None:
    document, affects, message = COMPILING[fault]
    _, reading = read_bytes(dumped(document), "rigc")
    texts = [str(problem.error("file")) for problem in reading.problems]
    assert [problem.affects for problem in reading.problems] == [affects]
    assert re.search(message, texts[0]), texts


@pytest.mark.parametrize("fault", COMPILING)
def test_only_targets_that_need_the_faulty_part_are_held_up(fault: str) -> None:
    document, affects, _ = COMPILING[fault]
    rig, reading = read_bytes(dumped(document), "rigc")
    needing = {"skins": {"rigc", "inr", "ir"}, "constraints": {"rigc", "ir"}, "invariants": {"rigc", "ir"}}
    for target in ("rigc", "engine", "inr", "ir"):
        if target in needing.get(affects, set()):
            with pytest.raises(FormatError):
                refuse_problems(reading, find(target).capabilities)
        else:
            refuse_problems(reading, find(target).capabilities)
            write_bytes(rig, target)


def test_a_spelling_that_the_runtime_misses_is_mended_and_reported() -> None:
    rig, reading = read_bytes(dumped(arm(inherit="NOSCALE")), "rigc")
    assert rig.skeleton.bones[1].inherit == "noScale"
    assert [entry.code for entry in reading.report] == ["VALUE_NORMALISED"]
    assert b'"inherit": "noScale"' in write_bytes(rig, "rigc")[0]


def test_constraints_of_different_types_may_share_a_name() -> None:
    shared = [{**IK, "name": "c"}, {**TRANSFORM, "name": "c"}]
    rig, reading = read_bytes(dumped(rigc_document(constraints=shared)), "rigc")
    assert not reading.problems
    assert [constraint.name for constraint in rig.constraints] == ["c", "c"]
