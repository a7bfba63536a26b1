"""Files in and out: mapping what is large, writing so that no one ever sees half a file."""

from __future__ import annotations

import contextlib
import mmap
import os
import secrets
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..ir.errors import RigconvError, one_line
from ..ir.exchange import Buffers, Source
from .registry import declarations

STANDARD = "-"
"""Stands for standard input or output."""

_MAPPED_BYTES = 1 << 20
"""Files of at least this size are mapped instead of read, when they are binary."""


class FileError(RigconvError):
    """The file system refused something."""


@contextlib.contextmanager
def file_errors(name: str) -> Iterator[None]:
    """Turn errors of the operating system into one line that names the file."""
    try:
        yield
    except OSError as error:
        raise FileError(one_line(f"{name}: {error.strerror or error}")) from error


def member(path: Path) -> Path:
    """The file that a path means: inside a folder that a format keeps, its file, else the path itself."""
    if path.is_dir():
        for declaration in declarations():
            for name in declaration.names if declaration.folder else ():
                if (path / name).exists() or path.name.lower().endswith(declaration.folder):
                    return path / name
    return path


def read(name: str) -> Source:
    """A file's content, or that of standard input."""
    if name == STANDARD:
        return Source(file=name, data=sys.stdin.buffer.read())
    path = member(Path(name))
    with file_errors(name), path.open("rb") as file:
        head = file.read(4)
        size = os.fstat(file.fileno()).st_size
        if size >= _MAPPED_BYTES and any(item.magic and head.startswith(item.magic) for item in declarations()):
            return Source(file=name, data=memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))
        return Source(file=name, data=head + file.read())


def write(path: Path, buffers: Buffers) -> None:
    """Write a whole file: beside its place first, then into it, so that a failed run leaves the old one whole."""
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
    with file_errors(str(path)):
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


def write_standard(buffers: Buffers) -> None:
    """Write to standard output."""
    with file_errors("standard output"):
        sys.stdout.buffer.writelines(buffers)
        sys.stdout.buffer.flush()


def make_folder(path: Path) -> None:
    """Make the folder that a format keeps its file in."""
    with file_errors(str(path)):
        path.mkdir(exist_ok=True)


def remove(paths: Iterable[Path]) -> None:
    """Remove files that are there."""
    for path in paths:
        with file_errors(str(path)):
            path.unlink(missing_ok=True)
