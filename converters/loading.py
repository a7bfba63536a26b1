"""Reading files: finding the format, reading, and giving back what the file carries."""

from __future__ import annotations

import msgspec

from ..ir import codes
from ..ir.capabilities import Capabilities
from ..ir.carry import restore, unpack
from ..ir.document import DocumentError
from ..ir.exchange import ANYTHING, NOTHING, Carried, Problem, Reading, ReadOptions
from ..ir.report import ConversionReport
from ..ir.rig import Rig
from . import files, sniff
from .images import image_folder, image_names, measured
from .lowering import LoweringOptions, lower
from .registry import Format, find

SIDECAR_SUFFIX = ".rigconv"


class Loaded(msgspec.Struct, eq=False):
    """A file that was read.

    Attributes:
        rig: What it says, with what it carries restored.
        host: What it says by itself.
        format: Its format.
        reading: Report and problems of the reader.
        images: Names of the image files that it shows, there or not.
    """

    rig: Rig
    host: Rig
    format: Format
    reading: Reading
    images: list[str] = []


def load_file(name: str, format_id: str | None = None, options: ReadOptions = ReadOptions()) -> Loaded:
    """Read a file of any format.

    Args:
        name: A path, a folder that a format keeps, or ``-``.
        format_id: Its format; None tells it by its content.
        options: For the reader.

    Raises:
        FormatError: The file cannot be read.
        UnknownFormatError: Its format cannot be told.
    """
    source = files.read(name)
    found = find(format_id) if format_id else sniff.format_of(source, name)
    reading = Reading(source=source, options=options)
    host = found.read(reading)
    folder = image_folder(name, reading.images, options.images)
    host = measured(host, folder)
    images = [str(folder / image) for image in image_names(host)]
    carried = reading.carried or _sidecar(name, reading)
    rig = host if carried is None else _restored(host, carried, found, reading.report)
    return Loaded(rig, host, found, reading, images)


def _sidecar(name: str, reading: Reading) -> Carried | None:
    if name == files.STANDARD:
        return None
    sidecar = sidecar_of(files.member(name))
    if not files.is_file(sidecar):
        return None
    try:
        return unpack(msgspec.json.decode(files.read(sidecar).data))
    except (DocumentError, msgspec.DecodeError) as error:
        reading.report.add(codes.CARRY_DROPPED, "", f"{files.base(sidecar)} cannot be read: {error}.")
        return None


def sidecar_of(name: str) -> str:
    """Where the carry of a file lies that cannot embed it."""
    outer, chain, inner = name.partition("::")
    return outer + SIDECAR_SUFFIX + chain + inner


def _restored(host: Rig, carried: Carried, host_format: Format, report: ConversionReport) -> Rig:
    try:
        options = msgspec.convert(carried.options, LoweringOptions)
    except msgspec.ValidationError:
        options = LoweringOptions()
    expected = lower(carried.rig, host_format.id, host_format.capabilities, options, ConversionReport())
    return restore(host, expected, carried.rig, report)


def refuse_problems(reading: Reading, capabilities: Capabilities | None) -> None:
    """Raise the first problem that stands in the way.

    Args:
        reading: How the file was read.
        capabilities: Those of the target; None for a use that needs all.

    Raises:
        FormatError: The target needs what the problem affects.
    """
    for problem in reading.problems:
        if _is_needed(problem, capabilities):
            raise problem.error(reading.file)


def _is_needed(problem: Problem, capabilities: Capabilities | None) -> bool:
    if problem.affects in (ANYTHING, NOTHING):
        return problem.affects == ANYTHING
    if capabilities is None or capabilities.everything:
        return problem.affects != "stage_size"
    return problem.affects in capabilities.parts


def read_rig(name: str, format_id: str | None = None, options: ReadOptions = ReadOptions()) -> Rig:
    """The rig of a file, which must be whole."""
    loaded = load_file(name, format_id, options)
    refuse_problems(loaded.reading, None)
    return loaded.rig
