"""The exceptions that rigconv raises. Data first: the one-line text is made in ``__str__``."""

from __future__ import annotations

import json


class RigconvError(Exception):
    """Base of everything that rigconv raises on purpose."""


class FormatError(RigconvError):
    """A file breaks a rule of its format.

    Attributes:
        path: The file, as the user named it.
        where: The place in it: a JSON path, an element's name, or a byte offset; may be empty.
        problem: What is wrong there.
        expected: What the format wants instead; may be empty.
    """

    def __init__(self, path: str, where: str, problem: str, expected: str = "") -> None:
        super().__init__(path, where, problem, expected)
        self.path = path
        self.where = where
        self.problem = problem
        self.expected = expected

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        wanted = f"; expected {self.expected}" if self.expected else ""
        return one_line(f"{self.path}: {place}{self.problem}{wanted}")


class ConversionError(RigconvError):
    """A rig cannot be turned into what was asked for."""


class LossError(ConversionError):
    """A strict conversion would have approximated or dropped something; nothing was written."""


class UnknownFormatError(RigconvError):
    """Neither the content of a file nor its name says which format it is."""


class UsageError(RigconvError):
    """The request itself makes no sense: an unknown option value, an output that may not be replaced."""


def quoted(name: object) -> str:
    """A name as it may stand in a one-line message: in double quotes, control characters escaped."""
    return json.dumps(name, ensure_ascii=False, default=str)


def one_line(text: str) -> str:
    """``text`` with every character that would break or hide the line escaped."""
    return "".join(character if character.isprintable() else _escaped(character) for character in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
