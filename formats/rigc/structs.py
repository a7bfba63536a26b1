"""The structs of a ``rigc-rig/1`` file, named and ordered as specs/seed-rigc-rig-1.txt has them.

A field that is ``UNSET`` was not declared and is not written. Attachments and constraints are told apart by ``type``
when they are read, because an absent one means a region and an unknown one must be refused by name.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

SPEC = "rigc-rig/1"

INHERIT_MODES = ("normal", "onlyTranslation", "noRotationOrReflection", "noScale", "noScaleOrReflection")
BLEND_MODES = ("normal", "additive", "multiply", "screen")
SCALE_MODES = ("none", "uniform", "volume")
TRANSFORM_PROPERTIES = ("rotate", "x", "y", "scaleX", "scaleY", "shearY")

Number = float | UnsetType
Text = str | UnsetType
Flag = bool | UnsetType
Index = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class RigSkeletonHeader(msgspec.Struct, kw_only=True):
    """Setup-pose bounding box and runtime hints; a width and height of null declare that there is no stage."""

    x: Number = UNSET
    y: Number = UNSET
    width: float | UnsetType | None = UNSET
    height: float | UnsetType | None = UNSET
    fps: Number = UNSET
    referenceScale: Number = UNSET
    images: Text = UNSET


class RigBoneFrom(msgspec.Struct, kw_only=True):
    """Where a bone's setup transform is taken from in the cut manifest."""

    anchor: Text = UNSET
    slotWindow: Text = UNSET
    meshCenter: Text = UNSET
    rotation: Text = UNSET


class RigBone(msgspec.Struct, kw_only=True):
    """One bone: degrees, counter-clockwise, y up, local to the parent."""

    name: str
    parent: Text = UNSET
    length: Number = UNSET
    x: Number = UNSET
    y: Number = UNSET
    rotation: Number = UNSET
    scaleX: Number = UNSET
    scaleY: Number = UNSET
    shearX: Number = UNSET
    shearY: Number = UNSET
    inherit: Text = UNSET
    skin: Flag = UNSET
    color: Text = UNSET
    icon: Text = UNSET
    from_: RigBoneFrom | UnsetType = msgspec.field(default=UNSET, name="from")


class RigSlot(msgspec.Struct, kw_only=True):
    """One slot; the order of the list is the draw order."""

    name: str
    bone: str
    attachment: str | UnsetType | None = UNSET
    color: Text = UNSET
    dark: Text = UNSET
    blend: Text = UNSET


class RigRegionAttachment(msgspec.Struct, kw_only=True):
    """A rectangle of an image."""

    type: Text = UNSET
    path: Text = UNSET
    image: Text = UNSET
    x: Number = UNSET
    y: Number = UNSET
    rotation: Number = UNSET
    scaleX: Number = UNSET
    scaleY: Number = UNSET
    width: Number = UNSET
    height: Number = UNSET
    color: Text = UNSET


class RigMeshBinding(msgspec.Struct, kw_only=True):
    """One bone's pull on one vertex; x and y are in that bone's setup space."""

    bone: str
    x: float
    y: float
    weight: float


class RigMeshAttachment(msgspec.Struct, kw_only=True):
    """A mesh: authored geometry with ``vertices`` or ``weights``, or a ``generator``."""

    type: Text = UNSET
    path: Text = UNSET
    image: Text = UNSET
    uvs: list[float] | UnsetType = UNSET
    triangles: list[Index] | UnsetType = UNSET
    vertices: list[float] | UnsetType = UNSET
    weights: list[list[RigMeshBinding]] | UnsetType = UNSET
    boneIndexing: Text = UNSET
    hull: int | UnsetType = UNSET
    edges: list[Index] | UnsetType = UNSET
    width: Number = UNSET
    height: Number = UNSET
    color: Text = UNSET
    generator: dict[str, Any] | UnsetType = UNSET


class RigIkConstraint(msgspec.Struct, kw_only=True):
    """``type: "ik"``."""

    name: str
    type: Text = UNSET
    bones: list[str] = []
    target: Text = UNSET
    scaleY: Text = UNSET
    mix: Number = UNSET
    softness: Number = UNSET
    bendPositive: Flag = UNSET
    compress: Flag = UNSET
    stretch: Flag = UNSET
    skin: Flag = UNSET


class RigTransformTarget(msgspec.Struct, kw_only=True):
    """How one target property follows."""

    offset: Number = UNSET
    max: Number = UNSET
    scale: Number = UNSET


class RigTransformProperty(msgspec.Struct, kw_only=True):
    """What one source property drives."""

    to: dict[str, RigTransformTarget]
    offset: Number = UNSET


class RigTransformConstraint(msgspec.Struct, kw_only=True):
    """``type: "transform"``, as Spine 4.3 has it."""

    name: str
    type: Text = UNSET
    bones: list[str] = []
    source: Text = UNSET
    properties: dict[str, RigTransformProperty] | UnsetType = UNSET
    localSource: Flag = UNSET
    localTarget: Flag = UNSET
    additive: Flag = UNSET
    clamp: Flag = UNSET
    rotation: Number = UNSET
    x: Number = UNSET
    y: Number = UNSET
    scaleX: Number = UNSET
    scaleY: Number = UNSET
    shearY: Number = UNSET
    mixRotate: Number = UNSET
    mixX: Number = UNSET
    mixY: Number = UNSET
    mixScaleX: Number = UNSET
    mixScaleY: Number = UNSET
    mixShearY: Number = UNSET
    skin: Flag = UNSET


class RigPhysicsConstraint(msgspec.Struct, kw_only=True):
    """``type: "physics"``; ``scaleY`` is what runtimes read, ``scaleYMode`` what the seed's interface calls it."""

    name: str
    type: Text = UNSET
    bone: Text = UNSET
    x: Number = UNSET
    y: Number = UNSET
    rotate: Number = UNSET
    scaleX: Number = UNSET
    shearX: Number = UNSET
    scaleY: Text = UNSET
    scaleYMode: Text = UNSET
    limit: Number = UNSET
    fps: Number = UNSET
    inertia: Number = UNSET
    strength: Number = UNSET
    damping: Number = UNSET
    mass: Number = UNSET
    wind: Number = UNSET
    gravity: Number = UNSET
    mix: Number = UNSET
    inertiaGlobal: Flag = UNSET
    strengthGlobal: Flag = UNSET
    dampingGlobal: Flag = UNSET
    massGlobal: Flag = UNSET
    windGlobal: Flag = UNSET
    gravityGlobal: Flag = UNSET
    mixGlobal: Flag = UNSET
    skin: Flag = UNSET


class RigDetached(msgspec.Struct, kw_only=True):
    """Parentage that must never happen."""

    bone: str
    notUnder: str
    why: Text = UNSET


class RigInvariants(msgspec.Struct, kw_only=True):
    """Structural facts for a validator."""

    meshSlots: int | UnsetType = UNSET
    meshTriangles: int | UnsetType = UNSET
    axisBone: Text = UNSET
    massBone: Text = UNSET
    detached: list[RigDetached] | UnsetType = UNSET


class RigSpec(msgspec.Struct, kw_only=True):
    """The file."""

    spec: str
    name: str
    note: Text = UNSET
    skeleton: RigSkeletonHeader | UnsetType = UNSET
    images: Text = UNSET
    bones: list[RigBone]
    slots: list[RigSlot]
    skins: dict[str, dict[str, Any]] | UnsetType = UNSET
    constraints: list[dict[str, Any]] | UnsetType = UNSET
    invariants: RigInvariants | UnsetType = UNSET
