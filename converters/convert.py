"""Turning a file of one format into a file of another: reading, then writing."""

from __future__ import annotations

import time

import msgspec

from ..ir import codes
from ..ir.exchange import Problem
from ..ir.report import ConversionReport
from . import sniff
from .loading import Loaded, load_file, refuse_problems
from .registry import Format, find, load
from .saving import ConvertOptions, write_rig


class Conversion(msgspec.Struct, eq=False):
    """A conversion that was made.

    Attributes:
        input, output: The files, as they were named.
        source, target: Ids of their formats.
        report: Every departure.
        seconds: How long it took.
    """

    input: str
    output: str
    source: str
    target: str
    report: ConversionReport
    seconds: float


def convert_file(
    input_name: str,
    output_name: str,
    source_id: str | None = None,
    target_id: str | None = None,
    options: ConvertOptions = ConvertOptions(),
) -> Conversion:
    """Turn a file of one format into a file of another.

    Args:
        input_name: A path, a folder that a format keeps, or ``-``.
        output_name: A path, or ``-``.
        source_id: Format of the input; None tells it by its content.
        target_id: Format of the output; None tells it by its name.
        options: How.
    """
    started = time.perf_counter()
    target = find(target_id) if target_id else load(sniff.of_output(output_name))
    loaded = load_file(input_name, source_id, options.read)
    write_loaded(loaded, output_name, target, options)
    return Conversion(
        input=input_name,
        output=output_name,
        source=loaded.format.id,
        target=target.id,
        report=loaded.reading.report,
        seconds=time.perf_counter() - started,
    )


def write_loaded(loaded: Loaded, name: str, target: Format, options: ConvertOptions) -> list[str]:
    """Write what was read from a file to another.

    Args:
        loaded: What was read; its report takes what is written otherwise.
        name: The output.
        target: Its format.
        options: How.

    Returns:
        Names of the files that were written.
    """
    refuse_problems(loaded.reading, target.capabilities)
    report = loaded.reading.report
    _report_tolerated(loaded.reading.problems, report)
    return write_rig(loaded.rig, name, target, options, report, loaded.format.id)


def _report_tolerated(problems: list[Problem], report: ConversionReport) -> None:
    for problem in problems:
        code = codes.UNKNOWN_VALUE if problem.rule == "unknown_value" else codes.RULE_BROKEN
        report.add(code, problem.where, f"{problem.problem} (rule {problem.rule}).")
