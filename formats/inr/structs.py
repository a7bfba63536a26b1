"""The structs of INR's JSON chunk, named as specs/seed-inr.txt has them, fields in the order in which they are written.

Required fields and defaults follow specs/inr-facts.md §3. A field that is ``UNSET`` is not in the file. Enumerated
fields are text here: unknown values fall back where they are read.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ...ir.native import stated
from .container import BufferView as _BufferView

FLOAT32_MAX = 3.4028235677973362e38
"""Anything larger is infinite as a float32."""

Float = Annotated[float, Meta(ge=-FLOAT32_MAX, le=FLOAT32_MAX)]
U8 = Annotated[int, Meta(ge=0, le=0xFF)]
U32 = Annotated[int, Meta(ge=0, le=0xFFFFFFFF)]
I32 = Annotated[int, Meta(ge=-0x80000000, le=0x7FFFFFFF)]
Pair = tuple[Float, Float]
Triple = tuple[Float, Float, Float]

NODE_KINDS = ("node", "part", "composite", "mask", "meshgroup", "simplephysics", "camera")
MASK_MODES = ("mask", "dodge")
PHYSICS_MODELS = ("pendulum", "spring_pendulum")
MAP_MODES = ("angle_length", "xy", "length_angle", "yx")
MERGE_MODES = ("additive", "multiplicative", "override", "forced")
INTERPOLATIONS = ("linear", "stepped", "nearest", "cubic")
COLOR_SPACES = ("srgb", "linear")
TEXTURE_FORMATS = ("rgba8", "bc7")
BINDING_KINDS = ("scalar", "deform")
COMPOSE_HINTS = ("children_overlap", "children_disjoint")
META_FIELDS = (
    "name",
    "rigger",
    "artist",
    "rights",
    "copyright",
    "license_url",
    "contact",
    "reference",
    "source_version",
)


class Asset(msgspec.Struct, kw_only=True):
    """Who wrote the file."""

    generator: str | UnsetType = UNSET
    version: U32 | UnsetType = UNSET


class PuppetPhysics(msgspec.Struct, kw_only=True):
    """Gravity in metres per second squared, and how long a metre is."""

    pixels_per_meter: Float
    gravity: Float


class BufferView(_BufferView, kw_only=True):
    """A range of bytes of the BIN chunk."""

    offset: U32
    length: U32


class Mesh(msgspec.Struct, kw_only=True):
    """Geometry: views of f32 pairs, f32 pairs and u32 triples."""

    vertex_count: U32
    positions: U32
    uvs: U32
    indices: U32
    origin: Pair


class Mask(msgspec.Struct, kw_only=True):
    """A mask source."""

    node: U32
    mode: str


class Part(msgspec.Struct, kw_only=True):
    """What a drawn node looks like."""

    textures: tuple[I32, I32, I32]
    blend_mode: str
    tint: Triple
    screen_tint: Triple
    opacity: Float
    emission_strength: Float | UnsetType = UNSET
    mask_threshold: Float
    masks: list[Mask] | UnsetType = UNSET


class Composite(msgspec.Struct, kw_only=True):
    """What a group that is drawn as one looks like."""

    blend_mode: str
    tint: Triple
    screen_tint: Triple
    opacity: Float
    mask_threshold: Float
    masks: list[Mask] | UnsetType = UNSET
    compose_hint: str | UnsetType | None = UNSET
    propagate_meshgroup: bool | UnsetType = UNSET


class SimplePhysics(msgspec.Struct, kw_only=True):
    """A pendulum that drives a parameter; -1 for none."""

    param: I32
    model: str
    map_mode: str
    gravity: Float
    length: Float
    frequency: Float
    angle_damping: Float
    length_damping: Float
    output_scale: Pair
    local_only: bool | UnsetType = UNSET


class Node(msgspec.Struct, kw_only=True):
    """A node of the tree: Y down, pixels, radians about x, y, z."""

    name: str
    uuid: U32
    parent: U32 | UnsetType | None = UNSET
    kind: str
    enabled: bool
    zsort: Float
    lock_to_root: bool | UnsetType = UNSET
    translation: Triple
    rotation: Triple
    scale: Pair
    mesh: Mesh | UnsetType | None = UNSET
    part: Part | UnsetType | None = UNSET
    composite: Composite | UnsetType | None = UNSET
    physics: SimplePhysics | UnsetType | None = UNSET
    mesh_group_dynamic: bool | UnsetType = UNSET
    mesh_group_translate_children: bool | UnsetType = UNSET


class Binding(msgspec.Struct, kw_only=True):
    """What a parameter does to one value of one node."""

    node: U32
    target: str
    interpolation: str
    x_count: U32
    y_count: U32
    is_set: list[bool]
    kind: str
    view: U32


class Param(msgspec.Struct, kw_only=True):
    """A dial."""

    name: str
    uuid: U32
    is_vec2: bool
    min: Pair
    max: Pair
    defaults: Pair
    axis_points: tuple[list[Float], list[Float]]
    merge_mode: str
    bindings: list[Binding] | UnsetType = UNSET


class Lane(msgspec.Struct, kw_only=True):
    """Keyframes of one axis of a parameter, as frame, value and tension; -1 for none."""

    param: I32
    target: U8
    interpolation: str
    merge_mode: str
    keyframes: list[Triple]


class Animation(msgspec.Struct, kw_only=True):
    """A clip."""

    name: str
    timestep: Float
    additive: bool | UnsetType = UNSET
    length: U32
    lead_in: U32 | UnsetType = UNSET
    lead_out: U32 | UnsetType = UNSET
    weight: Float | UnsetType = UNSET
    lanes: list[Lane] | UnsetType = UNSET


class Texture(msgspec.Struct, kw_only=True):
    """An image."""

    width: U32
    height: U32
    format: str
    color_space: str | UnsetType = UNSET
    premultiplied: bool | UnsetType = UNSET
    view: U32


class InrDoc(msgspec.Struct, kw_only=True):
    """The JSON chunk."""

    asset: Asset | UnsetType = UNSET
    meta: dict[str, Any] | UnsetType = UNSET
    physics: PuppetPhysics
    buffer_views: list[BufferView]
    nodes: list[Node]
    params: list[Param] | UnsetType = UNSET
    animations: list[Animation] | UnsetType = UNSET
    mask_contours: dict[str, list[list[Pair]]] | UnsetType = UNSET
    textures: list[Texture] | UnsetType = UNSET


def or_default(value: Any, default: Any) -> Any:
    """A field's value, or what it means when it is absent or null."""
    return default if value is UNSET or value is None else value


def known(text: str, values: tuple[str, ...]) -> str:
    """An enumerated value, or the first of the known ones for a text that is unknown (specs/seed-inr.txt §2)."""
    return text if text in values else values[0]


def stated_field(was: Any, name: str, default: Any, value: Any) -> Any:
    """What an optional field states so that it means ``value``; ``was`` is the authored struct, if there is one."""
    return stated(UNSET if was is None else getattr(was, name), default, value)


def stated_text(was: Any, name: str, values: tuple[str, ...], value: str) -> str:
    """What an enumerated field states: the authored text while it means ``value``, be it unknown."""
    text = str(value) if was is None else getattr(was, name)
    return text if known(text, values) == value else str(value)
