"""What changed, as people read it: a tree of collections, their elements, and what happened to each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from ...ir import paths
from ...ir.errors import quoted
from ..diff import COLLECTIONS, Change, Kind, RigDiff

_LONGEST_VALUE = 60
_MARKS = {Kind.ADDED: "+", Kind.REMOVED: "-"}
_STYLES = {"+": "green", "-": "red", "~": "yellow"}


class Line(NamedTuple):
    """A line of the tree.

    Attributes:
        depth: 0 for collections.
        text: Without indentation.
        style: A colour, or empty.
    """

    depth: int
    text: str
    style: str = ""


def diff_lines(diff: RigDiff) -> Iterator[Line]:
    """The tree of what changed, line by line; no line where nothing did."""
    for title, elements in _grouped(diff.changes).items():
        yield Line(0, title)
        for label, changes in elements.items():
            yield from _element(label, changes)
        if title == "bones" and diff.moved_along:
            yield Line(1, f"{_count(len(diff.moved_along), 'bone')} moved along with those above")


def _grouped(changes: Iterable[Change]) -> dict[str, dict[str, list[Change]]]:
    """Changes by collection and element."""
    found: dict[str, dict[str, list[Change]]] = {}
    for change in changes:
        title, label = _place(paths.segments(change.path))
        found.setdefault(title, {}).setdefault(label, []).append(change)
    return found


def _place(steps: list[str]) -> tuple[str, str]:
    """Collection and element that a path leads to; what is in no collection is the rig's."""
    keys = [paths.key_of(step) for step in steps[: _element_length(steps)]]
    names = [str(key) for key in keys if key is not None]
    if steps[0] not in COLLECTIONS:
        return "rig", "".join(steps)
    if not names:
        return steps[0], steps[1].removeprefix(".")
    if steps[0] == "skins" and len(names) > 1:
        return "attachments", f"{' / '.join(names[1:])} (skin {names[0]})"
    return steps[0], names[0]


def _element_length(steps: list[str]) -> int:
    """Number of steps that lead to the element: attachments lie deeper than what is a list of its own."""
    if steps[0] not in COLLECTIONS:
        return len(steps)
    return 5 if steps[0] == "skins" and steps[2:3] == [".attachments"] else 2


def _element(label: str, changes: list[Change]) -> Iterator[Line]:
    whole = changes[0] if _field(changes[0]) == "" else None
    mark = _MARKS.get(whole.kind, "~") if whole else "~"
    yield Line(1, f"{mark} {label}{_anchor(whole) if whole else ''}", _STYLES[mark])
    for change in changes:
        for text in _descriptions(change):
            yield Line(2, text)


def _field(change: Change) -> str:
    """What of its element a change is of: empty for the element as a whole."""
    steps = paths.segments(change.path)
    return "".join(steps[_element_length(steps) :]).removeprefix(".")


def _anchor(change: Change) -> str:
    """Where an element hangs that is on one side only."""
    value = change.after if change.kind == Kind.ADDED else change.before if change.kind == Kind.REMOVED else None
    if not isinstance(value, dict):
        return ""
    if "local" in value:
        return f" under {quoted(value['parent'])}" if value["parent"] is not None else " as a root"
    if "sha256" in value:
        return f" ({value['width']} x {value['height']})"
    return f" on {quoted(value['bone'])}" if "bone" in value else ""


# -- changes ----------------------------------------------------------------------------------------------------------


def _descriptions(change: Change) -> list[str]:
    """A change in words, a line each."""
    field = _field(change)
    if change.kind in _MARKS:
        return [f"{_MARKS[change.kind]} {field}"] if field else []
    if change.kind == Kind.RENAMED:
        return [f"renamed from {quoted(change.before)}"]
    if change.kind == Kind.REPARENTED:
        return [f"parent {_value(change.before)} -> {_value(change.after)}"]
    if change.kind == Kind.REORDERED:
        return [f"{', '.join(map(quoted, change.parts))} moved"]
    if change.kind == Kind.MOVED:
        return [line for space in change.after for line in _transform(space, change.before[space], change.after[space])]
    if change.kind == Kind.REBOUND:
        return _transform("bind", change.before, change.after)
    if field == "mesh" and change.parts:
        return [_mesh(change)]
    if field == "" and _are_objects(change):
        names = [name for name in change.after if change.before.get(name) != change.after[name]]
        return [f"{name} {_value(change.before.get(name))} -> {_value(change.after[name])}" for name in names]
    return [f"{field} {_value(change.before)} -> {_value(change.after)}".strip()]


def _are_objects(change: Change) -> bool:
    return isinstance(change.before, dict) and isinstance(change.after, dict)


def _mesh(change: Change) -> str:
    sizes = [
        f"{change.before[what]} -> {change.after[what]} {what}"
        for what in ("vertices", "triangles")
        if change.before[what] != change.after[what]
    ]
    distance = [f"a vertex moved by {change.distance:.6g}"] if change.distance else []
    return "; ".join([f"mesh {', '.join(change.parts)}", *sizes, *distance])


def _value(value: Any) -> str:
    """A value as short JSON."""
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.9g}"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


# -- transforms -------------------------------------------------------------------------------------------------------

_IN_PLANE = {"translation": (0, 1), "rotation": (2,), "scale": (0, 1), "shear": (0,)}
"""Values of a transform's parts that count where all is in the plane; the others are neutral there."""

_ANGLES = ("rotation", "shear")


def _transform(space: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The parts of a transform that changed, a line each."""
    parts = [part for part in _IN_PLANE if _differ(part, before[part], after[part])]
    # What changed by less than what a file of single precision blurs is told only where nothing else changed.
    digits = 6 if parts else 9
    parts = parts or [part for part in _IN_PLANE if before[part] != after[part]]
    return [f"{space} {part} {_numbers(part, before[part], after[part], digits)}" for part in parts]


def _differ(part: str, before: Any, after: Any) -> bool:
    slack = _BLUR * (180 if part in _ANGLES else max(map(abs, (*before, *after))))
    return any(abs(old - new) > slack for old, new in zip(before, after, strict=True))


_BLUR = 1e-6


def _numbers(part: str, before: Any, after: Any, digits: int) -> str:
    """A change of three values, without z where all is in the plane."""
    neutral = 1.0 if part == "scale" else 0.0
    places = _IN_PLANE[part]
    if any(side[place] != neutral for side in (before, after) for place in {0, 1, 2} - set(places)):
        places = (0, 1, 2)
    old, new = (_tuple([f"{side[place]:.{digits}g}" for place in places]) for side in (before, after))
    return f"{old} -> {new}{' deg' if part in _ANGLES else ''}"


def _tuple(values: list[str]) -> str:
    return values[0] if len(values) == 1 else f"({', '.join(values)})"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
