"""What a format can hold, as data: the lowering of a rig, the loss table of the docs and the tests all read it."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from .rig import BlendMode, Inherit


class BoneOrder(StrEnum):
    """Which orders of bones a format allows."""

    ANY = "any"
    PARENT_FIRST = "parent_first"
    PRE_ORDER = "pre_order"


class Carry(StrEnum):
    """How what a format cannot say travels with a file of it."""

    EMBED = "embed"
    SIDECAR = "sidecar"
    NONE = "none"


class SlotKind(StrEnum):
    """Which slots a format can hold."""

    NONE = "none"
    NODE = "node"
    """A slot that is the only one of a bone of the same name: bone, slot and attachment are one node."""
    ANY = "any"


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a format can say.

    Attributes:
        everything: The format stores the representation itself; nothing needs to be made to fit.
        dimensions: 2 where bones lie in the xy plane, 3 where they may stand anywhere.
        shear: A bone's axes need not be perpendicular.
        depth_scale: Bones scale along z, too; always true of formats in the plane, where z does not matter.
        inherit: Inherit modes other than normal.
        several_roots: More than one bone may lack a parent.
        bone_order: Which orders of bones are allowed.
        bind: Inverse bind matrices apart from the rest pose.
        must_be_named: The rig itself needs a name.
        must_have_stage: The rig needs a bounding box.
        bone_fields: Names of the :class:`~rigconv.ir.rig.Bone` attributes it holds, beside the name.
        parts: Names of the :class:`~rigconv.ir.rig.Rig` attributes it holds, beside the skeleton.
        slots: Which slots it holds.
        attachments: Tags of the attachments it holds.
        blend_modes: Blend modes it holds.
        masks: Slots may have mask sources.
        constraints: Tags of the constraints it holds.
        carry: How the rest travels by default.
        precision: Share of the skeleton's size within which world matrices come back from a file.
    """

    everything: bool = False
    dimensions: int
    shear: bool
    depth_scale: bool
    inherit: frozenset[Inherit]
    several_roots: bool
    bone_order: BoneOrder
    bind: bool
    must_be_named: bool = False
    must_have_stage: bool = False
    bone_fields: frozenset[str]
    parts: frozenset[str]
    slots: SlotKind
    attachments: frozenset[str]
    blend_modes: frozenset[BlendMode]
    masks: bool
    constraints: frozenset[str]
    carry: Carry
    precision: float = 1e-9
