"""The shared representation: one rig, whatever format it came from.

Records are msgspec structs, bulk is numpy arrays. Space is right-handed, X right, Y up, Z to the viewer; matrices act
on column vectors; lengths are in the source's own unit, angles in radians. Every reference is by name, so that
inserting, deleting or reordering elements rebinds nothing; names are therefore unique and never empty.

The mathematics lives in :mod:`rigconv.ir.matrix` and :mod:`rigconv.ir.pose`, the stored form in
:mod:`rigconv.ir.document`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
import numpy as np

from .native import Natives


class Inherit(StrEnum):
    """How a bone takes over its parent's world transform (specs: Spine runtime, ``BoneData``)."""

    NORMAL = "normal"
    ONLY_TRANSLATION = "onlyTranslation"
    NO_ROTATION_OR_REFLECTION = "noRotationOrReflection"
    NO_SCALE = "noScale"
    NO_SCALE_OR_REFLECTION = "noScaleOrReflection"


class Record(msgspec.Struct, kw_only=True, omit_defaults=True, eq=False):
    """Base of every element that may carry native records."""

    native: Natives = {}


# -- skeleton ---------------------------------------------------------------------------------------------------------


class Bone(Record, kw_only=True):
    """What a bone is, apart from its pose.

    Attributes:
        name: Unique, not empty.
        length: Distance from the joint to the tip, in length units.
        inherit: How the parent's transform is taken over.
        shear_x: The part of the x axis's angle that is shear, in radians; the noScale modes treat it apart.
        skin_required: The bone is active only in skins that list it.
        color: Editor colour, ``rrggbbaa``.
        icon: Editor icon.
        node_index: Index of the scene node that the bone maps to.
        uuid: Number that identifies the node in the tool that made it.
        enabled: False hides what hangs on the bone and its descendants.
        lock_to_root: The parent is ignored for the transform: the root of the tree takes its place.
    """

    name: str
    length: float = 0.0
    inherit: Inherit = Inherit.NORMAL
    shear_x: float = 0.0
    skin_required: bool = False
    color: str | None = None
    icon: str | None = None
    node_index: int | None = None
    uuid: int | None = None
    enabled: bool = True
    lock_to_root: bool = False


class BindReference(msgspec.Struct, frozen=True):
    """The bind pose is that of another rig of the same skeleton."""

    guid: str


Bind = str | BindReference
"""Where inverse bind matrices come from: ``"skin"``, ``"rest"``, or another rig."""


class Skeleton(msgspec.Struct, kw_only=True, eq=False):
    """Bones in topological order, as a struct of arrays.

    Attributes:
        bones: The n bones; a parent comes before its children.
        parent: (n,) int index of each bone's parent, -1 for a root.
        local: (n, 4, 4) rest matrices relative to the parent; the one truth about pose.
        inverse_bind: (n, 4, 4) inverse bind matrices, or None where the source has none.
        bind: Where ``inverse_bind`` comes from; None where the source does not say.
    """

    bones: list[Bone]
    parent: np.ndarray
    local: np.ndarray
    inverse_bind: np.ndarray | None = None
    bind: Bind | None = None

    def __len__(self) -> int:
        return len(self.bones)

    @property
    def names(self) -> list[str]:
        """The bones' names, in order."""
        return [bone.name for bone in self.bones]

    @property
    def parent_names(self) -> list[str | None]:
        """The name of each bone's parent, None for a root."""
        names = self.names
        return [names[index] if index >= 0 else None for index in self.parent.tolist()]


class Stage(Record, kw_only=True):
    """The setup-pose bounding box and the runtime hints of a skeleton.

    Attributes:
        x, y, width, height: Bounding box, in length units.
        fps: Frame rate of the editor's dope sheet.
        reference_scale: Length that scale-dependent physics settings refer to.
        images: Image folder, as the editor noted it.
    """

    x: float | None = None
    y: float | None = None
    width: float | None = None
    height: float | None = None
    fps: float | None = None
    reference_scale: float | None = None
    images: str | None = None


# -- what is drawn ----------------------------------------------------------------------------------------------------


class BlendMode(StrEnum):
    """How a slot's pixels meet those behind it (INR spec §3.2; Spine has normal, add, multiply, screen)."""

    NORMAL = "normal"
    MULTIPLY = "multiply"
    SCREEN = "screen"
    OVERLAY = "overlay"
    DARKEN = "darken"
    LIGHTEN = "lighten"
    COLOR_DODGE = "color_dodge"
    LINEAR_DODGE = "linear_dodge"
    ADD = "add"
    COLOR_BURN = "color_burn"
    HARD_LIGHT = "hard_light"
    SOFT_LIGHT = "soft_light"
    SUBTRACT = "subtract"
    DIFFERENCE = "difference"
    EXCLUSION = "exclusion"
    INVERSE = "inverse"
    DESTINATION_IN = "destination_in"
    CLIP_TO_LOWER = "clip_to_lower"
    SLICE_FROM_LOWER = "slice_from_lower"


class MaskMode(StrEnum):
    """Whether a mask source shows (``mask``) or hides (``dodge``) what it covers."""

    MASK = "mask"
    DODGE = "dodge"


class Mask(msgspec.Struct, frozen=True):
    """One mask source: what hangs on a bone limits where a slot shows."""

    bone: str
    mode: MaskMode = MaskMode.MASK


class Slot(Record, kw_only=True):
    """A place in the draw order where one attachment of a bone is shown.

    Attributes:
        name: Unique, not empty.
        bone: The bone it hangs on.
        attachment: Placeholder of the attachment shown in the setup pose; None shows nothing.
        color: Red, green, blue, alpha in 0..1, multiplied onto the attachment.
        dark: Red, green, blue in 0..1 of the two-colour tint: ``(1 - texel) * dark + texel * color``; None for none.
        blend: Blend mode.
        masks: Mask sources, in order.
    """

    name: str
    bone: str
    attachment: str | None = None
    color: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    dark: tuple[float, float, float] | None = None
    blend: BlendMode = BlendMode.NORMAL
    masks: list[Mask] = []


class Mesh(msgspec.Struct, kw_only=True, eq=False):
    """Geometry with skin influences, in compressed sparse rows.

    Attributes:
        bones: Names of the bones that influences index.
        starts: (v + 1,) int; vertex i has the influences ``starts[i]`` to ``starts[i + 1]``.
        influence_bones: (k,) int index into ``bones``.
        positions: (k, 3) position of the vertex in that bone's space, before ``origin`` is taken off.
        weights: (k,) share of each influence.
        uvs: (v, 2) texture coordinates in 0..1, v down; (0, 2) where there are none.
        triangles: (t, 3) int vertex indices.
        origin: (2,) subtracted from every position.
        hull: Number of leading vertices that form the outline.
        edges: (e, 2) int vertex index pairs that an editor draws.
    """

    bones: list[str]
    starts: np.ndarray
    influence_bones: np.ndarray
    positions: np.ndarray
    weights: np.ndarray
    uvs: np.ndarray
    triangles: np.ndarray
    origin: tuple[float, float] = (0.0, 0.0)
    hull: int | None = None
    edges: np.ndarray | None = None

    @property
    def vertex_count(self) -> int:
        """Number of vertices."""
        return len(self.starts) - 1

    @property
    def influence_names(self) -> list[str]:
        """The name of each influence's bone."""
        return [self.bones[index] for index in self.influence_bones.tolist()]

    @property
    def is_rigid(self) -> bool:
        """Whether every vertex moves with exactly one bone."""
        return len(self.weights) == self.vertex_count and bool((self.weights == 1.0).all())


class RegionAttachment(Record, kw_only=True, tag_field="type", tag="region"):
    """A rectangle of an image.

    Attributes:
        path: Atlas region; None means the attachment's own name.
        image: Image file, relative to the rig's image folder.
        x, y: Centre, in the bone's space.
        rotation: Radians, counter-clockwise.
        scale_x, scale_y: Scale of the rectangle.
        width, height: Size before scaling, in length units; None where only the image tells.
        image_size: Width and height of the image in pixels, where it was measured.
        color: Red, green, blue, alpha in 0..1.
    """

    path: str | None = None
    image: str | None = None
    x: float = 0.0
    y: float = 0.0
    rotation: float = 0.0
    scale_x: float = 1.0
    scale_y: float = 1.0
    width: float | None = None
    height: float | None = None
    image_size: tuple[int, int] | None = None
    color: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)


class MeshAttachment(Record, kw_only=True, tag_field="type", tag="mesh"):
    """A textured mesh.

    Attributes:
        mesh: Its geometry; None where a generator that has not been run describes it, or where there is none.
        path, image: As for a region.
        width, height: Size of the image, in length units.
        image_size: As for a region.
        color: Red, green, blue, alpha in 0..1.
        generator: Declaration of the builder that makes the geometry, as authored.
        textures: Indices into the rig's textures for albedo, emissive and bump; -1 for none.
        emission_strength: Factor on the emissive texture.
        mask_threshold: Texels with at most this alpha do not count when the mesh is a mask source.
    """

    mesh: Mesh | None = None
    path: str | None = None
    image: str | None = None
    width: float | None = None
    height: float | None = None
    image_size: tuple[int, int] | None = None
    color: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    generator: dict[str, Any] | None = None
    textures: tuple[int, int, int] = (-1, -1, -1)
    emission_strength: float = 0.0
    mask_threshold: float = 0.5


class MaskAttachment(Record, kw_only=True, tag_field="type", tag="mask"):
    """Geometry that is never drawn and serves as a mask source."""

    mesh: Mesh | None = None


class MeshGroupAttachment(Record, kw_only=True, tag_field="type", tag="meshgroup"):
    """Geometry that warps the meshes below its bone.

    Attributes:
        mesh: The cage.
        dynamic: Warp after the children's own deformation, instead of their rest vertices.
        translate_children: Move children without a mesh, too.
    """

    mesh: Mesh | None = None
    dynamic: bool = False
    translate_children: bool = False


class CompositeAttachment(Record, kw_only=True, tag_field="type", tag="composite"):
    """Everything below the bone is drawn into a picture of its own, which is then drawn as the slot says.

    Attributes:
        mask_threshold: As for a mesh.
        overlap: Whether the children are known to be disjoint or to overlap, as the source noted it.
        propagate_meshgroup: Mesh groups above reach through.
    """

    mask_threshold: float = 0.5
    overlap: str | None = None
    propagate_meshgroup: bool = True


class NativeAttachment(Record, kw_only=True, tag_field="type", tag="native"):
    """An attachment that only its native record describes.

    Attributes:
        kind: The format's own name for what it is.
    """

    kind: str


Attachment = (
    RegionAttachment | MeshAttachment | MaskAttachment | MeshGroupAttachment | CompositeAttachment | NativeAttachment
)


class Skin(Record, kw_only=True):
    """A set of attachments, and what is active with it.

    Attributes:
        name: Unique; ``default`` is the fallback.
        bones: Names of the bones that need a skin and find it in this one.
        constraints: Type and name of such constraints, by type.
        attachments: ``slot name -> placeholder -> attachment``.
    """

    name: str
    bones: list[str] = []
    constraints: dict[str, list[str]] = {}
    attachments: dict[str, dict[str, Attachment]] = {}


class Texture(Record, kw_only=True):
    """An image in memory.

    Attributes:
        width, height: In texels.
        format: Pixel layout; ``rgba8`` is four bytes a texel, row-major, no padding.
        color_space: ``srgb`` or ``linear``.
        premultiplied: RGB is multiplied by alpha.
        data: (bytes,) uint8; a view of the file where it was mapped.
    """

    width: int
    height: int
    format: str = "rgba8"
    color_space: str = "srgb"
    premultiplied: bool = False
    data: np.ndarray


# -- constraints ------------------------------------------------------------------------------------------------------


class ConstraintRecord(Record, kw_only=True):
    """Fields of every constraint.

    Attributes:
        name: Unique among constraints of one type.
        skin_required: Active only in skins that list it.
    """

    name: str
    skin_required: bool = False


class IkConstraint(ConstraintRecord, kw_only=True, tag_field="type", tag="ik"):
    """Turns one or two bones towards a target (fields as Spine's; ``softness`` in length units)."""

    bones: list[str]
    target: str
    scale_y: str = "none"
    mix: float = 1.0
    softness: float = 0.0
    bend_positive: bool = True
    compress: bool = False
    stretch: bool = False


class TransformTarget(msgspec.Struct, omit_defaults=True):
    """How a property follows: ``offset + (value - source offset) * scale``, at most ``max`` when clamped."""

    offset: float = 0.0
    max: float = 1.0
    scale: float = 1.0


class TransformSource(msgspec.Struct, omit_defaults=True):
    """What a source property drives: target properties by name."""

    offset: float = 0.0
    to: dict[str, TransformTarget] = {}


class TransformConstraint(ConstraintRecord, kw_only=True, tag_field="type", tag="transform"):
    """Makes bones follow the properties of another bone (fields as Spine 4.3's).

    Attributes:
        properties: Which of rotate, x, y, scaleX, scaleY, shearY of the source drive which of the bones', in
            length units and radians.
        rotation, x, y, scale_x, scale_y, shear_y: Offsets on the source.
        mix_rotate, mix_x, mix_y, mix_scale_x, mix_scale_y, mix_shear_y: Shares in 0..1 and beyond.
    """

    bones: list[str]
    source: str
    local_source: bool = False
    local_target: bool = False
    additive: bool = False
    clamp: bool = False
    properties: dict[str, TransformSource] = {}
    rotation: float = 0.0
    x: float = 0.0
    y: float = 0.0
    scale_x: float = 0.0
    scale_y: float = 0.0
    shear_y: float = 0.0
    mix_rotate: float = 1.0
    mix_x: float = 1.0
    mix_y: float = 1.0
    mix_scale_x: float = 1.0
    mix_scale_y: float = 1.0
    mix_shear_y: float = 1.0


class PhysicsConstraint(ConstraintRecord, kw_only=True, tag_field="type", tag="physics"):
    """Lets a bone lag and swing (fields as Spine's; components are shares in 0..1)."""

    bone: str
    x: float = 0.0
    y: float = 0.0
    rotate: float = 0.0
    scale_x: float = 0.0
    shear_x: float = 0.0
    scale_y: str = "none"
    limit: float = 5000.0
    fps: float = 60.0
    inertia: float = 0.5
    strength: float = 100.0
    damping: float = 0.85
    mass: float = 1.0
    wind: float = 0.0
    gravity: float = 0.0
    mix: float = 1.0
    inertia_global: bool = False
    strength_global: bool = False
    damping_global: bool = False
    mass_global: bool = False
    wind_global: bool = False
    gravity_global: bool = False
    mix_global: bool = False


class PendulumConstraint(ConstraintRecord, kw_only=True, tag_field="type", tag="pendulum"):
    """A simulated pendulum that drives a parameter (INR ``simplephysics``).

    Attributes:
        bone: Where it hangs.
        param: The parameter it drives; None for none.
        model: ``pendulum`` or ``spring_pendulum``.
        map_mode: ``angle_length``, ``xy``, ``length_angle`` or ``yx``.
        gravity: Factor on the puppet's gravity.
        length: Length units.
        frequency: Hertz.
        angle_damping, length_damping: 1 is critical.
        output_scale: Factors on the two outputs.
        local_only: The anchor is the bone's local translation instead of its world position.
    """

    bone: str
    param: str | None = None
    model: str = "pendulum"
    map_mode: str = "angle_length"
    gravity: float = 1.0
    length: float = 100.0
    frequency: float = 1.0
    angle_damping: float = 0.5
    length_damping: float = 0.5
    output_scale: tuple[float, float] = (1.0, 1.0)
    local_only: bool = False


class NativeConstraint(ConstraintRecord, kw_only=True, tag_field="type", tag="native"):
    """A constraint that only its native record describes.

    Attributes:
        kind: The format's own name for what it is.
    """

    kind: str


Constraint = IkConstraint | TransformConstraint | PhysicsConstraint | PendulumConstraint | NativeConstraint


# -- parameters and animations ----------------------------------------------------------------------------------------


class Binding(Record, kw_only=True):
    """What a parameter does to one value of one bone, as keypoints on the parameter's grid.

    Attributes:
        bone: The bone, or the bone whose mesh is deformed.
        target: The value: ``transform.t.x``, ``opacity``, ``deform``, … (INR spec §3.3).
        kind: ``scalar``, ``deform``, or what the source called it, in which case ``values`` is None.
        interpolation: ``linear``, ``stepped``, ``nearest`` or ``cubic``.
        values: (x, y) scalars, or (x, y, v, 2) offsets of the v vertices.
        is_set: (x, y) bool; which keypoints an author set, the others being filled in.
    """

    bone: str
    target: str
    kind: str = "scalar"
    interpolation: str = "linear"
    values: np.ndarray | None = None
    is_set: np.ndarray


class Param(Record, kw_only=True):
    """A dial of the rig, on one axis or two.

    Attributes:
        name: Unique, not empty.
        uuid: Number that identifies the parameter in the tool that made it.
        is_vec2: Whether the second axis counts.
        min, max, default: Range and rest value by axis.
        axis_points: Places of the keypoints on each axis, ascending, in 0..1 of the range.
        merge_mode: ``additive``, ``multiplicative``, ``override`` or ``forced``.
    """

    name: str
    uuid: int | None = None
    is_vec2: bool = False
    min: tuple[float, float] = (0.0, 0.0)
    max: tuple[float, float] = (1.0, 1.0)
    default: tuple[float, float] = (0.0, 0.0)
    axis_points: tuple[tuple[float, ...], tuple[float, ...]] = ((0.0, 1.0), (0.0,))
    merge_mode: str = "additive"
    bindings: list[Binding] = []


class Lane(Record, kw_only=True):
    """Keyframes of one axis of a parameter.

    Attributes:
        param: The parameter; None where the source names none.
        axis: 0 for x, 1 for y.
        interpolation: As for a binding.
        merge_mode: As for a parameter.
        keyframes: (k, 3) frame, value, tension.
    """

    param: str | None = None
    axis: int = 0
    interpolation: str = "linear"
    merge_mode: str = "forced"
    keyframes: np.ndarray


class Animation(Record, kw_only=True):
    """A clip.

    Attributes:
        name: Unique, not empty.
        timestep: Seconds a frame.
        length: Frames.
        additive: Added onto what plays below.
        lead_in, lead_out: Frames where the loop starts and ends; 0 for none.
        weight: Share of the clip.
        lanes: Keyframes by parameter axis.
    """

    name: str
    timestep: float = 1.0
    length: int = 0
    additive: bool = False
    lead_in: int = 0
    lead_out: int = 0
    weight: float = 1.0
    lanes: list[Lane] = []


# -- the rig ----------------------------------------------------------------------------------------------------------


class Rig(Record, kw_only=True):
    """A skeleton and all that hangs on it.

    Attributes:
        name: What the asset calls itself; None where it does not say.
        origin: Id of the format that the values were authored in.
        meta: Who made it, under which terms: free text by field.
        skeleton: The bones.
        stage: Bounding box and runtime hints, or None.
        slots: In draw order, back to front.
        skins: At most one of each name.
        constraints: In update order.
        params: Dials.
        animations: Clips.
        textures: Images that attachments refer to by index.
    """

    name: str | None = None
    origin: str | None = None
    meta: dict[str, str] = {}
    skeleton: Skeleton
    stage: Stage | None = None
    slots: list[Slot] = []
    skins: list[Skin] = []
    constraints: list[Constraint] = []
    params: list[Param] = []
    animations: list[Animation] = []
    textures: list[Texture] = []
