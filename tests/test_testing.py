"""``rigconv.testing``: what people get who test importers of their own."""

import pathlib
import re

import numpy as np
import pytest
import rigconv
from command import rigconv as rigconv_command
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from rigconv.ir.document import from_builtins, to_builtins
from rigconv.testing import assert_roundtrip, assert_same, assert_same_worlds, rigs
from third_party import PLUGIN, install

pytest_plugins = ["pytester"]


@pytest.mark.parametrize("name", ["swing.rig.json", "puppet.inr", "walker.rig"])
def test_files_that_come_back_pass(fixtures, name):
    assert_roundtrip(fixtures / name)
    assert_roundtrip(fixtures / name, via="ir")
    assert_roundtrip(fixtures / name, via=["inr", "engine"])


def test_a_tolerance_of_nothing_fails_where_numbers_are_rounded(fixtures):
    with pytest.raises(AssertionError, match=r"swing.rig.json does not come back:\n.*moved by"):
        assert_roundtrip(fixtures / "swing.rig.json", via="inr", tolerance=0)


def test_files_on_the_way_are_kept_where_asked_for(fixtures, tmp_path):
    assert_roundtrip(fixtures / "swing.rig.json", via="inr", folder=tmp_path)
    assert [path.name for path in sorted(tmp_path.rglob("*.inr"))] == ["swing.inr", "swing.inr"]


@given(rigs())
def test_rigs_are_valid(rig):
    assert from_builtins(to_builtins(rig)).skeleton.names == rig.skeleton.names


@given(rigs(), st.data())
def test_a_bone_that_moved_is_found(rig, data):
    index = data.draw(st.integers(0, len(rig.skeleton) - 1))
    moved = from_builtins(to_builtins(rig))
    moved.skeleton.local[index, 0, 3] += 1e3 * (1 + np.abs(rig.skeleton.local).max())
    with pytest.raises(AssertionError, match=r"off by|local"):
        assert_same(rig, moved)


def test_a_bone_that_is_missing_is_found(fixtures):
    swing, puppet = rigconv.read(fixtures / "swing.rig.json"), rigconv.read(fixtures / "puppet.inr")
    with pytest.raises(AssertionError, match=r"bones are missing: .*'rope'"):
        assert_same_worlds(swing, puppet, 1e-9)


# -- the plug-in of pytest ----------------------------------------------------------------------------------------------


def outcome(pytester, code):
    """A run of pytest in a process of its own on one file."""
    pytester.makepyfile(code)
    return pytester.runpytest_subprocess("-q")


def test_the_fixture_is_there_without_an_import(pytester, fixtures):
    result = outcome(
        pytester,
        f"def test_it(assert_roundtrip):\n    assert_roundtrip({str(fixtures / 'puppet.inr')!r})",
    )
    result.assert_outcomes(passed=1)


def test_the_fixture_is_listed_with_what_it_does(pytester):
    pytester.runpytest_subprocess("--fixtures").stdout.fnmatch_lines(
        ["assert_roundtrip*", "*keeps the files on the way*"]
    )


def test_pytest_starts_without_what_is_heavy(pytester, monkeypatch):
    monkeypatch.setenv("HYPOTHESIS_NO_PLUGINS", "1")
    code = """
        import sys

        def test_it():
            assert "rigconv.testing.plugin" in sys.modules
            assert not {"numpy", "msgspec", "hypothesis", "hypothesis.strategies"} & set(sys.modules)
    """
    outcome(pytester, code).assert_outcomes(passed=1)


def test_files_on_the_way_of_the_fixture_are_kept_among_temporary_folders(pytester, fixtures):
    code = f"""
        def test_it(assert_roundtrip):
            assert_roundtrip({str(fixtures / "swing.rig.json")!r}, via="inr", tolerance=0)
    """
    result = outcome(pytester, code)
    result.assert_outcomes(failed=1)
    (line,) = [line for line in result.outlines if "the files on the way are in" in line and line.startswith("E")]
    assert len(list(pathlib.Path(line.rpartition(" in ")[2]).rglob("*.inr"))) == 2


def test_an_importer_of_ones_own_is_judged(pytester, monkeypatch):
    site = install(
        pytester.path / "site", "points", PLUGIN.replace("local[0, 3]}}", "local[0, 3] + 1}}").format(id="points")
    )
    monkeypatch.setenv("PYTHONPATH", str(site))
    (pytester.path / "a.points").write_text("POINTS\nhips - 0 1\nchest hips 0 0.5\n")
    result = outcome(pytester, "def test_it(assert_roundtrip):\n    assert_roundtrip('a.points', via='ir')")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*a.points does not come back:", '*bones?"chest"? moved by*(not reported)'])


# -- the page about it ----------------------------------------------------------------------------------------------------

PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
COMMANDS = re.findall(r"^    rigconv (.*)$", PAGE, flags=re.MULTILINE)
BUSY = """
from hypothesis import HealthCheck, settings
settings.register_profile("busy", deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("busy")
"""
"""Machines that are busy draw rigs too slowly for hypothesis' taste."""
STRATEGIES = re.findall(r"`(\w+)\(\w*\)`", PAGE.partition("| strategy |")[2].partition("\n\n")[0])


@pytest.mark.parametrize("block", BLOCKS)
def test_the_code_on_the_page_runs(pytester, fixtures, block):
    pytester.makeconftest(BUSY)
    (pytester.path / "hero.stick").write_bytes((fixtures / "puppet.inr").read_bytes())
    outcome(pytester, block).assert_outcomes(passed=block.count("def test_"))


@pytest.mark.parametrize("words", COMMANDS)
def test_the_commands_on_the_page_run(tmp_path, monkeypatch, fixtures, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rigs").symlink_to(fixtures)
    (tmp_path / "hero.rig.json").symlink_to(fixtures / "swing.rig.json")
    assert rigconv_command(*words.split()).status == 0


def test_every_strategy_is_on_the_page():
    public = [name for name in rigconv.testing.__all__ if name not in ("world_errors",) and "assert" not in name]
    assert sorted(STRATEGIES) == sorted(public)
    assert (len(BLOCKS), len(COMMANDS)) == (2, 2)
