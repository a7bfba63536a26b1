"""What lowering chooses where there is a choice."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Plane(StrEnum):
    """The plane onto which a rig that stands in space is projected: its first letter goes right, its second up."""

    XY = "xy"
    XZ = "xz"
    ZY = "zy"

    @property
    def axes(self) -> tuple[int, int]:
        """Indices of the axes that go right and up."""
        return "xyz".index(self.value[0]), "xyz".index(self.value[1])


class Pose(StrEnum):
    """The pose that a format with one pose gets."""

    REST = "rest"
    BIND = "bind"


class LoweringOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """Choices of the user.

    Attributes:
        plane: Where to project.
        pose: Which pose to take.
        name: What to call a rig that has no name and needs one.
    """

    plane: Plane = Plane.XY
    pose: Pose = Pose.REST
    name: str = "rig"
