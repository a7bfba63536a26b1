"""The representation to INR.

Meets only rigs that were made to fit: one root, bones in pre-order, slots that are one node with their bone.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET

from ...ir.carry import FIELD as CARRY_FIELD
from ...ir.carry import pack as pack_carry
from ...ir.document import encode_array
from ...ir.edit import is_repaired_from, with_uuids
from ...ir.errors import ConversionError
from ...ir.exchange import Buffers, Carried, Writing
from ...ir.native import Native, as_struct, fields_of, restore
from ...ir.rig import Animation, Binding, Lane, Param, Rig, Texture
from . import structs
from .container import BufferView, ViewBuilder, pack
from .node_writer import write_nodes
from .reader import CARRIED_TYPES, DEFAULT_PHYSICS, FORMAT, GENERATOR, UNNAMED
from .references import References
from .space import flip_values
from .structs import (
    COLOR_SPACES,
    INTERPOLATIONS,
    MERGE_MODES,
    META_FIELDS,
    known,
    or_default,
    stated_field,
    stated_text,
)

_MIN_CARRIED_BYTES = 256
"""Smaller arrays of the carry stand in the JSON chunk."""

_HEAD = ("asset", "meta", "physics", "buffer_views", "mask_contours")

_OPTIONAL = ("asset", "meta", "params", "animations", "textures")
"""Sections that an author may leave out."""


def write(rig: Rig, writing: Writing) -> Buffers:
    """The file that describes a rig, in pieces; textures are not copied.

    Raises:
        ConversionError: A number is too large for the format.
    """
    native = rig.native.get(FORMAT, Native())
    head = _authored_head(native.fields)
    authored_views = native.fields.get("buffer_views", [])
    references = References(
        nodes={name: index for index, name in enumerate(rig.skeleton.names)},
        params={param.name: index for index, param in enumerate(rig.params)},
        views=ViewBuilder(head.buffer_views),
    )
    for index, content in native.buffers.items():
        references.views.add(content, int(index))
    sections: dict[str, Any] = {
        "asset": native.fields.get("asset", {"generator": GENERATOR, "version": 1}),
        "meta": _meta(rig, native.fields.get("meta", {})),
        "physics": native.fields.get("physics", msgspec.to_builtins(DEFAULT_PHYSICS)),
        "buffer_views": [],
        "nodes": write_nodes(rig, references, writing.report),
        "params": [_param(param, references) for param in with_uuids(rig.params)],
        "animations": [_animation(animation, references) for animation in rig.animations],
        "textures": [_texture(texture, references) for texture in rig.textures],
    }
    if writing.carried is not None:
        sections[CARRY_FIELD] = _carry(writing.carried, references)
    views, binary = references.build()
    sections["buffer_views"] = _view_fields(views, authored_views)
    return pack(_encode(_in_order(sections, native.fields)), binary)


def _authored_head(fields: dict[str, Any]) -> structs.InrDoc:
    """The authored sections that are no lists of elements."""
    authored = {key: fields[key] for key in _HEAD if key in fields}
    return as_struct(
        {"physics": msgspec.to_builtins(DEFAULT_PHYSICS), "buffer_views": [], **authored, "nodes": []}, structs.InrDoc
    )


def _encode(document: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(document)
    except (ValueError, OverflowError) as error:
        raise ConversionError(f"the document cannot be written as JSON: {error}") from None


def _in_order(sections: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """The sections in the authored order; what the author left out stands only where it says something."""
    order = [*fields, *(key for key in sections if key not in fields)]
    return {
        key: sections.get(key, fields.get(key))
        for key in order
        if key in fields or not fields or key not in _OPTIONAL or (sections[key] and key != "asset")
    }


def _view_fields(views: list[BufferView], authored: list[dict[str, Any]]) -> list[dict[str, Any]]:
    fresh = [{"offset": view.offset, "length": view.length} for view in views]
    kept = [{**old, **new} for old, new in zip(authored, fresh, strict=False)]
    return [*kept, *fresh[len(kept) :]]


def _carry(carried: Carried, references: References) -> dict[str, Any]:
    def encode(array: np.ndarray) -> Any:
        if array.nbytes < _MIN_CARRIED_BYTES or array.dtype.str not in CARRIED_TYPES:
            return encode_array(array)
        return {"view": references.views.add(array), "dtype": array.dtype.str, "shape": list(array.shape)}

    return pack_carry(carried, encode)


def _meta(rig: Rig, authored: dict[str, Any]) -> dict[str, Any]:
    """The texts about a puppet; what an author stated and a neutral value cannot hold stays as it was."""
    now = {"name": rig.name, **rig.meta}
    kept = {
        key: now.get(key) if key in META_FIELDS and isinstance(value, str) and value else value
        for key, value in authored.items()
    }
    new = {key: now[key] for key in META_FIELDS if now.get(key) is not None and not authored.get(key)}
    return {key: value for key, value in {**kept, **new}.items() if value is not None or authored.get(key) is None}


# -- params -----------------------------------------------------------------------------------------------------------


def _with_children(stored: dict[str, Any], key: str, children: list[Any], fields: dict[str, Any]) -> dict[str, Any]:
    """``stored`` with a list of children where the author had it, or at the end where there are any."""
    if key in fields:
        return {name: children if name == key else stored[name] for name in dict.fromkeys([*fields, *stored])}
    return {**stored, key: children} if children or not fields else stored


def _name(record: Param | Animation, was: Any) -> str:
    """The authored name while the record's own may have been made out of it."""
    repaired = was is not None and is_repaired_from(record.name, was.name, UNNAMED)
    return str(was.name) if repaired else record.name


def _param(param: Param, references: References) -> dict[str, Any]:
    fields = fields_of(param.native, FORMAT)
    own = {key: value for key, value in fields.items() if key != "bindings"}
    was = as_struct(own, structs.Param) if own else None
    now = structs.Param(
        name=_name(param, was),
        uuid=param.uuid or 0,
        is_vec2=param.is_vec2,
        min=param.min,
        max=param.max,
        defaults=param.default,
        axis_points=(list(param.axis_points[0]), list(param.axis_points[1])),
        merge_mode=stated_text(was, "merge_mode", MERGE_MODES, param.merge_mode),
    )
    bindings = [_binding(binding, references) for binding in param.bindings]
    return _with_children(restore(own, was or now, now), "bindings", bindings, fields)


def _binding(binding: Binding, references: References) -> dict[str, Any]:
    fields = fields_of(binding.native, FORMAT)
    was = as_struct(fields, structs.Binding) if fields else None
    index = None if was is None else was.view
    if binding.values is not None:
        values = flip_values(binding.values, binding.target, binding.kind)
        index = references.floats(values, index)
    x_count, y_count = binding.is_set.shape
    now = structs.Binding(
        node=references.nodes[binding.bone],
        target=binding.target,
        interpolation=stated_text(was, "interpolation", INTERPOLATIONS, binding.interpolation),
        x_count=x_count,
        y_count=y_count,
        is_set=binding.is_set.ravel().tolist(),
        kind=binding.kind,
        view=references.floats(np.zeros(0), None) if index is None else index,
    )
    return restore(fields, was or now, now)


# -- animations and textures ------------------------------------------------------------------------------------------


def _animation(animation: Animation, references: References) -> dict[str, Any]:
    fields = fields_of(animation.native, FORMAT)
    own = {key: value for key, value in fields.items() if key != "lanes"}
    was = as_struct(own, structs.Animation) if own else None
    now = structs.Animation(
        name=_name(animation, was),
        timestep=animation.timestep,
        additive=stated_field(was, "additive", False, animation.additive),
        length=animation.length,
        lead_in=stated_field(was, "lead_in", 0, animation.lead_in),
        lead_out=stated_field(was, "lead_out", 0, animation.lead_out),
        weight=stated_field(was, "weight", 1.0, animation.weight),
    )
    lanes = [_lane(lane, references) for lane in animation.lanes]
    return _with_children(restore(own, was or now, now), "lanes", lanes, fields)


def _lane(lane: Lane, references: References) -> dict[str, Any]:
    fields = fields_of(lane.native, FORMAT)
    was = as_struct(fields, structs.Lane) if fields else None
    now = structs.Lane(
        param=-1 if lane.param is None else references.params[lane.param],
        target=lane.axis,
        interpolation=stated_text(was, "interpolation", INTERPOLATIONS, lane.interpolation),
        merge_mode=stated_text(was, "merge_mode", MERGE_MODES, lane.merge_mode),
        keyframes=[(frame, value, tension) for frame, value, tension in lane.keyframes.tolist()],
    )
    return restore(fields, was or now, now)


def _texture(texture: Texture, references: References) -> dict[str, Any]:
    fields = fields_of(texture.native, FORMAT)
    was = as_struct(fields, structs.Texture) if fields else None
    space = UNSET if was is None else was.color_space
    same_space = was is not None and known(or_default(space, "srgb"), COLOR_SPACES) == texture.color_space
    now = structs.Texture(
        width=texture.width,
        height=texture.height,
        format=texture.format,
        color_space=space if same_space else texture.color_space,
        premultiplied=stated_field(was, "premultiplied", False, texture.premultiplied),
        view=references.views.add(texture.data, None if was is None else was.view),
    )
    return restore(fields, was or now, now)
