"""How elements of a rig are named in reports and differences: ``bones["arm"].length``, ``textures[0]``."""

from __future__ import annotations

import json
import re
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


def segments(path: str) -> list[str]:
    """The steps of a path, which joined are the path again: ``bones``, ``["arm"]``, ``.local``."""
    return _STEP.findall(path)


def key_of(segment: str) -> Any:
    """The name or index in a step like ``["arm"]``; None for a step that names a field."""
    return json.loads(segment[1:-1], strict=False) if _KEY.fullmatch(segment) else None


_KEY = re.compile(r'\["(?:[^"\\]|\\.)*"\]|\[\d+\]', re.DOTALL)
# Fields that only one format knows may have any name, so that whatever is neither key nor field is a step of its own.
_STEP = re.compile(rf"{_KEY.pattern}|\.?[^.\[]+|.", re.DOTALL)
