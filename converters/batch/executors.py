"""Who does the work of a batch: this process, several of this machine, or a cluster.

Each takes chunks as it needs them, and yields what became of their files in whatever order they are done.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import connection, get_context, parent_process
from typing import Any

from msgspec.structs import replace

from ...ir.errors import UsageError, one_line
from .manifest import Record
from .work import Chunk, convert_chunk, failed

_AHEAD = 2
"""Chunks a worker that are handed out before any is done, so that none waits for the next."""

_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def in_process(chunks: Iterator[Chunk]) -> Iterator[list[Record]]:
    """Work in this process, file by file."""
    for chunk in chunks:
        for job in chunk.jobs:
            yield convert_chunk(replace(chunk, jobs=[job]))


# -- processes --------------------------------------------------------------------------------------------------------


def in_processes(chunks: Iterator[Chunk], jobs: int) -> Iterator[list[Record]]:
    """Work in ``jobs`` processes of this machine. A file that takes its process down fails, and the others go on."""
    running: dict[Future[list[Record]], Chunk] = {}
    pool = _pool(jobs)
    try:
        while True:
            for chunk in islice(chunks, jobs * _AHEAD - len(running)):
                running[_submit(pool, chunk)] = chunk
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            lost = [running[future] for future in done if isinstance(future.exception(), BrokenProcessPool)]
            for future in done:
                chunk = running.pop(future)
                if chunk not in lost:
                    yield future.result()
            if lost:
                lost += running.values()
                running.clear()
                pool.shutdown()
                pool = _pool(jobs)
                yield from _one_by_one(lost)
    finally:
        pool.shutdown(cancel_futures=True)


def _one_by_one(chunks: list[Chunk]) -> Iterator[list[Record]]:
    """Work on files in a process of their own, to find the one that takes its process down."""
    pool = _pool(1)
    try:
        for single in [replace(chunk, jobs=[job]) for chunk in chunks for job in chunk.jobs]:
            try:
                yield _submit(pool, single).result()
            except BrokenProcessPool:
                (job,) = single.jobs
                yield [failed(job, f"{job.input}: the process that converted it died, perhaps for want of memory")]
                pool.shutdown()
                pool = _pool(1)
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_start_worker)


def _submit(pool: ProcessPoolExecutor, chunk: Chunk) -> Future[list[Record]]:
    """Hand a chunk to a pool, which may start a process for it.

    The process uses one thread for algebra, as there are as many as cores, and leaves interruptions to this process.
    """
    before = dict(os.environ)
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(convert_chunk, chunk)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for name in _THREAD_VARIABLES:
            os.environ.pop(name)
        os.environ.update({name: before[name] for name in _THREAD_VARIABLES if name in before})


def _start_worker() -> None:
    """End with the parent, even if that is killed."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


# -- a cluster --------------------------------------------------------------------------------------------------------


def on_dask(chunks: Iterator[Chunk], jobs: int, scheduler: str | None) -> Iterator[list[Record]]:
    """Work on a Dask cluster: the one at an address, or one of ``jobs`` processes that is started for this.

    Chunks of workers that die go to others; a file that takes several workers down fails.
    """
    try:
        from distributed import Client, LocalCluster, as_completed
    except ImportError:
        raise UsageError("--executor dask needs pip install 'rigconv[dask]'") from None
    with contextlib.ExitStack() as stack:
        address: Any = scheduler
        if address is None:
            cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
            address = stack.enter_context(cluster)
        client = stack.enter_context(_connected(Client, address))
        workers = max(1, len(client.scheduler_info()["workers"]))
        running: dict[Any, Chunk] = {}
        waiting = as_completed()

        def hand_out(chunk: Chunk) -> None:
            future = client.submit(convert_chunk, chunk, pure=False)
            running[future] = chunk
            waiting.add(future)

        for chunk in islice(chunks, workers * _AHEAD):
            hand_out(chunk)
        for future in waiting:
            chunk = running.pop(future)
            if future.status == "finished":
                yield future.result()
            elif len(chunk.jobs) > 1:
                for job in chunk.jobs:
                    hand_out(replace(chunk, jobs=[job]))
            else:
                (job,) = chunk.jobs
                yield [failed(job, one_line(f"{job.input}: no worker could convert it: {future.exception()}"))]
            for chunk in islice(chunks, 1):
                hand_out(chunk)


def _connected(client: Any, address: Any) -> Any:
    try:
        return client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise UsageError(one_line(f"the scheduler at {address} does not answer: {error}")) from None
