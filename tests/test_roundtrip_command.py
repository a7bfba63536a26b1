"""``rigconv roundtrip``: what comes back from other formats, and whether reports told what did not."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import junitparser
import pytest
from command import rigconv
from conftest import shared_folder
from support import FORMATS, dumped, rigc_document, sample_id, samples
from third_party import PLUGIN, install, run


@pytest.fixture
def folder(tmp_path, monkeypatch, fixtures):
    """The working folder, with a rig, a puppet and an engine rig in ``rigs``."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(fixtures / "walker.rig", "rigs/walker.rig")
    shutil.copy(fixtures / "swing.rig.json", "rigs/swing.rig.json")
    shutil.copy(fixtures / "puppet.inr", "rigs/puppet.inr")
    return tmp_path


def surveyed(*arguments, status=0):
    """The JSON report of a run."""
    result = rigconv("roundtrip", "--report", "-", *arguments)
    assert result.status == status, result.errors
    return json.loads(result.output)


def matrix(report, carry):
    return {(cell["source"], *cell["via"]): cell["outcomes"] for cell in report["matrix"] if cell["carry"] is carry}


# -- the matrix -------------------------------------------------------------------------------------------------------


def test_each_file_goes_to_each_other_format_and_back(folder):
    report = surveyed("rigs")
    ways = {(source, target) for source in ("rigc", "engine", "inr") for target in FORMATS if source != target}
    assert set(matrix(report, carry=True)) == set(matrix(report, carry=False)) == ways
    assert (report["ok"], report["files"]) == (True, 3)


def test_with_carry_files_come_back_byte_for_byte(folder):
    assert all(outcomes == {"identical": 1} for outcomes in matrix(surveyed("rigs"), carry=True).values())


def test_without_carry_what_a_format_cannot_say_is_missing(folder):
    outcomes = matrix(surveyed("rigs/swing.rig.json"), carry=False)
    assert outcomes == {
        ("rigc", "engine"): {"differs": 1},
        ("rigc", "inr"): {"differs": 1},
        ("rigc", "ir"): {"identical": 1},
    }


def test_what_differs_names_the_codes_that_told_so(folder):
    (trip,) = [
        trip
        for trip in surveyed("rigs/swing.rig.json")["round_trips"]
        if trip["via"] == ["engine"] and not trip["carry"]
    ]
    told = {item["path"]: item["codes"] for item in trip["differences"]}
    assert told['bones["beam"].length'] == ["BONE_FIELDS_DROPPED"]
    assert told['constraints["ik/pull"]'] == ["CONSTRAINT_DROPPED"]
    assert trip["losses"]["CONSTRAINT_DROPPED"] == 1
    assert trip["world_error"] < 1e-12


def test_spelling_that_means_the_same_is_equal(folder):
    text = (folder / "rigs" / "swing.rig.json").read_text()
    (folder / "spaced.rig.json").write_text(text.replace(": ", " :  "))
    assert matrix(surveyed("spaced.rig.json"), carry=True)["rigc", "inr"] == {"equal": 1}


def test_a_way_may_lead_through_the_own_format(folder):
    ways = matrix(surveyed("rigs", "--via", "rigc,inr,engine"), carry=True)
    assert ways == {(source, "rigc", "inr", "engine"): {"identical": 1} for source in ("rigc", "engine", "inr")}


def test_a_way_may_lead_through_several_formats(folder):
    report = surveyed("rigs/swing.rig.json", "--via", "inr,engine")
    assert matrix(report, carry=True) == {("rigc", "inr", "engine"): {"identical": 1}}
    assert matrix(report, carry=False) == {("rigc", "inr", "engine"): {"differs": 1}}


@pytest.mark.parametrize(("tolerance", "status"), [("1e-3", 0), ("0", 1)])
def test_bones_that_float32_moves_are_within_a_tolerance_or_not(folder, tolerance, status):
    report = surveyed("rigs/swing.rig.json", "--via", "inr", "--tolerance", tolerance, status=status)
    faulty = [trip for trip in report["round_trips"] if not trip["ok"]]
    assert bool(faulty) == bool(status)
    assert all(
        "moved by" in fault or "came back as" in fault or "became" in fault or fault.startswith("and ")
        for trip in faulty
        for fault in trip["faults"]
    )


# -- what is not told -----------------------------------------------------------------------------------------------------


def survey_through_points(folder, honest="", lie=""):
    """A run on a rig of two bones through the third party's format, in which ``honest`` code became a ``lie``."""
    assert honest in PLUGIN
    bones = [{"name": "root"}, {"name": "arm", "parent": "root", "x": 1, "length": 2}]
    (folder / "two.rig.json").write_bytes(dumped(rigc_document(bones=bones)))
    code = PLUGIN.replace(honest, lie) if honest else PLUGIN
    site = install(folder / "site", "points", code.format(id="points"))
    return run(site, "roundtrip", folder / "two.rig.json", "--via", "points")


def test_a_format_that_tells_all_passes(folder):
    result = survey_through_points(folder)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "bones[*].length x 1" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 file, 2 round trips: 0 failed; every change reported"


@pytest.mark.parametrize(
    ("honest", "lie", "said"),
    [
        ("{{local[0, 3]}}", "{{local[0, 3] + 5}}", 'bones["arm"] moved by'),
        ("{{parent or '-'}}", "-", 'bones["arm"].parent was "root", became nothing in rigc -> points'),
        (
            "bone_fields=frozenset()",
            'bone_fields=frozenset({{"length"}})',
            'bones["arm"].length was 2.0, came back as 0.0',
        ),
    ],
    ids=["bones moved", "parents lost", "lengths lost"],
)
def test_a_format_that_does_not_tell_all_is_found_out(folder, honest, lie, said):
    result = survey_through_points(folder, honest, lie)
    assert result.returncode == 1, result.stdout + result.stderr
    lines = result.stdout.splitlines()
    failures = [line for line in lines if line.startswith("FAILED")]
    for carry in ("with carry", "without carry"):
        assert any(carry in line and said in line and line.endswith("(not reported)") for line in failures)
    assert lines[1].split() == ["rigc", "1", "FAILED"]
    assert re.fullmatch(r"1 file, 2 round trips: 2 failed; \d+ changes not reported", lines[-1])


def test_a_reader_that_breaks_down_is_named_with_its_file(folder):
    site = install(folder / "site", "points", PLUGIN.format(id="points"))
    (folder / "rigs" / "odd.points").write_text("POINTS\nhips - zero 1\n")
    result = run(site, "roundtrip", folder / "rigs", "--via", "ir")
    assert result.returncode == 1
    (failure,) = [line for line in result.stdout.splitlines() if line.startswith("FAILED")]
    assert "odd.points: ValueError: could not convert string to float" in failure
    assert "3 files, 6 round trips: 0 failed, 1 unreadable file" in result.stdout


# -- files ------------------------------------------------------------------------------------------------------------------


def test_files_of_no_format_in_folders_are_skipped(folder):
    (folder / "rigs" / "notes.txt").write_text("swing")
    (folder / "rigs" / ".hidden.inr").write_bytes(b"INR1")
    report = surveyed("rigs")
    assert report["skipped"] == ["rigs/notes.txt"]
    assert report["ok"]


def test_files_that_cannot_be_read_are_failures(folder):
    (folder / "rigs" / "bad.inr").write_bytes(b"INR1")
    result = rigconv("roundtrip", "rigs", "missing.inr")
    assert result.status == 1
    failures = [line for line in result.output.splitlines() if line.startswith("FAILED")]
    assert [line.split(": ")[0] for line in failures] == ["FAILED rigs/bad.inr", "FAILED missing.inr"]


def test_files_of_one_stem_do_not_get_into_each_others_way(folder):
    shutil.copytree(folder / "rigs", folder / "rigs" / "again")
    assert surveyed("rigs")["files"] == 6


def test_a_folder_without_rigs_is_no_success(folder):
    (folder / "empty").mkdir()
    (folder / "empty" / "notes.txt").write_text("swing")
    result = rigconv("roundtrip", "empty")
    assert (result.status, result.output) == (1, "no rigs were found; 1 file skipped\n")


def test_a_file_that_is_named_twice_goes_once(folder):
    assert surveyed("rigs/puppet.inr", "rigs", "rigs/puppet.inr")["files"] == 3


def test_links_that_lead_nowhere_are_failures_and_loops_end(folder):
    (folder / "rigs" / "gone.inr").symlink_to("nowhere")
    (folder / "rigs" / "loop").symlink_to(".")
    report = surveyed("rigs", status=1)
    assert report["files"] == 3
    assert [item["file"] for item in report["unreadable"]] == ["rigs/gone.inr"]


@pytest.mark.parametrize(
    "name", ["a" * 250 + ".inr", "\u2708" * 80 + ".inr", ".inr", "..inr", "-dash.inr", "line\nbreak.inr", "a;$(b) .inr"]
)
def test_a_file_may_have_any_name(folder, name):
    shutil.copy("rigs/puppet.inr", name)
    report = surveyed("--", name)
    assert [trip["file"] for trip in report["round_trips"]] == [name] * 6


def test_a_file_may_be_elsewhere(folder):
    with zipfile.ZipFile("rigs.zip", "w") as archive:
        archive.write("rigs/puppet.inr", "deep/puppet.inr")
    assert matrix(surveyed("zip://deep/puppet.inr::rigs.zip"), carry=True)["inr", "rigc"] == {"identical": 1}
    assert surveyed("zip://::rigs.zip")["files"] == 1


def test_bad_samples_are_named_with_their_error(shared):
    bad = [path for path in samples(shared, "bad") if "stage_missing" not in path.name]  # only Spine misses a stage
    report = surveyed(*bad, status=1)
    assert not report["round_trips"]
    errors = {item["file"]: item["error"] for item in report["unreadable"]}
    assert list(errors) == [str(path) for path in bad]
    assert all(error.startswith(file) and error.isprintable() for file, error in errors.items())


GOOD = samples(shared_folder(), "good")


@pytest.mark.parametrize("path", GOOD, ids=sample_id)
def test_good_samples_come_back_and_every_change_is_told(path, shared):
    assert surveyed(path)["unlisted"] == 0


def test_a_manifest_is_used_on_the_way_out(shared, tmp_path):
    rig, manifest = shared / "samples/rigc/barge_from.rig.json", shared / "samples/rigc/barge.manifest.json"
    assert "POSITION_UNKNOWN" in json.dumps(surveyed(rig)["matrix"])
    assert "POSITION_UNKNOWN" not in json.dumps(
        surveyed(rig, "--manifest", manifest, "--via", "engine")["round_trips"][0]["losses"]
    )


def test_settings_files_tell_how_to_read(folder, shared):
    for name in ("barge_from.rig.json", "barge.manifest.json"):
        shutil.copy(shared / "samples/rigc" / name, name)
    (folder / "rigconv.toml").write_text('manifest = "barge.manifest.json"\n')
    assert "POSITION_UNKNOWN" not in json.dumps(surveyed("barge_from.rig.json", "--via", "engine")["matrix"])


@pytest.mark.parametrize("report", ["rigs/puppet.inr", "rigs/../rigs/puppet.inr", "rigs/walker.rig/rig.json", "link"])
def test_the_report_is_not_written_over_a_file_of_a_folder(folder, report):
    (folder / "link").symlink_to("rigs/puppet.inr")
    before = (folder / report).read_bytes()
    result = rigconv("roundtrip", "rigs", "--report", report)
    assert (result.status, result.errors) == (2, f'rigconv: the report would be written over "{report}"\n')
    assert (folder / report).read_bytes() == before


@pytest.mark.parametrize("name", ["r.json", "r.xml"])
def test_the_report_may_stand_in_the_folder_and_be_replaced(folder, name):
    for skipped in ("", "; 1 file skipped"):
        result = rigconv("roundtrip", "rigs", "--via", "ir", "--report", f"rigs/{name}")
        assert result.status == 0
        assert result.output.endswith(f"{skipped}\n")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("\uffff\ufffe", r"\uffff\ufffe"),
        ("a\x1b[31m\r\n\t", r"a\x1b[31m\r\n\t"),
        ("\u202e\x7f\x85", r"\u202e\x7f\x85"),
        ("&<'\">", "&<'\">"),
        ("]]>", "]]>"),
        ("\udcff", r"\udcff"),
    ],
    ids=ascii,
)
def test_junit_survives_any_name(folder, name, shown):
    shutil.copy("rigs/puppet.inr", f"{name}.inr")
    (folder / f"{name}bad.inr").write_bytes(b"INR1")
    result = rigconv("roundtrip", f"{name}.inr", f"{name}bad.inr", "--via", "rigc", "--report", "r.xml")
    assert result.status == 1
    (suite,) = junitparser.JUnitXml.fromfile("r.xml")
    assert [case.classname for case in suite] == [f"{shown}.inr", f"{shown}.inr", f"{shown}bad.inr"]
    assert f"FAILED {shown}bad.inr: " in result.output


def test_a_report_that_is_a_folder_is_refused_before_the_work(folder):
    (folder / "reports").mkdir()
    result = rigconv("roundtrip", "rigs", "--report", "reports")
    assert (result.status, result.output) == (2, "")
    assert result.errors == 'rigconv: the report "reports" is a folder\n'


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-",), "standard input can be read only once"),
        (("rigs", "--via", "obj"), "no format"),
        (("rigs", "--via", ""), "no format"),
        (("rigs", "--from", "obj"), "no format"),
        (("rigs", "--tolerance", "-1"), "tolerance"),
        (("rigs", "--tolerance", "nan"), "tolerance"),
        (("rigs/puppet.inr", "--report", "rigs/puppet.inr"), "written over"),
    ],
)
def test_what_makes_no_sense_is_refused(folder, arguments, said):
    result = rigconv("roundtrip", *arguments)
    assert result.status == 2
    assert said in result.errors


# -- what is printed ----------------------------------------------------------------------------------------------------------


def test_a_pipe_gets_the_matrices_and_what_differs(folder):
    lines = rigconv("roundtrip", "rigs").output.splitlines()
    assert lines[0].split() == ["with", "carry", "via", "engine", "via", "inr", "via", "ir", "via", "rigc"]
    assert lines[1].split() == ["engine", "-", *["1", "identical"] * 3]
    assert lines[5].startswith("without carry")
    assert "1 differ as reported" in lines[6]
    assert lines[-1] == "3 files, 18 round trips: 0 failed; every change reported"


def test_junit_has_a_test_case_for_each_round_trip(folder):
    (folder / "rigs" / "bad\x01\udcff.inr").write_bytes(b"INR1")
    assert rigconv("roundtrip", "rigs", "--report", "r.xml").status == 1
    found = junitparser.JUnitXml.fromfile("r.xml")
    assert (found.tests, found.failures, found.errors) == (19, 0, 1)
    (suite,) = found
    assert len(list(suite)) == 19
    assert {case.classname for case in suite if not case.result} == {
        "rigs/puppet.inr",
        "rigs/swing.rig.json",
        "rigs/walker.rig/rig.json",
    }


def test_junit_names_what_failed(folder):
    words = ["rigs/swing.rig.json", "--via", "inr", "--tolerance", "0", "--report", "r.xml"]
    assert rigconv("roundtrip", *words).status == 1
    found = junitparser.JUnitXml.fromfile("r.xml")
    assert (found.tests, found.failures, found.errors) == (2, 2, 0)
    (suite,) = found
    assert [case.name for case in suite] == ["rigc -> inr -> rigc with carry", "rigc -> inr -> rigc without carry"]
    for case in suite:
        (failure,) = case.result
        assert failure.message in failure.text
        assert "moved by" in failure.text


def test_a_person_gets_tables(folder):
    words = [sys.executable, "-m", "rigconv", "roundtrip", "rigs"]
    ours, theirs = os.openpty()
    environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    process = subprocess.Popen(words, stdout=theirs, stderr=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    shown = b"".join(iter(lambda: _read(ours), b"")).decode()
    os.close(ours)
    assert process.wait() == 0
    assert re.search(r"without carry.*via engine.*via inr.*via ir.*via rigc", shown)
    assert "\u2502" in shown
    assert "every change reported" in shown


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that the other end is closed
        return b""


def test_the_report_survives_names_that_are_no_unicode(folder):
    shutil.copy("rigs/puppet.inr", "odd \udcff.inr")
    assert rigconv("roundtrip", "odd \udcff.inr", "--report", "r.json").status == 0
    with open("r.json", encoding="utf-8") as file:
        assert ascii(json.load(file)["round_trips"][0]["file"]) == r"'odd \udcff.inr'"
