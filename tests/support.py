"""What several tests need: formats by name, conversion in memory, INR files built without rigconv."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rigconv.converters.lowering import LoweringOptions, lower
from rigconv.converters.registry import Format, find
from rigconv.ir.exchange import Reading, ReadOptions, Source, Writing
from rigconv.ir.report import ConversionReport
from rigconv.ir.rig import Rig

FORMATS = ("rigc", "engine", "inr", "ir")
PAIRS = [(source, target) for source in FORMATS for target in FORMATS if source != target]
FILE_NAMES = {"rigc": "a.rig.json", "engine": "rig.json", "inr": "a.inr", "ir": "a.rigir.json"}


def tolerance(*formats: str) -> float:
    """Share of the skeleton's size within which world matrices must agree on a way through formats."""
    return 1e-5 if "inr" in formats else 1e-9


def read_bytes(data: bytes, format_id: str, options: ReadOptions = ReadOptions()) -> tuple[Rig, Reading]:
    """The rig in some bytes, and how it was read."""
    reading = Reading(source=Source("file", data), options=options)
    return find(format_id).read(reading), reading


def write_bytes(rig: Rig, format_id: str) -> tuple[bytes, ConversionReport]:
    """A rig made to fit a format and written in it, and how it departs."""
    report = ConversionReport()
    target: Format = find(format_id)
    lowered = lower(rig, format_id, target.capabilities, LoweringOptions(), report)
    return b"".join(map(bytes, target.write(lowered, Writing(report=report)))), report


def lowered(rig: Rig, format_id: str, options: LoweringOptions = LoweringOptions()) -> tuple[Rig, ConversionReport]:
    """A rig made to fit a format."""
    report = ConversionReport()
    return lower(rig, format_id, find(format_id).capabilities, options, report), report


def document_of(data: bytes) -> tuple[Any, list[bytes]]:
    """The JSON of a file, with its key order, and the content of its buffer views."""
    if data[:4] != b"INR1":
        return json.loads(data), []
    length = struct.unpack_from("<I", data, 8)[0]
    document = json.loads(data[16 : 16 + length])
    binary = data[16 + length :]
    return document, [binary[view["offset"] :][: view["length"]] for view in document["buffer_views"]]


def spelling(data: bytes) -> tuple[str, list[bytes]]:
    """A file's JSON as text that keeps key order and tells 1 from 1.0, and the content of its views."""
    document, views = document_of(data)
    return json.dumps(document), views


def inr_bytes(document: dict[str, Any], views: Sequence[bytes] = (), **header: Any) -> bytes:
    """An INR file; ``header`` overrides magic, version, json_length or bin_length."""
    binary, stored = b"", []
    for view in views:
        stored.append({"offset": len(binary), "length": len(view)})
        binary += view + bytes(-len(view) % 4)
    text = json.dumps({"buffer_views": stored, **document}).encode()
    text += b" " * (-len(text) % 4)
    values = {"magic": b"INR1", "version": 1, "json_length": len(text), "bin_length": len(binary)} | header
    return struct.pack("<4sIII", *values.values()) + text + binary


def node(name: str, uuid: int, **fields: Any) -> dict[str, Any]:
    """An INR node that says nothing but what is given."""
    plain = {"kind": "node", "enabled": True, "zsort": 0.0, "translation": [0, 0, 0], "rotation": [0, 0, 0]}
    return {"name": name, "uuid": uuid, **plain, "scale": [1, 1]} | fields


def inr_document(*nodes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The JSON chunk of an INR file with a root and ``nodes`` below it."""
    below = [{"parent": 0, **item} for item in nodes]
    return {
        "physics": {"pixels_per_meter": 1000.0, "gravity": 9.8},
        "nodes": [node("Root", 1), *below],
        **fields,
    }


QUAD = [
    struct.pack("<8f", -1, -1, 1, -1, 1, 1, -1, 1),
    struct.pack("<8f", 0, 0, 1, 0, 1, 1, 0, 1),
    struct.pack("<6I", 0, 1, 2, 0, 2, 3),
]
"""Positions, uvs and indices of a square."""

QUAD_MESH = {"vertex_count": 4, "positions": 0, "uvs": 1, "indices": 2, "origin": [0, 0]}

PART = {
    "textures": [-1, -1, -1],
    "blend_mode": "normal",
    "tint": [1, 1, 1],
    "screen_tint": [0, 0, 0],
    "opacity": 1.0,
    "mask_threshold": 0.5,
}


def part(name: str, uuid: int, **fields: Any) -> dict[str, Any]:
    """An INR part that shows the square of :data:`QUAD`."""
    return node(name, uuid, **{"kind": "part", "mesh": QUAD_MESH, "part": PART} | fields)


def rigc_document(**fields: Any) -> dict[str, Any]:
    """A small rig spec, with ``fields`` in the place of its own."""
    return {
        "spec": "rigc-rig/1",
        "name": "small",
        "skeleton": {"width": 10, "height": 10},
        "bones": [{"name": "root"}, {"name": "arm", "parent": "root", "x": 1}],
        "slots": [{"name": "s", "bone": "arm"}],
        **fields,
    }


def dumped(document: Any) -> bytes:
    """A JSON document as bytes."""
    return json.dumps(document).encode()


def samples(shared: Path, kind: str) -> list[Path]:
    """Good or bad sample files of the formats that are read, all formats together."""
    folder = shared / "samples"
    if kind == "good":
        found = [
            *folder.glob("rigc/*.rig.json"),
            *folder.glob("engine/good/*/rig.json"),
            *folder.glob("inr/good/*.inr"),
        ]
    else:
        found = [*folder.glob("rigc/bad/*.json"), *folder.glob("engine/bad/*/rig.json"), *folder.glob("inr/bad/*.inr")]
    return sorted(found)


def sample_id(path: Path) -> str:
    """Short name of a sample."""
    return f"{path.parent.name}/{path.name}"
