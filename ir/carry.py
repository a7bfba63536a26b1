"""The carry: what a target cannot say travels with it, so that A -> B -> A gives A back.

A carry holds the whole source rig as a document. When the file that bears it is read again, three rigs meet: the
*carried* one, the one that the file was *expected* to say when it was written, and what the *host* file says now.
Where host and expected agree nothing was edited, and the carried value comes back; where they do not, the host wins.
Carried items whose anchor is gone are dropped, with an entry in the report.
"""

from __future__ import annotations

from typing import Any

import msgspec
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


def _restored_skeleton(host: Skeleton, expected: Skeleton, carried: Skeleton, report: ConversionReport) -> Skeleton:
    derived = set(expected.names) - set(carried.names)
    host, expected = _contracted(host, derived), _contracted(expected, derived)
    places = {name: index for index, name in enumerate(host.names)}
    expected_places = {name: index for index, name in enumerate(expected.names)}
    carried_places = {name: index for index, name in enumerate(carried.names)}
    for name in carried_places.keys() - places.keys():
        report.add(codes.CARRY_DROPPED, paths.bone(name), f"Bone {quoted(name)} is gone from the file.")

    shared = [name for name in host.names if name in expected_places]
    rows, columns = [places[name] for name in shared], [expected_places[name] for name in shared]
    still = matrices_agree(host.local[rows], expected.local[columns])
    parents, expected_parents = host.parent_names, expected.parent_names
    unmoved = {
        name
        for name, row, column, same in zip(shared, rows, columns, still.tolist(), strict=True)
        if same and parents[row] == expected_parents[column]
    }

    bones: list[Bone] = []
    local = host.local.copy()
    for row, bone in enumerate(host.bones):
        if bone.name not in expected_places:
            bones.append(bone)
            continue
        carried_row = carried_places[bone.name]
        source, image = carried.bones[carried_row], expected.bones[expected_places[bone.name]]
        merged = _merged(source, image, bone)
        if bone.name in unmoved:
            local[row] = carried.local[carried_row]
        else:
            merged = _moved(merged, source, image, report)
        bones.append(merged)

    skeleton = Skeleton(bones=bones, parent=host.parent, local=local)
    skeleton = _with_bind(skeleton, host, expected, carried)
    return _in_carried_order(skeleton, host, expected, carried)


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


def _in_carried_order(skeleton: Skeleton, host: Skeleton, expected: Skeleton, carried: Skeleton) -> Skeleton:
    """The carried order where the host kept the expected one, with what is new behind."""
    expected_names, host_names = set(expected.names), set(host.names)
    kept = [name for name in host.names if name in expected_names]
    if kept != [name for name in expected.names if name in host_names]:
        return skeleton
    rank = {name: index for index, name in enumerate(carried.names)}
    wanted = sorted(range(len(skeleton)), key=lambda index: rank.get(skeleton.bones[index].name, len(rank)))
    place = {old: new for new, old in enumerate(wanted)}
    parent = [place[above] if above >= 0 else -1 for above in (int(skeleton.parent[old]) for old in wanted)]
    return reordered(skeleton, [wanted[new] for new in topological_order(parent)])


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
    slots = [_pruned_slot(slot, bones, report) for slot in rig.slots if _keeps("slots", slot, [slot.bone], bones, report)]
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

