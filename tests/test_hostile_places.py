"""Outputs that are no plain files, streams that are closed, names that are no text, reports in the way."""

import json
import os
import stat
import subprocess
import sys
import threading

import pytest
from command import rigconv
from support import inr_bytes, inr_document, node


@pytest.fixture
def folder(tmp_path, monkeypatch, fixtures):
    """The working folder, with a rig ``a.rig.json``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.rig.json").write_bytes((fixtures / "swing.rig.json").read_bytes())
    return tmp_path


def shell(line):
    """A shell line in which ``rigconv`` is a command; its status, and what it says on standard error."""
    environment = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    result = subprocess.run(
        ["sh", "-c", line], env=environment, capture_output=True, text=True, timeout=30, check=False
    )
    return result.returncode, result.stderr


# -- outputs ----------------------------------------------------------------------------------------------------------


def test_a_pipe_with_a_name_gets_the_file_and_stays_a_pipe(folder):
    os.mkfifo("pipe.inr")
    received = []
    reader = threading.Thread(target=lambda: received.append((folder / "pipe.inr").read_bytes()), daemon=True)
    reader.start()
    assert rigconv("a.rig.json", "pipe.inr").status == 0
    reader.join(10)
    assert received[0][:4] == b"INR1"
    assert stat.S_ISFIFO(os.stat("pipe.inr").st_mode)


def test_a_device_gets_the_file_and_stays_a_device(folder):
    ours, theirs = os.openpty()
    name = os.ttyname(theirs)
    assert rigconv("a.rig.json", name, "--to", "engine", "--no-carry").status == 0
    assert stat.S_ISCHR(os.stat(name).st_mode)
    assert b'"bones"' in os.read(ours, 4096)
    os.close(ours)
    os.close(theirs)


def test_a_link_stays_and_what_it_leads_to_is_written(folder):
    (folder / "real.inr").write_bytes(b"")
    (folder / "link.inr").symlink_to("real.inr")
    assert rigconv("a.rig.json", "link.inr").status == 0
    assert (folder / "link.inr").is_symlink()
    assert (folder / "real.inr").read_bytes()[:4] == b"INR1"


@pytest.mark.parametrize("name", ["new.inr/", "://", "a/://"])
def test_a_name_that_ends_in_a_slash_is_no_file(folder, name):
    result = rigconv("a.rig.json", name, "--to", "inr")
    assert result.status == 2
    assert "is a folder" in result.errors
    assert os.listdir(folder) == ["a.rig.json"]


# -- reports ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "report"),
    [("b.inr", "a.rig.json"), ("b.inr", "b.inr"), ("b.inr", "./b.inr")],
)
def test_a_report_is_not_written_over_input_or_output(folder, output, report):
    before = (folder / "a.rig.json").read_bytes()
    result = rigconv("a.rig.json", output, "--report", report)
    assert (result.status, result.errors) == (2, f'rigconv: the report would be written over "{report}"\n')
    assert os.listdir(folder) == ["a.rig.json"]
    assert (folder / "a.rig.json").read_bytes() == before


@pytest.mark.parametrize("report", ["other.rig.json", "other.json", "cut.json", "rigconv.toml", "c.inr.rigconv"])
@pytest.mark.parametrize(
    "line", [("a.rig.json", "b.inr"), ("batch", ".", "out", "--to", "inr"), ("roundtrip", "a.rig.json")]
)
def test_a_report_is_not_written_over_what_belongs_to_a_rig(folder, line, report):
    (folder / "other.json").write_bytes((folder / "a.rig.json").read_bytes())
    (folder / "other.rig.json").write_text("broken")
    (folder / "cut.json").write_text('{"canvas": [8, 8], "parts": []}')
    (folder / "rigconv.toml").write_text("scale = 1")
    before = (folder / report).read_bytes() if (folder / report).exists() else None
    cut = ("--manifest", "cut.json")
    result = rigconv(*line, *(cut if report == "cut.json" else ()), "--report", report)
    said = f'rigconv: the report would be written over "{report}"\n'
    assert (result.status, result.errors) == (2, said)
    assert ((folder / report).read_bytes() if (folder / report).exists() else None) == before


@pytest.mark.parametrize("report", ["out/a.inr", "out/.rigconv-batch.jsonl"])
def test_a_report_is_not_written_over_what_was_just_made(folder, report):
    (folder / "out").mkdir()
    result = rigconv("batch", ".", "out", "--to", "inr", "--report", report)
    assert (result.status, result.errors) == (2, f'rigconv: the report would be written over "{report}"\n')


def test_a_report_replaces_an_earlier_one(folder):
    for _ in range(2):
        assert rigconv("a.rig.json", "b.inr", "--report", "r.json").status == 0


def test_a_report_without_a_folder_is_refused_before_anything_is_written(folder):
    result = rigconv("a.rig.json", "b.inr", "--report", "nowhere/r.json")
    assert (result.status, result.errors) == (2, 'rigconv: the folder of the report "nowhere/r.json" is missing\n')
    assert os.listdir(folder) == ["a.rig.json"]


# -- streams --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["rigconv formats >&-", "rigconv a.rig.json - --to inr >&-", "rigconv info a.rig.json >&-"]
)
def test_closed_standard_output_is_one_line(folder, line):
    status, errors = shell(line)
    assert status != 0
    assert errors == "rigconv: standard output is closed\n"


def test_closed_streams_do_not_matter_where_they_are_not_needed(folder):
    assert shell("rigconv a.rig.json b.inr <&- >&- 2>&-") == (0, "")
    assert (folder / "b.inr").exists()


def test_closed_standard_input_is_one_line(folder):
    status, errors = shell("rigconv - b.inr <&-")
    assert status == 1
    assert errors.count("\n") == 1
    assert not (folder / "b.inr").exists()


# -- names ----------------------------------------------------------------------------------------------------------------

ODD = "odd \udcff.rig.json"


@pytest.fixture
def odd(folder):
    os.rename("a.rig.json", ODD)
    return folder


def test_a_name_that_is_no_unicode_stands_in_reports(odd):
    assert rigconv(ODD, "b.inr", "--report", "r.json").status == 0
    with open("r.json", encoding="utf-8") as file:
        assert ascii(json.load(file)["input"]) == ascii(ODD)


@pytest.mark.parametrize("command", ["validate", "info"])
def test_a_name_that_is_no_unicode_is_printed(odd, command):
    for options in ([], ["--json"]):
        result = rigconv(command, ODD, *options)
        assert result.status == 0, result.errors
    assert json.loads(result.output)


def test_a_rig_is_named_after_a_file_whose_name_is_no_unicode(odd):
    assert rigconv(ODD, "nameless.rig", "--no-carry").status == 0
    assert rigconv("nameless.rig", "out \udcff.rig.json", "--no-carry").status == 0
    with open("out \udcff.rig.json", encoding="utf-8") as file:
        assert json.load(file)["name"] == "out ?"


# -- numbers ----------------------------------------------------------------------------------------------------------------


def test_a_scale_that_makes_lengths_infinite_is_refused(folder):
    result = rigconv("a.rig.json", "b.rig.json", "--scale", "1e308")
    assert (result.status, result.errors) == (2, "rigconv: the scale is 1e+308; lengths of this rig become infinite\n")


def test_a_vertex_index_beyond_any_integer_is_named(folder):
    rig = json.loads((folder / "a.rig.json").read_text())
    rig["skins"]["default"]["seat"]["seat"]["triangles"][2] = 2**63
    (folder / "a.rig.json").write_text(json.dumps(rig))
    result = rigconv("a.rig.json", "b.rigir.json")
    assert result.status == 1
    assert result.errors.startswith("rigconv: a.rig.json: $.skins.default.seat.seat.triangles[2]: ")


def test_what_a_format_cannot_say_names_the_output(folder):
    far = inr_document(node("far", 2, translation=[1e38, 0, 0]))
    (folder / "far.inr").write_bytes(inr_bytes(far))
    assert rigconv("far.inr", "far.inr", "--scale", "100").errors.startswith("rigconv: far.inr: ")


# -- documents that were edited by hand ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("native", "inr", "fields", "physics"), 3),
        (("native", "inr", "fields", "buffer_views"), "none"),
        (("native", "inr", "fields", "meta"), [1]),
        (("bones", 1, "native", "inr", "fields", "parent"), []),
        (("bones", 1, "native", "inr", "fields", "rotation"), None),
        (("params", 0, "native", "inr", "fields", "name"), 1.5),
        (("animations", 0, "native", "inr", "fields", "length"), True),
        (("textures", 0, "native", "inr", "fields", "view"), "x"),
        (("constraints",), [{"type": "pendulum", "name": "p", "bone": "Root", "param": "nobody"}]),
        (("bones", 1, "inverse_bind"), [[0, 0, 0, 0]] * 4),
        (("bones", 1, "local"), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 2]]),
    ],
)
def test_a_document_that_was_edited_into_nonsense_is_one_line(folder, fixtures, path, value):
    assert rigconv(fixtures / "puppet.inr", "p.rigir.json").status == 0
    document = json.loads((folder / "p.rigir.json").read_text())
    *above, last = path
    place = document
    for key in above:
        place = place[key]
    place[last] = value
    (folder / "p.rigir.json").write_text(json.dumps(document))
    result = rigconv("p.rigir.json", "q.inr")
    assert result.status == 1
    assert "internal error" not in result.errors
    assert result.errors.count("\n") == 1
    assert not (folder / "q.inr").exists()


def test_settings_nested_too_deep_are_one_line(folder):
    (folder / "rigconv.toml").write_text("a=" + "[" * 100_000)
    result = rigconv("a.rig.json", "b.inr")
    assert result.status == 1
    assert result.errors.startswith(f"rigconv: {folder}/rigconv.toml: this is no TOML")


def test_a_scale_in_settings_must_be_a_number(folder):
    (folder / "rigconv.toml").write_text("scale = nan")
    assert rigconv("config", "a.rig.json").status == 1
