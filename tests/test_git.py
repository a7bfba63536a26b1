"""The lines of docs/git.md do what they say, in a real repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from support import inr_bytes, inr_document, node

COMMANDS = re.findall(r"^    (.+)$", (ROOT / "docs" / "git.md").read_text(encoding="utf-8"), re.MULTILINE)
DOCUMENT, ATTRIBUTES, SUMMARY, TOOL, DEFAULT_TOOL = COMMANDS

Shell = Callable[[str], str]


def puppet(x: float) -> bytes:
    return inr_bytes(inr_document(node("arm", 2, translation=[x, 0, 0]), node("hand", 3, parent=1)))


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell in a repository with a commit of a puppet, whose arm then moved from 1.5 to 2.25."""
    if shutil.which("git") is None:
        pytest.skip("git is missing")
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_PAGER": "cat",
    }
    folder = tmp_path / "it's a repository"
    folder.mkdir()

    def run(command: str) -> str:
        result = subprocess.run(
            ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    (folder / "--my arm.inr").write_bytes(puppet(1.5))
    who = "git config user.name somebody && git config user.email somebody@example.org"
    run(f"git init -q && {who} && git add . && git commit -qm first")
    (folder / "--my arm.inr").write_bytes(puppet(2.25))
    return run


def changed_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if re.match(r"[-+](?![-+])", line)]


def test_without_them_git_tells_nothing(shell: Shell) -> None:
    assert "Binary files" in shell("git diff")


def test_git_diff_shows_the_document(shell: Shell) -> None:
    shell(f"{DOCUMENT} && {ATTRIBUTES}")
    lines = changed_lines(shell("git diff"))
    assert any(line.startswith("-") and "1.5" in line for line in lines)
    assert any(line.startswith("+") and "2.25" in line for line in lines)
    assert len(lines) < 16, "only the bone that moved is shown"


def test_git_log_and_show_do_so_too(shell: Shell) -> None:
    shell(f"{DOCUMENT} && {ATTRIBUTES} && git commit -qam second")
    for command in ("git log -p -1", "git show"):
        assert "2.25" in shell(command)


def test_git_diff_shows_the_summary(shell: Shell) -> None:
    shell(f"{SUMMARY} && {ATTRIBUTES}")
    lines = changed_lines(shell("git diff"))
    # The world matrices of the arm and of the hand that hangs on it.
    assert [line.strip("-+ ,") for line in lines] == ["1.5", "2.25", "1.5", "2.25"]


def test_git_difftool_shows_the_tree(shell: Shell) -> None:
    shell(f"{TOOL} && {DEFAULT_TOOL}")
    assert shell("git difftool -y").splitlines() == [
        "bones",
        "  ~ arm",
        "    local translation (1.5, 0) -> (2.25, 0)",
        "    world translation (1.5, 0) -> (2.25, 0)",
        "  1 bone moved along with those above",
    ]


def test_git_difftool_shows_files_that_one_side_lacks(shell: Shell) -> None:
    shell(f"{TOOL} && {DEFAULT_TOOL} && cp -- '--my arm.inr' new.inr && git rm -qf -- '--my arm.inr' && git add .")
    output = shell("git difftool -y --no-renames --cached")
    assert '  - arm under "Root"' in output
    assert '  + arm under "Root"' in output
