"""The INR container: a header, a JSON chunk and a BIN chunk (specs/seed-inr.txt §1 and §3.1).

Knows bytes and buffer views, not what is in them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np

from ...ir.errors import FormatError
from ...ir.exchange import Buffers

MAGIC = b"INR1"
VERSION = 1
HEADER = struct.Struct("<4sIII")
"""Magic, container version, length of the JSON chunk, length of the BIN chunk."""

ALIGNMENT = 4


class BufferView(msgspec.Struct, kw_only=True):
    """A range of bytes of the BIN chunk."""

    offset: int
    length: int

    @property
    def end(self) -> int:
        """Offset of the first byte behind it."""
        return self.offset + self.length


class Container(msgspec.Struct, frozen=True, eq=False):
    """A file's chunks, as views of its bytes.

    Attributes:
        json: The JSON chunk.
        bin: The BIN chunk.
        trailing: Number of bytes behind it.
    """

    json: memoryview
    bin: memoryview
    trailing: int


def unpack(data: bytes | memoryview, file: str) -> Container:
    """The chunks of a file.

    Raises:
        FormatError: It is no INR container, or it ends too early.
    """
    view = memoryview(data).cast("B")
    if len(view) < HEADER.size:
        raise FormatError(file, "byte 0", f"the file has {len(view)} bytes", f"a header of {HEADER.size}")
    magic, version, json_length, bin_length = HEADER.unpack_from(view)
    if magic != MAGIC:
        raise FormatError(file, "byte 0", f"the magic is {magic!r}", repr(MAGIC))
    if version != VERSION:
        raise FormatError(file, "byte 4", f"the container version is {version}", str(VERSION))
    json_end = HEADER.size + json_length
    end = json_end + bin_length
    if end > len(view):
        chunk, place = ("JSON", 8) if json_end > len(view) else ("BIN", 12)
        problem = f"the file ends inside the {chunk} chunk: the header promises {end} bytes, there are {len(view)}"
        raise FormatError(file, f"byte {place}", problem, "a whole file")
    return Container(json=view[HEADER.size : json_end], bin=view[json_end:end], trailing=len(view) - end)


def pack(json: bytes, binary: Buffers) -> Buffers:
    """A file of its chunks; the JSON chunk is padded with spaces."""
    json += b" " * (-len(json) % ALIGNMENT)
    return [HEADER.pack(MAGIC, VERSION, len(json), sum(map(len, binary))), json, *binary]


class ViewBuilder:
    """Gathers the content of buffer views, in the places that it had in the file it was read from.

    View indices stay what they were, because fields that no one here understands may hold them.
    """

    def __init__(self, authored: Sequence[BufferView] = ()) -> None:
        self._authored = list(authored)
        self._content: list[memoryview | None] = [None] * len(self._authored)
        self._places: dict[tuple[int, int], int] = {}

    def add(self, array: np.ndarray, index: int | None = None) -> int:
        """Take bytes in, and tell the index of their view.

        Args:
            array: The content; it is kept, not copied.
            index: The view it came from; it is used again unless other bytes have taken it.
        """
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        content, memory = memoryview(flat.data), (flat.ctypes.data, len(flat))
        if index is not None and 0 <= index < len(self._authored):
            taken = self._content[index]
            if taken is None or taken == content:
                self._content[index] = content
                self._places.setdefault(memory, index)
                return index
        if memory in self._places and len(flat):
            return self._places[memory]
        self._content.append(content)
        self._places[memory] = len(self._content) - 1
        return len(self._content) - 1

    def build(self) -> tuple[list[BufferView], Buffers]:
        """The views and the BIN chunk.

        Views lie where they lay while their lengths allow it, else one behind the other, each aligned.
        """
        lengths = [0 if content is None else len(content) for content in self._content]
        views = self._kept_layout(lengths)
        if views is None:
            offsets = np.concatenate([[0], np.cumsum([_aligned(length) for length in lengths])]).tolist()
            views = [BufferView(offset=offset, length=length) for offset, length in zip(offsets, lengths, strict=False)]
        return views, self._chunk(views)

    def _kept_layout(self, lengths: list[int]) -> list[BufferView] | None:
        kept = self._authored
        if any(view.length != length for view, length in zip(kept, lengths, strict=False)):
            return None
        if any(view.offset % ALIGNMENT for view in kept) or _overlap(kept):
            return None
        views, end = list(kept), max((view.end for view in kept), default=0)
        for length in lengths[len(kept) :]:
            views.append(BufferView(offset=_aligned(end), length=length))
            end = views[-1].end
        return views

    def _chunk(self, views: list[BufferView]) -> Buffers:
        pieces: Buffers = []
        end = 0
        for index in sorted(range(len(views)), key=lambda index: views[index].offset):
            content = self._content[index]
            if not content:
                continue
            if views[index].offset > end:
                pieces.append(bytes(views[index].offset - end))
            pieces.append(content)
            end = views[index].end
        if end % ALIGNMENT:
            pieces.append(bytes(-end % ALIGNMENT))
        return pieces


def _aligned(length: int) -> int:
    return length + -length % ALIGNMENT


def _overlap(views: list[BufferView]) -> bool:
    filled = sorted((view for view in views if view.length), key=lambda view: view.offset)
    return any(before.end > after.offset for before, after in pairwise(filled))
