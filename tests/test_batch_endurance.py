"""Batches of many files, in several processes, and what is left of them when they are stopped."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rigconv.converters.batch import BatchOptions, run_batch
from rigconv.converters.config import Settings
from trees import add_oddities, contents, inr, make_tree, rigc

MANIFEST = ".rigconv-batch.jsonl"

MEASURED = """
import resource, sys
from rigconv.converters.cli import run
if __name__ == "__main__":
    status = run(sys.argv[2:])
    with open(sys.argv[1], "w") as file:
        file.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
    sys.exit(status)
"""
"""A script that runs rigconv and writes down how many megabytes its own process took at most."""


def command(source, destination, *options):
    return [sys.executable, "-m", "rigconv", "batch", source, destination, "--to", "ir", *options]


def run_measured(folder: Path, source: Path, destination: Path):
    """A batch in a fresh process: its report, its seconds and the megabytes of its parent process."""
    script, megabytes, report = folder / "measured.py", folder / "megabytes", folder / "report.json"
    script.write_text(MEASURED)
    arguments = ["batch", source, destination, "--to", "ir", "--jobs", "2", "--report", report]
    started = time.perf_counter()
    result = subprocess.run([sys.executable, script, megabytes, *arguments], capture_output=True, check=False)
    seconds = time.perf_counter() - started
    assert result.returncode == 4, result.stderr
    return json.loads(report.read_text()), seconds, float(megabytes.read_text())


def test_two_thousand_mixed_files(tmp_path):
    source, destination = tmp_path / "src", tmp_path / "dst"
    tree = make_tree(source, 2000, bones=800)
    add_oddities(source, tree)

    report, seconds, megabytes = run_measured(tmp_path, source, destination)
    assert {failure["input"] for failure in report["failed"]} == tree.bad
    assert (report["converted"], report["skipped"]) == (len(tree.valid), len(tree.foreign))
    made = contents(destination)
    assert len(made) == len(tree.valid)
    assert all(b'"rigconv-ir/1"' in content for content in made.values())

    again, seconds_again, _ = run_measured(tmp_path, source, destination)
    assert (again["converted"], again["unchanged"]) == (0, len(tree.valid))
    assert again["failed"] == report["failed"]
    assert seconds_again < 0.05 * seconds
    assert contents(destination) == made

    make_tree(tmp_path / "small", 500, bones=800)
    _, _, megabytes_small = run_measured(tmp_path, tmp_path / "small", tmp_path / "small-dst")
    assert megabytes < 150
    assert megabytes - megabytes_small < 10


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A folder of 300 mixed files."""
    folder = tmp_path_factory.mktemp("batch") / "src"
    make_tree(folder, 300, bones=60, seed=7)
    return folder


@pytest.fixture(scope="module")
def whole(tree):
    """What an undisturbed batch makes of the folder."""
    destination = tree.parent / "whole"
    assert subprocess.run(command(tree, destination), capture_output=True, check=False).returncode == 4
    return contents(destination)


def taken_down(destination: Path) -> int:
    """How many conversions the manifest in a folder speaks of so far."""
    manifest = destination / MANIFEST
    return manifest.read_bytes().count(b'"products"') if manifest.exists() else 0


def wait_for(process: subprocess.Popen, destination: Path, number: int):
    """Until that many conversions are taken down, however slow the machine; not longer than the batch runs."""
    while taken_down(destination) < number and process.poll() is None:
        time.sleep(0.001)


def test_killed_twenty_times_and_taken_up_again(tree, whole, tmp_path):
    destination, chance, killed = tmp_path / "dst", random.Random(20), 0
    for _ in range(20):
        process = subprocess.Popen(command(tree, destination, "--jobs", "2"), stderr=subprocess.DEVNULL)
        wait_for(process, destination, taken_down(destination) + chance.randint(1, 4))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
    assert killed >= 10  # the last ones may have nothing left to do
    assert subprocess.run(command(tree, destination), capture_output=True, check=False).returncode == 4
    assert contents(destination) == whole


def mind_interruptions():
    """Shells start what runs in the background so that it ignores them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_stopped_batch_ends_clean_and_is_taken_up_again(tree, whole, tmp_path, number, status, jobs):
    destination = tmp_path / "dst"
    process = subprocess.Popen(
        command(tree, destination, "--jobs", jobs),
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=mind_interruptions,
    )
    wait_for(process, destination, 20)
    os.killpg(process.pid, number)  # as a terminal does: to all of them
    errors = process.communicate()[1].decode()
    assert process.returncode == status
    assert errors == ""
    made = contents(destination)
    assert 0 < len(made) < len(whole)
    assert all(whole[path] == content for path, content in made.items())
    entries = [json.loads(line) for line in (destination / MANIFEST).read_text().splitlines()]
    assert {entry["output"] for entry in entries if entry.get("products")} <= set(made)
    assert subprocess.run(command(tree, destination), capture_output=True, check=False).returncode == 4
    assert contents(destination) == whole


class Interfering:
    """Does something once a number of files are done, and counts how often each was."""

    def __init__(self, after, action):
        self.after, self.action = after, action
        self.seen = []

    def start(self, total):
        self.total = total

    def advance(self, record):
        self.seen.append(record.input)
        if len(self.seen) == self.after:
            self.action()


def test_a_worker_that_dies_takes_no_file_with_it(tree, whole, tmp_path):
    from multiprocessing import active_children

    observer = Interfering(20, lambda: active_children()[0].kill())
    summary = run_batch(
        os.fspath(tree), os.fspath(tmp_path / "dst"), BatchOptions(stated=Settings(target="ir"), jobs=2), observer
    )
    assert sorted(observer.seen) == sorted(set(observer.seen))
    assert len(observer.seen) == observer.total
    assert contents(tmp_path / "dst") == whole
    assert summary.converted == len(whole)


def test_a_cluster_loses_a_worker_and_no_file(tree, whole, tmp_path):
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        victim = cluster.workers[0].process.pid
        observer = Interfering(20, lambda: os.kill(victim, signal.SIGKILL))
        options = BatchOptions(stated=Settings(target="ir"), executor="dask", scheduler=cluster.scheduler_address)
        summary = run_batch(os.fspath(tree), os.fspath(tmp_path / "dst"), options, observer)
    assert sorted(observer.seen) == sorted(set(observer.seen))
    assert len(observer.seen) == observer.total
    assert contents(tmp_path / "dst") == whole
    assert summary.converted == len(whole)


def test_a_cluster_is_started_where_none_is_named(tmp_path):
    make_tree(tmp_path / "src", 20)
    arguments = ["--executor", "dask", "--jobs", "2", "--report", tmp_path / "r.json"]
    result = subprocess.run(command(tmp_path / "src", tmp_path / "dst", *arguments), capture_output=True, check=False)
    assert result.returncode == 4
    assert json.loads((tmp_path / "r.json").read_text())["converted"] == 12


def test_a_scheduler_that_does_not_answer_is_a_clear_error(tmp_path):
    make_tree(tmp_path / "src", 5)
    arguments = ["--executor", "dask", "--scheduler", "tcp://127.0.0.1:9"]
    result = subprocess.run(command(tmp_path / "src", tmp_path / "dst", *arguments), capture_output=True, check=False)
    assert result.returncode == 2
    assert result.stderr.decode().startswith("rigconv: the scheduler at tcp://127.0.0.1:9 does not answer")
    assert result.stderr.count(b"\n") == 1


def test_an_output_that_the_disk_does_not_take_fails_alone(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "large.rig.json").write_bytes(rigc(3000))
    (tmp_path / "src" / "small.inr").write_bytes(inr())
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000));"
    limited += "from rigconv.converters.cli import run; sys.exit(run(sys.argv[1:]))"
    arguments = command(tmp_path / "src", tmp_path / "dst", "--jobs", "1")[3:]
    result = subprocess.run([sys.executable, "-c", limited, *arguments], capture_output=True, check=False)
    assert result.returncode == 4
    assert b"failed: " in result.stdout
    assert b"large.rigir.json: File too large" in result.stdout
    assert list(contents(tmp_path / "dst")) == ["small.rigir.json"]
