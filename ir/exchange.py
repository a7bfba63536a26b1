"""What readers and writers exchange with whoever calls them: sources, options, problems found, carried data.

Formats and converters both speak in these terms, so that neither needs to know the other.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .errors import FormatError
from .report import ConversionReport
from .rig import Rig

ANYTHING = "anything"
"""What a problem without which nothing can be read safely stands in the way of."""
NOTHING = ""
"""What a problem that does no harm stands in the way of."""


class Source(msgspec.Struct, frozen=True, eq=False):
    """A file's content.

    Attributes:
        file: Its name, for errors.
        data: Its bytes; a view of the mapped file where it is large.
    """

    file: str
    data: bytes | memoryview


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of its format that a file breaks.

    Attributes:
        rule: Name of the rule.
        where: Place in the file.
        problem: What is wrong.
        expected: What should be there; may be empty.
        affects: What cannot be had because of it: the name of a part of the rig, ``ANYTHING`` or ``NOTHING``.
        warning: No rule is broken, but someone may want to know.
    """

    rule: str
    where: str
    problem: str
    expected: str = ""
    affects: str = NOTHING
    warning: bool = False

    def error(self, file: str) -> FormatError:
        """The problem as an exception."""
        return FormatError(file, self.where, self.problem, self.expected)


class Carried(msgspec.Struct, eq=False):
    """What travels with a file beside what its format can say.

    Attributes:
        rig: The rig that the file was written from.
        options: The choices that were made in making it fit.
    """

    rig: Rig
    options: dict[str, Any] = {}


class ReadOptions(msgspec.Struct, frozen=True, eq=False):
    """What a reader may need beside the file.

    Attributes:
        manifest: A cut manifest, for rigs that take positions from one.
        images: The folder of the rig's images, where it is not the one that the rig states.
    """

    manifest: Source | None = None
    images: str | None = None


class Reading(msgspec.Struct, eq=False):
    """One act of reading: what goes in, and what comes out beside the rig.

    Attributes:
        source: The file.
        options: What the caller chose.
        report: Takes an entry for everything that was read otherwise than it stands.
        problems: Takes the rules that the file breaks and that did not stop the reader.
        carried: Set where the file bears a carry.
        images: Set where the file says in which folder its images lie, relative to itself.
    """

    source: Source
    options: ReadOptions = ReadOptions()
    report: ConversionReport = msgspec.field(default_factory=ConversionReport)
    problems: list[Problem] = []
    carried: Carried | None = None
    images: str | None = None

    @property
    def file(self) -> str:
        """The file's name, for errors."""
        return self.source.file

    def add(self, rule: str, error: FormatError, affects: str) -> None:
        """Note an error that need not stop the reader."""
        self.problems.append(
            Problem(rule=rule, where=error.where, problem=error.problem, expected=error.expected, affects=affects)
        )


class Writing(msgspec.Struct, eq=False):
    """One act of writing.

    Attributes:
        report: Takes an entry for everything that is written otherwise than the rig says.
        carried: What the writer embeds, where the format embeds a carry.
    """

    report: ConversionReport = msgspec.field(default_factory=ConversionReport)
    carried: Carried | None = None


Buffers = list[bytes | memoryview]
"""A file's content in pieces, in order."""
