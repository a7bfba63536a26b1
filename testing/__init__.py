"""For people who test importers of their own: hypothesis strategies for rigs, and assertions about files and rigs.

    from hypothesis import given
    from rigconv.testing import assert_roundtrip, assert_same_worlds, rigs

    def test_a_file_comes_back():
        assert_roundtrip("hero.stick")

    @given(rigs())
    def test_my_format(rig):
        assert_same_worlds(rig, my_read(my_write(rig)), tolerance=1e-9)

Needs the extra ``rigconv[testing]``; docs/testing.md tells the whole story.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..ir.compare import world_errors
    from .assertions import assert_roundtrip, assert_same, assert_same_worlds
    from .strategies import (
        meshes,
        odd_names,
        planar_matrices,
        rigs,
        skeletons,
        spatial_matrices,
        unique_name_lists,
    )

__all__ = [
    "assert_roundtrip",
    "assert_same",
    "assert_same_worlds",
    "meshes",
    "odd_names",
    "planar_matrices",
    "rigs",
    "skeletons",
    "spatial_matrices",
    "unique_name_lists",
    "world_errors",
]

_HOMES = {
    ".assertions": ("assert_roundtrip", "assert_same", "assert_same_worlds"),
    ".strategies": (
        "meshes",
        "odd_names",
        "planar_matrices",
        "rigs",
        "skeletons",
        "spatial_matrices",
        "unique_name_lists",
    ),
    "..ir.compare": ("world_errors",),
}


def __getattr__(name: str) -> Any:
    """Import public names when they are asked for: pytest loads the plug-in at every start, used or not."""
    from importlib import import_module

    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module, __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
