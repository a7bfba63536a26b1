"""The carry: what a target cannot say travels with it, so that A -> B -> A gives A back.

A carry holds the whole source rig as a document. When the file that bears it is read again, three rigs meet: the
*carried* one, the one that the file was *expected* to say when it was written, and what the *host* file says now.
Where host and expected agree nothing was edited, and the carried value comes back; where they do not, the host wins.
Carried items whose anchor is gone are dropped, with an entry in the report.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from . import codes, paths
from .compare import AGREEMENT, agree, by_key, matrices_agree
from .document import (
    DecodeArray,
    DocumentError,
    EncodeArray,
    bones_of,
    decode_array,
    encode_array,
    from_builtins,
    to_builtins,
)
from .edit import reordered, topological_order
from .errors import quoted
from .exchange import Carried
from .pose import inverse_bind_of_rest
from .report import ConversionReport
from .rig import Animation, Attachment, Bone, Inherit, Param, Record, Rig, Skeleton, Skin, Slot

SPEC = "rigconv-carry/1"
FIELD = "rigconv"
"""Key under which formats that embed the carry keep it."""


# -- packing ----------------------------------------------------------------------------------------------------------


def pack(carried: Carried, encode: EncodeArray = encode_array) -> dict[str, Any]:
    """What travels with a file, as JSON values."""
    return {"spec": SPEC, "options": carried.options, "rig": to_builtins(carried.rig, encode)}


def unpack(value: Any, decode: DecodeArray = decode_array) -> Carried:
    """The inverse of :func:`pack`.

    Raises:
        DocumentError: It is no carry, or its document breaks a rule.
    """
    if not isinstance(value, dict) or value.get("spec") != SPEC:
        raise DocumentError("$.spec", "this is no carry that this version can read", quoted(SPEC))
    options = value.get("options")
    return Carried(rig=from_builtins(value.get("rig"), decode), options=options if isinstance(options, dict) else {})


# -- restoring --------------------------------------------------------------------------------------------------------


def restore(host: Rig, expected: Rig, carried: Rig, report: ConversionReport) -> Rig:
    """Give the host file back what it could not say.

    Args:
        host: What the file says now.
        expected: What the carried rig looks like once it is made to fit the host's format.
        carried: The rig that the file was written from.
        report: Takes an entry for every carried item that is not restored.
    """
    fields = {
        name: _merged(getattr(carried, name), getattr(expected, name), getattr(host, name))
        for name in Rig.__struct_fields__
        if name not in ("skeleton", "native", "origin")
    }
    skeleton = _restored_skeleton(host.skeleton, expected.skeleton, carried.skeleton, report)
    rig = Rig(
        origin=carried.origin,
        skeleton=skeleton,
        native=_restored_natives(carried, expected, host),
        **fields,
    )
    return pruned(rig, report)


class _Place(msgspec.Struct, frozen=True, eq=False):
    """A bone with its parent's name and its local matrix: what skeletons are taken apart into and put together from."""

    bone: Bone
    parent: str | None
    local: np.ndarray


def _places(skeleton: Skeleton) -> dict[str, _Place]:
    rows = zip(skeleton.bones, skeleton.parent_names, skeleton.local, strict=True)
    return {bone.name: _Place(bone, parent, local) for bone, parent, local in rows}


def _restored_skeleton(host: Skeleton, expected: Skeleton, carried: Skeleton, report: ConversionReport) -> Skeleton:
    """The host's skeleton with what was made for its format undone, where it was left alone."""
    added = set(expected.names) - set(carried.names)
    folded = set(carried.names) - set(expected.names)
    untouched = _untouched_bones(host, expected)
    parents = dict(zip(host.names, host.parent_names, strict=True))
    unmoved = {name for name in untouched if _right_above(name, parents, added) <= untouched}
    host, expected = _contracted(host, added), _contracted(expected, added)
    now, then, before = _places(host), _places(expected), _places(carried)
    for name in before.keys() - now.keys() - folded:
        report.add(codes.CARRY_DROPPED, paths.bone(name), f"Bone {quoted(name)} is gone from the file.")

    restored: dict[str, _Place] = {}
    for name, place in now.items():
        if name not in then:
            restored[name] = place
            continue
        bone = _merged(before[name].bone, then[name].bone, place.bone)
        if name in unmoved:
            restored |= _folded_above(before, name, folded)
            restored[name] = _Place(bone, before[name].parent, before[name].local)
        else:
            bone = _moved(bone, before[name].bone, then[name].bone, report)
            restored[name] = _Place(bone, place.parent, place.local)
    order = _restored_order(list(restored), host.names, expected.names, list(before))
    return _with_bind(_assembled([restored[name] for name in order]), host, expected, carried)


def _untouched_bones(host: Skeleton, expected: Skeleton) -> set[str]:
    """Names of the bones whose parent and local matrix nobody touched."""
    rows = {name: index for index, name in enumerate(host.names)}
    columns = {name: index for index, name in enumerate(expected.names)}
    shared = [name for name in rows if name in columns]
    same = matrices_agree(
        host.local[[rows[name] for name in shared]], expected.local[[columns[name] for name in shared]]
    )
    parents, expected_parents = host.parent_names, expected.parent_names
    return {
        name
        for name, still in zip(shared, same.tolist(), strict=True)
        if still and parents[rows[name]] == expected_parents[columns[name]]
    }


def _right_above(name: str, parents: dict[str, str | None], chosen: set[str]) -> set[str]:
    """The ancestors of a bone up to the first that is not among the chosen ones."""
    found: set[str] = set()
    above = parents[name]
    while above is not None and above in chosen:
        found.add(above)
        above = parents[above]
    return found


def _folded_above(before: dict[str, _Place], name: str, folded: set[str]) -> dict[str, _Place]:
    """The bones right above one that were folded into it, outermost first."""
    chain = []
    above = before[name].parent
    while above is not None and above in folded:
        chain.append(above)
        above = before[above].parent
    return {above: before[above] for above in reversed(chain)}


def _assembled(places: list[_Place]) -> Skeleton:
    index = {place.bone.name: row for row, place in enumerate(places)}
    parent = [-1 if place.parent is None else index[place.parent] for place in places]
    skeleton = Skeleton(
        bones=[place.bone for place in places],
        parent=np.array(parent, dtype=np.int64),
        local=np.array([place.local for place in places]),
    )
    return reordered(skeleton, topological_order(parent))


def _restored_order(names: list[str], host: list[str], expected: list[str], carried: list[str]) -> list[str]:
    """The carried order where the host kept the expected one, with what is new behind; else the host's."""
    expected_names, host_names = set(expected), set(host)
    kept = [name for name in host if name in expected_names]
    if kept != [name for name in expected if name in host_names]:
        return names
    rank = {name: index for index, name in enumerate(carried)}
    return sorted(names, key=lambda name: rank.get(name, len(rank)))


def _moved(merged: Bone, source: Bone, image: Bone, report: ConversionReport) -> Bone:
    """A bone whose pose was edited: what had been baked into the old pose no longer holds."""
    baked = []
    if source.inherit != image.inherit:
        baked.append(f"inherit mode {source.inherit}")
        merged = replace(merged, inherit=Inherit.NORMAL, shear_x=0.0)
    if source.lock_to_root and not image.lock_to_root:
        baked.append("lock to the root")
        merged = replace(merged, lock_to_root=False)
    if baked:
        message = f"Bone {quoted(merged.name)} was moved, so its {' and '.join(baked)} does not come back."
        report.add(codes.CARRY_DROPPED, paths.bone(merged.name), message)
    return merged


def _contracted(skeleton: Skeleton, removed: set[str]) -> Skeleton:
    """The skeleton without some bones, whose transforms their children take over."""
    if removed.isdisjoint(skeleton.names):
        return skeleton
    parent, local = skeleton.parent.copy(), skeleton.local.copy()
    gone = [bone.name in removed for bone in skeleton.bones]
    for index, bone in enumerate(skeleton.bones):
        above = parent[index]
        if above >= 0 and gone[above]:
            parent[index] = parent[above]
            if not bone.lock_to_root:
                local[index] = local[above] @ local[index]
    whole = replace(skeleton, parent=parent, local=local)
    return reordered(whole, [index for index, lost in enumerate(gone) if not lost])


def _with_bind(skeleton: Skeleton, host: Skeleton, expected: Skeleton, carried: Skeleton) -> Skeleton:
    """The carried bind where the host could not say one or left the expected one alone, else the host's."""
    if host.inverse_bind is not None and not _same_bind(host, expected):
        return replace(skeleton, inverse_bind=host.inverse_bind, bind=host.bind)
    if carried.inverse_bind is None:
        return replace(skeleton, inverse_bind=None, bind=carried.bind)
    inverse_bind = inverse_bind_of_rest(skeleton)
    places = {name: index for index, name in enumerate(carried.names)}
    for row, name in enumerate(skeleton.names):
        if name in places:
            inverse_bind[row] = carried.inverse_bind[places[name]]
    return replace(skeleton, inverse_bind=inverse_bind, bind=carried.bind)


def _same_bind(host: Skeleton, expected: Skeleton) -> bool:
    if host.inverse_bind is None or expected.inverse_bind is None:
        return host.inverse_bind is expected.inverse_bind
    places = {name: index for index, name in enumerate(expected.names)}
    rows = [row for row, name in enumerate(host.names) if name in places]
    columns = [places[host.names[row]] for row in rows]
    agreed = matrices_agree(host.inverse_bind[rows], expected.inverse_bind[columns])
    return host.bind == expected.bind and bool(agreed.all())


# -- merging values ---------------------------------------------------------------------------------------------------


class _Missing:
    """Stands for a key that one side lacks."""


_MISSING = _Missing()


def _merged(carried: Any, expected: Any, host: Any) -> Any:
    """The carried value unless the host was edited, element by element."""
    if expected is not _MISSING and host is not _MISSING and _untouched(expected, host):
        return carried
    sides = (carried, expected, host)
    if isinstance(host, msgspec.Struct) and all(type(side) is type(host) for side in sides):
        return _merged_records(carried, expected, host)
    if isinstance(host, dict) and all(isinstance(side, dict) for side in sides):
        return _merged_mappings(carried, expected, host)
    if _is_named_list(host) and all(isinstance(side, list) for side in sides):
        return _merged_lists(carried, expected, host)
    return host


def _untouched(expected: Any, host: Any) -> bool:
    return agree(expected, host, AGREEMENT)


def _merged_records(carried: Any, expected: Any, host: Any) -> Any:
    fields = {
        name: _merged(getattr(carried, name), getattr(expected, name), getattr(host, name))
        for name in host.__struct_fields__
        if name != "native"
    }
    if isinstance(host, Record):
        fields["native"] = {**carried.native, **host.native}
    return type(host)(**fields)


def _restored_natives(carried: Rig, expected: Rig, host: Rig) -> dict[str, Any]:
    """The host's own record of the whole file is kept where it says what no neutral value does."""
    news = {key: native for key, native in host.native.items() if native.unmapped and key not in expected.native}
    return {**carried.native, **news}


def _merged_mappings(carried: dict[str, Any], expected: dict[str, Any], host: dict[str, Any]) -> dict[str, Any]:
    result = {}
    for key, value in carried.items():
        if key not in expected and key not in host:
            result[key] = value
        elif key in expected and key in host:
            result[key] = _merged(value, expected[key], host[key])
    for key, value in host.items():
        derived = key in expected and key not in carried and _untouched(expected[key], value)
        if key not in result and not derived:
            result[key] = value
    return result


def _merged_lists(carried: list[Any], expected: list[Any], host: list[Any]) -> list[Any]:
    sides = by_key(carried), by_key(expected), by_key(host)
    merged = _merged_mappings(*sides)
    kept_by_host = [key for key in sides[2] if key in sides[1]]
    if kept_by_host == [key for key in sides[1] if key in sides[2]]:
        return list(merged.values())
    rank = {key: index for index, key in enumerate(sides[2])}
    return [merged[key] for key in sorted(merged, key=lambda key: rank.get(key, len(rank)))]


def _is_named_list(value: Any) -> bool:
    return isinstance(value, list) and all(hasattr(item, "name") for item in value)


# -- pruning ----------------------------------------------------------------------------------------------------------


def pruned(rig: Rig, report: ConversionReport) -> Rig:
    """The rig without items whose bone, slot, parameter or texture does not exist."""
    bones = set(rig.skeleton.names)
    params = [_pruned_param(param, bones, report) for param in rig.params]
    slots = [
        _pruned_slot(slot, bones, report) for slot in rig.slots if _keeps("slots", slot, [slot.bone], bones, report)
    ]
    slot_names = {slot.name for slot in slots}
    return replace(
        rig,
        slots=slots,
        skins=[_pruned_skin(skin, slot_names, bones, len(rig.textures), report) for skin in rig.skins],
        constraints=[item for item in rig.constraints if _keeps("constraints", item, bones_of(item), bones, report)],
        params=params,
        animations=[_pruned_animation(item, {param.name for param in params}, report) for item in rig.animations],
    )


def _keeps(collection: str, item: Any, needed: list[str], bones: set[str], report: ConversionReport) -> bool:
    gone = [name for name in needed if name not in bones]
    if gone:
        message = f"It needs bone {quoted(gone[0])}, which is gone."
        report.add(codes.CARRY_DROPPED, paths.record(collection, item), message)
    return not gone


def _pruned_slot(slot: Slot, bones: set[str], report: ConversionReport) -> Slot:
    masks = [mask for mask in slot.masks if mask.bone in bones]
    if len(masks) == len(slot.masks):
        return slot
    report.add(codes.CARRY_DROPPED, f"{paths.record('slots', slot)}.masks", "A mask source is gone.")
    return replace(slot, masks=masks)


def _pruned_skin(skin: Skin, slots: set[str], bones: set[str], textures: int, report: ConversionReport) -> Skin:
    attachments: dict[str, dict[str, Attachment]] = {}
    for slot, items in skin.attachments.items():
        for placeholder, item in items.items():
            lost = _lost_anchor(slot, item, slots, bones, textures)
            if lost:
                path = paths.attachment(skin.name, slot, placeholder)
                report.add(codes.CARRY_DROPPED, path, f"It needs {lost}, which is gone.")
        kept = {key: item for key, item in items.items() if not _lost_anchor(slot, item, slots, bones, textures)}
        if slot in slots and (kept or not items):
            attachments[slot] = kept
    return replace(skin, attachments=attachments)


def _lost_anchor(slot: str, attachment: Attachment, slots: set[str], bones: set[str], textures: int) -> str:
    """What an attachment hangs on and that does not exist, in words; empty where all exists."""
    if slot not in slots:
        return f"slot {quoted(slot)}"
    mesh = getattr(attachment, "mesh", None)
    for name in mesh.bones if mesh else ():
        if name not in bones:
            return f"bone {quoted(name)}"
    for index in getattr(attachment, "textures", ()):
        if index >= textures:
            return f"texture {index}"
    return ""


def _pruned_param(param: Param, bones: set[str], report: ConversionReport) -> Param:
    kept = [binding for binding in param.bindings if binding.bone in bones]
    if len(kept) == len(param.bindings):
        return param
    report.add(codes.CARRY_DROPPED, f"{paths.record('params', param)}.bindings", "A bone that it moves is gone.")
    return replace(param, bindings=kept)


def _pruned_animation(animation: Animation, params: set[str], report: ConversionReport) -> Animation:
    kept = [lane for lane in animation.lanes if lane.param is None or lane.param in params]
    if len(kept) == len(animation.lanes):
        return animation
    message = "A parameter that it moves is gone."
    report.add(codes.CARRY_DROPPED, f"{paths.record('animations', animation)}.lanes", message)
    return replace(animation, lanes=kept)
