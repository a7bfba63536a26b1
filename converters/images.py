"""Image files beside a rig: where they lie, and how large they are."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from msgspec.structs import replace

from ..ir.rig import Attachment, MeshAttachment, RegionAttachment, Rig

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">8sI4sII")
"""Signature, then length, type, width and height of the first chunk (PNG specification §5.2, §11.2.2)."""


def image_folder(file: str, stated: str | None, chosen: str | None) -> Path:
    """The folder that a rig's images are relative to (specs/rigc-facts.md §1).

    Args:
        file: The rig's file.
        stated: What the rig says, relative to its file; None means the file's own folder.
        chosen: What the user says instead.
    """
    return Path(chosen) if chosen is not None else Path(os.path.dirname(file), stated or "")


def measured(rig: Rig, folder: Path) -> Rig:
    """The rig with the size of every image of an attachment that is a PNG file in ``folder``."""
    if not rig.skins:
        return rig
    sizes: dict[str, tuple[int, int] | None] = {}
    return replace(
        rig,
        skins=[
            replace(
                skin,
                attachments={
                    slot: {placeholder: _measured(item, folder, sizes) for placeholder, item in items.items()}
                    for slot, items in skin.attachments.items()
                },
            )
            for skin in rig.skins
        ],
    )


def _measured(attachment: Attachment, folder: Path, sizes: dict[str, tuple[int, int] | None]) -> Attachment:
    if not isinstance(attachment, RegionAttachment | MeshAttachment) or attachment.image is None:
        return attachment
    if attachment.image not in sizes:
        sizes[attachment.image] = png_size(folder / attachment.image)
    size = sizes[attachment.image]
    return attachment if size is None else replace(attachment, image_size=size)


def png_size(path: Path) -> tuple[int, int] | None:
    """Width and height of a PNG in pixels, from its header alone; None where no such file can be read."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
    except (OSError, ValueError):
        return None
    if len(head) < _HEADER.size:
        return None
    signature, _, kind, width, height = _HEADER.unpack(head)
    return (width, height) if signature == _SIGNATURE and kind == b"IHDR" and width and height else None
