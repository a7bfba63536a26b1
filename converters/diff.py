"""What changed from one rig to another, as data: the value that ``diff --json`` prints and that ``diff`` shows.

Comparing is the affair of :mod:`rigconv.ir.compare`, and telling what was only renamed that of
:mod:`rigconv.ir.identity`. Here differences of values become changes of elements, and what merely follows from another
change is left out: references to what was renamed, bones that moved along with those above them, bind poses that are
the rest pose.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import asdict, replace

from ..ir import paths
from ..ir.compare import AGREEMENT, Difference, differences, matrices_agree, value_differences
from ..ir.errors import quoted
from ..ir.geometry import world_vertices
from ..ir.identity import find_renaming
from ..ir.matrix import inverse
from ..ir.pose import inverse_bind_of_rest, regular, transform_parents, world_matrices
from ..ir.renaming import Renaming, renamed
from ..ir.rig import Mesh, Rig, Skeleton, Texture
from .transform import transforms

COLLECTIONS = ("bones", "slots", "skins", "constraints", "params", "animations", "textures")
"""Lists of a rig's elements, in the order in which their changes are told; what is the rig's own comes first."""

_LISTED_VALUES = 16
"""Arrays of more values are told by their shape."""


class Kind(StrEnum):
    """What happened to an element or to a value of it."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    REPARENTED = "reparented"
    MOVED = "moved"
    REBOUND = "rebound"
    REORDERED = "reordered"
    CHANGED = "changed"


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change.

    Attributes:
        kind: What happened.
        path: The element or its field, as in ``bones["arm"].length``; by its new name where it was renamed.
        before, after: What the rigs say, as JSON values; None where one of them says nothing. For a bone that moved
            those of its transforms ``local`` and ``world`` that are others; for one that was rebound its bind pose in
            the world.
        distance: How far the bone's origin, or at most a vertex of the mesh, moved in the world; None for other
            changes, and where vertices cannot be told to be the same.
        parts: Of a mesh, the fields that changed; of an order, as few names as explain it by having moved.
    """

    kind: Kind
    path: str
    before: Any
    after: Any
    distance: float | None = None
    parts: list[str] = []


class RigDiff(msgspec.Struct, frozen=True):
    """What changed from one rig to another.

    Attributes:
        changes: Every change, element by element.
        moved_along: Names of bones that stand elsewhere in the world only because one above them moved.
    """

    changes: list[Change]
    moved_along: list[str]

    @property
    def same(self) -> bool:
        """Whether both rigs say the same."""
        return not self.changes

    def to_builtins(self) -> dict[str, Any]:
        """The difference as JSON values."""
        return {
            "same": self.same,
            "counts": dict(sorted(Counter(change.kind.value for change in self.changes).items())),
            "changes": self.changes,
            "moved_along": self.moved_along,
        }


def empty_rig() -> Rig:
    """A rig that says nothing, for comparing with what was not there."""
    none = np.zeros((0, 4, 4))
    return Rig(skeleton=Skeleton(bones=[], parent=np.zeros(0, dtype=np.int64), local=none))


def diff_rigs(before: Rig, after: Rig, tolerance: float = AGREEMENT) -> RigDiff:
    """What changed from one rig to another.

    What only one of them says because its format alone has a word for it is a change, too.

    Args:
        before: The first rig.
        after: The second.
        tolerance: Share of a value within which it counts as unchanged.
    """
    pictures = _pictures(before), _pictures(after)
    places = _same_textures(*pictures)
    names = replace(find_renaming(before, after, tolerance), textures=places)
    sides = _sides(renamed(before, names), after)
    poses, moved_along = _pose_changes(sides, tolerance)
    changes = [
        *_bones_of_one_side(sides),
        *_renames(names),
        *_value_changes(sides, tolerance),
        *poses,
        *_bind_changes(sides, tolerance),
        *_texture_changes(before.textures, after.textures, pictures, places, tolerance),
    ]
    return RigDiff(_in_order(changes, sides), moved_along)


class _Sides(msgspec.Struct, frozen=True, eq=False):
    """Two rigs whose elements go by the same names, and where their bones are.

    Attributes:
        before, after: The rigs.
        worlds: (n, 4, 4) and (m, 4, 4) world matrices.
        old_index, index: Places of the bones of ``before`` and of ``after``, by name.
        rows, columns: (k,) int places in ``before`` and in ``after`` of the k bones that both have.
    """

    before: Rig
    after: Rig
    worlds: tuple[np.ndarray, np.ndarray]
    old_index: dict[str, int]
    index: dict[str, int]
    rows: np.ndarray
    columns: np.ndarray


def _sides(before: Rig, after: Rig) -> _Sides:
    old_index, index = ({name: place for place, name in enumerate(rig.skeleton.names)} for rig in (before, after))
    shared = [name for name in old_index if name in index]
    return _Sides(
        before=before,
        after=after,
        worlds=(world_matrices(before.skeleton), world_matrices(after.skeleton)),
        old_index=old_index,
        index=index,
        rows=np.array([old_index[name] for name in shared], dtype=np.int64),
        columns=np.array([index[name] for name in shared], dtype=np.int64),
    )


def _renames(names: Renaming) -> Iterator[Change]:
    for old, new in names.bones.items():
        yield Change(kind=Kind.RENAMED, path=paths.bone(new), before=old, after=new)
    for old, new in names.params.items():
        yield Change(kind=Kind.RENAMED, path=paths.element("params", new), before=old, after=new)


# -- values -----------------------------------------------------------------------------------------------------------


def _value_changes(sides: _Sides, tolerance: float) -> Iterator[Change]:
    """Changes of all but poses, binds and textures."""
    before, after = (
        replace(rig, skeleton=_without_bind(rig.skeleton), textures=[]) for rig in (sides.before, sides.after)
    )
    meshes: dict[str, list[str]] = {}
    for difference in differences(before, after, tolerance):
        steps = paths.segments(difference.path)
        if steps[0] == "skins" and len(steps) > _MESH + 1 and steps[_MESH] == ".mesh":
            meshes.setdefault("".join(steps[:_MESH]), []).append(steps[_MESH + 1].removeprefix("."))
        elif len(steps) == _SLOT + 1 and steps[_SLOT - 1] == ".attachments":
            yield from _attachment_changes(difference)
        elif not _is_told_elsewhere(difference, steps):
            yield _value_change(difference, steps)
    for path, fields in meshes.items():
        yield _mesh_change(path, list(dict.fromkeys(fields)), sides)


_SLOT, _MESH = 3, 5
"""Places of the steps to the slot and to the mesh in ``skins["a"].attachments["b"]["c"].mesh``."""


def _is_told_elsewhere(difference: Difference, steps: list[str]) -> bool:
    """Whether a difference is one of poses, a whole bone, or a uuid that a format made up for want of one."""
    one_sided = difference.before is None or difference.after is None
    if steps[0] == "bones" and len(steps) == 2:
        return one_sided and steps[1] != ".order"
    return steps[2:] == [".local"] or (steps[2:] == [".uuid"] and one_sided)


def _attachment_changes(difference: Difference) -> Iterator[Change]:
    """Changes of the attachments of a slot for which only one of the skins has any."""
    path, before, after = difference.path, difference.before or {}, difference.after or {}
    for placeholder, item in before.items():
        yield Change(kind=Kind.REMOVED, path=f"{path}[{quoted(placeholder)}]", before=_told(item), after=None)
    for placeholder, item in after.items():
        yield Change(kind=Kind.ADDED, path=f"{path}[{quoted(placeholder)}]", before=None, after=_told(item))


def _value_change(difference: Difference, steps: list[str]) -> Change:
    path, before, after = difference.path, difference.before, difference.after
    if steps[1:] == [".order"]:
        moved = _moved_names(before, after)
        return Change(kind=Kind.REORDERED, path=path, before=before, after=after, parts=moved)
    if steps[0] == "bones" and steps[2:] == [".parent"]:
        return Change(kind=Kind.REPARENTED, path=path, before=before, after=after)
    is_element = steps[-1].startswith("[") or any(isinstance(side, msgspec.Struct) for side in (before, after))
    kind = Kind.CHANGED
    if is_element and before is None:
        kind = Kind.ADDED
    elif is_element and after is None:
        kind = Kind.REMOVED
    return Change(kind=kind, path=path, before=_told(before), after=_told(after))


def _told(value: Any) -> Any:
    """A value as JSON values."""
    return _plain(msgspec.to_builtins(value, enc_hook=_array))


def _plain(value: Any) -> Any:
    """JSON values without native records: how a file spelt its values is not what it says."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key != "native"}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _array(array: np.ndarray) -> Any:
    return array.tolist() if array.size <= _LISTED_VALUES else {"shape": list(array.shape)}


def _moved_names(before: list[str], after: list[str]) -> list[str]:
    """Those names, as few as possible, whose moving turns one order into the other: all but a longest common run."""
    rank = {name: place for place, name in enumerate(before)}
    ends: list[int] = []
    lengths = []
    for name in after:
        length = bisect_left(ends, rank[name])
        ends[length : length + 1] = [rank[name]]
        lengths.append(length)
    wanted = len(ends) - 1
    moved = []
    last = len(before)
    for name, length in zip(reversed(after), reversed(lengths), strict=True):
        if length == wanted and rank[name] < last:
            wanted, last = wanted - 1, rank[name]
        else:
            moved.append(name)
    return moved[::-1]


# -- bones ------------------------------------------------------------------------------------------------------------


def _bones_of_one_side(sides: _Sides) -> list[Change]:
    """Bones that were added or removed, with their places."""
    gone = [place for name, place in sides.old_index.items() if name not in sides.index]
    come = [place for name, place in sides.index.items() if name not in sides.old_index]
    removed = _bones_told(sides.before.skeleton, sides.worlds[0], gone)
    added = _bones_told(sides.after.skeleton, sides.worlds[1], come)
    return [
        *(Change(kind=Kind.REMOVED, path=paths.bone(bone["name"]), before=bone, after=None) for bone in removed),
        *(Change(kind=Kind.ADDED, path=paths.bone(bone["name"]), before=None, after=bone) for bone in added),
    ]


def _bones_told(skeleton: Skeleton, worlds: np.ndarray, places: list[int]) -> list[dict[str, Any]]:
    parents = skeleton.parent_names
    poses = zip(places, transforms(skeleton.local[places]), transforms(worlds[places]), strict=True)
    return [
        {**_told(skeleton.bones[place]), "parent": parents[place], "local": asdict(local), "world": asdict(world)}
        for place, local, world in poses
    ]


def _pose_changes(sides: _Sides, tolerance: float) -> tuple[list[Change], list[str]]:
    """Bones that were moved, and the names of those that only moved along."""
    before, after = sides.before.skeleton, sides.after.skeleton
    rows, columns = sides.rows, sides.columns
    local_same = matrices_agree(before.local[rows], after.local[columns], tolerance)
    world_same = matrices_agree(sides.worlds[0][rows], sides.worlds[1][columns], tolerance)
    touched = ~local_same | np.array(_hang_otherwise(sides), dtype=bool)
    moved = touched & ~(local_same & world_same)
    along = ~touched & ~world_same & _below(after, columns[moved])[columns]
    moves = _moves(sides, moved, {"local": ~local_same, "world": ~world_same})
    return moves, [after.bones[column].name for column in columns[along].tolist()]


def _hang_otherwise(sides: _Sides) -> list[bool]:
    """Which of the bones that both rigs have take over another transform, or take it over otherwise."""
    before, after = (
        [
            (parent, bone.inherit, bone.shear_x, bone.lock_to_root)
            for bone, parent in zip(rig.skeleton.bones, rig.skeleton.parent_names, strict=True)
        ]
        for rig in (sides.before, sides.after)
    )
    pairs = zip(sides.rows.tolist(), sides.columns.tolist(), strict=True)
    return [before[row] != after[column] for row, column in pairs]


def _below(skeleton: Skeleton, chosen: np.ndarray) -> np.ndarray:
    """(n,) bool: the chosen bones, and all whose world transforms follow from theirs."""
    found = np.zeros(len(skeleton), dtype=bool)
    found[chosen] = True
    for place, above in enumerate(transform_parents(skeleton).tolist()):
        found[place] |= above >= 0 and found[above]
    return found


def _moves(sides: _Sides, chosen: np.ndarray, changed: dict[str, np.ndarray]) -> list[Change]:
    """The moves of some of the bones that both rigs have.

    Args:
        sides: The rigs.
        chosen: (k,) bool.
        changed: By the name of a space, (k,) bool: whose matrix in it is another.
    """
    rows, columns = sides.rows[chosen], sides.columns[chosen]
    origins = sides.worlds[0][rows, :3, 3], sides.worlds[1][columns, :3, 3]
    distances = np.linalg.norm(origins[1] - origins[0], axis=1).tolist()
    spaces = {
        "local": (sides.before.skeleton.local[rows], sides.after.skeleton.local[columns]),
        "world": (sides.worlds[0][rows], sides.worlds[1][columns]),
    }
    told: list[tuple[dict[str, Any], dict[str, Any]]] = [({}, {}) for _ in distances]
    for space, (old, new) in spaces.items():
        places = np.flatnonzero(changed[space][chosen])
        for place, was, now in zip(places.tolist(), transforms(old[places]), transforms(new[places]), strict=True):
            told[place][0][space], told[place][1][space] = asdict(was), asdict(now)
    names = [sides.after.skeleton.bones[column].name for column in columns.tolist()]
    return [
        Change(kind=Kind.MOVED, path=paths.bone(name), before=before, after=after, distance=distance)
        for name, (before, after), distance in zip(names, told, distances, strict=True)
    ]


# -- bind poses -------------------------------------------------------------------------------------------------------


def _is_bound_at_rest(skeleton: Skeleton) -> bool:
    """Whether the bind pose is the rest pose, as where a file states none."""
    if skeleton.inverse_bind is None:
        return True
    return bool(matrices_agree(skeleton.inverse_bind, inverse_bind_of_rest(skeleton)).all())


def _without_bind(skeleton: Skeleton) -> Skeleton:
    """The skeleton without bind matrices, and without a word on where they come from that means nothing."""
    silent = isinstance(skeleton.bind, str) and _is_bound_at_rest(skeleton)
    return replace(skeleton, inverse_bind=None, bind=None if silent else skeleton.bind)


def _bind_changes(sides: _Sides, tolerance: float) -> list[Change]:
    """Bones whose bind pose is another, in the world and relative to that of their parent."""
    skeletons = sides.before.skeleton, sides.after.skeleton
    if all(map(_is_bound_at_rest, skeletons)):
        return []
    before, after = (skeleton.inverse_bind for skeleton in skeletons)
    if before is None or after is None:
        kind = Kind.ADDED if before is None else Kind.REMOVED
        return [Change(kind=kind, path="bind.inverse", before=_told(before), after=_told(after))]
    (old_world, old_local), (new_world, new_local) = map(_bind_poses, skeletons, (before, after))
    changed = ~matrices_agree(old_world[sides.rows], new_world[sides.columns], tolerance)
    changed &= ~matrices_agree(old_local[sides.rows], new_local[sides.columns], tolerance)
    rows, columns = sides.rows[changed], sides.columns[changed]
    names = sides.after.skeleton.names
    told = zip(columns.tolist(), transforms(old_world[rows]), transforms(new_world[columns]), strict=True)
    return [
        Change(kind=Kind.REBOUND, path=paths.bone(names[column]), before=asdict(old), after=asdict(new))
        for column, old, new in told
    ]


def _bind_poses(skeleton: Skeleton, inverse_bind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 4, 4) bind poses in the world and (n, 4, 4) relative to that of the parent."""
    world = inverse(regular(inverse_bind))
    local = world.copy()
    child = np.flatnonzero(skeleton.parent >= 0)
    local[child] = inverse_bind[skeleton.parent[child]] @ world[child]
    return world, local


# -- meshes -----------------------------------------------------------------------------------------------------------


def _mesh_change(path: str, fields: list[str], sides: _Sides) -> Change:
    """The change of a mesh, in which only its shape is told and not every number."""
    _, skin, _, slot, placeholder = paths.segments(path)
    keys = [paths.key_of(step) for step in (skin, slot, placeholder)]
    before, after = (_attachment(rig, *keys) for rig in (sides.before, sides.after))
    return Change(
        kind=Kind.CHANGED,
        path=f"{path}.mesh",
        before=_shape(before.mesh),
        after=_shape(after.mesh),
        distance=_vertex_distance(before, after, sides),
        parts=fields,
    )


def _attachment(rig: Rig, skin_name: str, slot: str, placeholder: str) -> Any:
    skin = next(skin for skin in rig.skins if skin.name == skin_name)
    return skin.attachments[slot][placeholder]


def _shape(mesh: Mesh) -> dict[str, int]:
    return {"vertices": mesh.vertex_count, "triangles": len(mesh.triangles)}


def _vertex_distance(before: Any, after: Any, sides: _Sides) -> float | None:
    """How far a vertex moved at most, with the bones where ``after`` has them."""
    known = all(name in sides.index for name in before.mesh.bones)
    if not known or before.mesh.vertex_count != after.mesh.vertex_count:
        return None
    # A mesh names all its bones itself, so that the bone of its slot does not count.
    old, new = (world_vertices(item, "", sides.worlds[1], sides.index) for item in (before, after))
    if old is None or new is None:
        return None
    return float(np.linalg.norm(new - old, axis=1).max(initial=0.0))


# -- textures ---------------------------------------------------------------------------------------------------------

_Picture = dict[str, Any]


def _pictures(rig: Rig) -> list[_Picture]:
    """What tells textures from one another."""
    return [
        {
            "width": texture.width,
            "height": texture.height,
            "format": texture.format,
            "color_space": texture.color_space,
            "premultiplied": texture.premultiplied,
            "sha256": hashlib.sha256(texture.data.data).hexdigest(),
        }
        for texture in rig.textures
    ]


def _same_textures(before: list[_Picture], after: list[_Picture]) -> dict[int, int]:
    """Places in ``after`` of the textures of ``before``; those that are gone get places that ``after`` does not have.

    A texture is the same when its picture is, wherever it went; of the others, when its place is.
    """
    free = [place for place in range(len(after)) if place >= len(before) or before[place] != after[place]]
    places = {place: place for place in range(min(len(before), len(after))) if place not in free}
    lost = [place for place in range(len(before)) if place not in places]
    for place in lost:
        found = next((other for other in free if after[other] == before[place]), None)
        if found is not None:
            places[place] = found
            free.remove(found)
    for place in lost:
        if place not in places and place in free:
            places[place] = place
            free.remove(place)
    return {place: places.get(place, len(after) + place) for place in range(len(before))}


def _texture_changes(
    before: list[Texture],
    after: list[Texture],
    pictures: tuple[list[_Picture], list[_Picture]],
    places: dict[int, int],
    tolerance: float,
) -> Iterator[Change]:
    for old, new in places.items():
        if new >= len(after):
            yield Change(kind=Kind.REMOVED, path=paths.element("textures", old), before=pictures[0][old], after=None)
            continue
        path = paths.element("textures", new)
        if pictures[0][old] != pictures[1][new]:
            yield Change(kind=Kind.CHANGED, path=path, before=pictures[0][old], after=pictures[1][new])
        repainted = replace(before[old], **{name: getattr(after[new], name) for name in _PICTURE_FIELDS})
        for item in value_differences(path, repainted, after[new], tolerance):
            yield Change(kind=Kind.CHANGED, path=item.path, before=_told(item.before), after=_told(item.after))
    for new in sorted(set(range(len(after))) - set(places.values())):
        yield Change(kind=Kind.ADDED, path=paths.element("textures", new), before=None, after=pictures[1][new])


_PICTURE_FIELDS = [name for name in Texture.__struct_fields__ if name != "native"]


# -- order ------------------------------------------------------------------------------------------------------------


def _in_order(changes: Iterable[Change], sides: _Sides) -> list[Change]:
    """Changes by collection, and those of bones as the bones come in ``after``, each behind those that are gone."""
    return sorted(changes, key=lambda change: _rank(change.path, sides.index))


def _rank(path: str, index: dict[str, int]) -> tuple[int, int]:
    collection, *steps = paths.segments(path)
    if collection not in COLLECTIONS:
        return -1, 0
    place = index.get(paths.key_of(steps[0]), -1) if collection == "bones" and steps else 0
    return COLLECTIONS.index(collection), place
