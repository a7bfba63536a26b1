"""Checking files against the rules of their formats."""

from __future__ import annotations

from typing import Any

import msgspec

from ..ir.errors import FormatError, RigconvError
from ..ir.exchange import ANYTHING, Problem, Reading, ReadOptions
from . import files, sniff
from .registry import find


class Validation(msgspec.Struct):
    """What is wrong with a file.

    Attributes:
        file: Its name.
        format: Id of its format; None where that cannot be told.
        problems: Rules that it breaks, and warnings.
    """

    file: str
    format: str | None
    problems: list[Problem]

    @property
    def ok(self) -> bool:
        """Whether no rule is broken; warnings break none."""
        return all(problem.warning for problem in self.problems)

    def to_builtins(self) -> dict[str, Any]:
        """The validation as JSON values."""
        problems = [
            {
                "rule": problem.rule,
                "severity": "warning" if problem.warning else "error",
                "where": problem.where,
                "problem": problem.problem,
                "expected": problem.expected,
            }
            for problem in self.problems
        ]
        return {"file": self.file, "format": self.format, "ok": self.ok, "problems": problems}


def validate_file(name: str, format_id: str | None = None, options: ReadOptions = ReadOptions()) -> Validation:
    """Every rule that a file breaks, those that stop a reader included."""
    found: str | None = format_id
    problems: list[Problem] = []
    try:
        source = files.read(name)
        handled = find(format_id) if format_id else sniff.format_of(source, name)
        found = handled.id
        reading = Reading(source=source, options=options, problems=problems)
        handled.read(reading)
    except FormatError as error:
        if not any(_is_same(problem, error) for problem in problems):
            problems.append(_problem(error, name))
    except RigconvError as error:
        text = str(error).removeprefix(f"{name}: ")
        problems.append(Problem(rule="unreadable", where="", problem=text, affects=ANYTHING))
    return Validation(name, found, problems)


def _is_same(problem: Problem, error: FormatError) -> bool:
    return problem.where == error.where and problem.problem == error.problem


def _problem(error: FormatError, name: str) -> Problem:
    """The problem in a file, or in another that it refers to, which is named then."""
    where = error.where if error.path == name else f"{error.path}: {error.where}"
    return Problem(rule="format", where=where, problem=error.problem, expected=error.expected, affects=ANYTHING)
