"""Converting whenever something changes: a batch at first, and again after every change of its folder."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..ir.errors import UsageError, quoted
from . import files
from .batch import BatchOptions, Observer, Summary, run_batch

_MILLISECONDS = 200
"""How long changes are waited for at a stretch."""


def watch(source: str, destination: str, options: BatchOptions, observer: Observer) -> Iterator[Summary]:
    """Run a batch now and after every change below the source folder, until interrupted.

    Args:
        source: The folder, on this machine.
        destination: As for :func:`~rigconv.converters.batch.run_batch`.
        options: As there.
        observer: As there.

    Raises:
        UsageError: The folder cannot be watched.
    """
    if files.is_url(source) or not files.is_folder(source):
        raise UsageError(f"{quoted(source)} is no folder of this machine; only such can be watched")
    try:
        from watchfiles import watch as changes
    except ImportError:
        raise UsageError("watching needs pip install 'rigconv[watch]'") from None
    outputs = os.path.join(os.path.realpath(destination), "")

    def is_input(_: object, path: str) -> bool:
        return not os.path.realpath(path).startswith(outputs)

    # The first turn comes from the timeout: by then the folder is watched, so that no change is missed meanwhile.
    first = True
    for changed in changes(source, watch_filter=is_input, yield_on_timeout=True, rust_timeout=_MILLISECONDS):
        if changed or first:
            yield run_batch(source, destination, options, observer)
        first = False
