"""What the parts of a file share while it is written: its views, and the indices that names stand for."""

from __future__ import annotations

import msgspec
import numpy as np

from ...ir.errors import ConversionError
from ...ir.exchange import Buffers
from .container import BufferView, ViewBuilder


class References(msgspec.Struct, frozen=True, eq=False):
    """Indices and views.

    Attributes:
        nodes: Index of each node, by the bone's name.
        params: Index of each parameter, by name.
        views: Takes the content of views.
    """

    nodes: dict[str, int]
    params: dict[str, int]
    views: ViewBuilder

    def floats(self, values: np.ndarray, index: int | None) -> int:
        """The view of some float32 numbers.

        Args:
            values: Numbers of any shape.
            index: The view they came from, if any.

        Raises:
            ConversionError: One is too large.
        """
        with np.errstate(over="ignore"):
            single = values.astype("<f4")
        if not np.isfinite(single).all():
            raise ConversionError("a vertex or a keypoint is too large for a float32")
        return self.views.add(single, index)

    def build(self) -> tuple[list[BufferView], Buffers]:
        """The views and the BIN chunk."""
        return self.views.build()
