"""Round trips: whether a file comes back from other formats as it was, and whether the reports told what did not.

The conversions are real ones, file to file, so that names, sidecars and the telling of formats by content count.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ..formats import Declaration
from ..ir import codes, paths
from ..ir.capabilities import Carry
from ..ir.compare import Difference, differences, world_errors
from ..ir.errors import ConversionError, RigconvError, one_line, quoted
from ..ir.report import ConversionReport, Entry, Severity
from ..ir.rig import Rig
from . import files
from .convert import convert_file
from .loading import Loaded, load_file
from .registry import Format, declarations, find
from .saving import ConvertOptions

MAX_FAULTS = 5
"""Faults of one kind that are told one by one."""

_MAX_TEXT = 100
"""Characters to which shown values are cut."""

_MAX_STEM = 50
"""Characters to which names of files on the way are cut: endings are put to them, and file systems have limits."""


class Outcome(StrEnum):
    """How a file came back."""

    IDENTICAL = "identical"
    """Byte for byte."""
    EQUAL = "equal"
    """It says the same within the tolerance, spelt otherwise."""
    DIFFERS = "differs"
    """It does not say the same."""
    FAILED = "failed"
    """It did not come back."""


class Deviation(msgspec.Struct, frozen=True):
    """A value that came back changed.

    Attributes:
        path: The element.
        before, after: The value, as text to be read.
        codes: Codes of the report entries that speak of it; none where no report told.
    """

    path: str
    before: str
    after: str
    codes: list[str]


class Displacement(msgspec.Struct, frozen=True):
    """A bone that a conversion moved further than the tolerance.

    Attributes:
        path: The bone.
        source, target: Formats of the conversion.
        error: How far its world matrix moved, as a share of the skeleton's size.
        codes: Codes of the report entries that say that it was approximated; none where the report did not tell.
    """

    path: str
    source: str
    target: str
    error: float
    codes: list[str]


class Omission(msgspec.Struct, frozen=True):
    """A change that a conversion made and its own report does not tell, whatever the other reports say.

    Attributes:
        path: The element.
        source, target: Formats of the conversion.
        before, after: The value, as text to be read.
    """

    path: str
    source: str
    target: str
    before: str
    after: str


class Hop(msgspec.Struct, eq=False):
    """One conversion of a round trip.

    Attributes:
        source, target: Formats.
        file: What was written.
        loaded: What it says.
        report: What the conversion told.
        world_error: How far the bones that were to stand moved at most, as a share of the skeleton's size.
        displacements: The bones that moved further than the tolerance.
        omissions: What was lost or changed, and the report does not tell.
    """

    source: str
    target: str
    file: Path
    loaded: Loaded
    report: ConversionReport
    world_error: float
    displacements: list[Displacement]
    omissions: list[Omission]


class RoundTrip(msgspec.Struct, kw_only=True):
    """What became of a file on its way through other formats and back.

    Attributes:
        file: Its name.
        source: Its format.
        via: The formats on the way.
        carry: Whether what they cannot say was carried along.
        outcome: How it came back.
        same_bytes: Whether it did so byte for byte.
        differences: What it says otherwise.
        displacements: Bones that moved on the way.
        omissions: What conversions changed without telling, beside the differences that no report tells.
        world_error: How far the bones that were to stand moved at most, as a share of the skeleton's size.
        losses: Number of report entries that are not exact, by code.
        error: Why it did not come back; empty where it did.
        seconds: How long it took.
    """

    file: str
    source: str
    via: tuple[str, ...]
    carry: bool
    outcome: Outcome
    same_bytes: bool = False
    differences: list[Deviation] = []
    displacements: list[Displacement] = []
    omissions: list[Omission] = []
    world_error: float = 0.0
    losses: dict[str, int] = {}
    error: str = ""
    seconds: float

    @property
    def title(self) -> str:
        """Its way, in words: ``rigc -> inr -> rigc without carry``."""
        return f"{' -> '.join([self.source, *self.via, self.source])} {'with' if self.carry else 'without'} carry"

    @property
    def unlisted(self) -> list[Deviation | Displacement | Omission]:
        """What changed and was not told: each a failure of rigconv, or of the format's module."""
        changed: list[Deviation | Displacement] = [*self.differences, *self.displacements]
        return [*(item for item in changed if not item.codes), *self.omissions]

    @property
    def ok(self) -> bool:
        """Whether the file came back whole where it should, and the reports told the whole truth."""
        return not (self.error or self.unlisted or (self.carry and self.differences))

    @property
    def faults(self) -> list[str]:
        """Why the round trip is not fine, a line each; long lists are cut."""
        if self.error:
            return [self.error]
        changed = [_change(item) for item in self.differences if self.carry or not item.codes]
        moved = [_move(item) for item in self.displacements if not item.codes]
        omitted = [_omitted(item) for item in self.omissions]
        return [*_cut(changed, "differences"), *_cut(moved, "displaced bones"), *_cut(omitted, "changes on the way")]


def _change(item: Deviation) -> str:
    told = f"reported as {', '.join(item.codes)}, but the carry was to bring it back" if item.codes else "not reported"
    return f"{item.path} was {item.before}, came back as {item.after} ({told})"


def _move(item: Displacement) -> str:
    way = f"{item.source} -> {item.target}"
    return f"{item.path} moved by {item.error:.2g} of the skeleton's size in {way} (not reported)"


def _omitted(item: Omission) -> str:
    return f"{item.path} was {item.before}, became {item.after} in {item.source} -> {item.target} (not reported)"


def _cut(lines: list[str], what: str) -> list[str]:
    more = len(lines) - MAX_FAULTS
    return lines if more <= 0 else [*lines[:MAX_FAULTS], f"and {more} more {what}"]


# -- going ------------------------------------------------------------------------------------------------------------


def ways_from(source: str) -> list[tuple[str, ...]]:
    """The ways from a format to each other one."""
    return [(declaration.id,) for declaration in declarations() if declaration.id != source]


def round_trips(
    start: Loaded, via: Sequence[str] | None, folder: Path, tolerance: float | None = None
) -> Iterator[RoundTrip]:
    """The round trips of a file, each with carry and without.

    Args:
        start: The file.
        via: The formats on the way; None goes to each other format and back.
        folder: Takes the files on the way.
        tolerance: As for :func:`round_trip`.
    """
    for way in ways_from(start.format.id) if via is None else [tuple(via)]:
        for carry in (True, False):
            place = folder / f"{'-'.join(way)}-{'carry' if carry else 'plain'}"
            place.mkdir()
            yield round_trip(start, way, carry, place, tolerance)


def round_trip(
    start: Loaded, via: Sequence[str], carry: bool, folder: Path, tolerance: float | None = None
) -> RoundTrip:
    """Take a file through other formats and back.

    Args:
        start: The file.
        via: The formats on the way.
        carry: Whether what they cannot say is carried along.
        folder: Takes the files on the way; it is there.
        tolerance: Relative tolerance of values, and share of the skeleton's size within which bones must stand; None
            takes what the formats promise.
    """
    started = time.perf_counter()
    try:
        hops = travel(start, [*via, start.format.id], carry, folder, tolerance)
        found = _compared(start, hops, tolerance)
    except Exception as error:  # whatever one format does, the others' round trips go on
        found = {"outcome": Outcome.FAILED, "error": told(error)}
    seconds = time.perf_counter() - started
    return RoundTrip(
        file=start.reading.file, source=start.format.id, via=tuple(via), carry=carry, seconds=seconds, **found
    )


def told(error: Exception) -> str:
    """An exception as one line; those that nobody raised on purpose are named."""
    return one_line(str(error) if isinstance(error, RigconvError) else f"{type(error).__name__}: {error}")


def travel(
    start: Loaded, formats: Sequence[str], carry: bool, folder: Path, tolerance: float | None = None
) -> list[Hop]:
    """Convert a file to a format, the result to the next, and so on.

    Args:
        start: The file.
        formats: The formats, in order; at least one.
        carry: Whether what they cannot say is carried along.
        folder: Takes the files; it is there.
        tolerance: Share of the skeleton's size within which bones must stand.

    Raises:
        RigconvError: A conversion failed, or its result cannot be read.
    """
    hops: list[Hop] = []
    name, before = start.reading.file, start
    stem = files.base(files.member(name)).partition(".")[0][:_MAX_STEM]
    for step, target in enumerate(map(find, formats), 1):
        place = folder / str(step)
        place.mkdir()
        file = place / _file_name(target.declaration, stem)
        options = ConvertOptions(read=start.reading.options, carry=_carry(target) if carry else Carry.NONE)
        conversion = convert_file(name, str(file), before.format.id, target.id, options)
        loaded = load_file(str(file), options=start.reading.options)
        if loaded.format.id != target.id:
            raise ConversionError(f"{file.name} was written as {target.id} and is taken for {loaded.format.id}")
        hops.append(_hop(before, loaded, file, conversion.report, tolerance))
        name, before = str(file), loaded
    return hops


def _file_name(declaration: Declaration, stem: str) -> str:
    return declaration.names[0] if declaration.names else "".join([stem, *declaration.suffixes[:1]])


def _carry(target: Format) -> Carry:
    """How a format carries when it is to: its own way, or beside the file where it has none."""
    own = target.capabilities.carry
    return Carry.SIDECAR if own is Carry.NONE else own


# -- comparing --------------------------------------------------------------------------------------------------------


def tolerance_through(formats: Iterable[Format]) -> float:
    """What formats promise of a rig that goes through all of them."""
    return max(item.capabilities.precision for item in formats)


def _hop(before: Loaded, after: Loaded, file: Path, report: ConversionReport, tolerance: float | None) -> Hop:
    """A conversion, judged by where it left the bones: what the carry could mend does not count."""
    errors = world_errors(before.rig, after.host)
    moved = moved_bones(before.rig, report)
    within = tolerance_through([before.format, after.format]) if tolerance is None else tolerance
    source, target = before.format.id, after.format.id
    return Hop(
        source=source,
        target=target,
        file=file,
        loaded=after,
        report=report,
        world_error=max((error for name, error in errors.items() if name not in moved), default=0.0),
        displacements=[
            Displacement(paths.bone(name), source, target, error, moved.get(name, []))
            for name, error in errors.items()
            if not error <= within
        ],
        omissions=[
            Omission(item.path, source, target, item.before, item.after)
            for item in _explained(_losses(before.rig, after, within), [report])
            if not item.codes
        ],
    )


def _losses(before: Rig, after: Loaded, tolerance: float) -> Iterator[Difference]:
    """What a file lost or says otherwise; what a format adds of its own is judged when the file is back."""
    for item in differences(before, after.host, tolerance):
        # a format without a bind pose implies the rest pose
        implied = item.path in ("bind", "bind.inverse") and not after.format.capabilities.bind
        if item.before is not None and not implied:
            yield item


def moved_bones(rig: Rig, report: ConversionReport) -> dict[str, list[str]]:
    """The bones that a report says do not stand where they stood, and the codes that say so.

    What hangs on a bone moves with it.
    """
    listed = _by_path([report])
    moved: dict[str, list[str]] = {}
    for name, parent in zip(rig.skeleton.names, rig.skeleton.parent_names, strict=True):
        entries = _about(f"{paths.bone(name)}.local", listed)
        own = {entry.code for entry in entries if entry.severity is not Severity.EXACT} - _STANDING
        if own or parent in moved:
            moved[name] = sorted(own | set(moved.get(parent or "", ())))
    return moved


_STANDING = {codes.INHERIT_BAKED.name, codes.LOCK_TO_ROOT_BAKED.name}
"""Approximations that leave a bone where it stands, in the setup pose."""


def _compared(start: Loaded, hops: list[Hop], tolerance: float | None) -> dict[str, Any]:
    """How the file that came back compares to the one that left, as fields of a :class:`RoundTrip`."""
    end = hops[-1]
    formats = [start.format, *(hop.loaded.format for hop in hops)]
    within = tolerance_through(formats) if tolerance is None else tolerance
    found = _explained(differences(start.rig, end.loaded.rig, within), [hop.report for hop in hops])
    unexplained = {item.path for item in found if not item.codes}
    same_bytes = bytes(start.reading.source.data) == end.file.read_bytes()
    return {
        "outcome": Outcome.DIFFERS if found else Outcome.IDENTICAL if same_bytes else Outcome.EQUAL,
        "same_bytes": same_bytes,
        "differences": found,
        "displacements": [item for hop in hops for item in hop.displacements],
        "omissions": [item for hop in hops for item in hop.omissions if item.path not in unexplained],
        "world_error": max(hop.world_error for hop in hops),
        "losses": dict(sorted(Counter(entry.code for hop in hops for entry in hop.report.losses).items())),
    }


def _explained(found: Iterable[Difference], reports: Sequence[ConversionReport]) -> list[Deviation]:
    """Differences, and which entries of the reports speak of them."""
    listed = _by_path(reports)
    return [
        Deviation(
            path=item.path,
            before=_text(item.before),
            after=_text(item.after),
            codes=sorted({entry.code for entry in _about(item.path, listed) if _speaks_of(entry, item.path)}),
        )
        for item in found
    ]


def _by_path(reports: Iterable[ConversionReport]) -> dict[str, list[Entry]]:
    listed: dict[str, list[Entry]] = {}
    for report in reports:
        for entry in report:
            listed.setdefault(entry.path, []).append(entry)
    return listed


def _about(path: str, listed: dict[str, list[Entry]]) -> list[Entry]:
    """The entries that speak of an element or of something that holds it."""
    return [entry for holder in paths.holders(path) for entry in listed.get(holder, ())]


_OF_POSE = {
    code.name
    for code in (
        codes.POSITION_UNKNOWN,
        codes.SHEAR_HELPER_BONE,
        codes.DEPTH_HELPER_BONE,
        codes.DEPTH_SCALE_ROUNDED,
        codes.POSE_ROUNDED,
        codes.HELPER_BONE_FOLDED,
        codes.INHERIT_BAKED,
        codes.LOCK_TO_ROOT_BAKED,
        codes.SINGULAR_PARENT,
        codes.PROJECTED,
        codes.PROJECTED_EDGE_ON,
    )
}
"""Codes that name a bone and speak of its pose only: they are no excuse for its length or colour."""

_POSE_FIELDS = ("local", "parent", "inverse_bind", "inherit", "shear_x", "lock_to_root")


def _speaks_of(entry: Entry, path: str) -> bool:
    if entry.code not in _OF_POSE or path == entry.path:
        return True
    return path[len(entry.path) :].removeprefix(".") in _POSE_FIELDS


def _text(value: Any) -> str:
    """A value as people read it: short, on one line."""
    if value is None:
        return "nothing"
    if isinstance(value, msgspec.Struct):
        name = getattr(value, "name", None)
        text = f"a {type(value).__name__}" if name is None else f"{type(value).__name__} {quoted(name)}"
    elif isinstance(value, np.ndarray):
        text = " ".join(np.array2string(value, precision=9, threshold=_MAX_TEXT, separator=", ").split())
    else:
        text = quoted(str(value)) if isinstance(value, str) else str(value)
    text = one_line(text)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}..."
