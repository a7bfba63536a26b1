"""The engine's rig asset: ``rig.json``, alone or in a ``NAME.rig`` folder (specs/seed-engine-rig.txt)."""

from ...ir.capabilities import BoneOrder, Capabilities, Carry, SlotKind
from .reader import read
from .structs import RigFile as Schema
from .writer import write

__all__ = ["CAPABILITIES", "Schema", "read", "write"]

CAPABILITIES = Capabilities(
    dimensions=3,
    shear=False,
    depth_scale=True,
    inherit=frozenset(),
    several_roots=True,
    bone_order=BoneOrder.ANY,
    bind=True,
    bone_fields=frozenset({"node_index"}),
    parts=frozenset(),
    slots=SlotKind.NONE,
    attachments=frozenset(),
    blend_modes=frozenset(),
    masks=False,
    constraints=frozenset(),
    carry=Carry.SIDECAR,
)
