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
def watched(tmp_path):
    """A folder ``src`` with one rig, and a process that watches it."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.rig.json").write_bytes(rigc())
    command = [sys.executable, "-m", "rigconv", "watch", "src", "src/out", "--to", "inr"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # which background shells ignore
    )
    yield tmp_path / "src", process
    process.kill()
    process.wait()


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


@pytest.mark.parametrize("source", ["nowhere", "memory://x"])
def test_only_folders_of_this_machine_can_be_watched(source, tmp_path):
    result = rigconv("watch", source, tmp_path, "--to", "inr")
    assert result.status == 2
    assert "only such can be watched" in result.errors
