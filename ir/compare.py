"""Telling two rigs apart, element by element.

Native records do not count, apart from the fields that no neutral value holds: two rigs are the same when they say
the same, however it was spelt. Nor do sizes of images, which files beside a rig tell and not the rig.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import msgspec
import numpy as np

from . import paths
from .errors import quoted
from .native import Native
from .paths import record_key
from .pose import world_matrices
from .rig import Binding, Bone, Lane, Mesh, Record, Rig, Skeleton

AGREEMENT = 1e-6
"""Relative tolerance within which two values agree: a float32 step with room to spare (DESIGN §3)."""

_SMALL_TRANSLATION = 1e-3
"""Share of the skeleton's size below which a translation is judged by that size and not by its own."""


_PALETTE = ("bones", "influence_bones")
"""Fields of a mesh that only together say something: which bone each influence is of."""


_MEASURED = ("image_size",)
"""Fields that files beside a rig tell."""


class Difference(msgspec.Struct, frozen=True):
    """One value in which two rigs differ; None stands for an element that one of them lacks."""

    path: str
    before: Any
    after: Any


def differences(before: Rig, after: Rig, tolerance: float = AGREEMENT) -> Iterator[Difference]:
    """Every difference between two rigs, named by the path of the element."""
    yield from _skeleton_differences(before.skeleton, after.skeleton, tolerance)
    yield from _native_differences("", before.native, after.native, tolerance)
    for name in Rig.__struct_fields__:
        if name not in ("skeleton", "native", "origin"):
            yield from value_differences(name, getattr(before, name), getattr(after, name), tolerance)


def agree(before: Any, after: Any, tolerance: float = AGREEMENT) -> bool:
    """Whether two values of a rig are the same within ``tolerance``."""
    return next(value_differences("", before, after, tolerance), None) is None


def matrices_agree(before: np.ndarray, after: np.ndarray, tolerance: float = AGREEMENT) -> np.ndarray:
    """(n,) bool: which of (n, 4, 4) local matrices agree.

    Axes are judged by the longest of their own matrix, translations by their own length or, where they are small, by
    the largest translation of all.
    """
    if not len(before):
        return np.ones(0, dtype=bool)
    distance = np.abs(before - after)
    axes = np.maximum(np.abs(before[:, :3, :3]), np.abs(after[:, :3, :3])).max(axis=(1, 2))
    reach = np.maximum(np.abs(before[:, :3, 3]), np.abs(after[:, :3, 3])).max(axis=1)
    reach = np.maximum(reach, _SMALL_TRANSLATION * reach.max())
    return np.asarray(
        (distance[:, :3, :3].max(axis=(1, 2)) <= tolerance * axes)
        & (distance[:, :3, 3].max(axis=1) <= tolerance * reach)
    )


def world_errors(before: Rig, after: Rig) -> dict[str, float]:
    """How far each bone's world matrix moved, as a share of the skeleton's size; by the bone's name.

    Bones that only one of the rigs has do not count.
    """
    names, places = before.skeleton.names, _indices(after.skeleton)
    shared = [(index, places[name]) for index, name in enumerate(names) if name in places]
    if not shared:
        return {}
    rows, columns = np.array(shared).T
    before_worlds = world_matrices(before.skeleton)
    errors = displacements(before_worlds, before_worlds[rows], world_matrices(after.skeleton)[columns])
    return {names[row]: error for row, error in zip(rows.tolist(), errors.tolist(), strict=True)}


def displacements(skeleton: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(k,) how far world matrices moved from ``before`` to ``after``, as a share of the skeleton's size.

    Args:
        skeleton: (n, 4, 4) world matrices of all bones, n > 0; the largest number of them is the skeleton's size.
        before: (k, 4, 4).
        after: (k, 4, 4).
    """
    size = max(np.abs(skeleton[:, :3]).max(), 1e-300)
    return np.asarray(np.abs(before - after).max(axis=(1, 2)) / size)


def value_differences(path: str, before: Any, after: Any, tolerance: float) -> Iterator[Difference]:
    """Every difference between two values that a rig may hold."""
    if isinstance(before, msgspec.Struct) and type(before) is type(after):
        yield from _record_differences(path, before, after, tolerance)
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _mapping_differences(path, before, after, tolerance)
    elif _are_named(before, after):
        yield from _named_differences(path, before, after, tolerance)
    elif _are_identified(before, after):
        yield from _mapping_differences(path, _by_identity(before), _by_identity(after), tolerance)
    elif _are_alike(before, after):
        for index, (left, right) in enumerate(zip_longest(before, after)):
            yield from value_differences(f"{path}[{index}]", left, right, tolerance)
    elif not _equal(before, after, tolerance):
        yield Difference(path, before, after)


def _record_differences(path: str, before: Any, after: Any, tolerance: float) -> Iterator[Difference]:
    passed_over = _PALETTE if isinstance(before, Mesh) else _MEASURED
    names = [name for name in before.__struct_fields__ if name not in passed_over]
    if isinstance(before, Mesh):
        yield from value_differences(f"{path}.bones", before.influence_names, after.influence_names, tolerance)
    for name in names:
        if name == "native" and isinstance(before, Record):
            yield from _native_differences(f"{path}.", before.native, after.native, tolerance)
        else:
            yield from value_differences(f"{path}.{name}", getattr(before, name), getattr(after, name), tolerance)


def _mapping_differences(path: str, before: Any, after: Any, tolerance: float) -> Iterator[Difference]:
    for key in [*before, *(key for key in after if key not in before)]:
        place = f"{path}[{quoted(key)}]"
        present = before[key] if key in before else after[key]
        if key in before and key in after:
            yield from value_differences(place, before[key], after[key], tolerance)
        elif isinstance(present, Mapping) and present:  # what is in it is missing; reports name that
            yield from _mapping_differences(place, before.get(key, {}), after.get(key, {}), tolerance)
        else:
            yield Difference(place, before.get(key), after.get(key))


def _named_differences(path: str, before: Any, after: Any, tolerance: float) -> Iterator[Difference]:
    left, right = by_key(before), by_key(after)
    yield from _mapping_differences(path, left, right, tolerance)
    yield from _order_differences(path, list(left), list(right))


def _order_differences(path: str, before: list[str], after: list[str]) -> Iterator[Difference]:
    shared = set(before) & set(after)
    shared_before = [name for name in before if name in shared]
    shared_after = [name for name in after if name in shared]
    if shared_before != shared_after:
        yield Difference(f"{path}.order", shared_before, shared_after)


def _native_differences(
    prefix: str, before: Mapping[str, Native], after: Mapping[str, Native], tolerance: float
) -> Iterator[Difference]:
    for format_id in [*before, *(key for key in after if key not in before)]:
        left, right = unmapped_fields(before, format_id), unmapped_fields(after, format_id)
        for name in {**left, **right}:
            place = f"{prefix}native.{format_id}.{name}"
            yield from value_differences(place, left.get(name), right.get(name), tolerance)


def unmapped_fields(natives: Mapping[str, Native], format_id: str) -> dict[str, Any]:
    """The authored fields of ``format_id`` that no neutral value holds."""
    native = natives.get(format_id)
    return {name: _lookup(native.fields, name) for name in native.unmapped} if native else {}


def _lookup(fields: dict[str, Any], name: str) -> Any:
    """The value of a field, or of a field of an object in it: ``part.glow``."""
    outer, _, inner = name.partition(".")
    return fields[name] if name in fields or not inner else _lookup(fields[outer], inner)


def _skeleton_differences(before: Skeleton, after: Skeleton, tolerance: float) -> Iterator[Difference]:
    left, right = _indices(before), _indices(after)
    shared = [name for name in left if name in right]
    yield from (Difference(paths.bone(name), before.bones[left[name]], None) for name in left if name not in right)
    yield from (Difference(paths.bone(name), None, after.bones[right[name]]) for name in right if name not in left)
    yield from _order_differences("bones", list(left), list(right))

    rows, columns = [left[name] for name in shared], [right[name] for name in shared]
    parents = before.parent_names, after.parent_names
    if (before.inverse_bind is None) != (after.inverse_bind is None):
        yield Difference("bind.inverse", before.inverse_bind, after.inverse_bind)
    moved = ~matrices_agree(before.local[rows], after.local[columns], tolerance)
    rebound = ~_binds_agree(before, after, rows, columns, tolerance)
    for index, name in enumerate(shared):
        path = paths.bone(name)
        row, column = rows[index], columns[index]
        if _plain_values(before.bones[row]) != _plain_values(after.bones[column]):
            yield from value_differences(path, before.bones[row], after.bones[column], tolerance)
        if parents[0][row] != parents[1][column]:
            yield Difference(f"{path}.parent", parents[0][row], parents[1][column])
        if moved[index]:
            yield Difference(f"{path}.local", before.local[row], after.local[column])
        if rebound[index] and before.inverse_bind is not None and after.inverse_bind is not None:
            yield Difference(f"{path}.inverse_bind", before.inverse_bind[row], after.inverse_bind[column])
    yield from value_differences("bind", before.bind, after.bind, tolerance)


def _plain_values(bone: Bone) -> tuple[Any, ...]:
    """What a bone says, for telling fast that two bones say the very same, as most do."""
    unmapped = {key: unmapped_fields(bone.native, key) for key, native in bone.native.items() if native.unmapped}
    return (unmapped, *(getattr(bone, name) for name in _BONE_FIELDS))


_BONE_FIELDS = [name for name in Bone.__struct_fields__ if name != "native"]


def _binds_agree(
    before: Skeleton, after: Skeleton, rows: list[int], columns: list[int], tolerance: float
) -> np.ndarray:
    if before.inverse_bind is None or after.inverse_bind is None:
        return np.ones(len(rows), dtype=bool)
    return matrices_agree(before.inverse_bind[rows], after.inverse_bind[columns], tolerance)


def _indices(skeleton: Skeleton) -> dict[str, int]:
    return {name: index for index, name in enumerate(skeleton.names)}


def by_key(records: Sequence[Any]) -> dict[str, Any]:
    """Named records by what identifies them."""
    return {record_key(record): record for record in records}


def _by_identity(records: Sequence[Binding | Lane]) -> dict[str, Binding | Lane]:
    """Nameless records by what they move."""
    return {_identity(record): record for record in records}


def _identity(record: Binding | Lane) -> str:
    return f"{record.bone}/{record.target}" if isinstance(record, Binding) else f"{record.param}/{record.axis}"


def _are_identified(before: Any, after: Any) -> bool:
    """Whether both are lists of nameless records of which no two move the same."""
    if not isinstance(before, list) or not isinstance(after, list) or not (before or after):
        return False
    if not all(isinstance(item, (Binding, Lane)) for item in [*before, *after]):
        return False
    return all(len(_by_identity(side)) == len(side) for side in (before, after))


def _are_alike(before: Any, after: Any) -> bool:
    """Whether both are lists of records, or lists of as many values, numbers apart: these are one value together."""
    if _is_vector(before) and _is_vector(after):
        return False
    if not isinstance(before, (list, tuple)) or not isinstance(after, (list, tuple)):
        return False
    return len(before) == len(after) or all(isinstance(item, Record) for item in [*before, *after])


def _are_named(before: Any, after: Any) -> bool:
    both = isinstance(before, list) and isinstance(after, list) and bool(before or after)
    return both and all(hasattr(item, "name") for item in [*before, *after])


def _equal(before: Any, after: Any, tolerance: float) -> bool:
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        return before.shape == after.shape and _arrays_agree(before, after, tolerance)
    if isinstance(before, np.ndarray) or isinstance(after, np.ndarray):
        return False
    if _is_vector(before) and _is_vector(after):
        return len(before) == len(after) and all(
            _equal(left, right, tolerance) for left, right in zip(before, after, strict=True)
        )
    if _is_number(before) and _is_number(after):
        return bool(abs(before - after) <= tolerance * max(abs(before), abs(after)))
    return bool(before == after)


def _is_vector(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _arrays_agree(before: np.ndarray, after: np.ndarray, tolerance: float) -> bool:
    if before.dtype.kind != "f" or before.size == 0:
        return np.array_equal(before, after)
    reach = max(np.abs(before).max(), np.abs(after).max())
    return bool(np.abs(before - after).max() <= tolerance * reach)
