"""How much faster two processes are than one, in one run."""

import os
import time

import pytest
from rigconv.converters.batch import BatchOptions, run_batch
from rigconv.converters.config import Settings
from trees import rigc

ROUNDS = 4
"""Of both by turns, so that whatever else the machine does disturbs both; the best of each counts."""


class Silent:
    def start(self, total):
        """Nobody looks."""

    def advance(self, done):
        """Nobody looks."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rigs that take one process several seconds."""
    source = tmp_path_factory.mktemp("batch") / "src"
    source.mkdir()
    for number in range(60):
        (source / f"{number}.rig.json").write_bytes(rigc(1500))
    return source


def seconds(source, jobs, turn):
    started = time.perf_counter()
    summary = run_batch(
        str(source),
        str(source.parent / f"{jobs}-{turn}"),
        BatchOptions(stated=Settings(target="inr"), jobs=jobs),
        Silent(),
    )
    assert summary.converted == 60
    return time.perf_counter() - started


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core cannot show it")
@pytest.mark.benchmark(group="batch")
def test_two_processes_are_nearly_twice_as_fast(folder, benchmark):
    alone, turns = [], iter(range(10))

    def measure_one_process():
        alone.append(seconds(folder, 1, len(alone)))

    benchmark.pedantic(lambda: seconds(folder, 2, next(turns)), setup=measure_one_process, rounds=ROUNDS)
    ratio = min(alone) / benchmark.stats.stats.min
    benchmark.extra_info["ratio to one process"] = ratio
    assert ratio >= 1.7
