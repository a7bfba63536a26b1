"""The command-line contract: exit statuses, one-line errors, the missing subcommand word, standard streams, reports."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from command import rigconv
from support import FILE_NAMES, FORMATS, document_of, dumped, rigc_document

BIN = Path(sys.executable).parent / "rigconv"


@pytest.fixture
def swing(fixtures: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(fixtures / "swing.rig.json", tmp_path / "swing.rig.json"))


# -- the way in -------------------------------------------------------------------------------------------------------


def test_a_conversion_needs_no_subcommand_word(swing: Path, tmp_path: Path) -> None:
    assert rigconv(swing, tmp_path / "a.inr").status == 0
    assert rigconv("convert", swing, tmp_path / "b.inr").status == 0
    assert (tmp_path / "a.inr").read_bytes() == (tmp_path / "b.inr").read_bytes()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_options_may_stand_anywhere(swing: Path, tmp_path: Path, place: int) -> None:
    words = [swing, tmp_path / "a.inr"]
    words.insert(place, "--no-carry")
    assert rigconv(*words).status == 0
    assert "rigconv" not in document_of((tmp_path / "a.inr").read_bytes())[0]


def test_a_mistyped_command_suggests_the_right_one() -> None:
    result = rigconv("vaildate", "x")
    assert result.status == 2
    assert 'did you mean "validate"' in result.errors
    assert len(result.errors.splitlines()) == 1


def test_a_file_named_like_a_command_is_reached_by_a_path(
    fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(fixtures / "swing.rig.json", "validate")
    assert rigconv("./validate", "out.inr").status == 0
    assert rigconv("convert", "validate", "two.inr").status == 0


def test_a_file_that_starts_with_a_dash_comes_after_two(
    fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(fixtures / "swing.rig.json", "-in.rig.json")
    assert rigconv("--", "-in.rig.json", "out.inr").status == 0


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help(word: str) -> None:
    result = rigconv(word)
    assert result.status == 0
    assert "validate" in result.output
    assert rigconv("convert", word).output.count("--") > 10


def test_version() -> None:
    assert rigconv("--version").output.startswith("rigconv 0.")


def test_nothing_asked_for_is_a_usage_error_with_help() -> None:
    result = rigconv()
    assert result.status == 2
    assert "Usage" in result.output


@pytest.mark.parametrize(
    "words",
    [["one"], ["a", "b", "c"], ["in", "out", "--nonsense"], ["in", "out", "--plane", "yz"], ["in", "out", "--scale", "x"],
     ["in", "out", "--carry", "maybe"], ["in", "out", "--no-carry", "--carry", "embed"], ["info"], ["schema", "nothing"],
     ["validate"], ["formats", "x"]],
)  # fmt: skip
def test_usage_errors_are_one_line_and_status_2(words: list[str], swing: Path, tmp_path: Path) -> None:
    places = {"in": str(swing), "out": str(tmp_path / "out.inr")}
    result = rigconv(*(places.get(word, word) for word in words))
    assert result.status == 2
    assert len(result.errors.splitlines()) == 1
    assert result.errors.startswith("rigconv: ")
    assert not (tmp_path / "out.inr").exists()


# -- output -----------------------------------------------------------------------------------------------------------


def test_an_output_name_that_decides_nothing_lists_the_choices(swing: Path, tmp_path: Path) -> None:
    result = rigconv(swing, tmp_path / "out.xyz")
    assert result.status == 2
    assert all(format_id in result.errors for format_id in FORMATS)
    assert "--to" in result.errors


def test_the_output_format_may_be_given(swing: Path, tmp_path: Path) -> None:
    assert rigconv(swing, tmp_path / "out.xyz", "--to", "inr").status == 0
    assert (tmp_path / "out.xyz").read_bytes()[:4] == b"INR1"


def test_the_input_format_may_be_given(swing: Path, tmp_path: Path) -> None:
    result = rigconv(swing, tmp_path / "out.inr", "--from", "engine")
    assert result.status == 1
    assert '("root"): parent is missing' in result.errors


def test_a_file_of_another_kind_is_replaced_only_by_force(swing: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious.inr"
    target.write_text("my notes")
    result = rigconv(swing, target)
    assert result.status == 2
    assert "--force" in result.errors
    assert target.read_text() == "my notes"
    assert rigconv(swing, target, "--force").status == 0
    assert target.read_bytes()[:4] == b"INR1"
    assert rigconv(swing, target).status == 0


def test_an_empty_file_may_be_replaced(swing: Path, tmp_path: Path) -> None:
    (tmp_path / "out.inr").touch()
    assert rigconv(swing, tmp_path / "out.inr").status == 0


def test_a_failed_run_leaves_the_old_file_whole(tmp_path: Path, swing: Path) -> None:
    target = tmp_path / "out.inr"
    rigconv(swing, target)
    before = target.read_bytes()
    bad = tmp_path / "bad.rig.json"
    bad.write_bytes(dumped(rigc_document(bones=[])))
    assert rigconv(bad, target).status == 1
    assert target.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.rig.json", "out.inr", "swing.rig.json"]


def test_an_output_folder_that_is_missing_is_named(swing: Path, tmp_path: Path) -> None:
    result = rigconv(swing, tmp_path / "no" / "out.inr")
    assert result.status == 1
    assert "No such file or directory" in result.errors
    assert len(result.errors.splitlines()) == 1


def test_a_missing_input_is_named(tmp_path: Path) -> None:
    result = rigconv(tmp_path / "gone.inr", tmp_path / "out.inr")
    assert result.status == 1
    assert result.errors == f"rigconv: {tmp_path / 'gone.inr'}: No such file or directory\n"


def test_the_permissions_of_a_replaced_file_stay(swing: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.inr"
    rigconv(swing, target)
    target.chmod(0o600)
    rigconv(swing, target)
    assert target.stat().st_mode & 0o777 == 0o600


# -- strict and report ------------------------------------------------------------------------------------------------


def test_strict_writes_nothing_where_something_would_be_lost(swing: Path, tmp_path: Path) -> None:
    result = rigconv(swing, tmp_path / "out.inr", "--strict")
    assert result.status == 3
    assert "INHERIT_BAKED" in result.errors
    assert len(result.errors.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["swing.rig.json"]


def test_strict_writes_what_is_exact(swing: Path, tmp_path: Path) -> None:
    assert rigconv(swing, tmp_path / "out.rigir.json", "--strict").status == 0
    assert (tmp_path / "out.rigir.json").exists()


def test_the_report_is_json(swing: Path, tmp_path: Path) -> None:
    result = rigconv(swing, tmp_path / "out.inr", "--report", tmp_path / "report.json")
    assert result.status == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert list(report) == ["input", "output", "from", "to", "carry", "entries", "counts", "seconds"]
    assert (report["from"], report["to"], report["carry"]) == ("rigc", "inr", True)
    assert report["counts"]["INHERIT_BAKED"] == 1
    entry = next(entry for entry in report["entries"] if entry["code"] == "INHERIT_BAKED")
    assert entry["severity"] == "approximated"
    assert entry["path"] == 'bones["seat"]'
    assert "noScale" in entry["message"]
    assert sum(report["counts"].values()) == len(report["entries"])


def test_the_report_goes_to_standard_output(swing: Path, tmp_path: Path) -> None:
    result = rigconv(swing, tmp_path / "out.inr", "--report", "-", "--no-carry")
    assert json.loads(result.output)["carry"] is False


def test_losses_are_told_a_line_a_code(swing: Path, tmp_path: Path) -> None:
    errors = rigconv(swing, tmp_path / "out.inr").errors.splitlines()
    assert all(line.startswith("rigconv: ") for line in errors)
    assert any("BONE_FIELDS_DROPPED x 3 (dropped)" in line for line in errors)


def test_an_exact_conversion_says_nothing(swing: Path, tmp_path: Path) -> None:
    result = rigconv(swing, tmp_path / "out.rigir.json")
    assert (result.output, result.errors) == ("", "")


# -- carry ------------------------------------------------------------------------------------------------------------


def test_inr_embeds_the_carry(swing: Path, tmp_path: Path) -> None:
    rigconv(swing, tmp_path / "out.inr")
    assert document_of((tmp_path / "out.inr").read_bytes())[0]["rigconv"]["spec"] == "rigconv-carry/1"


def test_the_engine_gets_a_sidecar(swing: Path, tmp_path: Path) -> None:
    rigconv(swing, tmp_path / "rig.json")
    assert json.loads((tmp_path / "rig.json.rigconv").read_text())["spec"] == "rigconv-carry/1"
    assert "rigconv" not in json.loads((tmp_path / "rig.json").read_text())


def test_the_sidecar_of_a_folder_is_in_it(swing: Path, tmp_path: Path) -> None:
    rigconv(swing, tmp_path / "out.rig")
    assert sorted(path.name for path in (tmp_path / "out.rig").iterdir()) == ["rig.json", "rig.json.rigconv"]
    assert rigconv(tmp_path / "out.rig", tmp_path / "back.rig.json").status == 0
    assert (tmp_path / "back.rig.json").read_bytes() == swing.read_bytes()


def test_inr_may_have_a_sidecar_instead(swing: Path, tmp_path: Path) -> None:
    rigconv(swing, tmp_path / "out.inr", "--carry", "sidecar")
    assert "rigconv" not in document_of((tmp_path / "out.inr").read_bytes())[0]
    rigconv(tmp_path / "out.inr", tmp_path / "back.rig.json")
    assert (tmp_path / "back.rig.json").read_bytes() == swing.read_bytes()


def test_the_engine_cannot_embed(swing: Path, tmp_path: Path) -> None:
    result = rigconv(swing, tmp_path / "rig.json", "--carry", "embed")
    assert result.status == 2
    assert "sidecar" in result.errors
    assert [path.name for path in tmp_path.iterdir()] == ["swing.rig.json"]


@pytest.mark.parametrize("options", [["--no-carry"], ["--carry", "none"]])
def test_without_carry_an_old_sidecar_goes_too(swing: Path, tmp_path: Path, options: list[str]) -> None:
    rigconv(swing, tmp_path / "rig.json")
    rigconv(swing, tmp_path / "rig.json", *options)
    assert not (tmp_path / "rig.json.rigconv").exists()


def test_a_file_that_only_looks_like_a_sidecar_is_left_alone(swing: Path, tmp_path: Path) -> None:
    (tmp_path / "rig.json.rigconv").write_text("mine")
    rigconv(swing, tmp_path / "rig.json", "--no-carry")
    assert (tmp_path / "rig.json.rigconv").read_text() == "mine"


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"spec": "rigconv-carry/9"}', '{"spec": "rigconv-carry/1", "rig": {}}']
)
def test_a_broken_sidecar_is_reported_and_does_not_stop_the_reader(swing: Path, tmp_path: Path, content: str) -> None:
    rigconv(swing, tmp_path / "rig.json")
    (tmp_path / "rig.json.rigconv").write_text(content)
    result = rigconv(tmp_path / "rig.json", tmp_path / "out.inr", "--report", "-")
    assert result.status == 0
    assert json.loads(result.output)["counts"]["CARRY_DROPPED"] == 1


# -- standard streams -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", FORMATS)
def test_a_pipe_converts_as_files_do(swing: Path, tmp_path: Path, target: str) -> None:
    result = rigconv("-", "-", "--to", target, "--no-carry", stdin=swing.read_bytes())
    assert result.status == 0
    rigconv(swing, tmp_path / FILE_NAMES[target], "--no-carry")
    assert result.data == (tmp_path / FILE_NAMES[target]).read_bytes()


def test_standard_input_of_no_format_is_an_error() -> None:
    result = rigconv("-", "-", "--to", "inr", stdin=b"hello")
    assert result.status == 1
    assert "no format recognises" in result.errors


def test_rig_and_report_cannot_share_standard_output(swing: Path) -> None:
    assert rigconv(swing, "-", "--to", "inr", "--report", "-").status == 2


def test_a_reader_that_goes_away_is_no_catastrophe(swing: Path) -> None:
    command = f"'{BIN}' '{swing}' - --to ir | head -c 1"
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in result.stderr


# -- options that change the rig --------------------------------------------------------------------------------------


def test_scale_multiplies_all_lengths(swing: Path, tmp_path: Path) -> None:
    rigconv(swing, tmp_path / "out.rig.json", "--scale", "0.5")
    before, after = json.loads(swing.read_text()), json.loads((tmp_path / "out.rig.json").read_text())
    assert after["bones"][1] == {"name": "beam", "parent": "root", "y": 55, "length": 20, "color": "c0a060ff"}
    assert after["skeleton"] == {"x": -25, "y": 0, "width": 50, "height": 60}
    seat = after["skins"]["default"]["seat"]["seat"]
    assert seat["vertices"] == [value / 2 for value in before["skins"]["default"]["seat"]["seat"]["vertices"]]
    assert after["bones"][2]["scaleX"] == 2


@pytest.mark.parametrize("scale", ["0", "nan", "inf"])
def test_a_scale_must_be_a_number_other_than_zero(swing: Path, tmp_path: Path, scale: str) -> None:
    assert rigconv(swing, tmp_path / "out.inr", "--scale", scale).status == 2
    assert not (tmp_path / "out.inr").exists()


def test_a_manifest_places_bones(shared: Path, tmp_path: Path) -> None:
    folder = shared / "samples" / "rigc"
    result = rigconv(folder / "barge_from.rig.json", tmp_path / "out.inr", "--manifest", folder / "barge.manifest.json")
    assert result.status == 0
    assert "POSITION_UNKNOWN" not in result.errors
    without = rigconv(folder / "barge_from.rig.json", tmp_path / "out.inr")
    assert "POSITION_UNKNOWN x 5" in without.errors


# -- info, validate, formats, schema ----------------------------------------------------------------------------------


def test_info_as_json(swing: Path) -> None:
    info = json.loads(rigconv("info", swing, "--json", "--world").output)
    assert list(info) == [
        "format",
        "name",
        "bones",
        "slots",
        "meshes",
        "params",
        "animations",
        "textures",
        "constraints",
        "losses",
    ]
    assert (info["format"], info["name"]) == ("rigc", "swing")
    beam = info["bones"][1]
    assert (beam["name"], beam["parent"]) == ("beam", "root")
    # Column by column: the position is in the last four.
    assert beam["world"] == [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 110, 0, 1]
    assert info["slots"] == ["rope", "seat"]
    rope = info["meshes"][0]
    assert (rope["slot"], rope["attachment"], rope["skin"], rope["triangles"]) == ("rope", "rope", "default", 2)
    # The rope hangs down from (20, 110) and is twice as long as its picture: bottom left of the picture is at its top.
    assert rope["vertices"][0] == pytest.approx([20 - 2 * 0.984807753, 110 - 2 * 0.173648178])
    assert info["constraints"] == [{"name": "pull", "type": "ik"}]


def test_info_of_a_puppet(fixtures: Path) -> None:
    info = json.loads(rigconv("info", fixtures / "puppet.inr", "--json").output)
    texels = bytes.fromhex("ff0000ff 00ff00ff 0000ffff ffffff80")
    assert info["textures"] == [{"width": 2, "height": 2, "sha256": hashlib.sha256(texels).hexdigest()}]
    assert info["params"][0]["name"] == "Turn"
    assert info["animations"] == [{"name": "look", "seconds": 1.0, "lanes": ["Turn"]}]
    assert info["meshes"][0]["vertex_count"] == 4


def test_info_for_people(swing: Path) -> None:
    lines = rigconv("info", swing).output.splitlines()
    assert lines[0] == "swing: rigc, 5 bones"
    assert lines[1:6] == ["  root", "    beam", "      rope", "        seat", "    hand"]
    assert "constraints: 1" in lines


def test_validate_as_json(swing: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.rig.json"
    bad.write_bytes(dumped(rigc_document(constraints=[{"name": "c", "type": "spring"}])))
    result = rigconv("validate", swing, bad, "--json")
    assert result.status == 1
    good, faulty = json.loads(result.output)
    assert good == {"file": str(swing), "format": "rigc", "ok": True, "problems": []}
    assert faulty["ok"] is False
    assert list(faulty["problems"][0]) == ["rule", "severity", "where", "problem", "expected"]
    assert faulty["problems"][0]["where"] == "$.constraints[0].type"


def test_validate_names_what_cannot_be_opened(tmp_path: Path) -> None:
    result = rigconv("validate", tmp_path / "gone.inr")
    assert result.status == 1
    assert "No such file" in result.output


def test_formats_as_json() -> None:
    rows = json.loads(rigconv("formats", "--json").output)
    assert [row["id"] for row in rows] == list(FORMATS)
    assert all(row["module"].startswith("rigconv.formats.") and not row["error"] for row in rows)


def test_formats_for_people() -> None:
    lines = rigconv("formats").output.splitlines()
    assert lines[1].split("\t")[:3] == ["engine", "engine rig asset", "rig.json NAME.rig/"]


@pytest.mark.parametrize(
    ("format_id", "file"),
    [("rigc", "swing.rig.json"), ("engine", "walker.rig/rig.json"), ("inr", "puppet.inr"), ("ir", None)],
)
def test_a_schema_accepts_documents_of_its_format(
    format_id: str, file: str | None, fixtures: Path, tmp_path: Path
) -> None:
    schema = json.loads(rigconv("schema", format_id).output)
    jsonschema.Draft202012Validator.check_schema(schema)
    if file is None:
        rigconv(fixtures / "puppet.inr", tmp_path / "a.rigir.json")
        data = (tmp_path / "a.rigir.json").read_bytes()
    else:
        data = (fixtures / file).read_bytes()
    jsonschema.validate(document_of(data)[0], schema)


# -- a real process ---------------------------------------------------------------------------------------------------


def test_the_installed_command_converts(swing: Path, tmp_path: Path) -> None:
    result = subprocess.run([BIN, swing, tmp_path / "out.inr"], capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert (tmp_path / "out.inr").read_bytes()[:4] == b"INR1"


def test_the_package_runs_as_a_module(swing: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rigconv", swing, tmp_path / "rig.json"]
    assert subprocess.run(command, capture_output=True, check=False, cwd=tmp_path).returncode == 0


def test_debug_shows_a_traceback(tmp_path: Path) -> None:
    command = [BIN, tmp_path / "gone.inr", tmp_path / "out.inr", "--debug"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" in result.stderr


def complete(*words: str) -> list[str]:
    """What bash is offered for the last of some words."""
    environment = {
        **os.environ,
        "_RIGCONV_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["rigconv", *words]),
        "COMP_CWORD": str(len(words)),
    }
    result = subprocess.run([BIN], env=environment, capture_output=True, text=True, check=False)
    return result.stdout.split()


def test_completion_offers_commands() -> None:
    assert complete("val") == ["validate"]
    assert set(complete("")) == {
        "batch",
        "watch",
        "roundtrip",
        "config",
        "convert",
        "diff",
        "validate",
        "info",
        "formats",
        "schema",
    }


def test_completion_offers_options_of_a_conversion_without_its_word() -> None:
    assert complete("in.rig.json", "out.inr", "--str") == ["--strict"]
    assert complete("convert", "in.rig.json", "--pla") == ["--plane"]


def test_completion_offers_choices() -> None:
    assert complete("in", "out", "--plane", "x") == ["xy", "xz"]


def test_validate_names_the_manifest_that_is_at_fault(shared: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "cut.json"
    manifest.write_text('{"crop": {"w": "wide", "h": 1}}')
    result = rigconv("validate", shared / "samples/rigc/barge_from.rig.json", "--manifest", manifest)
    assert result.status == 1
    assert f"{manifest}: $.crop.w: " in result.output
