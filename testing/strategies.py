"""Hypothesis strategies for rigs and their parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from ..ir.edit import unique_names
from ..ir.matrix import compose, is_flat, planar, rotation_from_euler
from ..ir.pose import world_matrices
from ..ir.rig import (
    Attachment,
    BlendMode,
    Bone,
    IkConstraint,
    Inherit,
    Mesh,
    MeshAttachment,
    PhysicsConstraint,
    RegionAttachment,
    Rig,
    Skeleton,
    Skin,
    Slot,
    Stage,
)

MAX_BONES = 60
MAX_UNEVENNESS = 30.0
"""Frames more uneven than this are left out: float32 could not place exactly what hangs on them."""

_AWKWARD = [
    "",
    "root",
    "arm",
    "arm",
    "a/b",
    "../up",
    "Кукла",
    "日本",
    "\U0001d4df",
    'quo"te',
    "tab\t",
    "NUL\0\0",
    "~shear",
    "x~2",
    " ",
]


def odd_names() -> st.SearchStrategy[str]:
    """Names as files have them: empty, used twice, padded with NULs, in any script."""
    return st.sampled_from(_AWKWARD) | st.text(st.characters(codec="utf-8"), max_size=8)


def unique_name_lists(count: int) -> st.SearchStrategy[list[str]]:
    """``count`` names as the representation has them: unique and not empty."""
    return st.lists(odd_names(), min_size=count, max_size=count).map(lambda names: unique_names(names, "bone"))


def _lengths() -> st.SearchStrategy[float]:
    return st.floats(-300, 300).map(lambda value: round(value, 4))


def _angles() -> st.SearchStrategy[float]:
    return st.floats(-7, 7).map(lambda value: round(value, 5)) | st.sampled_from([0.0, np.pi / 2, np.pi, -np.pi])


def _scales(count: int) -> st.SearchStrategy[list[float]]:
    """Scales of one bone: mostly even, some mirrored, some tiny, a few uneven."""
    extremes = [1e-3, 1e3] if count == 2 else [0.1]
    even = st.sampled_from([1.0, 1.0, 1.0, 0.5, 2.0, *extremes]).map(lambda scale: [scale] * count)
    uneven = st.lists(st.sampled_from([1.0, -1.0, 1.0, 0.75, 1.5]), min_size=count, max_size=count)
    return even | even | uneven


def _shears() -> st.SearchStrategy[list[float]]:
    sheared = st.lists(st.floats(-0.5, 0.5), min_size=2, max_size=2)
    return st.just([0.0, 0.0]) | st.just([0.0, 0.0]) | sheared


@st.composite
def planar_matrices(draw: st.DrawFn, sheared: bool = True) -> np.ndarray:
    """(4, 4) local transforms in the xy plane, some mirrored, sheared or tiny."""
    position = np.array([draw(_lengths()), draw(_lengths())])
    shear = np.array(draw(_shears()) if sheared else [0.0, 0.0])
    return planar(position, np.array(draw(_angles())), shear, np.array(draw(_scales(2))))


@st.composite
def spatial_matrices(draw: st.DrawFn) -> np.ndarray:
    """(4, 4) local transforms in space without shear, some mirrored or scaled."""
    angles = np.array([draw(_angles()) for _ in range(3)])
    position = np.array([draw(_lengths()) for _ in range(3)])
    return compose(position, rotation_from_euler(angles), np.array(draw(_scales(3))))


def _unevenness(skeleton: Skeleton) -> float:
    """Longest to shortest axis of the most uneven world frame; z of the plane does not count."""
    world = world_matrices(skeleton)
    linear = world[:, :2, :2] if is_flat(world[:, :3, :3]).all() else world[:, :3, :3]
    return float(np.linalg.cond(linear).max())


@st.composite
def skeletons(
    draw: st.DrawFn,
    dimensions: int = 2,
    sheared: bool = True,
    inherit: bool = True,
    several_roots: bool = True,
    max_bones: int = MAX_BONES,
) -> Skeleton:
    """Skeletons.

    Args:
        draw: Given by hypothesis.
        dimensions: 2 for bones in the xy plane, 3 for bones anywhere.
        sheared: Bones of the plane may be sheared.
        inherit: Bones of the plane may inherit otherwise than normally.
        several_roots: More than one bone may lack a parent.
        max_bones: Most bones.
    """
    count = draw(st.integers(1, max_bones))
    first = -1 if several_roots else 0
    parent = [-1] + [draw(st.integers(first, index - 1)) for index in range(1, count)]
    matrices = planar_matrices(sheared) if dimensions == 2 else spatial_matrices()
    modes = st.sampled_from([Inherit.NORMAL, Inherit.NORMAL, *Inherit])
    names = draw(unique_name_lists(count))
    plain = not (inherit and dimensions == 2)
    bones = [
        Bone(
            name=name,
            inherit=Inherit.NORMAL if plain or above < 0 else draw(modes),
            length=draw(st.sampled_from([0.0, 1.0, 12.5])),
            skin_required=draw(st.booleans()),
            color=draw(st.sampled_from([None, "ff0000ff"])),
        )
        for name, above in zip(names, parent, strict=True)
    ]
    local = np.array([draw(matrices) for _ in range(count)])
    skeleton = Skeleton(bones=bones, parent=np.array(parent, dtype=np.int64), local=local)
    assume(_unevenness(skeleton) < MAX_UNEVENNESS)
    return skeleton


@st.composite
def meshes(draw: st.DrawFn, slot_bone: str, bones: list[str]) -> Mesh:
    """Meshes of a few vertices, rigid or weighted on some of ``bones``."""
    count = draw(st.integers(3, 6))
    weighted = draw(st.booleans())
    palette = draw(st.lists(st.sampled_from(bones), min_size=1, max_size=3, unique=True)) if weighted else [slot_bone]
    counts = [draw(st.integers(1, len(palette))) for _ in range(count)]
    places = [draw(st.permutations(range(len(palette))))[:size] for size in counts]
    return Mesh(
        bones=palette,
        starts=np.concatenate([[0], np.cumsum(counts)]),
        influence_bones=np.array([place for row in places for place in row], dtype=np.int64),
        positions=np.array([[draw(_lengths()), draw(_lengths()), 0.0] for _ in range(sum(counts))]),
        weights=np.array([1 / size for size in counts for _ in range(size)]),
        uvs=np.array([[draw(st.floats(0, 1, width=16)), draw(st.floats(0, 1, width=16))] for _ in range(count)]),
        triangles=np.array([[0, index, index + 1] for index in range(1, count - 1)], dtype=np.int64),
        hull=draw(st.sampled_from([None, count])),
    )


@st.composite
def rigs(draw: st.DrawFn, /, dimensions: int = 2, max_bones: int = MAX_BONES, **choices: Any) -> Rig:
    """Rigs; those of the plane have slots, skins and constraints as Spine has them.

    Args:
        draw: Given by hypothesis.
        dimensions: As for :func:`skeletons`.
        max_bones: As for :func:`skeletons`.
        choices: As for :func:`skeletons`.
    """
    skeleton = draw(skeletons(dimensions=dimensions, max_bones=max_bones, **choices))
    if dimensions == 3:
        return Rig(skeleton=skeleton)
    names = skeleton.names
    slot_names = draw(unique_name_lists(draw(st.integers(0, 4))))
    slots = [Slot(name=name, bone=draw(st.sampled_from(names)), blend=draw(_blends())) for name in slot_names]
    attachments: dict[str, dict[str, Attachment]] = {
        slot.name: {"shape": draw(_attachments(slot.bone, names))} for slot in slots
    }
    for slot in slots:
        slot.attachment = draw(st.sampled_from([None, "shape"]))
    return Rig(
        name=draw(st.sampled_from(["rig", "日本"])),
        skeleton=skeleton,
        stage=draw(st.sampled_from([None, Stage(x=0.0, y=-5.0, width=100.0, height=50.0, fps=24.0)])),
        slots=slots,
        skins=[Skin(name="default", attachments=attachments)] if slots else [],
        constraints=draw(_constraints(names)),
    )


def _blends() -> st.SearchStrategy[BlendMode]:
    return st.sampled_from([BlendMode.NORMAL, BlendMode.ADD, BlendMode.MULTIPLY, BlendMode.SCREEN])


@st.composite
def _attachments(draw: st.DrawFn, bone: str, bones: list[str]) -> RegionAttachment | MeshAttachment:
    if draw(st.booleans()):
        rotation = draw(_angles())
        return RegionAttachment(x=draw(_lengths()), rotation=rotation, width=20.0, height=10.0, path="picture")
    return MeshAttachment(mesh=draw(meshes(bone, bones)), path="picture")


@st.composite
def _constraints(draw: st.DrawFn, bones: list[str]) -> list[Any]:
    one = st.sampled_from(bones)
    ik = IkConstraint(name="reach", bones=[draw(one)], target=draw(one), mix=draw(st.sampled_from([1.0, 0.25])))
    physics = PhysicsConstraint(
        name="sway", bone=draw(one), rotate=1.0, scale_y=draw(st.sampled_from(["none", "volume"]))
    )
    return draw(st.lists(st.sampled_from([ik, physics]), unique_by=id, max_size=2))
