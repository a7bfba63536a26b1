"""rigconv: a converter hub for 2D and 3D skeleton assets.

rig = rigconv.read("in.rig.json")
report = rigconv.write(rig, "out.inr")
report = rigconv.convert("in.rig.json", "out.inr")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import convert, read, write
    from .converters.lowering import LoweringOptions, Plane, Pose
    from .converters.saving import ConvertOptions
    from .ir.capabilities import Carry
    from .ir.errors import (
        ConversionError,
        FormatError,
        LossError,
        RigconvError,
        UnknownFormatError,
        UsageError,
    )
    from .ir.exchange import ReadOptions
    from .ir.report import ConversionReport, Entry, Severity
    from .ir.rig import Rig

__version__ = "0.1.0"

__all__ = [
    "Carry",
    "ConversionError",
    "ConversionReport",
    "ConvertOptions",
    "Entry",
    "FormatError",
    "LossError",
    "LoweringOptions",
    "Plane",
    "Pose",
    "ReadOptions",
    "Rig",
    "RigconvError",
    "Severity",
    "UnknownFormatError",
    "UsageError",
    "__version__",
    "convert",
    "read",
    "write",
]

_HOMES = {
    "api": ("convert", "read", "write"),
    "converters.saving": ("ConvertOptions",),
    "converters.lowering": ("LoweringOptions", "Plane", "Pose"),
    "ir.capabilities": ("Carry",),
    "ir.exchange": ("ReadOptions",),
    "ir.errors": (
        "ConversionError",
        "FormatError",
        "LossError",
        "RigconvError",
        "UnknownFormatError",
        "UsageError",
    ),
    "ir.report": ("ConversionReport", "Entry", "Severity"),
    "ir.rig": ("Rig",),
}


def __getattr__(name: str) -> Any:
    """Import public names when they are asked for, so that ``rigconv --version`` need not load numpy."""
    from importlib import import_module

    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
