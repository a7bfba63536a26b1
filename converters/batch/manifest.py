"""The manifest: what a batch made out of what, so that the next run need not do it again.

It is a file of JSON lines in the output folder. While a batch runs, a line is added for each file that is done; of
several that speak of one output the last counts. A run that is killed leaves a manifest that holds up to its last whole
line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import msgspec

from .. import files
from ..files import Stamp

FILE_NAME = ".rigconv-batch.jsonl"
LOCK_NAME = ".rigconv-batch.lock"

_SETTLED = 20_000_000
"""Nanoseconds that a file must have been left alone before its stamp is trusted: clocks of file systems are coarse."""

_STORED_EVERY = 200
"""Records after which a manifest elsewhere, which cannot be appended to, is stored anew."""


class FileState(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file as it was.

    Attributes:
        path: From the folder of the batch that it belongs to; images may lie outside.
        digest: Of its content; None where there was no file.
        stamp: When its content was that; None where there was no file.
    """

    path: str
    digest: str | None = None
    stamp: Stamp | None = None


class Record(msgspec.Struct, omit_defaults=True, tag="converted"):
    """What became of an input.

    Attributes:
        source: The source folder, as :func:`source_id` names it.
        input: From the source folder.
        output: From the destination folder.
        format: Format of the input.
        request: Digest of target, options and version.
        sources: What went in: the input, and what may lie beside it.
        products: What was written.
        losses: Number of report entries that are not exact, by code.
        error: Why there is no output; empty where there is.
        lasting: The error lies in the input, and will be there next time.
    """

    source: str
    input: str
    output: str
    format: str
    request: str
    sources: list[FileState] = []
    products: list[FileState] = []
    losses: dict[str, int] = {}
    error: str = ""
    lasting: bool = False


class Foreign(msgspec.Struct, tag="foreign"):
    """A file that no format recognises, so that it need not be looked at again."""

    source: str
    input: str
    stamp: Stamp


def path_in(folder: str, name: str) -> str:
    """The path of a file from a folder; its inverse is :func:`rigconv.converters.files.join`."""
    if not files.is_url(folder):
        return os.path.relpath(name, folder).replace(os.sep, "/")
    return name.partition("::")[0].removeprefix(files.join(folder, "").partition("::")[0])


def source_id(source: str, destination: str) -> str:
    """What tells the source folders of one output folder apart, also after both were moved together."""
    if files.is_url(source) or files.is_url(destination):
        return source.rstrip("/") if files.is_url(source) else os.path.realpath(source)
    return os.path.relpath(os.path.realpath(source), os.path.realpath(destination)).replace(os.sep, "/")


def state_of(folder: str, path: str) -> FileState:
    """A file of a batch as it is now."""
    name = files.join(folder, path)
    stamp = files.stamp(name)
    return FileState(path) if stamp is None else FileState(path, files.digest(name), stamp)


class Manifest:
    """The manifest of an output folder, as a batch of one source folder sees it.

    What batches of other source folders made stays in it, and is none of this one's business. Lines are kept as text
    and taken apart when they are asked for: a tree of many files is known by little memory.
    """

    def __init__(self, folder: str, source: str) -> None:
        self.name = files.join(folder, FILE_NAME)
        self.source = source_id(source, folder)
        self._records: dict[str, str] = {}
        self._foreign: dict[tuple[str, str], str] = {}
        self._output_of: dict[str, str] = {}
        self._written = 0
        self._added = 0
        self._load()

    def _load(self) -> None:
        stamp = files.stamp(self.name)
        if stamp is None:
            return
        self._written = stamp.changed
        for line in bytes(files.read(self.name).data).decode("utf-8", "replace").splitlines():
            entry = _parsed(line)
            if entry is not None:
                self._keep(entry, line)

    def _keep(self, entry: Record | Foreign, line: str) -> None:
        if isinstance(entry, Foreign):
            self._foreign[entry.source, entry.input] = line
            return
        self._records[entry.output] = line
        if entry.source == self.source:
            self._output_of[entry.input] = entry.output

    def add(self, entry: Record | Foreign) -> None:
        """Take down what became of a file.

        Raises:
            FileError: The manifest cannot be written.
        """
        line = json.dumps(msgspec.to_builtins(entry))
        self._keep(entry, line)
        if not files.is_url(self.name):
            with files.file_errors(self.name), open(self.name, "a", encoding="utf-8") as file:
                file.write(f"\n{line}")  # in a line of its own, even if the one before was cut off
            return
        self._added += 1
        if self._added % _STORED_EVERY == 0:
            self.store()

    def forget(self, record: Record) -> None:
        """Leave an output out of the manifest from the next time on that it is stored."""
        self._records.pop(record.output, None)

    def store(self) -> None:
        """Write the manifest anew, a line an element, in the order of their names."""
        lines = [self._records[key] for key in sorted(self._records)]
        lines += [self._foreign[key] for key in sorted(self._foreign)]
        files.write(self.name, ["".join(f"{line}\n" for line in lines).encode()])

    def records(self) -> Iterator[Record]:
        """What became of each input; records may be forgotten meanwhile."""
        for output in list(self._records):
            record = self.of_output(output)
            if record is not None:
                yield record

    def of_output(self, output: str) -> Record | None:
        """What an output was made of; None where that is another source folder's."""
        record = _parsed(self._records.get(output, ""))
        return record if isinstance(record, Record) and record.source == self.source else None

    def known_format(self, path: str, stamp: Stamp) -> str | None:
        """The format of an input that has not been touched: an empty text for none, None where that is not known."""
        foreign = _parsed(self._foreign.get((self.source, path), ""))
        if isinstance(foreign, Foreign) and self._trusts(foreign.stamp, stamp):
            return ""
        record = self.of_output(self._output_of.get(path, ""))
        if record is None or record.input != path or not record.sources:
            return None
        before = record.sources[0].stamp
        return record.format if before is not None and self._trusts(before, stamp) else None

    def is_unchanged(self, folder: str, state: FileState, stamp: Stamp | None) -> bool:
        """Whether a file is still what it was.

        Args:
            folder: The folder that it is in.
            state: As it was.
            stamp: As it is now.
        """
        if stamp is None or state.stamp is None:
            return stamp is None and state.stamp is None
        if self._trusts(state.stamp, stamp):
            return True
        return stamp.size == state.stamp.size and files.digest(files.join(folder, state.path)) == state.digest

    def _trusts(self, before: Stamp, now: Stamp) -> bool:
        """Whether equal stamps mean equal content; not for a file that changed just before the manifest was written."""
        return before == now and before.changed + _SETTLED < self._written and bool(before.changed or before.tag)


def _parsed(line: str) -> Record | Foreign | None:
    """An element of the manifest; None for a line that was cut off, or that names outputs outside of the folder."""
    try:
        value: Any = json.loads(line)
        entry = msgspec.convert(value, Record | Foreign)
    except (ValueError, RecursionError, msgspec.ValidationError):
        return None
    if isinstance(entry, Record) and not all(map(_is_inside, [entry.output, *(item.path for item in entry.products)])):
        return None
    return entry


def _is_inside(path: str) -> bool:
    return bool(path) and "\0" not in path and not path.startswith("/") and ".." not in path.split("/")


def is_own(path: str) -> bool:
    """Whether a file in a tree was put there by a batch for itself."""
    return os.path.basename(path) in (FILE_NAME, LOCK_NAME)
