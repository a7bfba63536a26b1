"""A batch from beginning to end."""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Protocol

import msgspec
from filelock import FileLock, Timeout

from ...ir.errors import UsageError, one_line, quoted
from .. import files
from ..config import Settings, check_patterns, find_config, given
from ..files import Stamp
from ..files.local import remove_temporaries
from ..registry import find
from .manifest import LOCK_NAME, FileState, Manifest, Record
from .plan import Choice, Job, Plan, make_plan
from .work import Chunk

_CHUNK_FILES = 16
_CHUNK_BYTES = 4 << 20


class Executor(StrEnum):
    """Who does the work."""

    LOCAL = "local"
    DASK = "dask"


class BatchOptions(msgspec.Struct, kw_only=True):
    """What a batch may be told; None leaves it to the settings file, or to what is said here.

    Attributes:
        stated: Options of the conversions, and the format of the outputs.
        glob, exclude: Which files, as patterns of ``.gitignore``; None takes all.
        jobs: Number of processes; None takes one a core.
        prune: Remove outputs whose input is gone.
        executor: Who does the work.
        scheduler: Address of a Dask scheduler; None starts a cluster on this machine.
    """

    stated: Settings = msgspec.field(default_factory=Settings)
    glob: list[str] | None = None
    exclude: list[str] | None = None
    jobs: int | None = None
    prune: bool = False
    executor: Executor = Executor.LOCAL
    scheduler: str | None = None


class Failure(msgspec.Struct):
    """An input without an output, and why."""

    input: str
    problem: str


class Summary(msgspec.Struct):
    """What a batch did.

    Attributes:
        source, destination: The folders.
        targets: Ids of the formats of the outputs.
        converted: Number of files that were converted.
        unchanged: Number of files whose output was whole and up to date.
        skipped: Number of files that no format recognises.
        failed: What could not be converted.
        removed: Outputs whose input is gone.
        pruned: Those of them that were removed.
        losses: Report entries that are not exact, by code, of the files that were converted.
        seconds: How long it took.
    """

    source: str
    destination: str
    targets: list[str] = []
    converted: int = 0
    unchanged: int = 0
    skipped: int = 0
    failed: list[Failure] = []
    removed: list[str] = []
    pruned: list[str] = []
    losses: dict[str, int] = {}
    seconds: float = 0.0


class Observer(Protocol):
    """Whoever wants to see how far a batch is."""

    def start(self, total: int) -> None:
        """So many files are to be converted."""

    def advance(self, done: object, /) -> None:
        """One is done."""


def run_batch(source: str, destination: str, options: BatchOptions, observer: Observer) -> Summary:
    """Convert all files of a folder.

    Args:
        source: The folder.
        destination: Where the outputs go, in a mirrored tree, with the manifest.
        options: What, and how.
        observer: Is told how far it is.

    Raises:
        RigconvError: Nothing could be done: wrong usage, a folder or manifest that cannot be used.
    """
    started = time.perf_counter()
    choice, jobs = _choice(source, destination, options)
    files.make_folders(destination)
    summary = Summary(source, destination)
    with _only_batch_in(destination):
        _run(choice, jobs, options, summary, observer)
    summary.failed.sort(key=lambda failure: failure.input)
    summary.seconds = time.perf_counter() - started
    return summary


def _run(choice: Choice, jobs: int, options: BatchOptions, summary: Summary, observer: Observer) -> None:
    manifest = Manifest(choice.destination, choice.source)
    plan = make_plan(choice, manifest)
    summary.targets = sorted({job.target for job in plan.jobs})
    summary.skipped = len(plan.foreign)
    due = _due(plan, choice, manifest, summary)
    _clean(due, choice)
    observer.start(len(due))
    try:
        _convert(due, choice, options, jobs, manifest, summary, observer)
        _look_after_removed(plan, choice, manifest, options.prune, summary)
    finally:
        manifest.store()


@contextlib.contextmanager
def _only_batch_in(destination: str) -> Iterator[None]:
    """Keep other batches out of a folder of this machine: two would tear each other's manifest and files.

    The lock goes with the process, even if that is killed; its file stays, as removing it would let two in.
    """
    if files.is_url(destination):
        yield
        return
    name = files.join(destination, LOCK_NAME)
    lock = FileLock(name, timeout=0)
    with files.file_errors(name):
        try:
            lock.acquire()
        except Timeout:
            raise files.FileError(f"{destination}: another batch is writing into this folder") from None
    try:
        yield
    finally:
        lock.release()


def _choice(source: str, destination: str, options: BatchOptions) -> tuple[Choice, int]:
    if not files.is_folder(source):
        raise UsageError(f"{quoted(source)} is no folder")
    if _same_place(source, destination):
        raise UsageError("source and destination are one folder; outputs would become inputs")
    target = given(options.stated.target)
    if target is not None:
        find(target)
    found = find_config(source)
    config = found.config if found else None
    jobs = options.jobs or (given(config.jobs) if config else None) or os.cpu_count() or 1
    if jobs < 1:
        raise UsageError(f"--jobs is {jobs}; it must be at least 1")
    glob = options.glob if options.glob is not None else (given(config.glob) if config else None)
    exclude = options.exclude if options.exclude is not None else (given(config.exclude) if config else None)
    for patterns in (glob, exclude):
        check_patterns(patterns or ())
    return Choice(source, destination, options.stated, glob or [], exclude or []), jobs


def _same_place(source: str, destination: str) -> bool:
    if files.is_url(source) or files.is_url(destination):
        return source.rstrip("/") == destination.rstrip("/")
    return os.path.realpath(source) == os.path.realpath(destination)


# -- what is due ------------------------------------------------------------------------------------------------------


def _due(plan: Plan, choice: Choice, manifest: Manifest, summary: Summary) -> list[Job]:
    """The jobs that need work; what needs none is taken down in the summary."""
    for foreign in plan.foreign:
        if manifest.known_format(foreign.input, foreign.stamp) is None:
            manifest.add(foreign)
    for item in plan.unreadable:
        summary.failed.append(Failure(item.path, one_line(f"{files.join(choice.source, item.path)}: {item.problem}")))
    due = []
    for job in plan.jobs:
        record = None if given(choice.stated.force) else _done(job, plan, choice, manifest)
        if record is None:
            due.append(job)
        elif record.error:
            summary.failed.append(Failure(record.input, record.error))
        else:
            summary.unchanged += 1
    return due


def _done(job: Job, plan: Plan, choice: Choice, manifest: Manifest) -> Record | None:
    """What the last run made of a file, if it did the same with the same, and its work is still whole."""
    record = manifest.of_output(job.output)
    if record is None or record.input != job.input or record.request != job.request:
        return None
    if record.error and not record.lasting:
        return None
    if not all(manifest.is_unchanged(choice.source, state, _stamp(state, plan, choice)) for state in record.sources):
        return None
    return record if record.error or _is_whole(record.products, choice, manifest) else None


def _stamp(state: FileState, plan: Plan, choice: Choice) -> Stamp | None:
    if state.path in plan.stamps or files.is_url(choice.source):
        return plan.stamps.get(state.path)
    return files.stamp(files.join(choice.source, state.path))


def _is_whole(products: list[FileState], choice: Choice, manifest: Manifest) -> bool:
    stamps = [files.stamp(files.join(choice.destination, state.path)) for state in products]
    return all(
        manifest.is_unchanged(choice.destination, state, stamp) for state, stamp in zip(products, stamps, strict=True)
    )


def _clean(due: list[Job], choice: Choice) -> None:
    """Remove what a run that was killed left half written."""
    if files.is_url(choice.destination):
        return
    by_folder: dict[str, set[str]] = {}
    for job in due:
        folder, name = os.path.split(os.path.join(choice.destination, job.output))
        by_folder.setdefault(folder, set()).update((name, name + ".rigconv"))
    for folder, names in by_folder.items():
        if os.path.isdir(folder):
            remove_temporaries(folder, names)


# -- doing it ---------------------------------------------------------------------------------------------------------


def _convert(
    due: list[Job],
    choice: Choice,
    options: BatchOptions,
    jobs: int,
    manifest: Manifest,
    summary: Summary,
    observer: Observer,
) -> None:
    losses: Counter[str] = Counter()
    for records in _executed(_chunks(due, choice, jobs), options, min(jobs, max(1, len(due)))):
        for record in records:
            before = manifest.of_output(record.output)
            if record.error and before is not None:
                record.products = before.products
            manifest.add(record)
            losses.update(record.losses)
            if record.error:
                summary.failed.append(Failure(record.input, record.error))
            else:
                summary.converted += 1
            observer.advance(record)
    summary.losses = dict(sorted(losses.items()))


def _executed(chunks: Iterator[Chunk], options: BatchOptions, jobs: int) -> Iterator[list[Record]]:
    from . import executors  # what starts processes takes a while to load

    if options.executor is Executor.DASK:
        return executors.on_dask(chunks, jobs, options.scheduler)
    return executors.in_process(chunks) if jobs == 1 else executors.in_processes(chunks, jobs)


def _chunks(due: list[Job], choice: Choice, jobs: int) -> Iterator[Chunk]:
    """The jobs in chunks: the large ones first, so that no worker is left with one at the end."""
    most = max(1, min(_CHUNK_FILES, len(due) // (4 * jobs)))
    taken: list[Job] = []
    for job in sorted(due, key=lambda job: -job.size):
        if taken and (len(taken) == most or sum(item.size for item in taken) + job.size > _CHUNK_BYTES):
            yield Chunk(choice.source, choice.destination, taken)
            taken = []
        taken.append(job)
    if taken:
        yield Chunk(choice.source, choice.destination, taken)


# -- inputs that are gone ---------------------------------------------------------------------------------------------


def _look_after_removed(plan: Plan, choice: Choice, manifest: Manifest, prune: bool, summary: Summary) -> None:
    hidden = tuple(f"{item.path}/" if item.path else "" for item in plan.unreadable)
    for record in manifest.records():
        if record.input in plan.stamps or record.input.startswith(hidden):
            continue
        if not record.products:
            manifest.forget(record)
            continue
        summary.removed.append(record.output)
        if prune and _is_ours(record, choice):
            _prune(record, choice, manifest, summary)


def _is_ours(record: Record, choice: Choice) -> bool:
    """Whether the outputs are what was written, or gone; what someone changed since is not ours to remove."""
    for product in record.products:
        name = files.join(choice.destination, product.path)
        if files.exists(name) and not (files.is_file(name) and files.digest(name) == product.digest):
            return False
    return True


def _prune(record: Record, choice: Choice, manifest: Manifest, summary: Summary) -> None:
    try:
        for product in record.products:
            files.remove(files.join(choice.destination, product.path))
    except files.FileError as error:
        summary.failed.append(Failure(record.input, str(error)))
        return
    manifest.forget(record)
    summary.pruned.append(record.output)
