"""The representation to ``rig.json``.

Matrices are written column by column. Bones that came from such a file keep their places in it.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET

from ...ir.compare import matrices_agree
from ...ir.edit import is_repaired_from
from ...ir.exchange import Buffers, Writing
from ...ir.matrix import decompose, quaternion_from_rotation
from ...ir.native import as_struct, fields_of, restore
from ...ir.pose import inverse_bind_of_rest
from ...ir.rig import Bind, BindReference, Rig, Skeleton
from ...ir.rig import Bone as RigBone
from ..json_text import encode
from .reader import FORMAT, UNNAMED, local_of, rest_of
from .structs import Bone, Transform

_IDENTITY: Any = tuple(np.eye(4).ravel().tolist())


def write(rig: Rig, writing: Writing) -> Buffers:
    """The file that describes a rig."""
    return [encode(document_of(rig))]


def document_of(rig: Rig) -> dict[str, Any]:
    """The file's JSON value."""
    fields = fields_of(rig.native, FORMAT)
    sections = {"bones": _bones(rig.skeleton), "bind": _bind(rig.skeleton.bind)}
    order = [*fields, *(key for key in sections if key not in fields)]
    values = {key: sections.get(key, fields.get(key)) for key in order}
    return {key: value for key, value in values.items() if value is not None or key not in sections}


def _bind(bind: Bind | None) -> Any:
    return {"__ref": bind.guid} if isinstance(bind, BindReference) else bind


def _file_order(bones: list[RigBone]) -> list[int]:
    """Places that bones had in their file, then those that are new."""

    def place(index: int) -> float:
        native = bones[index].native.get(FORMAT)
        return float("inf") if native is None or native.index is None else native.index

    return sorted(range(len(bones)), key=place)


def _bones(skeleton: Skeleton) -> list[dict[str, Any]]:
    order = _file_order(skeleton.bones)
    place = np.full(len(order) + 1, -1)
    place[order] = np.arange(len(order))
    parent = place[skeleton.parent].tolist()
    authored = [fields_of(bone.native, FORMAT) for bone in skeleton.bones]
    was = [_was(fields, bone) for fields, bone in zip(authored, skeleton.bones, strict=True)]
    rests = _rests(skeleton, was)
    binds = _inverse_binds(skeleton, was)
    return [
        restore(
            authored[index],
            was[index],
            _bone(skeleton.bones[index], parent[index], was[index], rests[index], binds[index]),
        )
        for index in order
    ]


def _was(fields: dict[str, Any], bone: RigBone) -> Bone:
    if fields:
        return as_struct(fields, Bone)
    return Bone(name=bone.name, parent=-1, inverseBind=_IDENTITY)


def _bone(bone: RigBone, parent: int, was: Bone, rest: Transform | None, inverse_bind: Any) -> Bone:
    repaired = bool(bone.native.get(FORMAT)) and is_repaired_from(bone.name, was.name, UNNAMED)
    now = msgspec.structs.replace(
        was,
        name=was.name if repaired else bone.name,
        parent=parent,
        node=UNSET if bone.node_index is None else bone.node_index,
        inverseBind=inverse_bind,
    )
    if rest is None:
        return now
    nested, _ = rest_of(was)
    if nested:
        setattr(now, nested, rest)
    else:
        now.translation, now.rotation, now.scale = rest.translation, rest.rotation, rest.scale
    return now


def _are_authored(skeleton: Skeleton) -> np.ndarray:
    """(n,) bool: which bones came from such a file; the values of others were never written."""
    return np.array([bool(fields_of(bone.native, FORMAT)) for bone in skeleton.bones])


def _rests(skeleton: Skeleton, was: list[Bone]) -> list[Transform | None]:
    """The rest transform of each bone; None where the authored one still holds."""
    moved = np.flatnonzero(~(_are_authored(skeleton) & matrices_agree(local_of(was), skeleton.local)))
    translation, rotation, scale = decompose(skeleton.local[moved])
    rows = zip(
        moved.tolist(),
        (translation + 0.0).tolist(),
        (quaternion_from_rotation(rotation) + 0.0).tolist(),
        scale.tolist(),
        strict=True,
    )
    rests: list[Transform | None] = [None] * len(was)
    for index, *parts in rows:
        rests[index] = Transform(translation=tuple(parts[0]), rotation=tuple(parts[1]), scale=tuple(parts[2]))
    return rests


def _inverse_binds(skeleton: Skeleton, was: list[Bone]) -> list[Any]:
    inverse_bind = inverse_bind_of_rest(skeleton) if skeleton.inverse_bind is None else skeleton.inverse_bind
    before = np.array([bone.inverseBind for bone in was]).reshape(-1, 4, 4).swapaxes(1, 2)
    kept = _are_authored(skeleton) & matrices_agree(before, inverse_bind)
    stored = (inverse_bind.swapaxes(1, 2) + 0.0).reshape(-1, 16).tolist()
    return [bone.inverseBind if same else tuple(row) for bone, same, row in zip(was, kept, stored, strict=True)]
