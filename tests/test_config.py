"""Settings from files: which file counts, which rule wins, and what is said of mistakes."""

import json

import pytest
from command import rigconv

RIG = {
    "spec": "rigc-rig/1",
    "name": "pole",
    "skeleton": {"width": 1, "height": 1},
    "bones": [{"name": "root"}, {"name": "tip", "parent": "root", "x": 100}],
    "slots": [],
}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A folder with a rig at enemies/boss/pole.rig.json, which is also the working folder."""
    folder = tmp_path / "enemies" / "boss"
    folder.mkdir(parents=True)
    (folder / "pole.rig.json").write_text(json.dumps(RIG))
    monkeypatch.chdir(tmp_path)
    return tmp_path


INPUT = "enemies/boss/pole.rig.json"


def converted_length(*options):
    """Where the tip of the pole is in a converted rig."""
    assert rigconv(INPUT, "rig.json", *options).status == 0
    with open("rig.json") as file:
        return json.load(file)["bones"][1]["translation"][0]


def test_defaults_come_from_the_nearest_file(tree):
    (tree / "rigconv.toml").write_text("scale = 2")
    assert converted_length() == 200
    (tree / "enemies" / "rigconv.toml").write_text("scale = 3")
    assert converted_length() == 300


def test_a_table_of_a_project_file_counts_like_a_file(tree):
    (tree / "pyproject.toml").write_text("[tool.rigconv]\nscale = 2")
    assert converted_length() == 200


def test_a_project_file_without_the_table_is_passed_over(tree):
    (tree / "rigconv.toml").write_text("scale = 2")
    (tree / "enemies" / "pyproject.toml").write_text("[project]\nname = 'x'")
    assert converted_length() == 200


RULES = """
scale = 2
[[rule]]
match = "enemies/**"
scale = 4
[[rule]]
match = "{match}"
scale = 8
"""


@pytest.mark.parametrize(
    ("match", "length"),
    [("*.rig.json", 800), ("boss/", 800), ("/enemies/boss/*", 800), ("friends/**", 400), ("/pole.rig.json", 400)],
)
def test_the_last_rule_that_matches_wins(tree, match, length):
    (tree / "rigconv.toml").write_text(RULES.format(match=match))
    assert converted_length() == length


def test_the_command_line_beats_every_file(tree):
    (tree / "rigconv.toml").write_text(RULES.format(match="*") + "strict = true\n")
    assert converted_length("--scale", "0.5", "--no-strict") == 50


def test_strict_may_be_a_default(tree):
    (tree / "rigconv.toml").write_text("strict = true")
    assert rigconv(INPUT, "out.inr").status == 3
    assert rigconv(INPUT, "out.inr", "--no-strict").status == 0


def test_paths_are_those_of_the_file(tree, monkeypatch):
    (tree / "rigconv.toml").write_text('manifest = "cut/gone.json"')
    monkeypatch.chdir(tree / "enemies")
    done = rigconv("boss/pole.rig.json", "rig.json")
    assert done.status == 1
    assert str(tree / "cut" / "gone.json") in done.errors


def test_the_target_of_one_conversion_is_told_by_its_output(tree):
    (tree / "rigconv.toml").write_text('to = "engine"')
    assert rigconv(INPUT, "out.inr").status == 0
    assert (tree / "out.inr").read_bytes()[:4] == b"INR1"


def test_config_tells_what_applies_and_why(tree):
    (tree / "rigconv.toml").write_text(RULES.format(match="other"))
    lines = rigconv("config", INPUT).output.splitlines()
    assert lines[0] == f"settings file: {tree / 'rigconv.toml'}"
    assert "scale     4.0         rigconv.toml, rule 1 (enemies/**)" in lines
    assert "strict    false       default" in lines


def test_config_is_data_for_scripts(tree):
    (tree / "rigconv.toml").write_text('carry = "none"')
    value = json.loads(rigconv("config", INPUT, "--json").output)
    assert value["file"] == str(tree / "rigconv.toml")
    assert {"option": "carry", "value": "none", "origin": "rigconv.toml"} in value["settings"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("scal = 2", "unknown field `scal`"),
        ("scale = 'big'", "$.scale"),
        ("carry = 'sometimes'", "sometimes"),
        ("[[rule]]\nscale = 2", "match"),
        ("[[rule]]\nmatch = '*'\nscale = 'big'", "$.rule[0].scale"),
        ("scale = ", "TOML"),
        ("scale = 0", "scale is 0.0; it must be a number other than zero"),
        ("jobs = 0", "jobs is 0; it must be at least 1"),
        ("from = 'obj'", 'there is no format "obj"'),
        ("[[rule]]\nmatch = '*'\nto = 'obj'", 'there is no format "obj"'),
        ("glob = ['!']", 'a pattern that .gitignore does not know among "!"'),
        ("exclude = ['x', 'a\\']", "a pattern that .gitignore does not know"),
        ("[[rule]]\nmatch = '!'", "a pattern that .gitignore does not know"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_file(tree, text, problem):
    (tree / "rigconv.toml").write_text(text)
    done = rigconv(INPUT, "rig.json")
    assert done.status == 1
    assert done.errors.count("\n") == 1
    assert str(tree / "rigconv.toml") in done.errors
    assert problem in done.errors
    assert not (tree / "rig.json").exists()
