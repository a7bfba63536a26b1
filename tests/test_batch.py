"""Converting folders: what is converted, what is left alone, what is done again, and what is said of all that."""

import io
import json
import os
import zipfile

import pytest
import rigconv as library
from command import rigconv
from filelock import FileLock
from rigconv.converters import files
from rigconv.converters.config import Settings
from support import PAIRS
from trees import engine, inr, png, rigc

MANIFEST = ".rigconv-batch.jsonl"
LOCK = ".rigconv-batch.lock"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder ``src`` with a rig in each of three formats, in the working folder."""
    for path, data in {"a.rig.json": rigc(), "deep/er/b.rig/rig.json": engine(), "deep/c.inr": inr()}.items():
        (tmp_path / "src" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / path).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "src"


def batch(*options, to="inr", source="src", destination="dst", status=0):
    """Run a batch in this process, and give its report."""
    target = ("--to", to) if to else ()
    result = rigconv("batch", source, destination, *target, "--jobs", 1, "--report", "-", *options)
    assert result.status == status, result.errors + result.output
    return json.loads(result.output)


def counts(report):
    return report["converted"], report["unchanged"], report["skipped"], len(report["failed"])


def outputs(destination="dst"):
    return sorted(
        os.path.relpath(os.path.join(place, name), destination)
        for place, _, names in os.walk(destination)
        for name in names
        if name not in (MANIFEST, LOCK)
    )


# -- what is converted ------------------------------------------------------------------------------------------------


def test_the_tree_is_mirrored_under_the_names_of_the_target(folder):
    assert counts(batch()) == (3, 0, 0, 0)
    assert outputs() == ["a.inr", "deep/c.inr", "deep/er/b.inr"]


def test_a_format_with_folders_gets_a_folder_for_each_rig(folder):
    batch(to="engine", status=0)
    rigs = [name for name in outputs() if not name.endswith(".rigconv")]
    assert rigs == ["a.rig/rig.json", "deep/c.rig/rig.json", "deep/er/b.rig/rig.json"]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_file_becomes_what_converting_it_alone_makes_of_it(folder, tmp_path, source, target):
    (start,) = [path for path in folder.rglob("*") if path.is_file() and path.name == "a.rig.json"]
    names = {"rigc": "x.rig.json", "engine": "x.rig/rig.json", "inr": "x.inr", "ir": "x.rigir.json"}
    library.convert(start, tmp_path / "alone.rigir.json")
    (tmp_path / "one").mkdir()
    given = tmp_path / "one" / names[source]
    given.parent.mkdir(exist_ok=True)
    library.convert(tmp_path / "alone.rigir.json", given)
    batch(to=target, source="one")
    library.convert(given, tmp_path / f"alone-{target}", target_id=target)
    assert (tmp_path / "dst" / names[target]).read_bytes() == (tmp_path / f"alone-{target}").read_bytes()


def test_what_no_format_recognises_is_skipped(folder):
    (folder / "notes.txt").write_text("bones")
    (folder / "picture.png").write_bytes(png())
    (folder / "package.json").write_text('{"name": "x"}')
    assert counts(batch()) == (3, 0, 3, 0)


def test_a_bad_file_fails_with_its_line_and_the_others_go_on(folder):
    (folder / "bad.rig.json").write_text('{"spec": "rigc-rig/1", "name": ""}')
    report = batch(status=4)
    assert counts(report) == (3, 0, 0, 1)
    (failure,) = report["failed"]
    assert failure["input"] == "bad.rig.json"
    assert failure["problem"] == rigconv("src/bad.rig.json", "x.inr").errors.removeprefix("rigconv: ").rstrip("\n")
    assert "bad.inr" not in outputs()


def test_losses_are_counted_by_code(folder):
    assert batch("--no-carry", to="engine")["losses"] == {
        code: count for code, count in rigconv_losses(folder).items() if count
    }


def rigconv_losses(folder):
    total = {}
    for path in ("a.rig.json", "deep/er/b.rig/rig.json", "deep/c.inr"):
        report = library.convert(folder / path, folder.parent / "x.rig", options=library.ConvertOptions(carry="none"))
        for entry in report.losses:
            total[entry.code] = total.get(entry.code, 0) + 1
    return total


def test_patterns_choose_and_leave_out(folder):
    batch("--glob", "deep/**", "--exclude", "*.rig/")
    assert outputs() == ["deep/c.inr"]


def test_options_reach_each_conversion(folder):
    batch("--scale", 2, to="ir")
    assert library.read("dst/a.rigir.json").skeleton.local[1, 0, 3] == 20


def test_settings_files_apply_to_the_inputs_that_they_match(folder):
    (folder / "rigconv.toml").write_text('to = "ir"\nexclude = ["*.inr"]\n[[rule]]\nmatch = "a.*"\nscale = 3')
    batch(to=None)
    assert outputs() == ["a.rigir.json", "deep/er/b.rigir.json"]
    assert library.read("dst/a.rigir.json").skeleton.local[1, 0, 3] == 30
    assert library.read("dst/deep/er/b.rigir.json").skeleton.local[1, 0, 3] == 10


def test_strict_fails_what_would_lose_something(folder):
    report = batch("--strict", "--no-carry", to="engine", status=4)
    assert any("nothing was written" in failure["problem"] for failure in report["failed"])
    assert {failure["input"] for failure in report["failed"]}.isdisjoint(outputs())


# -- what is refused before anything is written ------------------------------------------------------------------------


def test_two_inputs_of_one_output_are_refused(folder):
    (folder / "a.inr").write_bytes(inr())
    result = rigconv("batch", "src", "dst", "--to", "ir")
    assert result.status == 2
    assert "a.inr" in result.errors
    assert "a.rig.json" in result.errors
    assert outputs() == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("src", "src", "--to", "inr"), "one folder"),
        (("src/a.rig.json", "dst", "--to", "inr"), "no folder"),
        (("nowhere", "dst", "--to", "inr"), "no folder"),
        (("src", "dst"), "--to"),
        (("src", "dst", "--to", "obj"), "no format"),
        (("src", "dst", "--to", "inr", "--jobs", "0"), "0"),
        (("src", "dst", "--to", "inr", "--glob", "!"), "pattern"),
        (("src", "dst", "--to", "inr", "--exclude", "a\\"), "pattern"),
        (("src", "dst", "--to", "inr", "--scheduler", "tcp://127.0.0.1:1"), "--executor dask"),
    ],
)
def test_what_makes_no_sense_is_refused(folder, arguments, said):
    result = rigconv("batch", *arguments)
    assert result.status == 2
    assert said in result.errors
    assert result.errors.count("\n") == 1
    assert outputs() == []


def test_outputs_in_the_source_folder_are_no_inputs(folder):
    assert counts(batch(destination="src/out")) == (3, 0, 0, 0)
    assert counts(batch(destination="src/out")) == (0, 3, 0, 0)


def test_an_output_that_would_become_an_input_is_refused(folder):
    (folder / "src").mkdir()
    (folder / "src" / "c.rig.json").write_bytes(rigc())
    result = rigconv("batch", "src", ".", "--to", "inr")
    assert result.status == 2
    assert '"src/c.rig.json" would be written into the source folder, as "src/c.inr"' in result.errors
    assert not (folder / "c.inr").exists()


def test_two_batches_at_once_into_one_folder_are_refused(folder):
    batch()
    with FileLock(f"dst/{LOCK}"):
        result = rigconv("batch", "src", "dst", "--to", "inr")
    assert result.status == 1
    assert result.errors == "rigconv: dst: another batch is writing into this folder\n"
    assert counts(batch()) == (0, 3, 0, 0)


def test_rules_may_give_files_targets_of_their_own(folder):
    settings = 'to = "inr"\n[[rule]]\nmatch = "deep/"\nto = "ir"\n'
    (folder / "rigconv.toml").write_text(settings)
    report = batch(to=None)
    assert report["targets"] == ["inr", "ir"]
    assert outputs() == ["a.inr", "deep/c.rigir.json", "deep/er/b.rigir.json"]
    (folder / "rigconv.toml").write_text(settings.removeprefix('to = "inr"\n'))
    result = rigconv("batch", "src", "other")
    assert (result.status, result.errors) == (
        2,
        "rigconv: src/a.rig.json: the format of its output is missing; say --to FORMAT\n",
    )
    assert outputs("other") == []


# -- what is done again -----------------------------------------------------------------------------------------------


def test_a_second_run_converts_nothing(folder):
    batch()
    before = {path: os.stat(os.path.join("dst", path)).st_mtime_ns for path in outputs()}
    assert counts(batch()) == (0, 3, 0, 0)
    assert {path: os.stat(os.path.join("dst", path)).st_mtime_ns for path in outputs()} == before


def test_a_failure_is_told_again_without_another_try(folder):
    (folder / "bad.inr").write_bytes(inr()[:30])
    first = batch(status=4)
    assert batch(status=4)["failed"] == first["failed"]


@pytest.mark.parametrize("path", ["a.rig.json", "deep/c.inr"])
def test_a_changed_input_is_converted_again(folder, path):
    batch()
    content = (folder / path).read_bytes()
    (folder / path).write_bytes(content.replace(b"bone 2", b"bone X").replace(b'"n2"', b'"nX"'))
    assert counts(batch()) == (1, 2, 0, 0)


def test_an_input_that_was_only_touched_is_not(folder):
    batch()
    os.utime(folder / "a.rig.json", (1, 1))
    assert counts(batch()) == (0, 3, 0, 0)


def test_a_changed_sidecar_counts_as_a_changed_input(folder):
    batch()
    library.convert(folder / "a.rig.json", folder.parent / "with.rig")
    (folder / "deep" / "er" / "b.rig" / "rig.json.rigconv").write_bytes(
        (folder.parent / "with.rig" / "rig.json.rigconv").read_bytes()
    )
    assert counts(batch()) == (1, 2, 0, 0)


def test_an_image_that_comes_or_changes_counts_as_a_changed_input(folder):
    rig = json.loads(rigc())
    rig["slots"] = [{"name": "s", "bone": "bone 0", "attachment": "p"}]
    rig["skins"] = {"default": {"s": {"p": {"type": "region", "image": "p.png"}}}}
    (folder / "a.rig.json").write_text(json.dumps(rig))
    assert counts(batch(to="ir")) == (3, 0, 0, 0)
    (folder / "p.png").write_bytes(png())
    assert counts(batch(to="ir")) == (1, 2, 1, 0)
    assert counts(batch(to="ir")) == (0, 3, 1, 0)
    (folder / "p.png").write_bytes(png().replace(b"\0\0\0\4\0\0\0\4", b"\0\0\0\5\0\0\0\5"))
    assert counts(batch(to="ir")) == (1, 2, 1, 0)


def test_a_changed_option_does_everything_again(folder):
    batch()
    assert counts(batch("--scale", 2)) == (3, 0, 0, 0)
    assert counts(batch("--scale", 2)) == (0, 3, 0, 0)


def test_another_version_of_rigconv_does_everything_again(folder, monkeypatch):
    batch()
    monkeypatch.setattr("rigconv.converters.batch.plan.__version__", "0.0.0")
    assert counts(batch()) == (3, 0, 0, 0)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?"),
    ],
    ids=["removed", "emptied", "changed"],
)
def test_a_damaged_output_is_made_again(folder, damage, tmp_path):
    batch()
    path = tmp_path / "dst" / "a.inr"
    whole = path.read_bytes()
    damage(path)
    assert counts(batch()) == (1, 2, 0, 0)
    assert path.read_bytes() == whole


def test_force_does_everything_again(folder):
    batch()
    assert counts(batch("--force")) == (3, 0, 0, 0)


def test_a_failing_input_keeps_the_output_of_better_days(folder, tmp_path):
    batch()
    whole = (tmp_path / "dst" / "a.inr").read_bytes()
    (folder / "a.rig.json").write_text('{"spec": "rigc-rig/1"')
    assert counts(batch(status=4)) == (0, 2, 0, 1)
    assert (tmp_path / "dst" / "a.inr").read_bytes() == whole


@pytest.mark.parametrize("tail", ["", "\n{\n", '\n{"type": "converted", "input": "a', "\nnull\n[]\n\x00\n"])
def test_a_manifest_that_was_cut_off_holds_up_to_its_last_whole_line(folder, tmp_path, tail):
    batch()
    manifest = tmp_path / "dst" / MANIFEST
    lines = manifest.read_text().splitlines()
    manifest.write_text("\n".join(lines[:2]) + tail)
    assert counts(batch()) == (1, 2, 0, 0)
    assert counts(batch()) == (0, 3, 0, 0)


# -- inputs that are gone -----------------------------------------------------------------------------------------------


def test_an_output_whose_input_is_gone_is_reported_and_stays(folder, tmp_path):
    batch()
    (folder / "a.rig.json").unlink()
    report = batch()
    assert (report["removed"], report["pruned"]) == (["a.inr"], [])
    assert (tmp_path / "dst" / "a.inr").exists()


def test_prune_removes_it(folder, tmp_path):
    batch(to="engine")
    (folder / "a.rig.json").unlink()
    (tmp_path / "dst" / "mine.txt").write_text("not yours")
    report = batch("--prune", to="engine")
    assert report["pruned"] == ["a.rig/rig.json"]
    assert [name for name in outputs() if name.startswith("a.") or name == "mine.txt"] == ["mine.txt"]
    assert batch("--prune", to="engine")["removed"] == []


@pytest.mark.parametrize("place", ["../precious.inr", "x/../../precious.inr", "{folder}/precious.inr"])
def test_prune_does_not_believe_a_manifest_that_leads_out_of_the_folder(folder, tmp_path, place):
    batch()
    (folder / "a.rig.json").unlink()
    os.rename("dst/a.inr", "precious.inr")
    manifest = tmp_path / "dst" / MANIFEST
    manifest.write_text(manifest.read_text().replace('"path": "a.inr"', f'"path": "{place.format(folder=tmp_path)}"'))
    assert batch("--prune")["pruned"] == []
    assert (tmp_path / "precious.inr").exists()


@pytest.mark.parametrize("place", ["a.inr\\u0000", "", "deep"], ids=["NUL", "the folder", "a folder in it"])
def test_prune_does_not_believe_a_manifest_that_names_no_file(folder, tmp_path, place):
    batch()
    (folder / "a.rig.json").unlink()
    manifest = tmp_path / "dst" / MANIFEST
    manifest.write_text(manifest.read_text().replace('"path": "a.inr"', f'"path": "{place}"'))
    assert batch("--prune")["pruned"] == []
    assert outputs() == ["a.inr", "deep/c.inr", "deep/er/b.inr"]


@pytest.mark.parametrize("depth", [1000, 100_000])
def test_a_manifest_nested_too_deep_is_not_believed(folder, tmp_path, depth):
    batch()
    manifest = tmp_path / "dst" / MANIFEST
    manifest.write_text("[" * depth + "\n" + manifest.read_text())
    assert counts(batch()) == (0, 3, 0, 0)


def test_prune_goes_on_after_what_cannot_be_removed(folder, tmp_path, monkeypatch):
    batch()
    for name in ("a.rig.json", "deep/c.inr"):
        (folder / name).unlink()
    remove = files.remove

    def fails(name):
        if name.endswith("a.inr"):
            raise files.FileError(f"{name}: Operation not permitted")
        remove(name)

    monkeypatch.setattr("rigconv.converters.batch.run.files.remove", fails)
    report = batch("--prune", status=4)
    assert report["pruned"] == ["deep/c.inr"]
    assert report["failed"] == [{"input": "a.rig.json", "problem": "dst/a.inr: Operation not permitted"}]
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert batch("--prune")["pruned"] == ["a.inr"]


@pytest.mark.parametrize("became", [lambda path: path.symlink_to("nowhere"), lambda path: path.mkdir()])
def test_prune_leaves_what_is_no_file_any_more(folder, tmp_path, became):
    batch()
    (folder / "a.rig.json").unlink()
    (tmp_path / "dst" / "a.inr").unlink()
    became(tmp_path / "dst" / "a.inr")
    assert batch("--prune")["pruned"] == []
    assert os.path.lexists("dst/a.inr")


def test_an_output_that_got_another_input_is_not_gone(folder):
    batch()
    library.convert(folder / "a.rig.json", folder / "a.rigir.json")
    (folder / "a.rig.json").unlink()
    report = batch("--prune")
    assert (report["converted"], report["removed"]) == (1, [])
    assert "a.inr" in outputs()
    assert counts(batch("--prune")) == (0, 3, 0, 0)


def test_outputs_of_another_source_are_none_of_its_business(folder, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "z.rig.json").write_bytes(rigc())
    batch()
    report = batch("--prune", source="more")
    assert (report["converted"], report["removed"]) == (1, [])
    assert outputs() == ["a.inr", "deep/c.inr", "deep/er/b.inr", "z.inr"]
    assert counts(batch("--prune")) == (0, 3, 0, 0)
    assert counts(batch("--prune", source="more")) == (0, 1, 0, 0)


def test_folders_that_moved_together_are_known_again(folder, tmp_path, monkeypatch):
    batch()
    (tmp_path / "moved").mkdir()
    for name in ("src", "dst"):
        os.rename(name, f"moved/{name}")
    monkeypatch.chdir("moved")
    assert counts(batch()) == (0, 3, 0, 0)


def test_prune_leaves_what_someone_changed(folder, tmp_path):
    batch()
    (folder / "a.rig.json").unlink()
    (tmp_path / "dst" / "a.inr").write_bytes(b"better")
    assert batch("--prune")["pruned"] == []
    assert (tmp_path / "dst" / "a.inr").read_bytes() == b"better"


def test_excluded_inputs_are_not_gone(folder):
    batch()
    assert batch("--prune", "--exclude", "a.*")["removed"] == []


# -- what file systems do ------------------------------------------------------------------------------------------------


def test_links_to_folders_are_followed_and_loops_are_not(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "z.inr").write_bytes(inr())
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "deep" / "up").symlink_to("..")
    (tmp_path / "elsewhere" / "back").symlink_to(folder)
    assert counts(batch()) == (4, 0, 0, 0)
    assert "linked/z.inr" in outputs()


def test_a_file_that_vanishes_meanwhile_fails_alone(folder, monkeypatch):
    from rigconv.converters.batch import run

    class Vanishing:
        def start(self, _):
            (folder / "deep" / "c.inr").unlink()

        def advance(self, record):
            pass

    summary = run.run_batch("src", "dst", run.BatchOptions(stated=Settings(target="ir"), jobs=1), Vanishing())
    assert (summary.converted, [failure.input for failure in summary.failed]) == (2, ["deep/c.inr"])
    assert "No such file" in summary.failed[0].problem


def test_an_output_in_the_way_fails_alone_unless_forced(folder, tmp_path):
    (tmp_path / "dst").mkdir()
    (tmp_path / "dst" / "a.inr").write_text("a letter to my aunt")
    report = batch(status=4)
    assert counts(report) == (2, 0, 0, 1)
    assert "--force" in report["failed"][0]["problem"]
    assert (tmp_path / "dst" / "a.inr").read_text() == "a letter to my aunt"
    assert counts(batch("--force"))[0] == 3


def test_a_name_that_is_no_unicode_is_converted_and_reported(folder):
    (folder / "x\udcff.inr").write_bytes(inr()[:30])
    (folder / "y\udcff.rig.json").write_bytes(rigc())
    result = rigconv("batch", "src", "dst", "--to", "inr", "--jobs", 1, "--report", "r.json")
    assert result.status == 4
    with open("r.json", encoding="utf-8") as file:
        assert ascii(json.load(file)["failed"][0]["input"]) == r"'x\udcff.inr'"
    assert r"'y\udcff.inr'" in list(map(ascii, outputs()))
    assert counts(batch(status=4)) == (0, 4, 0, 1)


# -- what is printed -------------------------------------------------------------------------------------------------------


def test_a_pipe_gets_counts_and_a_line_for_each_failure(folder):
    (folder / "bad.inr").write_bytes(b"")
    result = rigconv("batch", "src", "dst", "--to", "inr", "--jobs", 1)
    lines = result.output.splitlines()
    assert [line.split() for line in lines[:5]] == [
        ["converted", "3"],
        ["unchanged", "0"],
        ["skipped", "0"],
        ["failed", "1"],
        ["removed", "0"],
    ]
    assert lines[-1].startswith("failed: src/bad.inr: ")


def test_a_pipe_gets_a_line_now_and_then(folder, monkeypatch):
    monkeypatch.setattr("rigconv.converters.cli.progress._SECONDS_BETWEEN_LINES", 0.0)
    result = rigconv("batch", "src", "dst", "--to", "inr", "--jobs", 1)
    assert [line.partition(",")[0] for line in result.errors.splitlines()] == [
        f"rigconv: {done} of 3 files" for done in (1, 2, 3)
    ]


def test_a_short_run_says_nothing_meanwhile(folder):
    assert rigconv("batch", "src", "dst", "--to", "inr", "--jobs", 1).errors == ""


# -- other places ----------------------------------------------------------------------------------------------------------


def test_folders_may_be_urls(folder):
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe_file("/in/x/a.rig.json", rigc())
    memory.pipe_file("/in/b.inr", inr()[:20])
    assert counts(batch(source="memory://in", destination="memory://out", status=4)) == (1, 0, 0, 1)
    assert memory.cat_file("/out/x/a.inr")[:4] == b"INR1"
    assert counts(batch(source="memory://in", destination="memory://out", status=4)) == (0, 1, 0, 1)
    memory.pipe_file("/in/x/a.rig.json", rigc(4))
    assert counts(batch(source="memory://in", destination="memory://out", status=4)) == (1, 0, 0, 1)


def test_an_archive_may_be_the_source(folder):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("inside/a.rig.json", rigc())
    (folder.parent / "rigs.zip").write_bytes(buffer.getvalue())
    batch(source="zip://::rigs.zip")
    assert outputs() == ["inside/a.inr"]
