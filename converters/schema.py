"""The JSON Schema of a format's document."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from .registry import Format


def schema_of(target: Format) -> dict[str, Any]:
    """JSON Schema (2020-12) of the JSON document of a format."""
    schema = msgspec.json.schema(target.schema, schema_hook=_array_schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": target.declaration.title, **schema}


def _array_schema(kind: type) -> dict[str, Any]:
    """Arrays stand in documents as nested lists of numbers, bytes as base64 text."""
    if kind is np.ndarray:
        return {"type": ["array", "string"]}
    raise NotImplementedError(kind)
