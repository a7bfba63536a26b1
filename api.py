"""The library's three verbs."""

from __future__ import annotations

import os

from .converters.convert import convert_file
from .converters.files import named
from .converters.loading import read_rig
from .converters.registry import find, load
from .converters.saving import ConvertOptions, write_rig
from .converters.sniff import of_output
from .ir.exchange import ReadOptions
from .ir.report import ConversionReport
from .ir.rig import Rig


def read(path: str | os.PathLike[str], format_id: str | None = None, options: ReadOptions = ReadOptions()) -> Rig:
    """The rig that a file describes.

    Args:
        path: A file, or a folder that a format keeps.
        format_id: Its format; None tells it by its content.
        options: For the reader.

    Raises:
        FormatError: The file breaks a rule of its format.
        UnknownFormatError: Its format cannot be told.
    """
    return read_rig(named(os.fspath(path)), format_id, options)


def write(
    rig: Rig,
    path: str | os.PathLike[str],
    format_id: str | None = None,
    options: ConvertOptions = ConvertOptions(),
) -> ConversionReport:
    """Write a rig to a file, and tell how the file departs from it.

    Args:
        rig: The rig; it is left as it is.
        path: The file.
        format_id: Its format; None tells it by the file's name.
        options: How.

    Raises:
        LossError: ``options.strict`` is set, and something would be lost; nothing was written.
        UsageError: The file may not be replaced, or its name does not tell a format.
    """
    name = named(os.fspath(path))
    report = ConversionReport()
    write_rig(rig, name, find(format_id) if format_id else load(of_output(name)), options, report)
    return report


def convert(
    src: str | os.PathLike[str],
    dst: str | os.PathLike[str],
    source_id: str | None = None,
    target_id: str | None = None,
    options: ConvertOptions = ConvertOptions(),
) -> ConversionReport:
    """Turn a file of one format into a file of another; see :func:`read` and :func:`write`."""
    return convert_file(named(os.fspath(src)), named(os.fspath(dst)), source_id, target_id, options).report
