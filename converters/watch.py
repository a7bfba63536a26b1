"""Converting whenever something changes: a batch at first, and again after every change of its folder."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from ..ir.errors import RigconvError, UsageError, quoted
from . import files
from .batch import BatchOptions, Observer, Summary, run_batch

_MILLISECONDS = 200
"""How long changes are waited for at a stretch."""


def watch(source: str, destination: str, options: BatchOptions, observer: Observer) -> Iterator[Summary | RigconvError]:
    """Run a batch now and after every change below the source folder, until interrupted.

    Args:
        source: The folder, on this machine.
        destination: As for :func:`~rigconv.converters.batch.run_batch`.
        options: As there.
        observer: As there.

    Yields:
        What each batch did; or why a later one could not even begin, as the next change may mend that.

    Raises:
        RigconvError: The folder cannot be watched, or the first batch could not begin.
    """
    if files.is_url(source) or not files.is_folder(source):
        raise UsageError(f"{quoted(source)} is no folder of this machine; only such can be watched")
    try:
        import watchfiles  # noqa: F401
    except ImportError:
        raise UsageError("watching needs pip install 'rigconv[watch]'") from None
    is_first = True
    for _ in _changes(source, destination):
        try:
            yield run_batch(source, destination, options, observer)
        except RigconvError as error:
            if is_first:
                raise
            yield error
        is_first = False


def _changes(source: str, destination: str) -> Iterator[None]:
    """Once at first, and after every change; a folder that is replaced is watched again when it is back."""
    while True:
        yield from _changes_until_replaced(source, destination)
        while not files.is_folder(source):
            time.sleep(_MILLISECONDS / 1000)


def _changes_until_replaced(source: str, destination: str) -> Iterator[None]:
    from watchfiles import watch as changes

    watched = _identity(source)
    outputs = _outputs_inside(source, destination)

    def is_input(_: object, path: str) -> bool:
        return outputs is None or not os.path.realpath(path).startswith(outputs)

    # The first turn comes from the timeout: by then the folder is watched, so that no change is missed meanwhile.
    is_first = True
    with contextlib.suppress(FileNotFoundError):  # it may vanish before it is watched
        for changed in changes(source, watch_filter=is_input, yield_on_timeout=True, rust_timeout=_MILLISECONDS):
            if _identity(source) != watched:
                return
            if changed or is_first:
                yield
            is_first = False


def _identity(folder: str) -> tuple[int, int] | None:
    """What tells a folder from another one of the same name."""
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _outputs_inside(source: str, destination: str) -> str | None:
    """How paths of outputs begin, where they lie in the source folder."""
    if files.is_url(destination):
        return None
    inside, outputs = os.path.realpath(source), os.path.realpath(destination)
    return os.path.join(outputs, "") if outputs.startswith(os.path.join(inside, "")) else None
