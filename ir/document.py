"""The representation as a document: ``rigconv-ir/1``, for storing, editing and carrying.

A document says all that a :class:`~rigconv.ir.rig.Rig` says. Bones stand in it one by one, with the name of their
parent and their matrices as rows, so that a hub document can be read, diffed and edited. Bulk bytes are base64 text.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import asdict, replace

from . import paths
from .edit import CycleError, reordered, topological_order
from .errors import quoted
from .matrix import is_singular
from .rig import (
    Animation,
    Attachment,
    Bind,
    BindReference,
    Bone,
    Constraint,
    Mesh,
    Param,
    Record,
    Rig,
    Skeleton,
    Skin,
    Slot,
    Stage,
    Texture,
)

SPEC = "rigconv-ir/1"

EncodeArray = Callable[[np.ndarray], Any]
"""What stands for an array in a document."""
DecodeArray = Callable[[Any], np.ndarray]
"""The array that something in a document stands for; raises ValueError where it stands for none."""


class DocumentError(ValueError):
    """A document breaks a rule.

    Attributes:
        where: Place in it.
        problem: What is wrong.
        expected: What should be there; may be empty.
    """

    def __init__(self, where: str, problem: str, expected: str = "") -> None:
        super().__init__(where, problem, expected)
        self.where = where
        self.problem = problem
        self.expected = expected


class DocumentBone(Bone, kw_only=True):
    """A bone with its place in the skeleton.

    Attributes:
        parent: Name of the parent, None for a root.
        local: (4, 4) rest matrix relative to the parent, as rows.
        inverse_bind: (4, 4) inverse bind matrix, as rows; on all bones or on none.
    """

    parent: str | None = None
    local: np.ndarray
    inverse_bind: np.ndarray | None = None


class Document(Record, kw_only=True):
    """A rig as it is stored; the attributes are those of :class:`~rigconv.ir.rig.Rig`."""

    spec: str = msgspec.field(default="")
    name: str | None = None
    origin: str | None = None
    meta: dict[str, str] = {}
    bind: str | BindReference | None = None
    bones: list[DocumentBone]
    stage: Stage | None = None
    slots: list[Slot] = []
    skins: list[Skin] = []
    constraints: list[Constraint] = []
    params: list[Param] = []
    animations: list[Animation] = []
    textures: list[Texture] = []


_SHARED = [name for name in Rig.__struct_fields__ if name != "skeleton"]
_BONE_FIELDS = Bone.__struct_fields__


# -- rig to document --------------------------------------------------------------------------------------------------


def encode_array(array: np.ndarray) -> Any:
    """Numbers as nested lists, bytes as base64 text."""
    return b64encode(array.tobytes()).decode("ascii") if array.dtype == np.uint8 else array.tolist()


def to_builtins(rig: Rig, encode: EncodeArray = encode_array) -> dict[str, Any]:
    """The document of a rig as JSON values, with ``encode`` applied to arrays."""
    document = Document(spec=SPEC, bind=rig.skeleton.bind, bones=_document_bones(rig.skeleton), **_shared(rig))
    ordered: dict[str, Any] = _native_last(msgspec.to_builtins(document, enc_hook=encode))
    return ordered


def _shared(record: Rig | Document) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _SHARED}


def _document_bones(skeleton: Skeleton) -> list[DocumentBone]:
    binds = skeleton.inverse_bind if skeleton.inverse_bind is not None else [None] * len(skeleton)
    rows = zip(skeleton.bones, skeleton.parent_names, skeleton.local, binds, strict=True)
    return [
        DocumentBone(parent=parent, local=local, inverse_bind=bind, **asdict(bone))
        for bone, parent, local, bind in rows
    ]


def _native_last(value: Any) -> Any:
    """What an element is before what its file said about it, for people who read the document."""
    if isinstance(value, list):
        return [_native_last(item) for item in value] if value and isinstance(value[0], dict) else value
    if not isinstance(value, dict):
        return value
    native = value.pop("native", None)
    ordered = {key: _native_last(item) for key, item in value.items()}
    if native is not None:
        ordered["native"] = native
    return ordered


# -- document to rig --------------------------------------------------------------------------------------------------


def decode_array(value: Any) -> np.ndarray:
    """The inverse of :func:`encode_array`."""
    if isinstance(value, str):
        return np.frombuffer(b64decode(value, validate=True), dtype=np.uint8)
    if isinstance(value, list):
        array = np.array(value)
        if array.dtype.kind in "bif":
            return array
    raise ValueError("not an array of numbers")


def from_builtins(value: Any, decode: DecodeArray = decode_array) -> Rig:
    """The rig that a document describes.

    Args:
        value: JSON values.
        decode: The inverse of what encoded the arrays.

    Raises:
        DocumentError: The document breaks a rule; nothing in a rig that is returned does.
    """
    try:
        document = msgspec.convert(value, Document, dec_hook=lambda _type, item: decode(item))
    except msgspec.ValidationError as error:
        problem, _, where = str(error).partition(" - at `")
        raise DocumentError(where.rstrip("`") or "$", problem) from None
    except (ValueError, TypeError) as error:
        raise DocumentError("$", f"an array cannot be read: {error}") from None
    if document.spec != SPEC:
        raise DocumentError("$.spec", f"unknown version {quoted(document.spec)}", quoted(SPEC))
    rig = Rig(skeleton=_skeleton(document.bones, document.bind), **_shared(document))
    return _checked(rig)


def _skeleton(bones: list[DocumentBone], bind: Bind | None) -> Skeleton:
    if not bones:
        raise DocumentError("$.bones", "there is no bone", "at least one")
    index = _unique(bones, "bones")
    parent = [-1 if bone.parent is None else index.get(bone.parent, -2) for bone in bones]
    for bone, above in zip(bones, parent, strict=True):
        if above == -2:
            raise DocumentError(f"{paths.bone(bone.name)}.parent", f"there is no bone {quoted(bone.parent)}")
    try:
        order = topological_order(parent)
    except CycleError as error:
        raise DocumentError(paths.bone(bones[error.index].name), "the bone is its own ancestor") from None
    skeleton = Skeleton(
        bones=[Bone(**{name: getattr(bone, name) for name in _BONE_FIELDS}) for bone in bones],
        parent=np.array(parent, dtype=np.int64),
        local=np.array([_matrix(bone, "local") for bone in bones]),
        inverse_bind=_inverse_binds(bones),
        bind=bind,
    )
    return reordered(skeleton, order)


def _inverse_binds(bones: list[DocumentBone]) -> np.ndarray | None:
    with_bind = [bone for bone in bones if bone.inverse_bind is not None]
    if not with_bind:
        return None
    if len(with_bind) < len(bones):
        lacking = next(bone for bone in bones if bone.inverse_bind is None)
        raise DocumentError(paths.bone(lacking.name), "inverse_bind is missing", "it on all bones or on none")
    binds = np.array([_matrix(bone, "inverse_bind") for bone in bones])
    for index in np.flatnonzero(is_singular(binds))[:1]:
        raise DocumentError(f"{paths.bone(bones[index].name)}.inverse_bind", "the matrix is singular")
    return binds


def _matrix(bone: DocumentBone, name: str) -> np.ndarray:
    where = f"{paths.bone(bone.name)}.{name}"
    matrix = _array(getattr(bone, name), where, (4, 4), np.float64)
    if matrix[3].tolist() != [0, 0, 0, 1]:
        raise DocumentError(where, "the matrix is not affine", "a last row of 0, 0, 0, 1")
    return matrix


def _array(value: np.ndarray, where: str, shape: tuple[int | None, ...], dtype: type[np.generic]) -> np.ndarray:
    """``value`` as an array of ``shape``, in which None stands for any length."""
    width = int(np.prod([length for length in shape if length is not None]))
    if value.size == 0 and None in shape:
        value = value.reshape([length or 0 for length in shape])
    fits = value.ndim == len(shape) and all(
        want is None or want == got for want, got in zip(shape, value.shape, strict=True)
    )
    if not fits:
        wanted = " x ".join("n" if length is None else str(length) for length in shape)
        raise DocumentError(where, f"the array has shape {' x '.join(map(str, value.shape))}", wanted or str(width))
    if np.issubdtype(dtype, np.integer) and value.size and value.dtype.kind not in "iu":
        raise DocumentError(where, "the array holds fractions", "whole numbers")
    result = value.astype(dtype)
    if not np.isfinite(result).all():
        raise DocumentError(where, "the array holds a number that is not finite")
    return result


def _unique(records: list[Any], collection: str) -> dict[str, int]:
    index: dict[str, int] = {}
    for place, record in enumerate(records):
        if not record.name:
            raise DocumentError(f"$.{collection}[{place}].name", "the name is empty")
        key = paths.record_key(record)
        if key in index:
            raise DocumentError(paths.record(collection, record), "two elements have this name")
        index[key] = place
    return index


def _checked(rig: Rig) -> Rig:
    """The rig with arrays of the right shapes and types, and every reference resolved."""
    bones, params = set(rig.skeleton.names), {param.name for param in rig.params}
    for collection in ("slots", "skins", "constraints", "params", "animations"):
        _unique(getattr(rig, collection), collection)
    for slot in rig.slots:
        for name in [slot.bone, *(mask.bone for mask in slot.masks)]:
            _known(name, bones, paths.record("slots", slot))
    for constraint in rig.constraints:
        for name in bones_of(constraint):
            _known(name, bones, paths.record("constraints", constraint))
        param = getattr(constraint, "param", None)
        if param is not None:
            _known(param, params, paths.record("constraints", constraint), "param")
    return replace(
        rig,
        skins=[_checked_skin(skin, rig, bones) for skin in rig.skins],
        params=[_checked_param(param, bones) for param in rig.params],
        animations=[_checked_animation(animation, rig) for animation in rig.animations],
        textures=[_checked_texture(texture, index) for index, texture in enumerate(rig.textures)],
    )


def bones_of(constraint: Constraint) -> list[str]:
    """Names of the bones that a constraint refers to."""
    named = [getattr(constraint, name, None) for name in ("bone", "target", "source")]
    return [*getattr(constraint, "bones", []), *(name for name in named if name is not None)]


def _known(name: str, names: set[str], where: str, what: str = "bone") -> None:
    if name not in names:
        raise DocumentError(where, f"there is no {what} {quoted(name)}")


def _checked_skin(skin: Skin, rig: Rig, bones: set[str]) -> Skin:
    slots = {slot.name for slot in rig.slots}
    attachments: dict[str, dict[str, Attachment]] = {}
    for slot, items in skin.attachments.items():
        _known(slot, slots, paths.record("skins", skin), "slot")
        attachments[slot] = {
            placeholder: _checked_attachment(item, paths.attachment(skin.name, slot, placeholder), rig, bones)
            for placeholder, item in items.items()
        }
    return replace(skin, attachments=attachments)


def _checked_attachment(attachment: Attachment, where: str, rig: Rig, bones: set[str]) -> Attachment:
    for texture in getattr(attachment, "textures", ()):
        if not -1 <= texture < len(rig.textures):
            raise DocumentError(f"{where}.textures", f"there is no texture {texture}")
    mesh = getattr(attachment, "mesh", None)
    return attachment if mesh is None else replace(attachment, mesh=_checked_mesh(mesh, f"{where}.mesh", bones))


def _checked_mesh(mesh: Mesh, where: str, bones: set[str]) -> Mesh:
    for name in mesh.bones:
        _known(name, bones, f"{where}.bones")
    starts = _array(mesh.starts, f"{where}.starts", (None,), np.int64)
    if len(starts) == 0 or starts[0] != 0 or (np.diff(starts) < 0).any():
        raise DocumentError(f"{where}.starts", "the starts do not ascend from 0")
    count, vertices = int(starts[-1]), len(starts) - 1
    influence_bones = _array(mesh.influence_bones, f"{where}.influence_bones", (count,), np.int64)
    _in_range(influence_bones, len(mesh.bones), f"{where}.influence_bones", "bones")
    triangles = _array(mesh.triangles, f"{where}.triangles", (None, 3), np.int64)
    _in_range(triangles, vertices, f"{where}.triangles", "vertices")
    edges = None if mesh.edges is None else _array(mesh.edges, f"{where}.edges", (None, 2), np.int64)
    uvs = _array(mesh.uvs, f"{where}.uvs", (None, 2), np.float64)
    if len(uvs) not in (0, vertices):
        raise DocumentError(f"{where}.uvs", f"there are {len(uvs)} pairs", f"{vertices}, one a vertex, or none")
    return replace(
        mesh,
        starts=starts,
        influence_bones=influence_bones,
        positions=_array(mesh.positions, f"{where}.positions", (count, 3), np.float64),
        weights=_array(mesh.weights, f"{where}.weights", (count,), np.float64),
        uvs=uvs,
        triangles=triangles,
        edges=edges,
    )


def _in_range(indices: np.ndarray, count: int, where: str, what: str) -> None:
    if indices.size and not (indices.min() >= 0 and indices.max() < count):
        raise DocumentError(where, "an index is out of range", f"0 to {count - 1}, there are {count} {what}")


def _checked_param(param: Param, bones: set[str]) -> Param:
    bindings = []
    for index, binding in enumerate(param.bindings):
        where = f"{paths.record('params', param)}.bindings[{index}]"
        _known(binding.bone, bones, where)
        grid = len(param.axis_points[0]), len(param.axis_points[1])
        is_set = _array(binding.is_set, f"{where}.is_set", grid, np.bool_)
        shape = {"scalar": grid, "deform": (*grid, None, 2)}.get(binding.kind)
        values = None if binding.values is None or shape is None else binding.values
        if values is not None:
            values = _array(values, f"{where}.values", shape or grid, np.float64)
        bindings.append(replace(binding, is_set=is_set, values=values))
    return replace(param, bindings=bindings)


def _checked_animation(animation: Animation, rig: Rig) -> Animation:
    params = {param.name for param in rig.params}
    lanes = []
    for index, lane in enumerate(animation.lanes):
        where = f"{paths.record('animations', animation)}.lanes[{index}]"
        if lane.param is not None:
            _known(lane.param, params, where, "param")
        lanes.append(replace(lane, keyframes=_array(lane.keyframes, f"{where}.keyframes", (None, 3), np.float64)))
    return replace(animation, lanes=lanes)


def _checked_texture(texture: Texture, index: int) -> Texture:
    where = paths.element("textures", index)
    data = _array(texture.data, f"{where}.data", (None,), np.uint8)
    if texture.format == "rgba8" and len(data) != texture.width * texture.height * 4:
        raise DocumentError(where, f"the texture has {len(data)} bytes", "width x height x 4")
    return replace(texture, data=data)
