"""Changing rigs: order, names, scale. Every function returns new records and leaves its arguments as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from msgspec.structs import replace

from .rig import (
    Attachment,
    Bone,
    Constraint,
    IkConstraint,
    MaskAttachment,
    Mesh,
    MeshAttachment,
    MeshGroupAttachment,
    Param,
    PendulumConstraint,
    PhysicsConstraint,
    RegionAttachment,
    Rig,
    Skeleton,
    Skin,
    Stage,
    TransformConstraint,
    TransformSource,
    TransformTarget,
)

Named = TypeVar("Named", Bone, Param)


class CycleError(ValueError):
    """Parents form a ring.

    Attributes:
        index: One of the elements in it.
    """

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


# -- order ------------------------------------------------------------------------------------------------------------


def topological_order(parent: Sequence[int]) -> list[int]:
    """Indices so that parents come before children; the given order where it already is so.

    Args:
        parent: Index of each element's parent, -1 for a root.

    Raises:
        CycleError: Some parents form a ring.
    """
    order: list[int] = []
    placed = [False] * len(parent)
    for start in range(len(parent)):
        chain = []
        index = start
        while index >= 0 and not placed[index]:
            chain.append(index)
            index = parent[index]
            if len(chain) > len(parent):
                raise CycleError(index)
        for index in reversed(chain):
            placed[index] = True
            order.append(index)
    return order


def pre_order(parent: Sequence[int]) -> list[int]:
    """Indices so that every subtree is contiguous behind its root; siblings keep their order.

    Args:
        parent: Index of each element's parent, -1 for a root, without cycles.
    """
    children: list[list[int]] = [[] for _ in parent]
    waiting: list[int] = []
    for index, above in enumerate(parent):
        (children[above] if above >= 0 else waiting).append(index)
    waiting.reverse()
    order = []
    while waiting:
        index = waiting.pop()
        order.append(index)
        waiting.extend(reversed(children[index]))
    return order


def reordered(skeleton: Skeleton, order: Sequence[int]) -> Skeleton:
    """The skeleton with bone ``order[i]`` at place i; ``order`` may leave out bones that have no children in it."""
    place = np.full(len(skeleton) + 1, -1, dtype=np.int64)
    place[list(order)] = np.arange(len(order))
    chosen = list(order)
    return Skeleton(
        bones=[skeleton.bones[index] for index in chosen],
        parent=place[skeleton.parent[chosen]],
        local=skeleton.local[chosen],
        inverse_bind=None if skeleton.inverse_bind is None else skeleton.inverse_bind[chosen],
        bind=skeleton.bind,
    )


def with_bones(skeleton: Skeleton, bones: Iterable[Bone], parent: np.ndarray, local: np.ndarray) -> Skeleton:
    """``skeleton`` with ``bones`` appended and all parents and local matrices given anew, in topological order."""
    grown = [*skeleton.bones, *bones]
    added = len(grown) - len(skeleton)
    inverse_bind = skeleton.inverse_bind
    if inverse_bind is not None:
        inverse_bind = np.concatenate([inverse_bind, np.tile(np.eye(4), (added, 1, 1))])
    whole = Skeleton(bones=grown, parent=parent, local=local, inverse_bind=inverse_bind, bind=skeleton.bind)
    return reordered(whole, topological_order(parent.tolist()))


# -- names ------------------------------------------------------------------------------------------------------------


def unique_names(names: Sequence[str], fallback: str) -> list[str]:
    """Names that are unique and not empty.

    Padding NULs are cut off, an empty name becomes ``fallback``, and a name that was there before gets the suffix
    ``~2``, ``~3``, …; names that are unique and whole stay as they are.
    """
    whole = [name.rstrip("\0") or fallback for name in names]
    taken = set(whole)
    seen: set[str] = set()
    result = []
    for name in whole:
        unique = free_name(name, taken) if name in seen else name
        seen.add(unique)
        taken.add(unique)
        result.append(unique)
    return result


def free_name(name: str, taken: Iterable[str]) -> str:
    """``name``, or ``name~2``, ``name~3``, … : the first that is not in ``taken``."""
    names = taken if isinstance(taken, (set, frozenset, dict)) else set(taken)
    number, candidate = 2, name
    while candidate in names:
        candidate, number = f"{name}~{number}", number + 1
    return candidate


def is_repaired_from(name: str, authored: str, fallback: str) -> bool:
    """Whether :func:`unique_names` may have made ``name`` out of ``authored``."""
    whole = authored.rstrip("\0") or fallback
    return name == whole or (name.startswith(f"{whole}~") and name[len(whole) + 1 :].isdecimal())


def uuid_of(name: str) -> int:
    """The 32-bit number that identifies an element whose source gave it none.

    It is made from the name, so that it need not be kept: whoever writes the element again makes the same.
    """
    return crc32(name.encode("utf-8", "surrogatepass"))


def with_uuids(records: Sequence[Named]) -> list[Named]:
    """Bones or parameters with a uuid for each that has none, all of them different from the others."""
    taken = {record.uuid for record in records}
    result = []
    for record in records:
        if record.uuid is None:
            uuid = uuid_of(record.name)
            while uuid in taken:
                uuid = (uuid + 1) & 0xFFFFFFFF
            taken.add(uuid)
            record = replace(record, uuid=uuid)
        result.append(record)
    return result


# -- scale ------------------------------------------------------------------------------------------------------------


def scaled(rig: Rig, factor: float) -> Rig:
    """The rig with every length multiplied by ``factor``."""
    return replace(
        rig,
        skeleton=_scaled_skeleton(rig.skeleton, factor),
        stage=_scaled_stage(rig.stage, factor) if rig.stage else None,
        skins=[_scaled_skin(skin, factor) for skin in rig.skins],
        constraints=[_scaled_constraint(constraint, factor) for constraint in rig.constraints],
        params=[_scaled_param(param, factor) for param in rig.params],
    )


def _scaled_skeleton(skeleton: Skeleton, factor: float) -> Skeleton:
    return replace(
        skeleton,
        bones=[replace(bone, length=bone.length * factor) for bone in skeleton.bones],
        local=_scaled_translations(skeleton.local, factor),
        inverse_bind=None if skeleton.inverse_bind is None else _scaled_translations(skeleton.inverse_bind, factor),
    )


def _scaled_translations(matrices: np.ndarray, factor: float) -> np.ndarray:
    result = matrices.copy()
    result[:, :3, 3] *= factor
    return result


def _scaled_stage(stage: Stage, factor: float) -> Stage:
    lengths = ("x", "y", "width", "height", "reference_scale")
    return replace(stage, **_scaled_fields(stage, lengths, factor))


def _scaled_fields(record: Any, names: Iterable[str], factor: float) -> dict[str, float]:
    values = {name: getattr(record, name) for name in names}
    return {name: value * factor for name, value in values.items() if value is not None}


def _scaled_skin(skin: Skin, factor: float) -> Skin:
    attachments = {
        slot: {placeholder: _scaled_attachment(item, factor) for placeholder, item in items.items()}
        for slot, items in skin.attachments.items()
    }
    return replace(skin, attachments=attachments)


def _scaled_attachment(attachment: Attachment, factor: float) -> Attachment:
    if isinstance(attachment, RegionAttachment):
        return replace(attachment, **_scaled_fields(attachment, ("x", "y", "width", "height"), factor))
    if isinstance(attachment, MeshAttachment):
        sizes = _scaled_fields(attachment, ("width", "height"), factor)
        return replace(attachment, mesh=_scaled_mesh(attachment.mesh, factor), **sizes)
    if isinstance(attachment, (MaskAttachment, MeshGroupAttachment)):
        return replace(attachment, mesh=_scaled_mesh(attachment.mesh, factor))
    return attachment


def _scaled_mesh(mesh: Mesh | None, factor: float) -> Mesh | None:
    if mesh is None:
        return None
    origin = (mesh.origin[0] * factor, mesh.origin[1] * factor)
    return replace(mesh, positions=mesh.positions * factor, origin=origin)


def _scaled_constraint(constraint: Constraint, factor: float) -> Constraint:
    if isinstance(constraint, IkConstraint):
        return replace(constraint, softness=constraint.softness * factor)
    if isinstance(constraint, TransformConstraint):
        properties = {name: _scaled_source(name, source, factor) for name, source in constraint.properties.items()}
        return replace(constraint, properties=properties, **_scaled_fields(constraint, ("x", "y"), factor))
    if isinstance(constraint, PhysicsConstraint):
        return replace(constraint, limit=constraint.limit * factor)
    if isinstance(constraint, PendulumConstraint):
        return replace(constraint, length=constraint.length * factor)
    return constraint


def _scaled_source(name: str, source: TransformSource, factor: float) -> TransformSource:
    unit = _length_unit(name, factor)
    targets = {
        target_name: TransformTarget(
            offset=target.offset * _length_unit(target_name, factor),
            max=target.max * _length_unit(target_name, factor),
            scale=target.scale * _length_unit(target_name, factor) / unit,
        )
        for target_name, target in source.to.items()
    }
    return TransformSource(offset=source.offset * unit, to=targets)


def _length_unit(property_name: str, factor: float) -> float:
    return factor if property_name in ("x", "y") else 1.0


def _scaled_param(param: Param, factor: float) -> Param:
    bindings = [
        replace(binding, values=binding.values * factor)
        if binding.values is not None and (binding.kind == "deform" or binding.target.startswith("transform.t."))
        else binding
        for binding in param.bindings
    ]
    return replace(param, bindings=bindings)
