"""Round trips of many files, and the matrix of what became of them, format by format."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..ir.errors import RigconvError, one_line
from . import files, sniff
from .config import Settings, given, read_options, settings_of
from .loading import SIDECAR_SUFFIX, load_file, refuse_problems
from .roundtrip import RoundTrip, round_trips, told


class Unreadable(msgspec.Struct):
    """A file that could not be read, and why."""

    file: str
    error: str


class Survey(msgspec.Struct):
    """What became of many files.

    Attributes:
        trips: The round trips.
        unreadable: Files that could not be read.
        skipped: Files in folders that no format recognises.
    """

    trips: list[RoundTrip] = []
    unreadable: list[Unreadable] = []
    skipped: list[str] = []

    @property
    def files(self) -> int:
        """Number of files that made round trips."""
        return len({trip.file for trip in self.trips})

    @property
    def faulty(self) -> list[RoundTrip]:
        """The round trips that are not fine."""
        return [trip for trip in self.trips if not trip.ok]

    @property
    def unlisted(self) -> int:
        """Number of changes that no report told."""
        return sum(len(trip.unlisted) for trip in self.trips)

    @property
    def ok(self) -> bool:
        """Whether there was a file, and all of them made fine round trips."""
        return bool(self.trips) and not self.unreadable and not self.faulty


class Cell(msgspec.Struct, kw_only=True):
    """The round trips of one format through others, with carry or without.

    Attributes:
        source: The format of the files.
        via: The formats on the way.
        carry: Whether what they cannot say was carried along.
        outcomes: Number of fine round trips by outcome.
        faulty: Number of those that are not fine.
        world_error: How far bones that were to stand moved at most, as a share of the skeleton's size.
        losses: Number of report entries that are not exact, by code.
        elements: Number of differing values by kind of element: ``bones[*].length``.
    """

    source: str
    via: tuple[str, ...]
    carry: bool
    outcomes: dict[str, int]
    faulty: int
    world_error: float
    losses: dict[str, int]
    elements: dict[str, int]


# -- finding files ----------------------------------------------------------------------------------------------------


def find_files(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The files to survey, and those in folders that no format recognises.

    Args:
        names: Files and folders. A file is taken as it is; in a folder, hidden files and carries beside files do not
            count.
    """
    found: list[str] = []
    skipped: list[str] = []
    for name in names:
        if files.member(name) != name or not files.is_folder(name):
            found.append(name)
            continue
        for path in _walk(name):
            (found if _is_recognised(path) else skipped).append(path)
    return list(dict.fromkeys(found)), list(dict.fromkeys(skipped))


def _walk(folder: str) -> Iterator[str]:
    for item in files.walk(folder):
        hidden = any(part.startswith(".") for part in item.path.split("/"))
        if not hidden and not item.path.endswith(SIDECAR_SUFFIX):
            yield files.join(folder, item.path)


def _is_recognised(name: str) -> bool:
    try:
        return sniff.of_file(name) is not None
    except files.FileError:
        return True  # what cannot be read may be a rig: reading it will tell why


# -- surveying --------------------------------------------------------------------------------------------------------


def survey(
    names: Sequence[str],
    via: Sequence[str] | None = None,
    tolerance: float | None = None,
    stated: Settings = Settings(),
    advance: Callable[[str], object] = str,
) -> Survey:
    """Take files through other formats and back.

    Args:
        names: The files.
        via: The formats on the way; None goes to each other format and back.
        tolerance: As for :func:`~rigconv.converters.roundtrip.round_trip`.
        stated: Options of reading, which count more than settings files.
        advance: Is told the name of each file after its turn.
    """
    result = Survey()
    for name in names:
        try:
            settings = settings_of(name, stated)
            start = load_file(name, given(settings.source), read_options(settings))
            refuse_problems(start.reading, None)
            with tempfile.TemporaryDirectory(prefix="rigconv-", ignore_cleanup_errors=True) as folder:
                result.trips += round_trips(start, via, Path(folder), tolerance)
        except RigconvError as error:
            result.unreadable.append(Unreadable(name, str(error)))
        except Exception as error:  # a broken reader must not keep the other files from their turns
            result.unreadable.append(Unreadable(name, one_line(f"{name}: {told(error)}")))
        advance(name)
    return result


# -- the matrix -------------------------------------------------------------------------------------------------------


def cells(trips: Sequence[RoundTrip]) -> list[Cell]:
    """The matrix of some round trips, cell by cell, in the order in which they were made."""
    groups: dict[tuple[str, tuple[str, ...], bool], list[RoundTrip]] = {}
    for trip in trips:
        groups.setdefault((trip.source, trip.via, trip.carry), []).append(trip)
    return [
        Cell(
            source=source,
            via=via,
            carry=carry,
            outcomes=_sum({trip.outcome.value: 1} for trip in group if trip.ok),
            faulty=sum(not trip.ok for trip in group),
            world_error=max(trip.world_error for trip in group),
            losses=_sum(trip.losses for trip in group),
            elements=_sum(Counter(_kind(item.path) for item in trip.differences) for trip in group),
        )
        for (source, via, carry), group in groups.items()
    ]


def _sum(counts: Iterator[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return dict(sorted(total.items()))


_KEY = re.compile(r'\["(?:[^"\\]|\\.)*"\]|\[\d+\]')


def _kind(path: str) -> str:
    """The path of an element without names: ``bones[*].length``."""
    return _KEY.sub("[*]", path)


# -- as data ----------------------------------------------------------------------------------------------------------


def survey_value(found: Survey) -> dict[str, Any]:
    """A survey as JSON values."""
    return {
        "ok": found.ok,
        "files": found.files,
        "unlisted": found.unlisted,
        "matrix": [msgspec.structs.asdict(cell) for cell in cells(found.trips)],
        "round_trips": [_trip_value(trip) for trip in found.trips],
        "unreadable": found.unreadable,
        "skipped": found.skipped,
    }


def _trip_value(trip: RoundTrip) -> dict[str, Any]:
    fields = msgspec.structs.asdict(trip)
    return {
        **fields,
        "ok": trip.ok,
        "unlisted": len(trip.unlisted),
        "faults": trip.faults,
        "seconds": round(trip.seconds, 6),
    }
