"""What each command does, once its options are known; returns the exit status."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from ...ir.errors import UsageError
from ...ir.exchange import ReadOptions
from .. import files
from ..convert import Conversion, convert_file
from ..loading import load_file
from ..registry import find, third_parties
from ..saving import ConvertOptions
from . import BAD_INPUT, OK
from .text import print_formats, print_info, print_summary, print_validations


def convert_plainly(input_name: str, output_name: str) -> int:
    """``rigconv IN OUT``."""
    return convert(input_name, output_name, None, None, ConvertOptions(), None)


def convert(
    input_name: str,
    output_name: str,
    source_id: str | None,
    target_id: str | None,
    options: ConvertOptions,
    report: str | None,
) -> int:
    """``rigconv IN OUT`` with options."""
    if report == files.STANDARD and output_name == files.STANDARD:
        raise UsageError("the rig and the report cannot both go to standard output")
    conversion = convert_file(input_name, output_name, source_id, target_id, options)
    if report is not None:
        _write_report(conversion, report)
    print_summary(conversion)
    return OK


def _write_report(conversion: Conversion, name: str) -> None:
    text = msgspec.json.format(msgspec.json.encode(_report_value(conversion)), indent=2) + b"\n"
    if name == files.STANDARD:
        files.write_standard([text])
    else:
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


def validate(names: list[str], as_json: bool, options: ReadOptions) -> int:
    """``rigconv validate``."""
    from ..validate import validate_file

    validations = [validate_file(name, options=options) for name in names]
    if as_json:
        _print_json([validation.to_builtins() for validation in validations])
    else:
        print_validations(validations)
    return OK if all(validation.ok for validation in validations) else BAD_INPUT


def info(name: str, as_json: bool, with_world: bool, source_id: str | None, options: ReadOptions) -> int:
    """``rigconv info``."""
    from ..info import describe

    loaded = load_file(name, source_id, options)
    description = describe(loaded, with_world)
    if as_json:
        _print_json(description)
    else:
        print_info(description)
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
    files.write_standard([msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"])
    sys.stdout.flush()
