"""How elements of a rig are named in reports and differences: ``bones["arm"].length``, ``textures[0]``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .errors import quoted


def element(collection: str, key: str | int) -> str:
    """``collection["name"]``, or ``collection[index]``."""
    return f"{collection}[{quoted(key)}]"


def bone(name: str) -> str:
    """``bones["name"]``."""
    return element("bones", name)


def attachment(skin: str, slot: str, placeholder: str) -> str:
    """``skins["skin"].attachments["slot"]["placeholder"]``."""
    return f"{element('skins', skin)}.attachments[{quoted(slot)}][{quoted(placeholder)}]"


def record(collection: str, item: Any) -> str:
    """The path of a named record of ``collection``."""
    return element(collection, record_key(item))


def record_key(item: Any) -> str:
    """What identifies a named record among its like: its name, and for constraints its type, too."""
    tag = item.__struct_config__.tag
    return f"{tag}/{item.name}" if tag else str(item.name)


def holders(path: str) -> Iterator[str]:
    """A path and those of everything that holds the element, outermost first."""
    for place, character in enumerate(path):
        if character in ".[" and place:
            yield path[:place]
    yield path
