"""Images beside a rig: where they are looked for, and the sizes they give to what states none."""

import json
from pathlib import Path

import pytest
from command import rigconv
from PIL import Image

RIG = {
    "spec": "rigc-rig/1",
    "name": "flag",
    "skeleton": {"width": 10, "height": 10},
    "bones": [{"name": "root", "x": 100}],
    "slots": [{"name": "cloth", "bone": "root", "attachment": "cloth"}],
    "skins": {"default": {"cloth": {"cloth": {"image": "cloth.png"}}}},
}
CORNERS = [[94.0, -4.0], [94.0, 4.0], [106.0, 4.0], [106.0, -4.0]]
"""Of a rectangle of 12 x 8 about (100, 0)."""


def write_rig(folder: Path, **fields: object) -> Path:
    path = folder / "flag.rig.json"
    path.write_text(json.dumps({**RIG, **fields}, indent=2) + "\n")
    return path


def write_image(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    Image.new("RGBA", (12, 8)).save(folder / "cloth.png")


def meshes(path: Path, *options: str) -> list[dict[str, object]]:
    done = rigconv("info", str(path), "--json", "--world", *options)
    assert done.status == 0
    return json.loads(done.output)["meshes"]


@pytest.mark.parametrize(
    ("stated", "lies_in", "options"),
    [
        ({}, ".", []),
        ({"images": "art/flags"}, "art/flags", []),
        ({"images": "gone"}, "elsewhere", ["--images", "elsewhere"]),
    ],
    ids=["beside", "stated", "chosen"],
)
def test_a_region_without_a_size_takes_that_of_its_image(tmp_path, monkeypatch, stated, lies_in, options):
    write_image(tmp_path / lies_in)
    path = write_rig(tmp_path, **stated)
    monkeypatch.chdir(tmp_path)
    (mesh,) = meshes(path, *options)
    assert mesh["vertices"] == CORNERS


def test_a_stated_size_wins_over_a_measured_one(tmp_path):
    write_image(tmp_path)
    path = write_rig(tmp_path, skins={"default": {"cloth": {"cloth": {"image": "cloth.png", "width": 2, "height": 2}}}})
    (mesh,) = meshes(path)
    assert mesh["vertices"] == [[99.0, -1.0], [99.0, 1.0], [101.0, 1.0], [101.0, -1.0]]


@pytest.mark.parametrize("content", [None, b"", b"GIF89a", b"\x89PNG\r\n\x1a\n"])
def test_a_region_whose_size_nobody_tells_has_no_geometry(tmp_path, content):
    if content is not None:
        (tmp_path / "cloth.png").write_bytes(content)
    assert meshes(write_rig(tmp_path)) == []


def test_what_was_measured_is_not_written_into_the_rig(tmp_path):
    write_image(tmp_path)
    path = write_rig(tmp_path)
    assert rigconv("convert", str(path), str(tmp_path / "copy.rig.json")).status == 0
    assert json.loads((tmp_path / "copy.rig.json").read_bytes()) == json.loads(path.read_bytes())


def test_a_folder_of_images_must_be_one(tmp_path):
    done = rigconv("convert", str(write_rig(tmp_path)), str(tmp_path / "out.inr"), "--images", str(tmp_path / "gone"))
    assert done.status == 2
    assert "is no folder" in done.errors
    assert not (tmp_path / "out.inr").exists()
