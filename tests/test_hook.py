"""The hook for pre-commit: pre-commit itself runs it on a repository with good and bad rigs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from trees import rigc

ROOT = Path(__file__).parent.parent
CONFIG = """
repos:
  - repo: local
    hooks:
"""


@pytest.fixture
def repository(tmp_path, fixtures):
    """A git repository whose hook is ours, run with the rigconv of this environment."""
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text().replace("language: python", "language: system")
    indented = "".join(f"      {line}\n" for line in hook.splitlines())
    (tmp_path / ".pre-commit-config.yaml").write_text(CONFIG + indented)
    shutil.copy(fixtures / "puppet.inr", tmp_path / "--puppet.inr")
    shutil.copytree(fixtures / "walker.rig", tmp_path / "walker.rig")
    (tmp_path / "notes.json").write_text("{}")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    return tmp_path


def git(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True)


def run_hook(folder):
    environment = {
        **os.environ,
        "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(folder / ".git" / "pre-commit"),
    }
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--verbose"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_good_rigs_pass(repository):
    result = run_hook(repository)
    assert result.returncode == 0, result.stdout
    assert "--puppet.inr: ok (inr)" in result.stdout
    assert "walker.rig/rig.json: ok (engine)" in result.stdout
    assert "notes.json" not in result.stdout


def test_a_bad_rig_stops_the_commit(repository):
    (repository / "bad.rig.json").write_bytes(rigc()[:-9])
    git(repository, "add", "-A")
    result = run_hook(repository)
    assert result.returncode == 1
    assert "bad.rig.json: error" in result.stdout
