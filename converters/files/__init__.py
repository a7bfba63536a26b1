"""Files in and out, under one set of names: paths, URLs, and ``-``.

What is done to files of this machine is in :mod:`.local`, what is done to those of other places in :mod:`.remote`; both
offer the same functions, and here is decided which of them a name asks for.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import sys
from collections.abc import Iterator
from typing import Protocol

from ...ir.errors import UsageError, quoted
from ...ir.exchange import Buffers, Source
from ..registry import declarations
from . import local
from .local import FileError, Found, Stamp, Unreadable, file_errors

__all__ = [
    "STANDARD",
    "FileError",
    "Found",
    "Stamp",
    "Unreadable",
    "base",
    "digest",
    "digest_of",
    "exists",
    "file_errors",
    "head",
    "is_file",
    "is_folder",
    "is_url",
    "join",
    "make_folders",
    "member",
    "named",
    "parent",
    "read",
    "remove",
    "stamp",
    "walk",
    "write",
    "write_standard",
]

STANDARD = "-"
"""Stands for standard input or output."""


_SCHEME = re.compile("[a-z][a-z0-9+.-]*(://|::)", re.IGNORECASE)
"""How a URL begins (RFC 3986 §3.1), or the outermost of several file systems."""


class _Place(Protocol):
    """What can be done to files, wherever they are."""

    def read(self, name: str) -> bytes | memoryview: ...
    def head(self, name: str, count: int) -> bytes: ...
    def exists(self, name: str) -> bool: ...
    def is_file(self, name: str) -> bool: ...
    def is_folder(self, name: str) -> bool: ...
    def write(self, name: str, buffers: Buffers) -> None: ...
    def make_folders(self, name: str) -> None: ...
    def remove(self, name: str) -> None: ...
    def stamp(self, name: str) -> Stamp | None: ...
    def walk(self, root: str) -> Iterator[Found | Unreadable]: ...


def is_url(name: str) -> bool:
    """Whether a name is that of a file elsewhere: ``s3://bucket/key``, ``zip://member::archive.zip``."""
    return "://" in name and _SCHEME.match(name) is not None


def _place(name: str) -> _Place:
    if not is_url(name):
        return local
    from . import remote

    return remote


# -- names ------------------------------------------------------------------------------------------------------------


def named(name: str) -> str:
    """What a caller names: the path that a URL of this machine means, any other name as it is.

    Raises:
        UsageError: The URL is of another machine.
    """
    if not name.lower().startswith("file://"):
        return name
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    parts = urlsplit(name)
    if parts.netloc not in ("", "localhost"):
        raise UsageError(f"{quoted(name)} is a file of another machine; those of this one are file:///PATH")
    return url2pathname(parts.path)


def join(folder: str, path: str) -> str:
    """The name of a file in a folder; ``path`` has slashes."""
    outer, chain, inner = folder.partition("::") if is_url(folder) else (folder, "", "")
    return (outer if outer.endswith("/") else f"{outer}/") + path + chain + inner


def base(name: str) -> str:
    """The last part of a name."""
    if not is_url(name):
        return os.path.basename(name.rstrip("/" + os.sep))
    return posixpath.basename(name.partition("::")[0].rstrip("/"))


def parent(name: str) -> str:
    """The name of the folder that a file is in."""
    if not is_url(name):
        return os.path.dirname(name.rstrip("/" + os.sep))
    outer, chain, inner = name.partition("::")
    return posixpath.dirname(outer.rstrip("/")) + chain + inner


def member(name: str) -> str:
    """The file that a name means: inside a folder that a format keeps, its file, else the name itself."""
    if name != STANDARD and is_folder(name):
        for declaration in declarations():
            for inside in declaration.names if declaration.folder else ():
                if is_file(join(name, inside)) or base(name).lower().endswith(declaration.folder):
                    return join(name, inside)
    return name


# -- files ------------------------------------------------------------------------------------------------------------


def read(name: str) -> Source:
    """A file's content, or that of standard input; large binary files of this machine are mapped.

    Raises:
        FileError: It cannot be read.
    """
    if name == STANDARD:
        with file_errors("standard input"):
            return Source(file=name, data=sys.stdin.buffer.read())
    path = member(name)
    return Source(file=name, data=_place(path).read(path))


def head(name: str, count: int) -> bytes:
    """The first ``count`` bytes of a file, or fewer where it is shorter.

    Raises:
        FileError: It cannot be read.
    """
    return _place(name).head(name, count)


def digest(name: str) -> str:
    """A digest of a file's content.

    Raises:
        FileError: It cannot be read.
    """
    return digest_of(_place(name).read(name))


def digest_of(data: bytes | memoryview) -> str:
    """A digest of some bytes; equal for equal bytes, on every machine."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def exists(name: str) -> bool:
    """Whether there is anything of this name, be it a link that leads nowhere."""
    return _place(name).exists(name)


def is_file(name: str) -> bool:
    """Whether there is a regular file of this name."""
    return _place(name).is_file(name)


def is_folder(name: str) -> bool:
    """Whether there is a folder of this name."""
    return _place(name).is_folder(name)


def write(name: str, buffers: Buffers) -> None:
    """Write a whole file, so that no one ever sees half of it, and that a failed run leaves the old one whole.

    Raises:
        FileError: It cannot be written.
    """
    _place(name).write(name, buffers)


def write_standard(buffers: Buffers) -> None:
    """Write to standard output."""
    if not sys.stdout.writable():
        raise FileError("standard output is closed")
    with file_errors("standard output"):
        sys.stdout.buffer.writelines(buffers)
        sys.stdout.buffer.flush()


def make_folders(name: str) -> None:
    """Make a folder, and those above it, where they are not there."""
    _place(name).make_folders(name)


def remove(name: str) -> None:
    """Remove a file that may be there."""
    _place(name).remove(name)


def stamp(name: str) -> Stamp | None:
    """What tells whether a file was touched, without reading it; None where there is none."""
    return _place(name).stamp(name)


def walk(root: str) -> Iterator[Found | Unreadable]:
    """Every file below a folder, in the order of their paths, and what could not be looked into."""
    return _place(root).walk(root)
