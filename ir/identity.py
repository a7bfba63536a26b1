"""Telling that an element of one rig is an element of another under a new name.

Only names that one of the rigs lacks are looked at: an element that has its like under its own name is that one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np

from .compare import matrices_agree
from .edit import uuid_of
from .paths import record_key
from .renaming import NewNames, Renaming
from .rig import Bone, Constraint, Param, Rig, Skeleton, Slot

_MOST_HELPERS = 2
"""So many bones may stand between a bone and its parent in a format that says neither shear nor scale along z."""

_SUMMING = 1e-12
"""Share by which sums of the same values may differ, as the order of adding is not ours."""

_CROWD = 32
"""So many candidates for one bone are no unique match, and not worth comparing."""


def find_renaming(before: Rig, after: Rig, tolerance: float) -> Renaming:
    """New names of elements that ``after`` has under another name.

    A bone or a parameter is the same when its uuid is. Failing that, a bone is the same when its place is: it hangs on
    the same parent, its local matrix agrees, its children are not all elsewhere, and it is the only such bone on either
    side. What bears its bone's name, as all does that a node of a puppet holds, goes with the bone.

    Args:
        before: The first rig.
        after: The second.
        tolerance: As for :func:`rigconv.ir.compare.differences`.
    """
    bones = _renamed_bones(before.skeleton, after.skeleton, tolerance)
    slots = _followers(bones, before.slots, after.slots)
    return Renaming(
        bones=bones,
        slots=slots,
        params=_same_uuid(before.params, after.params),
        placeholders=_namesake_placeholders(before, after, slots),
        constraints=_namesake_constraints(before, after, bones),
    )


# -- by uuid ----------------------------------------------------------------------------------------------------------


def _same_uuid(before: Sequence[Bone | Param], after: Sequence[Bone | Param]) -> dict[str, str]:
    """New names of records whose uuid is that of exactly one record on each side."""
    old, new = _names_by_uuid(before), _names_by_uuid(after)
    kept = {record.name for record in before} & {record.name for record in after}
    return {name: new[uuid] for uuid, name in old.items() if uuid in new and name not in kept and new[uuid] not in kept}


def _names_by_uuid(records: Sequence[Bone | Param]) -> dict[int, str]:
    """Names by uuid, or by the one that the record gets when a format wants one; without those used twice."""
    uuids = [uuid_of(record.name) if record.uuid is None else record.uuid for record in records]
    count = Counter(uuids)
    return {uuid: record.name for uuid, record in zip(uuids, records, strict=True) if count[uuid] == 1}


# -- by place ---------------------------------------------------------------------------------------------------------


class _Side(msgspec.Struct, frozen=True, eq=False):
    """A skeleton, with what matching asks about it.

    Attributes:
        skeleton: The bones.
        alone: By parent, the places of bones whose names the other skeleton lacks.
        children: By place, those children whose names both skeletons have, helper bones in between passed over.
    """

    skeleton: Skeleton
    alone: dict[str | None, list[int]]
    children: dict[int, set[str]]


def _side(skeleton: Skeleton, shared: set[str]) -> _Side:
    side = _Side(skeleton, defaultdict(list), defaultdict(set))
    rows = zip(skeleton.names, skeleton.parent_names, skeleton.parent.tolist(), strict=True)
    for place, (name, parent_name, parent) in enumerate(rows):
        if name not in shared:
            side.alone[parent_name].append(place)
            continue
        for above in _right_above(skeleton, parent, shared):
            side.children[above].add(name)
    return side


def _right_above(skeleton: Skeleton, place: int, shared: set[str]) -> Iterator[int]:
    """Places of a bone and of those above it, as far as the way leads over bones that may be helpers."""
    for _ in range(1 + _MOST_HELPERS):
        if place < 0:
            return
        yield place
        if skeleton.bones[place].name in shared:
            return
        place = int(skeleton.parent[place])


def _renamed_bones(before: Skeleton, after: Skeleton, tolerance: float) -> dict[str, str]:
    found = _same_uuid(before.bones, after.bones)
    taken = set(found.values())
    shared = set(before.names) & set(after.names)
    left, right = _side(before, shared), _side(after, shared)
    # Siblings are matched together. A parent comes before its children, so its new name is known by then.
    for parent, places in left.alone.items():
        new_parent = parent if parent is None else found.get(parent, parent)
        old = [place for place in places if before.bones[place].name not in found]
        new = [place for place in right.alone.get(new_parent, []) if after.bones[place].name not in taken]
        for row, column in _unique_pairs(_same_places(left, right, old, new, tolerance)):
            found[before.bones[row].name] = after.bones[column].name
    return found


def _unique_pairs(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those pairs of which neither side is in another pair."""
    pairs = list(pairs)
    rows, columns = Counter(row for row, _ in pairs), Counter(column for _, column in pairs)
    return [(row, column) for row, column in pairs if rows[row] == columns[column] == 1]


def _same_places(
    left: _Side, right: _Side, old: list[int], new: list[int], tolerance: float
) -> Iterator[tuple[int, int]]:
    """Pairs of siblings that stand in the same place and do not have other children."""
    if not old or not new:
        return
    locals_ = left.skeleton.local[old], right.skeleton.local[new]
    rows, columns = _neighbours(*locals_, tolerance)
    agreed = matrices_agree(locals_[0][rows], locals_[1][columns], tolerance)
    for row, column in zip(rows[agreed].tolist(), columns[agreed].tolist(), strict=True):
        children = left.children.get(old[row], set()), right.children.get(new[column], set())
        if not any(children) or children[0] & children[1]:
            yield old[row], new[column]


def _neighbours(left: np.ndarray, right: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Places in (n, 4, 4) and (m, 4, 4) matrices of the pairs that may agree.

    Weighted sums of the values of matrices that agree are nearly the same, so only neighbours by their sum need be
    compared; where siblings are many that is much less than all pairs.
    """
    weights = np.sqrt(np.arange(1.0, 17.0))
    sums, others = left.reshape(-1, 16) @ weights, right.reshape(-1, 16) @ weights
    order = np.argsort(others, kind="stable")
    slack = (2 * tolerance + _SUMMING) * weights.sum() * max(np.abs(left).max(), np.abs(right).max())
    low = np.searchsorted(others[order], sums - slack, side="left")
    count = np.searchsorted(others[order], sums + slack, side="right") - low
    if len(left) * len(right) > _CROWD**2:
        count[count > _CROWD] = 0
    rows = np.repeat(np.arange(len(left)), count)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    return rows, order[low[rows] + within]


# -- what goes with a bone --------------------------------------------------------------------------------------------


def _followers(bones: NewNames, old: Iterable[Slot | Constraint], new: Iterable[Slot | Constraint]) -> dict[str, str]:
    """New names of records that bore the old name of their bone and bear its new one."""
    old_names, new_names = ({record.name for record in records} for records in (old, new))
    old_namesakes, new_namesakes = (
        {record.name for record in records if getattr(record, "bone", None) == record.name} for records in (old, new)
    )
    leaving, coming = old_namesakes - new_names, new_namesakes - old_names
    return {was: now for was, now in bones.items() if was in leaving and now in coming}


def _namesake_placeholders(before: Rig, after: Rig, slots: NewNames) -> dict[str, dict[str, str]]:
    """For slots with a new name, the placeholders that bore the old one and bear the new one."""
    old, new = _placeholders(before), _placeholders(after)
    return {was: {was: now} for was, now in slots.items() if was in old[was] - new[now] and now in new[now] - old[was]}


def _placeholders(rig: Rig) -> dict[str, set[str]]:
    """The placeholders of each slot."""
    found: dict[str, set[str]] = defaultdict(set)
    for slot in rig.slots:
        if slot.attachment is not None:
            found[slot.name].add(slot.attachment)
    for skin in rig.skins:
        for slot_name, items in skin.attachments.items():
            found[slot_name].update(items)
    return found


def _namesake_constraints(before: Rig, after: Rig, bones: NewNames) -> dict[str, str]:
    """New names by type and old name."""
    found: dict[str, str] = {}
    for kind in {type(constraint) for constraint in before.constraints}:
        old = [constraint for constraint in before.constraints if type(constraint) is kind]
        new = [constraint for constraint in after.constraints if type(constraint) is kind]
        names = _followers(bones, old, new)
        found |= {record_key(constraint): names[constraint.name] for constraint in old if constraint.name in names}
    return found
