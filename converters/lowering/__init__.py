"""Making a rig fit a format: what it cannot say is said otherwise or dropped, and the report tells which.

Lowering goes from representation to representation and reads nothing but the format's declared capabilities, so
writers meet only rigs that they can write, and a rig that was lowered once comes through again unchanged.
"""

from __future__ import annotations

from msgspec.structs import replace

from ...ir import codes
from ...ir.capabilities import Capabilities, SlotKind
from ...ir.errors import quoted
from ...ir.geometry import stage_of
from ...ir.report import ConversionReport
from ...ir.rig import Rig
from .nodes import slots_as_nodes
from .options import LoweringOptions, Plane, Pose
from .parts import drop_foreign_natives, drop_parts, node_slots
from .skeleton import lower_skeleton

__all__ = ["LoweringOptions", "Plane", "Pose", "lower"]


def lower(
    rig: Rig,
    format_id: str,
    capabilities: Capabilities,
    options: LoweringOptions,
    report: ConversionReport,
) -> Rig:
    """The rig as ``format_id`` can say it.

    Args:
        rig: Any rig; it is left as it is.
        format_id: The target; its own native records are kept.
        capabilities: What the target can hold.
        options: What to choose where there is a choice.
        report: Takes an entry for every departure.
    """
    if capabilities.everything:
        return rig
    rig = lower_skeleton(rig, format_id, capabilities, options, report)
    if capabilities.slots is SlotKind.NODE:
        rig = slots_as_nodes(rig, node_slots(rig), report)
    if capabilities.must_be_named and rig.name is None:
        report.add(codes.NAME_ADDED, "name", f"The rig has no name; it is called {quoted(options.name)}.")
        rig = replace(rig, name=options.name)
    rig = drop_parts(rig, format_id, capabilities, report)
    if capabilities.must_have_stage and rig.stage is None and format_id not in rig.native:
        report.add(codes.STAGE_ADDED, "stage", "The bounding box is that of the setup pose.")
        rig = replace(rig, stage=stage_of(rig))
    return drop_foreign_natives(rig, format_id, report)
