"""Files of this machine."""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ...ir.errors import RigconvError, one_line
from ...ir.exchange import Buffers
from ..registry import declarations

_MAPPED_BYTES = 1 << 20
"""Files of at least this size are mapped instead of read, when they are binary."""

_TEMPORARY_STEM = 100
"""How much of a file's name the name of its temporary file repeats."""


class FileError(RigconvError):
    """The file system refused something."""


class Stamp(msgspec.Struct, frozen=True, array_like=True):
    """What tells whether a file was touched, without reading it.

    Attributes:
        size: In bytes.
        changed: When anything about it last changed, in nanoseconds; 0 where ``tag`` tells instead.
        tag: Whatever else changes with it.
    """

    size: int
    changed: int
    tag: str


class Found(msgspec.Struct, frozen=True):
    """A file below a folder.

    Attributes:
        path: From the folder, with slashes.
        stamp: As it was found.
    """

    path: str
    stamp: Stamp


class Unreadable(msgspec.Struct, frozen=True):
    """Something below a folder that could not be looked into.

    Attributes:
        path: From the folder, with slashes.
        problem: Why.
    """

    path: str
    problem: str


@contextlib.contextmanager
def file_errors(name: str) -> Iterator[None]:
    """Turn errors of the operating system into one line that names the file."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(one_line(f"{name}: {reason}")) from error


def read(name: str) -> bytes | memoryview:
    """A file's content; mapped where it is large and binary."""
    with file_errors(name), open(name, "rb") as file:
        start = file.read(4)
        size = os.fstat(file.fileno()).st_size
        if size >= _MAPPED_BYTES and any(item.magic and start.startswith(item.magic) for item in declarations()):
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return start + file.read()


def head(name: str, count: int) -> bytes:
    """The beginning of a file."""
    with file_errors(name), open(name, "rb") as file:
        return file.read(count)


def exists(name: str) -> bool:
    """Whether there is anything."""
    return os.path.lexists(name)


def is_file(name: str) -> bool:
    """Whether there is a regular file."""
    return os.path.isfile(name)


def is_folder(name: str) -> bool:
    """Whether there is a folder."""
    return os.path.isdir(name)


def write(name: str, buffers: Buffers) -> None:
    """Write a whole file: beside its place first, then into it. A link stays; the file that it leads to is written."""
    path = Path(os.path.realpath(name))
    if path.exists() and not path.is_file():
        _write_through(path, name, buffers)
        return
    temporary = path.with_name(f".{path.name[:_TEMPORARY_STEM]}.{secrets.token_hex(6)}.tmp")
    with file_errors(name):
        try:
            with temporary.open("xb") as file:
                file.writelines(buffers)
            if path.exists():
                temporary.chmod(path.stat().st_mode & 0o7777)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def _write_through(path: Path, name: str, buffers: Buffers) -> None:
    """Write into what is no regular file, as a device or a pipe, and stays what it is."""
    with file_errors(name), path.open("wb") as file:
        file.writelines(buffers)


_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{12}\.tmp", re.DOTALL)


def remove_temporaries(folder: str, names: set[str]) -> None:
    """Remove what runs that were killed left of files of these names, which nobody else may be writing."""
    stems = {name[:_TEMPORARY_STEM] for name in names}
    with file_errors(folder), os.scandir(folder) as entries:
        for entry in entries:
            match = _TEMPORARY.fullmatch(entry.name)
            if match and match[1] in stems:
                os.unlink(entry.path)


def make_folders(name: str) -> None:
    """Make a folder and those above it."""
    with file_errors(name):
        os.makedirs(name, exist_ok=True)


def remove(name: str) -> None:
    """Remove a file that may be there."""
    with file_errors(name):
        Path(name).unlink(missing_ok=True)


def stamp(name: str) -> Stamp | None:
    """A file's stamp."""
    try:
        return _stamp(os.stat(name))
    except (OSError, ValueError):
        return None


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_size, status.st_ctime_ns, f"{status.st_mtime_ns}-{status.st_ino}")


def walk(root: str) -> Iterator[Found | Unreadable]:
    """Every regular file below a folder.

    Links to folders are followed once, unless they lead back into the tree or to one above it.
    """
    inside = os.path.realpath(root)
    followed: set[str] = set()
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Unreadable(folder, error.strerror or str(error))
            continue
        below = []
        for entry in listed:
            path = f"{folder}/{entry.name}" if folder else entry.name
            found = _look(entry, path)
            if found is None and _may_enter(entry, inside, followed):
                below.append(path)
            elif found is not None:
                yield from found
        waiting.extend(reversed(below))


def _look(entry: os.DirEntry[str], path: str) -> list[Found | Unreadable] | None:
    """What a walk tells about an entry; None for a folder."""
    try:
        status = entry.stat()
    except OSError as error:
        return [Unreadable(path, error.strerror or str(error))]
    if stat.S_ISDIR(status.st_mode):
        return None
    return [Found(path, _stamp(status))] if stat.S_ISREG(status.st_mode) else []


def _may_enter(entry: os.DirEntry[str], inside: str, followed: set[str]) -> bool:
    if not entry.is_symlink():
        return True
    real = os.path.realpath(entry.path)
    if real in followed or os.path.commonpath([real, inside]) in (real, inside):
        return False
    followed.add(real)
    return True
