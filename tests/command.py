"""Running the command line in this process, as a user would run it in a shell."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from rigconv.converters.cli import run


class Result(NamedTuple):
    """What a command left behind."""

    status: int
    output: str
    errors: str
    data: bytes


def rigconv(*arguments: Any, stdin: bytes = b"") -> Result:
    """Run ``rigconv`` with these arguments."""
    output, errors = _stream(b""), _stream(b"")
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors), _standard_input(stdin):
        try:
            status = run([str(argument) for argument in arguments])
        except SystemExit as exit_:
            status = int(exit_.code or 0)
    for stream in (output, errors):
        stream.flush()
    data = output.buffer.getvalue()  # type: ignore[attr-defined]
    text = errors.buffer.getvalue().decode()  # type: ignore[attr-defined]
    return Result(status, data.decode("utf-8", "replace"), text, data)


def _stream(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", write_through=True)


@contextlib.contextmanager
def _standard_input(data: bytes) -> Iterator[None]:
    before = sys.stdin
    sys.stdin = _stream(data)
    try:
        yield
    finally:
        sys.stdin = before
