"""Buffer views as arrays, without copying."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .container import BufferView


class Views:
    """The buffer views of a file that has passed the rules of :mod:`rigconv.formats.inr.rules`.

    Attributes:
        used: Indices of the views that were asked for.
    """

    def __init__(self, views: Sequence[BufferView], binary: memoryview) -> None:
        self._views = views
        self._binary = binary
        self.used: set[int] = set()

    def __len__(self) -> int:
        return len(self._views)

    def __contains__(self, index: int) -> bool:
        return 0 <= index < len(self._views)

    def bytes(self, index: int) -> np.ndarray:
        """(length,) uint8, a view of the file."""
        return self.array(index, "u1", (-1,))

    def array(self, index: int, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        """An array of little-endian numbers, a view of the file."""
        self.used.add(index)
        view = self._views[index]
        content = self._binary[view.offset : view.end]
        return np.frombuffer(content, dtype=dtype).reshape(shape) if content else np.empty(0, dtype).reshape(shape)

    def length(self, index: int) -> int:
        """Length of a view in bytes."""
        return self._views[index].length
