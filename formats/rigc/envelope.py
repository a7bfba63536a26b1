"""The checks that ``parseRigSpec`` makes, in its order, with its holes closed (specs/rigc-facts.md §2).

They stop at the first error. What a compiler would find out later is checked where the parts are read.
"""

from __future__ import annotations

from typing import Any

from ...ir.errors import FormatError, quoted
from .structs import BLEND_MODES, INHERIT_MODES, SPEC

_SOURCES = ("anchor", "slotWindow", "meshCenter")


def check_envelope(document: Any, file: str) -> None:
    """Refuse a document that is no rig spec.

    Raises:
        FormatError: Naming the bone, slot or constraint at fault.
    """
    if not isinstance(document, dict):
        raise FormatError(file, "$", "the document is not an object", "a rig spec")
    spec = document.get("spec")
    if spec != SPEC:
        raise FormatError(file, "$.spec", f"unknown rig spec version {quoted(spec)}", quoted(SPEC))
    if not _is_name(document.get("name")):
        raise FormatError(file, "$.name", "a rig spec needs a name", "text that is not empty")
    bones = document.get("bones")
    if not isinstance(bones, list) or not bones:
        raise FormatError(file, "$.bones", "a rig spec needs bones", "a list of at least one bone")
    if not isinstance(document.get("slots"), list):
        raise FormatError(file, "$.slots", "a rig spec needs slots", "a list, which may be empty")
    names = _check_bones(bones, file)
    _check_slots(document["slots"], names, file)
    _check_constraints(document.get("constraints", []), file)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _named(item: Any, where: str, kind: str, file: str) -> str:
    if not isinstance(item, dict) or not _is_name(item.get("name")):
        raise FormatError(file, where, f"a {kind} needs a name", "an object with a name that is not empty")
    return str(item["name"])


def _check_bones(bones: list[Any], file: str) -> set[str]:
    seen: set[str] = set()
    for index, bone in enumerate(bones):
        where = f"$.bones[{index}]"
        name = _named(bone, where, "bone", file)
        if name in seen:
            raise FormatError(file, where, f"two bones are called {quoted(name)}", "each name once")
        if "parent" in bone and not (isinstance(bone["parent"], str) and bone["parent"] in seen):
            problem = f"bone {quoted(name)} names parent {quoted(bone['parent'])}, which is not declared before it"
            raise FormatError(file, f"{where}.parent", problem, "the name of an earlier bone, or no parent on a root")
        seen.add(name)
        _check_choice(bone, "inherit", INHERIT_MODES, f"bone {quoted(name)}", where, file)
        if "from" in bone:
            _check_source(bone, where, file)
    return seen


def _check_choice(item: dict[str, Any], field: str, known: tuple[str, ...], who: str, where: str, file: str) -> None:
    if field in item and str(item[field]).lower() not in {value.lower() for value in known}:
        problem = f"{who} has {field} {quoted(item[field])}"
        raise FormatError(file, f"{where}.{field}", problem, f"one of {', '.join(known)}")


def _check_source(bone: dict[str, Any], where: str, file: str) -> None:
    source, name, place = bone["from"], quoted(bone["name"]), f"{where}.from"
    if not isinstance(source, dict):
        raise FormatError(file, place, f"the from of bone {name} is {quoted(source)}", "an object")
    sources = [key for key in _SOURCES if key in source]
    if len(sources) > 1:
        problem = f"bone {name} takes its position from more than one source ({', '.join(sources)})"
        raise FormatError(file, place, problem, f"exactly one of {', '.join(_SOURCES)}")
    literal = [key for key in ("x", "y") if key in bone]
    if sources and literal:
        problem = f"bone {name} declares both a literal {' and '.join(literal)} and from.{sources[0]}"
        raise FormatError(file, place, problem, "one of the two")
    if "rotation" in source and "rotation" in bone:
        raise FormatError(file, place, f"bone {name} declares both a literal rotation and from.rotation", "one of them")
    if "rotation" in source and source["rotation"] not in ("axis", "anchor"):
        problem = f"bone {name} takes its rotation from {quoted(source['rotation'])}"
        raise FormatError(file, f"{place}.rotation", problem, "axis or anchor")
    if source.get("rotation") == "anchor" and "anchor" not in source:
        problem = f"bone {name} wants its rotation from an anchor but names no from.anchor"
        raise FormatError(file, place, problem, "an anchor")


def _check_slots(slots: list[Any], bones: set[str], file: str) -> None:
    seen: set[str] = set()
    for index, slot in enumerate(slots):
        where = f"$.slots[{index}]"
        name = _named(slot, where, "slot", file)
        if name in seen:
            raise FormatError(file, where, f"two slots are called {quoted(name)}", "each name once")
        seen.add(name)
        if not isinstance(slot.get("bone"), str) or slot["bone"] not in bones:
            problem = f"slot {quoted(name)} names bone {quoted(slot.get('bone'))}, which this rig does not declare"
            raise FormatError(file, f"{where}.bone", problem, "the name of a bone")
        _check_choice(slot, "blend", BLEND_MODES, f"slot {quoted(name)}", where, file)


def _check_constraints(constraints: Any, file: str) -> None:
    if not isinstance(constraints, list):
        raise FormatError(file, "$.constraints", f"the constraints are {quoted(constraints)}", "a list")
    seen: set[tuple[Any, str]] = set()
    for index, constraint in enumerate(constraints):
        where = f"$.constraints[{index}]"
        name = _named(constraint, where, "constraint", file)
        kind = constraint.get("type")
        if not isinstance(kind, str):
            raise FormatError(file, f"{where}.type", f"constraint {quoted(name)} has type {quoted(kind)}", "text")
        if (kind, name) in seen:
            raise FormatError(file, where, f"two {kind} constraints are called {quoted(name)}", "each name once a type")
        seen.add((kind, name))
