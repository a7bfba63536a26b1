"""The representation to a document that can be stored."""

from __future__ import annotations

from ...ir.document import to_builtins
from ...ir.exchange import Buffers, Writing
from ...ir.rig import Rig
from ..json_text import encode


def write(rig: Rig, writing: Writing) -> Buffers:
    """The file that describes a rig."""
    return [encode(to_builtins(rig))]
