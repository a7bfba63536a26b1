"""How far a long run is: a bar on a terminal, a line now and then in a pipe; always on standard error."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from ..batch import Observer

_SECONDS_BETWEEN_LINES = 5.0


@contextlib.contextmanager
def progress() -> Iterator[Observer]:
    """An observer that shows how far a run is."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(bar)


class _Bar:
    """A bar with the number of files, the rate and the time left."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None, rate="")

    def start(self, total: int) -> None:
        self._bar.update(self._task, total=total)

    def advance(self, _: object, /) -> None:
        speed = self._bar.tasks[0].speed
        self._bar.update(self._task, advance=1, rate="" if speed is None else f"{speed:.0f} files/s")


class _Lines:
    """A line every few seconds."""

    def __init__(self) -> None:
        self._total = self._done = 0
        self._started = self._said = time.monotonic()

    def start(self, total: int) -> None:
        self._total = total
        self._started = self._said = time.monotonic()

    def advance(self, _: object, /) -> None:
        self._done += 1
        now = time.monotonic()
        if now - self._said < _SECONDS_BETWEEN_LINES:
            return
        self._said = now
        rate = self._done / (now - self._started)
        left = (self._total - self._done) / rate
        print(  # noqa: T201
            f"rigconv: {self._done} of {self._total} files, {rate:.0f} files/s, {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )
