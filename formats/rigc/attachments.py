"""Region and mesh attachments, from file structs to the representation and back (specs/rigc-facts.md §1, §3)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET

from ...ir.errors import FormatError, quoted
from ...ir.native import Native, as_struct, fields_of, restore, stated
from ...ir.rig import Attachment, Mesh, MeshAttachment, NativeAttachment, RegionAttachment
from ..json_text import convert
from .generators import check_generator
from .structs import RigMeshAttachment, RigMeshBinding, RigRegionAttachment
from .values import color_from_hex, given, stated_color, tidy, to_builtins

FORMAT = "rigc"

NATIVE_KINDS = ("boundingbox", "point", "clipping", "path", "linkedmesh")

_WHITE = (1.0, 1.0, 1.0, 1.0)


# -- reading ----------------------------------------------------------------------------------------------------------


def read_attachment(fields: Any, slot_bone: str, bones: list[str], where: str, file: str) -> Attachment:
    """An attachment as its file states it.

    Args:
        fields: The authored object.
        slot_bone: The bone of its slot, in whose space unweighted vertices are.
        bones: Names of all bones, in order, which raw weights index.
        where: Its place, for errors.
        file: The file's name, for errors.

    Raises:
        FormatError: It could not be compiled.
    """
    if not isinstance(fields, dict):
        raise FormatError(file, where, f"the attachment is {quoted(fields)}", "an object")
    kind = fields.get("type", "region")
    if kind in NATIVE_KINDS or (kind == "mesh" and "source" in fields):
        return NativeAttachment(kind=kind, native={FORMAT: Native(fields=fields)})
    if kind == "region":
        return _read_region(fields, where, file)
    if kind == "mesh":
        return _read_mesh(fields, slot_bone, bones, where, file)
    known = ", ".join(("region", "mesh", *NATIVE_KINDS))
    raise FormatError(file, f"{where}.type", f"the attachment has type {quoted(kind)}", f"one of {known}")


def _native(fields: dict[str, Any], struct: type[msgspec.Struct]) -> dict[str, Native]:
    unknown = tuple(key for key in fields if key not in struct.__struct_encode_fields__)
    return {FORMAT: Native(fields=fields, unmapped=unknown)}


def _color(text: Any, where: str, file: str) -> tuple[float, float, float, float]:
    if text is UNSET:
        return _WHITE
    try:
        return color_from_hex(text)
    except ValueError as error:
        raise FormatError(file, f"{where}.color", str(error), "rrggbbaa") from None


def _read_region(fields: dict[str, Any], where: str, file: str) -> RegionAttachment:
    region = convert(fields, RigRegionAttachment, file, where)
    if region.image is UNSET and (region.width is UNSET or region.height is UNSET):
        raise FormatError(file, where, "the region has no size", "a width and a height, or an image")
    return RegionAttachment(
        path=given(region.path, None),
        image=given(region.image, None),
        x=given(region.x, 0.0),
        y=given(region.y, 0.0),
        rotation=math.radians(given(region.rotation, 0.0)),
        scale_x=given(region.scaleX, 1.0),
        scale_y=given(region.scaleY, 1.0),
        width=given(region.width, None),
        height=given(region.height, None),
        color=_color(region.color, where, file),
        native=_native(fields, RigRegionAttachment),
    )


def _read_mesh(fields: dict[str, Any], slot_bone: str, bones: list[str], where: str, file: str) -> MeshAttachment:
    mesh = convert(fields, RigMeshAttachment, file, where)
    _check_forms(mesh, where, file)
    generator = given(mesh.generator, None)
    if generator is not None:
        check_generator(generator, set(bones), f"{where}.generator", file)
    return MeshAttachment(
        mesh=None if generator is not None else _geometry(mesh, slot_bone, bones, where, file),
        path=given(mesh.path, None),
        image=given(mesh.image, None),
        width=given(mesh.width, None),
        height=given(mesh.height, None),
        color=_color(mesh.color, where, file),
        generator=generator,
        native=_native(fields, RigMeshAttachment),
    )


def _check_forms(mesh: RigMeshAttachment, where: str, file: str) -> None:
    """Refuse geometry that is stated in two ways, or in none."""
    indexing = given(mesh.boneIndexing, "name")
    if indexing not in ("name", "raw"):
        raise FormatError(file, f"{where}.boneIndexing", f"boneIndexing is {quoted(indexing)}", "name or raw")
    authored = [name for name in ("uvs", "triangles", "vertices", "weights") if getattr(mesh, name) is not UNSET]
    if mesh.generator is not UNSET:
        if authored:
            problem = f"the mesh has a generator and authored {', '.join(authored)}"
            raise FormatError(file, where, problem, "one of the two")
        return
    if "vertices" in authored and "weights" in authored:
        raise FormatError(file, where, "the mesh has both vertices and weights", "one of the two")
    if "weights" in authored and indexing == "raw":
        raise FormatError(file, where, 'the mesh has weights and boneIndexing "raw"', "one of the two")
    for name in ("uvs", "triangles"):
        if name not in authored:
            raise FormatError(file, where, f"the mesh has no {name}", "uvs, triangles, and vertices or weights")
    if len(authored) < 3:
        raise FormatError(file, where, "the mesh has no geometry", "vertices, weights or a generator")


def _geometry(mesh: RigMeshAttachment, slot_bone: str, bones: list[str], where: str, file: str) -> Mesh:
    uvs, triangles = np.array(mesh.uvs, dtype=np.float64), np.array(mesh.triangles, dtype=np.int64)
    if len(uvs) % 2:
        raise FormatError(file, f"{where}.uvs", f"there are {len(uvs)} numbers", "pairs")
    count = len(uvs) // 2
    _check_indices(triangles, 3, count, f"{where}.triangles", file)
    edges = None if mesh.edges is UNSET else np.array(mesh.edges, dtype=np.int64)
    if edges is not None:
        _check_indices(edges, 2, 2 * count, f"{where}.edges", file)
        edges = edges.reshape(-1, 2) // 2
    influences = _influences(mesh, count, slot_bone, bones, where, file)
    return Mesh(
        **influences,
        uvs=uvs.reshape(-1, 2),
        triangles=triangles.reshape(-1, 3),
        hull=None if mesh.hull is UNSET else mesh.hull,
        edges=edges,
    )


def _check_indices(indices: np.ndarray, group: int, count: int, where: str, file: str) -> None:
    if len(indices) % group:
        raise FormatError(file, where, f"there are {len(indices)} indices", f"a multiple of {group}")
    outside = np.flatnonzero((indices < 0) | (indices >= count))
    if len(outside):
        place = f"{where}[{outside[0]}]"
        raise FormatError(file, place, f"the index is {indices[outside[0]]}", f"0 to {count - 1}")


def _influences(
    mesh: RigMeshAttachment, count: int, slot_bone: str, bones: list[str], where: str, file: str
) -> dict[str, Any]:
    if mesh.weights is not UNSET:
        return _named_influences(mesh.weights, count, bones, where, file)
    vertices = given(mesh.vertices, [])
    if len(vertices) == 2 * count:
        positions = np.array(vertices, dtype=np.float64).reshape(-1, 2)
        return _rows([slot_bone], np.ones(count), np.zeros(count), positions, np.ones(count))
    if mesh.boneIndexing != "raw":
        problem = f"there are {len(vertices)} numbers for {count} vertices"
        raise FormatError(file, f"{where}.vertices", problem, 'x and y a vertex, weights, or boneIndexing "raw"')
    return _raw_influences(vertices, count, bones, f"{where}.vertices", file)


def _rows(
    palette: list[str], counts: np.ndarray, indices: np.ndarray, positions: np.ndarray, weights: np.ndarray
) -> dict[str, Any]:
    spatial = np.zeros((len(positions), 3))
    spatial[:, :2] = positions
    return {
        "bones": palette,
        "starts": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        "influence_bones": indices.astype(np.int64),
        "positions": spatial,
        "weights": weights,
    }


def _named_influences(
    weights: list[list[RigMeshBinding]], count: int, bones: list[str], where: str, file: str
) -> dict[str, Any]:
    if len(weights) != count:
        problem = f"there are weights for {len(weights)} vertices"
        raise FormatError(file, f"{where}.weights", problem, f"{count}, as many as uv pairs")
    known = set(bones)
    for index, vertex in enumerate(weights):
        if not vertex:
            raise FormatError(file, f"{where}.weights[{index}]", "the vertex names no bone", "at least one")
        for binding in vertex:
            if binding.bone not in known:
                problem = f"there is no bone {quoted(binding.bone)}"
                raise FormatError(file, f"{where}.weights[{index}]", problem, "the name of a bone")
    flat = [binding for vertex in weights for binding in vertex]
    palette = list(dict.fromkeys(binding.bone for binding in flat))
    place = {name: index for index, name in enumerate(palette)}
    return _rows(
        palette,
        np.array([len(vertex) for vertex in weights], dtype=np.int64),
        np.array([place[binding.bone] for binding in flat], dtype=np.int64),
        np.array([(binding.x, binding.y) for binding in flat], dtype=np.float64).reshape(-1, 2),
        np.array([binding.weight for binding in flat], dtype=np.float64),
    )


def _raw_influences(run: list[float], count: int, bones: list[str], where: str, file: str) -> dict[str, Any]:
    counts, starts, place = [], [], 0
    for index in range(count):
        if place >= len(run) or run[place] != int(run[place]) or run[place] < 1:
            found = run[place] if place < len(run) else "nothing"
            raise FormatError(file, where, f"vertex {index} has {found} for its bone count", "a whole number from 1")
        counts.append(int(run[place]))
        starts.append(place + 1)
        place += 1 + 4 * counts[-1]
    if place != len(run):
        raise FormatError(file, where, f"the run has {len(run)} numbers", f"{place} for {count} vertices")
    rows = np.concatenate([np.arange(start, start + 4 * size) for start, size in zip(starts, counts, strict=True)])
    bone, x, y, weight = np.array(run, dtype=np.float64)[rows].reshape(-1, 4).T
    wrong = np.flatnonzero((bone != np.floor(bone)) | (bone < 0) | (bone >= len(bones)))
    if len(wrong):
        raise FormatError(file, where, f"a bone index is {bone[wrong[0]]:g}", f"0 to {len(bones) - 1}")
    used, indices = np.unique(bone.astype(np.int64), return_inverse=True)
    positions = np.stack([x, y], axis=-1)
    return _rows([bones[index] for index in used], np.array(counts), indices, positions, weight)


# -- writing ----------------------------------------------------------------------------------------------------------


def write_attachment(attachment: Attachment, slot_bone: str, bones: list[str]) -> dict[str, Any]:
    """The object that states an attachment; the arguments are those of :func:`read_attachment`."""
    fields = fields_of(attachment.native, FORMAT)
    if isinstance(attachment, RegionAttachment):
        was_region = as_struct(fields, RigRegionAttachment)
        return restore(fields, was_region, _region(attachment, was_region), to_builtins)
    if isinstance(attachment, MeshAttachment):
        was_mesh = as_struct(fields, RigMeshAttachment)
        return restore(fields, was_mesh, _mesh(attachment, was_mesh, slot_bone, bones), to_builtins)
    return fields


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)


def _degrees(was: Any, radians: float) -> Any:
    meaning = 0.0 if was is UNSET else math.radians(was)
    return was if _same(meaning, radians) else tidy(np.array([math.degrees(radians)]), 360.0)[0]


def _optional(was: Any, value: Any) -> Any:
    return UNSET if value is None else stated(was, UNSET, value)


def _region(attachment: RegionAttachment, was: RigRegionAttachment) -> RigRegionAttachment:
    return RigRegionAttachment(
        type=was.type,
        path=_optional(was.path, attachment.path),
        image=_optional(was.image, attachment.image),
        x=stated(was.x, 0.0, attachment.x),
        y=stated(was.y, 0.0, attachment.y),
        rotation=_degrees(was.rotation, attachment.rotation),
        scaleX=stated(was.scaleX, 1.0, attachment.scale_x),
        scaleY=stated(was.scaleY, 1.0, attachment.scale_y),
        width=_optional(was.width, attachment.width),
        height=_optional(was.height, attachment.height),
        color=stated_color(was.color, attachment.color),
    )


def _mesh(attachment: MeshAttachment, was: RigMeshAttachment, slot_bone: str, bones: list[str]) -> RigMeshAttachment:
    now = RigMeshAttachment(
        type="mesh",
        path=_optional(was.path, attachment.path),
        image=_optional(was.image, attachment.image),
        width=_optional(was.width, attachment.width),
        height=_optional(was.height, attachment.height),
        color=stated_color(was.color, attachment.color),
    )
    if attachment.generator is not None and attachment.generator == was.generator:
        now.generator = was.generator
        now.boneIndexing = was.boneIndexing
    elif attachment.mesh is not None:
        _state_geometry(now, attachment.mesh, was, slot_bone, bones)
    return now


def _state_geometry(
    now: RigMeshAttachment, mesh: Mesh, was: RigMeshAttachment, slot_bone: str, bones: list[str]
) -> None:
    now.uvs = mesh.uvs.ravel().tolist()
    now.triangles = mesh.triangles.ravel().tolist()
    if mesh.edges is not None:
        edges = (mesh.edges * 2).ravel().tolist()
        agrees = was.edges is not UNSET and [edge // 2 * 2 for edge in was.edges] == edges
        now.edges = was.edges if agrees else edges
    if mesh.hull is not None:
        now.hull = mesh.hull
    positions = mesh.positions[:, :2] - np.array(mesh.origin)
    now.boneIndexing = was.boneIndexing
    if was.boneIndexing == "raw" and was.vertices is not UNSET:
        now.vertices = _raw_run(mesh, positions, bones)
        if now.vertices == was.vertices:
            return
        now.vertices, now.boneIndexing = UNSET, UNSET
    if was.weights is UNSET and mesh.bones == [slot_bone] and mesh.is_rigid:
        now.vertices = positions.ravel().tolist()
    else:
        now.weights = _named_weights(mesh, positions)


def _named_weights(mesh: Mesh, positions: np.ndarray) -> list[list[RigMeshBinding]]:
    bindings = [
        RigMeshBinding(bone=name, x=x, y=y, weight=weight)
        for name, (x, y), weight in zip(mesh.influence_names, positions.tolist(), mesh.weights.tolist(), strict=True)
    ]
    return [bindings[start:end] for start, end in pairwise(mesh.starts.tolist())]


def _raw_run(mesh: Mesh, positions: np.ndarray, bones: list[str]) -> list[float]:
    index = {name: place for place, name in enumerate(bones)}
    run: list[float] = []
    for vertex in _named_weights(mesh, positions):
        run.append(len(vertex))
        for binding in vertex:
            run.extend((index[binding.bone], binding.x, binding.y, binding.weight))
    return run
