"""What each command does, once its options are known; returns the exit status."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from ...ir.errors import UsageError, quoted
from .. import files, sniff
from ..config import (
    SETTINGS_FILES,
    Settings,
    convert_options,
    explain,
    find_config,
    given,
    layers,
    read_options,
    settings_of,
)
from ..convert import Conversion, convert_file
from ..loading import SIDECAR_SUFFIX, load_file, read_rig
from ..registry import find, third_parties
from . import BAD_INPUT, BATCH_FAILED, OK, TERMINATED
from .text import (
    print_batch,
    print_diff,
    print_formats,
    print_info,
    print_settings,
    print_summary,
    print_survey,
    print_turn,
    print_validations,
)

if TYPE_CHECKING:
    from ...ir.rig import Rig
    from ..batch import BatchOptions
    from ..survey import Survey


def convert_plainly(input_name: str, output_name: str) -> int:
    """``rigconv IN OUT``."""
    return convert(input_name, output_name, Settings(), None)


def convert(input_name: str, output_name: str, stated: Settings, report: str | None) -> int:
    """``rigconv IN OUT`` with options; the format of one output is told by its name, whatever settings files say."""
    if report == files.STANDARD and output_name == files.STANDARD:
        raise UsageError("the rig and the report cannot both go to standard output")
    if report is not None:
        _check_report(report, [input_name, output_name, given(stated.manifest)])
    settings = settings_of(input_name, stated)
    source, target = given(settings.source), given(stated.target)
    conversion = convert_file(input_name, output_name, source, target, convert_options(settings))
    if report is not None:
        _write_report(_report_value(conversion), report)
    print_summary(conversion)
    return OK


def _check_report(name: str, others: Iterable[str | None]) -> None:
    """Refuse a place for a report before the work is done.

    Raises:
        UsageError: It would be written over a rig, over what belongs to one, or over one of the ``others``; it is a
            folder, or its folder is missing.
    """
    if name == files.STANDARD:
        return
    if files.is_folder(name):
        raise UsageError(f"the report {quoted(name)} is a folder")
    if _is_taken(name) or _place(name) in {_place(files.member(other)) for other in others if other is not None}:
        raise UsageError(f"the report would be written over {quoted(name)}")
    if not files.is_url(name) and not files.is_folder(files.parent(os.path.abspath(name))):
        raise UsageError(f"the folder of the report {quoted(name)} is missing")


def _is_taken(name: str) -> bool:
    """Whether a name is one that rigconv keeps for other files, or there is a rig."""
    from ..batch.manifest import is_own

    reserved = files.base(name) in SETTINGS_FILES or name.endswith(SIDECAR_SUFFIX) or is_own(name)
    return reserved or (files.is_file(name) and sniff.of_file(name) is not None)


def _place(name: str) -> str:
    return name if files.is_url(name) else os.path.realpath(name)


def _write_report(value: Any, name: str) -> None:
    _write_report_text(_json_text(value), name)


def _write_report_text(text: bytes, name: str) -> None:
    if name == files.STANDARD:
        files.write_standard([text])
        return
    _check_report(name, [])  # what was written meanwhile may stand there now
    files.write(name, [text])


def _report_value(conversion: Conversion) -> dict[str, Any]:
    report = conversion.report
    return {
        "input": conversion.input,
        "output": conversion.output,
        "from": conversion.source,
        "to": conversion.target,
        "carry": report.carried,
        "entries": report.entries,
        "counts": report.counts,
        "seconds": round(conversion.seconds, 6),
    }


def batch(source: str, destination: str, options: BatchOptions, report: str | None) -> int:
    """``rigconv batch``."""
    from ..batch import run_batch
    from .progress import progress

    if report is not None:
        _check_report(report, [given(options.stated.manifest)])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # what is half done is taken back, as on Ctrl-C
    with progress() as observer:
        summary = run_batch(source, destination, options, observer)
    if report is not None:
        _write_report(summary, report)
    if report != files.STANDARD:
        print_batch(summary)
    return BATCH_FAILED if summary.failed else OK


def watch(source: str, destination: str, options: BatchOptions) -> int:
    """``rigconv watch``; to be interrupted is how it is meant to end."""
    from ..watch import watch as run_watch
    from .progress import progress

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with progress() as observer:
            for turn in run_watch(source, destination, options, observer):
                print_turn(turn)
    except KeyboardInterrupt:
        return OK
    return OK


def roundtrip(
    names: list[str], via: list[str] | None, tolerance: float | None, report: str | None, stated: Settings
) -> int:
    """``rigconv roundtrip``."""
    from ..survey import find_files, survey
    from .progress import progress

    source = given(stated.source)
    _check_round_trip(names, [*(via or []), *([] if source is None else [source])], tolerance)
    found, skipped = find_files(names)
    if report is not None:
        _check_report(report, [*found, given(stated.manifest)])
    with progress() as observer:
        observer.start(len(found))
        surveyed = survey(found, via, tolerance, stated, observer.advance)
    surveyed.skipped = skipped
    if report is not None:
        _write_survey(surveyed, report)
    if report != files.STANDARD:
        print_survey(surveyed)
    return OK if surveyed.ok else BAD_INPUT


def _check_round_trip(names: list[str], formats: list[str], tolerance: float | None) -> None:
    """Refuse what makes no sense before the work starts.

    Raises:
        UsageError: A format is unknown, or an option has no sensible value.
    """
    if files.STANDARD in names:
        raise UsageError("a round trip needs files: standard input can be read only once")
    if tolerance is not None and not (math.isfinite(tolerance) and tolerance >= 0):
        raise UsageError(f"the tolerance is {tolerance}; it must be a number that is not negative")
    for format_id in formats:
        find(format_id)


def _write_survey(surveyed: Survey, name: str) -> None:
    if name.lower().endswith(".xml"):
        from ..junit import junit_xml

        _write_report_text(junit_xml(surveyed), name)
        return
    from ..survey import survey_value

    _write_report(survey_value(surveyed), name)


def validate(names: list[str], as_json: bool, stated: Settings) -> int:
    """``rigconv validate``."""
    from ..validate import validate_file

    validations = [validate_file(name, options=read_options(settings_of(name, stated))) for name in names]
    if as_json:
        _print_json([validation.to_builtins() for validation in validations])
    else:
        print_validations(validations)
    return OK if all(validation.ok for validation in validations) else BAD_INPUT


def info(name: str, as_json: bool, with_world: bool, stated: Settings) -> int:
    """``rigconv info``."""
    from ..info import describe

    settings = settings_of(name, stated)
    loaded = load_file(name, given(settings.source), read_options(settings))
    description = describe(loaded, with_world)
    if as_json:
        _print_json(description)
    else:
        print_info(description)
    return OK


def diff(before: str, after: str, as_json: bool, tolerance: float, stated: Settings) -> int:
    """``rigconv diff``."""
    from ..diff import diff_rigs

    if before == after == files.STANDARD:
        raise UsageError("the two rigs cannot both come from standard input")
    if not 0 <= tolerance < math.inf:
        raise UsageError(f"--tolerance must be a number from 0 upwards, not {tolerance}")
    found = diff_rigs(_rig_or_nothing(before, stated), _rig_or_nothing(after, stated), tolerance)
    if as_json:
        _print_json({"before": before, "after": after, **found.to_builtins()})
    else:
        print_diff(before, after, found)
    return OK if found.same else BAD_INPUT


_NOTHING = ("/dev/null", os.devnull)
"""What git hands over in the place of a file that one side lacks, on any system."""


def _rig_or_nothing(name: str, stated: Settings) -> Rig:
    if name in _NOTHING:
        from ..diff import empty_rig

        return empty_rig()
    settings = settings_of(name, stated)
    return read_rig(name, given(settings.source), read_options(settings))


def config(name: str, as_json: bool) -> int:
    """``rigconv config``."""
    found = find_config(name)
    rows = explain(layers(found, name))
    if as_json:
        _print_json({"file": found.path if found else None, "settings": rows})
    else:
        print_settings(found.path if found else None, rows)
    return OK


def formats(as_json: bool) -> int:
    """``rigconv formats``."""
    rows = _format_rows()
    if as_json:
        _print_json(rows)
    else:
        print_formats(rows)
    return OK


def _format_rows() -> list[dict[str, Any]]:
    from ... import __version__
    from ...formats import BUILT_IN

    ours = [(declaration, declaration.module, f"rigconv {__version__}", "") for declaration in BUILT_IN]
    theirs = [(item.declaration, item.module, item.distribution, item.error) for item in third_parties()]
    return [
        {
            "id": declaration.id if declaration else None,
            "title": declaration.title if declaration else "",
            "names": [*(f"*{suffix}" for suffix in declaration.suffixes), *declaration.names] if declaration else [],
            "folder": declaration.folder if declaration else "",
            "module": module,
            "distribution": distribution,
            "error": error,
        }
        for declaration, module, distribution, error in [*ours, *theirs]
    ]


def schema(format_id: str) -> int:
    """``rigconv schema``."""
    from ..schema import schema_of

    _print_json(schema_of(find(format_id)))
    return OK


def _print_json(value: Any) -> None:
    files.write_standard([_json_text(value)])


def _json_text(value: Any) -> bytes:
    """Indented JSON; of a file name that is no Unicode, the odd bytes are escaped."""
    text = json.dumps(msgspec.to_builtins(value), indent=2, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"
