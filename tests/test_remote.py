"""Files in other places: URLs stand wherever a path may stand."""

import zipfile

import fsspec
import pytest
import rigconv as library
from command import rigconv


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.store.clear()
    return system


def test_a_conversion_from_and_to_a_url_is_that_of_the_files(memory, fixtures, tmp_path):
    memory.pipe_file("/in/swing.rig.json", (fixtures / "swing.rig.json").read_bytes())
    assert rigconv("memory://in/swing.rig.json", "memory://out/swing.inr").status == 0
    assert rigconv(fixtures / "swing.rig.json", tmp_path / "swing.inr").status == 0
    assert memory.cat_file("/out/swing.inr") == (tmp_path / "swing.inr").read_bytes()


def test_a_carry_beside_a_remote_file_comes_back(memory, fixtures):
    source = (fixtures / "puppet.inr").read_bytes()
    memory.pipe_file("/a.inr", source)
    assert rigconv("memory://a.inr", "memory://b.rig.json").status == 0
    assert memory.isfile("/b.rig.json.rigconv")
    assert rigconv("memory://b.rig.json", "memory://c.inr").status == 0
    assert memory.cat_file("/c.inr") == source


def test_a_folder_that_a_format_keeps_may_be_remote(memory, fixtures):
    assert rigconv(fixtures / "walker.rig", "memory://walker.rig").status == 0
    assert memory.cat_file("/walker.rig/rig.json") == (fixtures / "walker.rig" / "rig.json").read_bytes()
    assert rigconv("info", "memory://walker.rig").status == 0


def test_a_file_in_an_archive_is_read(fixtures, tmp_path):
    archive = tmp_path / "assets.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(fixtures / "swing.rig.json", "art/swing.rig.json")
    assert rigconv(f"zip://art/swing.rig.json::{archive}", tmp_path / "swing.inr").status == 0
    assert rigconv("info", tmp_path / "swing.inr").status == 0


@pytest.mark.parametrize("url", ["memory://gone.inr", "nowhere://a.inr", "zip://a.inr::gone.zip"])
def test_what_cannot_be_reached_is_one_line_that_names_it(memory, tmp_path, url):
    done = rigconv(url, tmp_path / "out.inr")
    assert done.status == 1
    assert done.errors.count("\n") == 1
    assert url in done.errors
    assert not (tmp_path / "out.inr").exists()


def test_a_remote_output_of_another_kind_is_kept(memory, fixtures):
    memory.pipe_file("/notes.inr", b"my notes")
    done = rigconv(fixtures / "swing.rig.json", "memory://notes.inr")
    assert done.status == 2
    assert memory.cat_file("/notes.inr") == b"my notes"


def test_a_url_of_this_machine_is_a_path(fixtures, tmp_path):
    start = fixtures / "swing.rig.json"
    target = tmp_path / "with space.inr"
    assert rigconv(start.as_uri(), target.as_uri()).status == 0
    rigconv(start, tmp_path / "b.inr")
    assert target.read_bytes() == (tmp_path / "b.inr").read_bytes()
    assert len(library.read(target.as_uri()).skeleton) == len(library.read(target).skeleton)


def test_a_url_of_this_machine_is_no_second_name_of_a_folder(fixtures, tmp_path):
    result = rigconv("batch", tmp_path, tmp_path.as_uri(), "--to", "inr")
    assert (result.status, result.errors) == (
        2,
        "rigconv: source and destination are one folder; outputs would become inputs\n",
    )
    assert rigconv("file://elsewhere/a.inr", tmp_path / "b.inr").status == 2
