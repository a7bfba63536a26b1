"""The rig spec ``rigc-rig/1``: JSON in Spine's vocabulary, with names for indices (specs/seed-rigc-rig-1.txt)."""

from ...ir.capabilities import BoneOrder, Capabilities, Carry, SlotKind
from ...ir.rig import Inherit
from .reader import BLEND, read
from .structs import RigSpec as Schema
from .writer import write

__all__ = ["CAPABILITIES", "Schema", "read", "write"]

CAPABILITIES = Capabilities(
    dimensions=2,
    shear=True,
    depth_scale=True,
    inherit=frozenset(Inherit) - {Inherit.NORMAL},
    several_roots=False,
    bone_order=BoneOrder.PARENT_FIRST,
    bind=False,
    must_be_named=True,
    must_have_stage=True,
    bone_fields=frozenset({"length", "skin_required", "color", "icon"}),
    parts=frozenset({"name", "stage", "skins", "constraints", "invariants"}),
    slots=SlotKind.ANY,
    attachments=frozenset({"region", "mesh"}),
    blend_modes=frozenset(BLEND.values()),
    masks=False,
    constraints=frozenset({"ik", "transform", "physics"}),
    carry=Carry.SIDECAR,
)
