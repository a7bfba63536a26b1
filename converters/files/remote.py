"""Files in other places, by way of fsspec: ``s3://``, ``gs://``, ``memory://``, ``zip://`` and what else it knows."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import Any

from ...ir.errors import UsageError, one_line, quoted
from ...ir.exchange import Buffers
from .local import FileError, Found, Stamp, Unreadable


@contextlib.contextmanager
def _opened(url: str) -> Iterator[tuple[Any, str]]:
    """The file system that a URL names, and the path in it; whatever it raises becomes one line."""
    try:
        import fsspec
    except ImportError:
        raise UsageError(f"{quoted(url)} is a URL; files elsewhere need pip install 'rigconv[remote]'") from None
    try:
        yield fsspec.url_to_fs(url)
    except Exception as error:  # every file system has errors of its own
        reason = _reason(error)
        raise FileError(one_line(f"{url}: {reason}")) from error


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return os.strerror(errno.ENOENT)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def read(name: str) -> bytes:
    """A file's content."""
    with _opened(name) as (system, path):
        content: bytes = system.cat_file(path)
        return content


def head(name: str, count: int) -> bytes:
    """The beginning of a file."""
    with _opened(name) as (system, path):
        content: bytes = system.cat_file(path, start=0, end=count)
        return content


def exists(name: str) -> bool:
    """Whether there is anything."""
    with _opened(name) as (system, path):
        return bool(system.exists(path))


def is_file(name: str) -> bool:
    """Whether there is a file."""
    with _opened(name) as (system, path):
        return bool(system.isfile(path))


def is_folder(name: str) -> bool:
    """Whether there is a folder."""
    with _opened(name) as (system, path):
        return bool(system.isdir(path))


def write(name: str, buffers: Buffers) -> None:
    """Write a file in one request, which object stores put in place whole or not at all."""
    with _opened(name) as (system, path):
        system.pipe_file(path, b"".join(buffers))


def make_folders(name: str) -> None:
    """Make a folder, where the place has such."""
    with _opened(name) as (system, path):
        system.makedirs(path, exist_ok=True)


def remove(name: str) -> None:
    """Remove a file that may be there."""
    with _opened(name) as (system, path):
        if system.exists(path):
            system.rm_file(path)


def stamp(name: str) -> Stamp | None:
    """A file's stamp."""
    with _opened(name) as (system, path):
        return _stamp(system.info(path)) if system.isfile(path) else None


_TAGS = ("ETag", "etag", "md5Hash", "generation", "mtime", "LastModified", "last_modified", "created", "CRC")


def _stamp(info: dict[str, Any]) -> Stamp:
    tags = [str(info[name]) for name in _TAGS if info.get(name) is not None]
    return Stamp(int(info.get("size") or 0), 0, "-".join(tags))


def walk(root: str) -> Iterator[Found | Unreadable]:
    """Every file below a folder."""
    with _opened(root) as (system, path):
        found = system.find(path, detail=True)
    start = path.rstrip("/")
    for name, info in sorted(found.items()):
        inside = name[len(start) :].lstrip("/") if name.startswith(start) else name
        if info.get("type") == "file":
            yield Found(inside, _stamp(info))
