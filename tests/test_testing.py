"""``rigconv.testing``: what people get who test importers of their own."""

import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rigconv.ir.document import from_builtins, to_builtins
from rigconv.testing import assert_roundtrip, assert_same, assert_same_worlds, rigs
from third_party import PLUGIN, install

ROOT = os.path.dirname(os.path.dirname(__file__))


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
    import rigconv

    swing, puppet = rigconv.read(fixtures / "swing.rig.json"), rigconv.read(fixtures / "puppet.inr")
    with pytest.raises(AssertionError, match=r"bones are missing: .*'rope'"):
        assert_same_worlds(swing, puppet, 1e-9)


# -- the plug-in of pytest ----------------------------------------------------------------------------------------------


def run_pytest(folder, code, **environment):
    """A run of pytest in a process of its own on one file."""
    (folder / "test_it.py").write_text(textwrap.dedent(code))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    environment = {**os.environ, **environment}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_fixture_is_there_without_an_import(tmp_path, fixtures):
    result = run_pytest(
        tmp_path, f"def test_it(assert_roundtrip):\n    assert_roundtrip({str(fixtures / 'puppet.inr')!r})"
    )
    assert result.returncode == 0, result.stdout


def test_pytest_starts_without_what_is_heavy(tmp_path):
    code = """
        import sys

        def test_it():
            assert not {"numpy", "hypothesis.strategies"} & set(sys.modules)
    """
    result = run_pytest(tmp_path, code, HYPOTHESIS_NO_PLUGINS="1")
    assert "numpy" not in result.stdout, result.stdout
    assert result.returncode == 0, result.stdout


def test_an_importer_of_ones_own_is_judged(tmp_path):
    site = install(
        tmp_path / "site", "points", PLUGIN.replace("local[0, 3]}}", "local[0, 3] + 1}}").format(id="points")
    )
    (tmp_path / "a.points").write_text("POINTS\nhips - 0 1\nchest hips 0 0.5\n")
    code = "def test_it(assert_roundtrip):\n    assert_roundtrip('a.points', via='ir')"
    result = run_pytest(tmp_path, code, PYTHONPATH=str(site))
    assert result.returncode == 1
    assert re.search(r"a\.points does not come back", result.stdout)


# -- the page about it ----------------------------------------------------------------------------------------------------


def test_the_page_tells_the_truth(tmp_path, fixtures):
    with open(os.path.join(ROOT, "docs", "testing.md"), encoding="utf-8") as file:
        blocks = re.findall(r"```python\n(.*?)```", file.read(), flags=re.DOTALL)
    assert len(blocks) == 2
    # Machines that are busy draw rigs too slowly for hypothesis' taste.
    (tmp_path / "conftest.py").write_text(
        "from hypothesis import HealthCheck, settings\n"
        "settings.register_profile('busy', deadline=None, suppress_health_check=list(HealthCheck))\n"
        "settings.load_profile('busy')\n"
    )
    (tmp_path / "hero.stick").write_bytes((fixtures / "puppet.inr").read_bytes())
    for block in blocks:
        result = run_pytest(tmp_path, block)
        assert result.returncode == 0, result.stdout
