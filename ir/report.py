"""The conversion report: every departure of an output from its input, as data.

The codes themselves live in :mod:`rigconv.ir.codes`; how a report is shown lives in the command line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from .paths import holders


class Severity(StrEnum):
    """How far an entry is from the source."""

    EXACT = "exact"
    """Said in another way, without loss."""
    APPROXIMATED = "approximated"
    """Something near to it stands in its place."""
    DROPPED = "dropped"
    """The target does not say it at all."""


class Code(msgspec.Struct, frozen=True):
    """A kind of departure.

    Attributes:
        name: Stable identifier in capitals; scripts depend on it.
        severity: The severity of every entry with this code.
        meaning: One sentence for the documentation.
    """

    name: str
    severity: Severity
    meaning: str


class Entry(msgspec.Struct, frozen=True):
    """One departure.

    Attributes:
        code: Name of a :class:`Code`.
        severity: That code's severity.
        path: The element, as in ``bones["arm"].length`` (see :mod:`rigconv.ir.paths`).
        message: What happened, for a technical artist.
    """

    code: str
    severity: Severity
    path: str
    message: str


class ConversionReport(msgspec.Struct):
    """All departures of one conversion, in the order in which they were found.

    Attributes:
        entries: The departures.
        carried: Whether what the target cannot say travels with it all the same.
    """

    entries: list[Entry] = []
    carried: bool = False

    def add(self, code: Code, path: str, message: str) -> None:
        """Append a departure."""
        self.entries.append(Entry(code.name, code.severity, path, message))

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def counts(self) -> dict[str, int]:
        """Number of entries by code, in alphabetical order."""
        return dict(sorted(Counter(entry.code for entry in self.entries).items()))

    @property
    def losses(self) -> list[Entry]:
        """The entries that are not exact: what ``--strict`` refuses."""
        return [entry for entry in self.entries if entry.severity is not Severity.EXACT]

    def explains(self, path: str) -> bool:
        """Whether an entry speaks of the element at ``path`` or of something that holds it."""
        return not {entry.path for entry in self.entries}.isdisjoint(holders(path))
