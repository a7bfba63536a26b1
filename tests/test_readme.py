"""The README tells the truth: its worked example runs, and its tables name what there is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command import rigconv
from conftest import ROOT
from support import FORMATS

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE = README.partition("## A worked example")[2].partition("\n## ")[0]


def test_the_worked_example_prints_what_it_says(
    fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fixtures").symlink_to(fixtures)
    result = rigconv("fixtures/swing.rig.json", "swing.inr", "--report", "report.json")
    printed = re.findall(r"^    (rigconv: .*)$", EXAMPLE, re.MULTILINE)
    assert result.errors.splitlines() == printed
    shown = json.loads(re.search(r"    \{\n.*?\n    \}", EXAMPLE, re.DOTALL).group())  # type: ignore[union-attr]
    assert shown in json.loads(Path("report.json").read_text())["entries"]
    assert rigconv("swing.inr", "back.rig.json").status == 0
    assert Path("back.rig.json").read_bytes() == (fixtures / "swing.rig.json").read_bytes()


def test_every_format_is_in_the_table() -> None:
    for format_id in FORMATS:
        assert f"| `{format_id}` |" in README


def test_every_option_of_a_conversion_is_in_the_table() -> None:
    options = set(re.findall(r"--[a-z][a-z-]+", rigconv("convert", "--help").output)) - {"--help"}
    assert options
    assert {option for option in options if f"`{option}" not in README} == set()


@pytest.mark.parametrize("link", re.findall(r"\]\((docs/[^)]+)\)", README))
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()
