"""The representation itself as a file: ``rigconv-ir/1``, complete and versioned (see :mod:`rigconv.ir.document`)."""

from ...ir.capabilities import BoneOrder, Capabilities, Carry, SlotKind
from ...ir.document import Document as Schema
from ...ir.rig import BlendMode, Inherit
from .reader import read
from .writer import write

__all__ = ["CAPABILITIES", "Schema", "read", "write"]

CAPABILITIES = Capabilities(
    everything=True,
    dimensions=3,
    shear=True,
    depth_scale=True,
    inherit=frozenset(Inherit),
    several_roots=True,
    bone_order=BoneOrder.PARENT_FIRST,
    bind=True,
    bone_fields=frozenset(),
    parts=frozenset(),
    slots=SlotKind.ANY,
    attachments=frozenset(),
    blend_modes=frozenset(BlendMode),
    masks=True,
    constraints=frozenset(),
    carry=Carry.NONE,
)
