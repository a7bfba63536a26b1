"""What a worker of a batch does: it converts a few files, and tells what became of them."""

from __future__ import annotations

from collections import Counter

import msgspec

from ...ir.errors import ConversionError, FormatError, RigconvError, UnknownFormatError, one_line
from .. import files
from ..convert import write_loaded
from ..loading import load_file, sidecar_of
from ..registry import find
from .manifest import Record, path_in, state_of
from .plan import Job


class Chunk(msgspec.Struct, frozen=True, eq=False):
    """Files that one worker converts at a stretch.

    Attributes:
        source, destination: The folders.
        jobs: The files.
    """

    source: str
    destination: str
    jobs: list[Job]


def convert_chunk(chunk: Chunk) -> list[Record]:
    """Convert some files; whatever goes wrong with one is in its record, and the others go on."""
    return [_convert(job, chunk) for job in chunk.jobs]


def _convert(job: Job, chunk: Chunk) -> Record:
    record = _record(job)
    name = files.join(chunk.source, job.input)
    try:
        # How a file is must be known before it is read: if it changes meanwhile, the next run sees that.
        record.sources = [state_of(chunk.source, path) for path in (job.input, sidecar_of(job.input))]
        loaded = load_file(name, job.format, job.options.read)
        record.sources += [state_of(chunk.source, path_in(chunk.source, image)) for image in loaded.images]
        written = write_loaded(loaded, files.join(chunk.destination, job.output), find(job.target), job.options)
        record.products = [state_of(chunk.destination, path_in(chunk.destination, path)) for path in written]
        record.losses = dict(Counter(entry.code for entry in loaded.reading.report.losses))
    except RigconvError as error:
        record.error = one_line(str(error))
        record.lasting = isinstance(error, (FormatError, ConversionError, UnknownFormatError))
    except Exception as error:  # a fault of ours in one file must not keep the others from being converted
        record.error = one_line(f"{name}: internal error: {type(error).__name__}: {error}; please report it")
    return record


def failed(job: Job, problem: str) -> Record:
    """The record of a file whose worker could not tell what became of it."""
    record = _record(job)
    record.error = problem
    return record


def _record(job: Job) -> Record:
    return Record(source=job.source, input=job.input, output=job.output, format=job.format, request=job.request)
