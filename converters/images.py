"""Image files beside a rig: where they lie, and how large they are."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from msgspec.structs import replace

from ..ir.rig import Attachment, MeshAttachment, RegionAttachment, Rig, Skin

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


def image_names(rig: Rig) -> list[str]:
    """The images that attachments show, as they name them, each once."""
    shown = [item for skin in rig.skins for items in skin.attachments.values() for item in items.values()]
    return sorted({name for item in shown if (name := _image(item)) is not None})


def _image(attachment: Attachment) -> str | None:
    return attachment.image if isinstance(attachment, RegionAttachment | MeshAttachment) else None


def measured(rig: Rig, folder: Path) -> Rig:
    """The rig with the size of every image of an attachment that is a PNG file in ``folder``."""
    sizes = {name: size for name in image_names(rig) if (size := png_size(folder / name)) is not None}
    return replace(rig, skins=[_measured_skin(skin, sizes) for skin in rig.skins]) if sizes else rig


def _measured_skin(skin: Skin, sizes: dict[str, tuple[int, int]]) -> Skin:
    attachments = {
        slot: {placeholder: _measured(item, sizes) for placeholder, item in items.items()}
        for slot, items in skin.attachments.items()
    }
    return replace(skin, attachments=attachments)


def _measured(attachment: Attachment, sizes: dict[str, tuple[int, int]]) -> Attachment:
    size = sizes.get(_image(attachment) or "")
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
