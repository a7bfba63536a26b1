"""Every sample file, through the command line: good ones validate and convert, bad ones give their error."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import rigconv
from conftest import shared_folder
from support import FILE_NAMES, FORMATS, sample_id, samples

GOOD = samples(shared_folder(), "good")
BAD = samples(shared_folder(), "bad")

# What the READMEs beside the samples say is wrong, as words that the error must hold.
NAMED = {
    "spec_version": "rigc-rig/2",
    "not_an_object": "not an object",
    "name_empty": "name",
    "bones_empty": "bones",
    "slots_missing": "slots",
    "bone_without_name": "bones[2]",
    "bone_name_twice": '"arm"',
    "parent_declared_later": '"hand"',
    "inherit_unknown": "noShear",
    "from_two_sources": "anchor, meshCenter",
    "from_and_literal_x": "literal x",
    "from_and_literal_rotation": "literal rotation",
    "from_rotation_anchor_without_anchor": "from.anchor",
    "slot_without_name": "slots[0]",
    "slot_name_twice": '"s"',
    "slot_bone_unknown": '"leg"',
    "slot_blend_unknown": "overlay",
    "constraint_without_name": "constraints[0]",
    "constraint_name_twice": '"c"',
    "compile_constraint_type_unknown": "spring",
    "compile_ik_target_unknown": '"hand"',
    "compile_transform_property_unknown": '"rotation"',
    "compile_region_without_size": "no size",
    "compile_skin_slot_unknown": '"t"',
    "compile_setup_attachment_unknown": '"ghost"',
    "compile_mesh_vertices_and_weights": "vertices and weights",
    "compile_mesh_authored_and_generator": "generator",
    "compile_mesh_raw_run_unflagged": 'boneIndexing "raw"',
    "compile_mesh_weight_bone_unknown": '"leg"',
    "compile_mesh_weights_short": "expected 3",
    "compile_ring_not_star": "star-shaped",
    "compile_stage_missing": "stage",
    "no_bones": "no bones",
    "empty_bones": "no bones",
    "parent_out_of_range": '"arm"): the parent is 99',
    "cycle": '"torso"): the bone is its own ancestor',
    "inverse_bind_15": '"torso"): the list has 15 values',
    "rotation_3": '"torso"): the list has 3 values',
    "zero_quaternion": '"torso"): the quaternion is zero',
    "name_not_text": "bones[1].name",
    "singular_inverse_bind": '"torso"): the matrix is singular',
    "bind_unknown": '"pose"',
    "override_role_number": "role",
    "nan": '"torso"), byte 301: the number is not finite',
    "truncated": "ends early",
    "b03_truncated_json": "ends inside the JSON chunk",
    "b06_version_2": "version is 2",
    "b12_invalid_utf8": "UTF-8",
    "b17_view_out_of_range": "buffer_views[11]",
    "b22_index_ge_vertex_count": "vertex 16",
    "b29_parent_cycle": "its own ancestor",
    "b34_texture_index_minus2": "-2",
    "b44_binding_grid_mismatch": "9 x 1",
}


def fault_of(path: Path) -> str:
    name = path.parent.name if path.name == "rig.json" else path.name
    return name.removesuffix(".rig.json").removesuffix(".inr")


@pytest.mark.parametrize("path", GOOD, ids=sample_id)
def test_good_samples_are_valid(path: Path, shared: Path) -> None:
    result = rigconv("validate", path)
    assert result.status == 0, result.output
    assert f"{path}: ok (" in result.output


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("path", GOOD, ids=sample_id)
def test_good_samples_convert_to_everything(path: Path, target: str, shared: Path, tmp_path: Path) -> None:
    output = tmp_path / FILE_NAMES[target]
    result = rigconv(path, output)
    assert result.status == 0, result.errors
    assert rigconv("validate", output).status == 0


@pytest.mark.parametrize("path", BAD, ids=lambda path: fault_of(path))
def test_bad_samples_give_their_error(path: Path, shared: Path) -> None:
    result = rigconv("validate", path)
    assert result.status == 1
    assert NAMED[fault_of(path)] in result.output
    assert len(result.output.splitlines()) == 1
    assert result.output.startswith(f"{path}: error ")


@pytest.mark.parametrize("path", [path for path in BAD if "compile" not in path.name], ids=lambda path: fault_of(path))
@pytest.mark.parametrize("target", FORMATS)
def test_bad_samples_are_not_converted(path: Path, target: str, shared: Path, tmp_path: Path) -> None:
    result = rigconv(path, tmp_path / FILE_NAMES[target])
    assert result.status == 1
    assert len(result.errors.splitlines()) == 1
    assert result.errors.startswith(f"rigconv: {path}: ")
    assert NAMED[fault_of(path)] in result.errors
    assert not list(tmp_path.iterdir())


STORED = "compile_stage_missing"
"""The hub has no need of a stage."""


@pytest.mark.parametrize(
    "path",
    [path for path in BAD if "compile" in path.name and STORED not in path.name],
    ids=lambda path: fault_of(path),
)
def test_what_cannot_be_compiled_is_not_stored_in_the_hub(path: Path, shared: Path, tmp_path: Path) -> None:
    result = rigconv(path, tmp_path / "out.rigir.json")
    assert result.status == 1
    assert NAMED[fault_of(path)] in result.errors
    assert not list(tmp_path.iterdir())
