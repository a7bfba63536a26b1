"""Watching a folder: what changes is converted at once."""

import os
import signal
import subprocess
import sys
import time

import pytest
from command import rigconv
from trees import inr, rigc


@pytest.fixture
def watching(tmp_path):
    """Starts a process that watches a folder ``src`` with one rig."""
    processes = []

    def start(destination):
        (tmp_path / "src").mkdir()
        (tmp_path / "src" / "a.rig.json").write_bytes(rigc())
        processes.append(
            subprocess.Popen(
                [sys.executable, "-m", "rigconv", "watch", "src", destination, "--to", "inr"],
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # which background shells ignore
            )
        )
        return tmp_path / "src", processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def watched(watching):
    """A folder ``src`` with one rig, and a process that watches it; outputs go to a folder in it."""
    return watching("src/out")


def until(condition, seconds=15):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_what_is_there_and_what_changes_is_converted(watched):
    source, process = watched
    until((source / "out" / "a.inr").exists)
    assert process.stdout.readline() == "converted 1, unchanged 0, failed 0\n"
    before = (source / "out" / "a.inr").read_bytes()

    (source / "b.inr").write_bytes(inr())
    until((source / "out" / "b.inr").exists)
    assert process.stdout.readline() == "converted 1, unchanged 1, failed 0\n"

    (source / "a.rig.json").write_bytes(rigc(5))
    until(lambda: (source / "out" / "a.inr").read_bytes() != before)
    assert process.stdout.readline() == "converted 1, unchanged 1, failed 0\n"

    (source / "a.rig.json").write_bytes(rigc()[:-5])
    assert process.stdout.readline() == "converted 0, unchanged 1, failed 1\n"
    assert process.stdout.readline().startswith("failed: src/a.rig.json: ")

    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
    assert process.stderr.read() == ""
    assert not [name for name in os.listdir(source / "out") if name.endswith(".tmp")]


def test_it_ends_when_told_to(watched):
    source, process = watched
    until((source / "out" / "a.inr").exists)
    process.terminate()
    assert process.wait(10) == 0


def test_a_folder_that_is_replaced_is_watched_again(watching, tmp_path):
    source, process = watching("dst")
    assert process.stdout.readline() == "converted 1, unchanged 0, failed 0\n"
    os.rename(source, tmp_path / "old")
    time.sleep(1)
    source.mkdir()
    (source / "new.inr").write_bytes(inr())
    assert process.stdout.readline() == "converted 1, unchanged 0, failed 0\n"
    (source / "newer.inr").write_bytes(inr())
    assert process.stdout.readline() == "converted 1, unchanged 1, failed 0\n"


def test_a_mistake_in_settings_is_told_and_watching_goes_on(watched):
    source, process = watched
    assert process.stdout.readline() == "converted 1, unchanged 0, failed 0\n"
    (source / "rigconv.toml").write_text("scal = 2")
    assert "unknown field `scal`" in process.stderr.readline()
    (source / "rigconv.toml").write_text("scale = 2")
    assert process.stdout.readline() == "converted 1, unchanged 0, failed 0\n"


def test_changes_are_seen_in_a_source_folder_inside_the_destination(watching):
    source, process = watching(".")
    assert process.stdout.readline() == "converted 1, unchanged 0, failed 0\n"
    (source / "b.inr").write_bytes(inr())
    assert process.stdout.readline() == "converted 1, unchanged 1, failed 0\n"


@pytest.mark.parametrize("option", ["--glob=!", "--to=obj"])
def test_a_first_turn_that_cannot_begin_ends_it(tmp_path, option):
    result = rigconv("watch", tmp_path, tmp_path / "out", "--to", "inr", option)
    assert result.status == 2


@pytest.mark.parametrize("source", ["nowhere", "memory://x"])
def test_only_folders_of_this_machine_can_be_watched(source, tmp_path):
    result = rigconv("watch", source, tmp_path, "--to", "inr")
    assert result.status == 2
    assert "only such can be watched" in result.errors
