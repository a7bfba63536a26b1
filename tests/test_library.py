"""The library: its three verbs, its errors, and formats that other distributions bring."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest
import rigconv
from rigconv.formats import BUILT_IN
from rigconv.ir.rig import Bone, Skeleton
from rigconv.testing import assert_same
from third_party import install, run


def test_read_write_and_convert(fixtures: Path, tmp_path: Path) -> None:
    rig = rigconv.read(fixtures / "walker.rig")
    report = rigconv.write(rig, tmp_path / "a.inr")
    assert report.counts == rigconv.convert(fixtures / "walker.rig", tmp_path / "b.inr").counts
    assert_same(rigconv.read(tmp_path / "a.inr"), rigconv.read(tmp_path / "b.inr"))


def test_a_rig_made_by_a_program_is_written(tmp_path: Path) -> None:
    skeleton = Skeleton(bones=[Bone(name="root")], parent=np.array([-1]), local=np.eye(4)[None])
    report = rigconv.write(rigconv.Rig(skeleton=skeleton), tmp_path / "made.rig.json")
    assert set(report.counts) == {"NAME_ADDED", "STAGE_ADDED"}
    assert json.loads((tmp_path / "made.rig.json").read_text())["name"] == "made"


def test_options_are_structs(fixtures: Path, tmp_path: Path) -> None:
    options = rigconv.ConvertOptions(strict=True)
    with pytest.raises(rigconv.LossError, match="INHERIT_BAKED"):
        rigconv.convert(fixtures / "swing.rig.json", tmp_path / "a.inr", options=options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", ["FormatError", "ConversionError", "UnknownFormatError", "UsageError", "LossError"])
def test_every_error_is_a_rigconv_error(error: str) -> None:
    assert issubclass(getattr(rigconv, error), rigconv.RigconvError)


def test_an_error_keeps_its_parts(tmp_path: Path) -> None:
    path = tmp_path / "a.rig.json"
    path.write_text('{"spec": "rigc-rig/1", "name": ""}')
    with pytest.raises(rigconv.FormatError) as caught:
        rigconv.read(path)
    assert (caught.value.path, caught.value.where) == (str(path), "$.name")
    assert str(caught.value) == f"{path}: $.name: a rig spec needs a name; expected text that is not empty"


def test_an_error_is_one_line_whatever_the_names_hold() -> None:
    text = str(rigconv.FormatError("a\nb", "c\x1b[31m", "d\u2028e", "f\r"))
    assert len(text.splitlines()) == 1
    assert text.isprintable()


def test_an_unknown_format_is_an_error(fixtures: Path) -> None:
    with pytest.raises(rigconv.UsageError, match="no format"):
        rigconv.read(fixtures / "puppet.inr", "gltf")


def test_reading_does_not_import_other_formats(fixtures: Path) -> None:
    script = f"""
        import sys, rigconv
        rigconv.read({str(fixtures / "walker.rig")!r})
        loaded = {{name.split(".")[2] for name in sys.modules if name.startswith("rigconv.formats.") and name.count(".") == 2}}
        assert loaded == {{"engine", "json_text"}}, loaded
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)


def test_our_own_formats_are_entry_points() -> None:
    ours = {point.name: point.value for point in entry_points(group="rigconv.formats")}
    assert ours == {declaration.id: declaration.module for declaration in BUILT_IN}


def test_typing_information_is_shipped() -> None:
    assert (Path(rigconv.__file__).parent / "py.typed").exists()


# -- formats of third parties -----------------------------------------------------------------------------------------


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A folder with an installed third-party distribution."""
    return install(tmp_path / "site", "points")


def test_a_third_party_adds_a_format(plugin: Path, tmp_path: Path) -> None:
    (tmp_path / "a.points").write_text("POINTS\nhips - 0 1\nchest hips 0 0.5\n")
    assert run(plugin, tmp_path / "a.points", tmp_path / "a.rig").returncode == 0
    assert rigconv.read(tmp_path / "a.rig").skeleton.local[1, :2, 3].tolist() == [0, 0.5]
    assert run(plugin, tmp_path / "a.rig", tmp_path / "b.points").returncode == 0
    assert (tmp_path / "b.points").read_text() == "POINTS\nhips - 0.0 1.0\nchest hips 0.0 0.5\n"


def test_formats_tells_where_a_format_comes_from(plugin: Path) -> None:
    last = run(plugin, "formats").stdout.splitlines()[-1].split("\t")
    assert last == ["points", "points", "*.points", "points 1.2"]


def test_a_third_party_cannot_shadow_a_built_in_format(tmp_path: Path, fixtures: Path) -> None:
    site = install(tmp_path / "site", "inr")
    assert "the name inr is taken" in run(site, "formats").stdout
    assert run(site, fixtures / "puppet.inr", tmp_path / "out.inr").returncode == 0
    assert (tmp_path / "out.inr").read_bytes() == (fixtures / "puppet.inr").read_bytes()


def test_a_broken_third_party_does_no_harm(tmp_path: Path, fixtures: Path) -> None:
    site = install(tmp_path / "site", "points", "raise RuntimeError('oops')")
    assert "RuntimeError: oops" in run(site, "formats").stdout
    assert run(site, fixtures / "puppet.inr", tmp_path / "out.rig.json").returncode == 0
