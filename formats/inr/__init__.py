"""INR v1, the runtime container of Inochi2D puppets (specs/seed-inr.txt)."""

from ...ir.capabilities import BoneOrder, Capabilities, Carry, SlotKind
from ...ir.rig import BlendMode
from .numbers import PRECISION
from .reader import read
from .structs import InrDoc as Schema
from .writer import write

__all__ = ["CAPABILITIES", "Schema", "read", "write"]

CAPABILITIES = Capabilities(
    dimensions=3,
    shear=False,
    depth_scale=False,
    inherit=frozenset(),
    several_roots=False,
    bone_order=BoneOrder.PRE_ORDER,
    bind=False,
    bone_fields=frozenset({"uuid", "enabled", "lock_to_root"}),
    parts=frozenset({"name", "meta", "params", "animations", "textures", "skins"}),
    slots=SlotKind.NODE,
    attachments=frozenset({"mesh", "mask", "meshgroup", "composite"}),
    blend_modes=frozenset(BlendMode),
    masks=True,
    constraints=frozenset({"pendulum"}),
    carry=Carry.EMBED,
    precision=PRECISION,
)
