"""The rules of specs/inr-facts.md §2 that lie behind types: each yields the problems it finds.

A problem that affects ``ANYTHING`` makes the file unsafe or meaningless to read; the others are tolerated.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import UNSET

from ...ir.edit import CycleError, topological_order
from ...ir.errors import quoted
from ...ir.exchange import ANYTHING, NOTHING, Problem
from ...ir.rig import BlendMode
from .container import ALIGNMENT, Container
from .structs import (
    BINDING_KINDS,
    COLOR_SPACES,
    COMPOSE_HINTS,
    INTERPOLATIONS,
    MAP_MODES,
    MASK_MODES,
    MERGE_MODES,
    NODE_KINDS,
    PHYSICS_MODELS,
    TEXTURE_FORMATS,
    Binding,
    InrDoc,
    Mask,
    Mesh,
    Node,
    Param,
    SimplePhysics,
    or_default,
)
from .views import Views

MAX_TEXTURE_SIDE = 16384
BLEND_MODES = tuple(str(mode) for mode in BlendMode)
_CONTOUR_SLACK = 0.05
"""How far outside 0..1 contour points may lie: exporters trace a border one texel wide."""


def _unsafe(rule: str, where: str, problem: str, expected: str = "") -> Problem:
    return Problem(rule=rule, where=where, problem=problem, expected=expected, affects=ANYTHING)


def _tolerated(rule: str, where: str, problem: str, expected: str = "") -> Problem:
    return Problem(rule=rule, where=where, problem=problem, expected=expected, affects=NOTHING)


def _warning(rule: str, where: str, problem: str, expected: str = "") -> Problem:
    return Problem(rule=rule, where=where, problem=problem, expected=expected, warning=True)


def check(document: InrDoc, container: Container, views: Views) -> Iterator[Problem]:
    """Every rule that a file breaks, in the order of its parts."""
    if len(container.json) % ALIGNMENT:
        yield _tolerated(
            "json_len_unaligned", "byte 8", f"the JSON chunk has {len(container.json)} bytes", "a multiple of 4"
        )
    if container.trailing:
        yield _warning("trailing_bytes", "", f"{container.trailing} bytes lie behind the BIN chunk", "none")
    unsound = list(_views(document, len(container.bin)))
    yield from unsound
    if any(problem.affects == ANYTHING for problem in unsound):
        return
    yield from _textures(document, views)
    yield from _tree(document)
    for index, node in enumerate(document.nodes):
        yield from _node(node, f"$.nodes[{index}] ({quoted(node.name)})", document, views)
    for index, param in enumerate(or_default(document.params, [])):
        yield from _param(param, f"$.params[{index}] ({quoted(param.name)})", document, views)
    yield from _animations(document)
    yield from _contours(document)


def _views(document: InrDoc, size: int) -> Iterator[Problem]:
    for index, view in enumerate(document.buffer_views):
        where = f"$.buffer_views[{index}]"
        if view.offset + view.length > size:
            problem = f"the view ends at byte {view.offset + view.length} of a BIN chunk of {size}"
            yield _unsafe("view_range", where, problem, "a view inside the BIN chunk")
        if view.offset % ALIGNMENT:
            yield _tolerated("view_unaligned", where, f"the offset is {view.offset}", "a multiple of 4")


def _known(text: Any, values: tuple[str, ...], where: str) -> Iterator[Problem]:
    if text is not UNSET and text is not None and text not in values:
        yield _warning("unknown_value", where, f"the value {quoted(text)} is unknown", f"one of {', '.join(values)}")


# -- textures and views -----------------------------------------------------------------------------------------------


def _textures(document: InrDoc, views: Views) -> Iterator[Problem]:
    for index, texture in enumerate(or_default(document.textures, [])):
        where = f"$.textures[{index}]"
        yield from _known(texture.color_space, COLOR_SPACES, f"{where}.color_space")
        if texture.view not in views:
            yield _unsafe("view_index", f"{where}.view", f"there is no view {texture.view}", _below(len(views)))
            continue
        if not (1 <= texture.width <= MAX_TEXTURE_SIDE and 1 <= texture.height <= MAX_TEXTURE_SIDE):
            size = f"{texture.width} x {texture.height}"
            expected = f"sides of 1 to {MAX_TEXTURE_SIDE}"
            yield _unsafe("texture_dimension", where, f"the texture is {size}", expected)
            continue
        if texture.format not in TEXTURE_FORMATS:
            expected = f"one of {', '.join(TEXTURE_FORMATS)}"
            yield _tolerated("texture_format", f"{where}.format", f"the format is {quoted(texture.format)}", expected)
            continue
        wanted = texture_bytes(texture.format, texture.width, texture.height)
        if views.length(texture.view) != wanted:
            problem = f"view {texture.view} has {views.length(texture.view)} bytes"
            yield _unsafe("texture_size", where, problem, f"{wanted} for {texture.width} x {texture.height}")


def texture_bytes(pixel_format: str, width: int, height: int) -> int:
    """Size of a texture: four bytes a texel, or sixteen a block of 4 x 4."""
    return width * height * 4 if pixel_format == "rgba8" else -(-width // 4) * -(-height // 4) * 16


def _below(count: int) -> str:
    return f"0 to {count - 1}" if count else "none, there are none"


def _numbers(view: int, count: int, rule: str, where: str, views: Views) -> Iterator[Problem]:
    """Problems of a view that should hold ``count`` finite float32 numbers."""
    if view not in views:
        yield _unsafe("view_index", where, f"there is no view {view}", _below(len(views)))
    elif views.length(view) % 4:
        yield _unsafe("view_length", where, f"view {view} has {views.length(view)} bytes", "a multiple of 4")
    elif views.length(view) != 4 * count:
        yield _unsafe(rule, where, f"view {view} has {views.length(view) // 4} numbers", str(count))
    elif not np.isfinite(views.array(view, "<f4", (count,))).all():
        yield _unsafe("not_finite", where, f"view {view} holds a number that is not finite", "finite numbers")


# -- nodes ------------------------------------------------------------------------------------------------------------


def _tree(document: InrDoc) -> Iterator[Problem]:
    nodes = document.nodes
    if not nodes:
        yield _unsafe("no_nodes", "$.nodes", "there are no nodes", "at least a root")
        return
    parents = [or_default(node.parent, -1) for node in nodes]
    for index, parent in enumerate(parents):
        if parent >= len(nodes):
            place = f"$.nodes[{index}].parent ({quoted(nodes[index].name)})"
            yield _unsafe("parent_range", place, f"there is no node {parent}", _below(len(nodes)))
    if any(parent >= len(nodes) for parent in parents):
        return
    try:
        topological_order(parents)
    except CycleError as error:
        place = f"$.nodes[{error.index}].parent ({quoted(nodes[error.index].name)})"
        yield _unsafe("parent_cycle", place, "the node is its own ancestor", "parents that lead to the root")
        return
    yield from _order(nodes, parents)
    yield from _duplicates(nodes)


def _order(nodes: list[Node], parents: list[int]) -> Iterator[Problem]:
    if parents[0] >= 0:
        yield _tolerated("root_has_parent", "$.nodes[0].parent", "the first node has a parent", "the root first")
    ancestors: list[int] = []
    for index, parent in enumerate(parents):
        where = f"$.nodes[{index}].parent ({quoted(nodes[index].name)})"
        if parent < 0 and index > 0:
            yield _tolerated("second_root", where, "a second node has no parent", "one root")
        if parent >= index:
            yield _tolerated("parent_order", where, f"the parent {parent} comes later", "parents before children")
        while ancestors and ancestors[-1] != parent:
            ancestors.pop()
        if 0 <= parent < index and not ancestors:
            yield _tolerated("not_preorder", where, "the node is apart from its siblings", "the tree in pre-order")
            ancestors = _line(index, parents)[:-1]
        ancestors.append(index)


def _line(index: int, parents: list[int]) -> list[int]:
    """A node and its ancestors, root first."""
    line = []
    while index >= 0:
        line.append(index)
        index = parents[index]
    return line[::-1]


def _duplicates(nodes: list[Node]) -> Iterator[Problem]:
    seen: set[int] = set()
    for index, node in enumerate(nodes):
        if node.uuid in seen:
            where = f"$.nodes[{index}].uuid ({quoted(node.name)})"
            yield _tolerated("duplicate_uuid", where, f"another node has uuid {node.uuid}", "each once")
        seen.add(node.uuid)


_REQUIRED_PAYLOADS = {"part": "part", "composite": "composite", "simplephysics": "physics"}


def _node(node: Node, where: str, document: InrDoc, views: Views) -> Iterator[Problem]:
    yield from _known(node.kind, NODE_KINDS, f"{where}.kind")
    payload = _REQUIRED_PAYLOADS.get(node.kind)
    if payload and or_default(getattr(node, payload), None) is None:
        yield _tolerated("missing", where, f"the {node.kind} has no field {payload}", "one")
    if mesh := or_default(node.mesh, None):
        yield from _mesh(mesh, node.kind == "part", f"{where}.mesh", views)
    if part := or_default(node.part, None):
        yield from _known(part.blend_mode, BLEND_MODES, f"{where}.part.blend_mode")
        yield from _shares(part.opacity, part.mask_threshold, f"{where}.part")
        yield from _masks(part.masks, f"{where}.part", len(document.nodes))
        count = len(or_default(document.textures, []))
        for place, texture in enumerate(part.textures):
            if not -1 <= texture < count:
                expected = f"-1 for none, or {_below(count)}"
                problem = f"the texture index is {texture}"
                yield _unsafe("texture_index", f"{where}.part.textures[{place}]", problem, expected)
    if composite := or_default(node.composite, None):
        yield from _known(composite.blend_mode, BLEND_MODES, f"{where}.composite.blend_mode")
        yield from _known(composite.compose_hint, COMPOSE_HINTS, f"{where}.composite.compose_hint")
        yield from _shares(composite.opacity, composite.mask_threshold, f"{where}.composite")
        yield from _masks(composite.masks, f"{where}.composite", len(document.nodes))
    if physics := or_default(node.physics, None):
        yield from _physics(physics, f"{where}.physics", document)


def _physics(physics: SimplePhysics, where: str, document: InrDoc) -> Iterator[Problem]:
    yield from _known(physics.model, PHYSICS_MODELS, f"{where}.model")
    yield from _known(physics.map_mode, MAP_MODES, f"{where}.map_mode")
    count = len(or_default(document.params, []))
    if not -1 <= physics.param < count:
        expected = f"-1 for none, or {_below(count)}"
        yield _unsafe("physics_param", f"{where}.param", f"there is no param {physics.param}", expected)


def _shares(opacity: float, threshold: float, where: str) -> Iterator[Problem]:
    for name, value in (("opacity", opacity), ("mask_threshold", threshold)):
        if not 0 <= value <= 1:
            yield _warning("share_range", f"{where}.{name}", f"the value is {value}", "0 to 1")


def _mesh(mesh: Mesh, is_part: bool, where: str, views: Views) -> Iterator[Problem]:
    count = mesh.vertex_count
    yield from _numbers(mesh.positions, 2 * count, "mesh_size", f"{where}.positions", views)
    if is_part or mesh.uvs not in views or views.length(mesh.uvs):
        yield from _numbers(mesh.uvs, 2 * count, "mesh_size", f"{where}.uvs", views)
    if mesh.indices not in views:
        yield _unsafe("view_index", f"{where}.indices", f"there is no view {mesh.indices}", _below(len(views)))
        return
    length = views.length(mesh.indices)
    if length % 12:
        problem = f"view {mesh.indices} has {length} bytes"
        yield _unsafe("index_count", f"{where}.indices", problem, "a multiple of 12, three u32 a triangle")
        return
    indices = views.array(mesh.indices, "<u4", (-1,))
    if len(indices) and indices.max() >= count:
        problem = f"a triangle has vertex {indices.max()}"
        yield _unsafe("index_range", f"{where}.indices", problem, f"0 to {count - 1}, below vertex_count")


def _masks(masks: Any, where: str, count: int) -> Iterator[Problem]:
    sources: list[Mask] = or_default(masks, [])
    for index, mask in enumerate(sources):
        place = f"{where}.masks[{index}]"
        yield from _known(mask.mode, MASK_MODES, f"{place}.mode")
        if mask.node >= count:
            yield _unsafe("mask_node", f"{place}.node", f"there is no node {mask.node}", _below(count))


# -- params and animations --------------------------------------------------------------------------------------------


def _param(param: Param, where: str, document: InrDoc, views: Views) -> Iterator[Problem]:
    yield from _known(param.merge_mode, MERGE_MODES, f"{where}.merge_mode")
    for axis, points in enumerate(param.axis_points):
        place = f"{where}.axis_points[{axis}]"
        if any(after <= before for before, after in pairwise(points)):
            yield _tolerated("axis_order", place, "the points do not ascend", "ascending points")
        if any(not 0 <= point <= 1 for point in points):
            yield _tolerated("axis_range", place, "a point lies outside 0..1", "points within 0..1")
    for axis in range(2 if param.is_vec2 else 1):
        if param.min[axis] > param.max[axis]:
            problem = f"min {param.min[axis]} is above max {param.max[axis]}"
            yield _tolerated("param_range", f"{where}.min[{axis}]", problem, "min at most max")
    for index, binding in enumerate(or_default(param.bindings, [])):
        yield from _binding(binding, param, f"{where}.bindings[{index}]", document, views)


def _binding(binding: Binding, param: Param, where: str, document: InrDoc, views: Views) -> Iterator[Problem]:
    yield from _known(binding.interpolation, INTERPOLATIONS, f"{where}.interpolation")
    if binding.node >= len(document.nodes):
        yield _unsafe("binding_node", f"{where}.node", f"there is no node {binding.node}", _below(len(document.nodes)))
        return
    grid, axes = (binding.x_count, binding.y_count), tuple(len(points) for points in param.axis_points)
    if grid != axes or 0 in grid:
        problem = f"the grid is {grid[0]} x {grid[1]}"
        yield _unsafe("binding_grid", where, problem, f"{axes[0]} x {axes[1]}, one point a pair of axis points")
        return
    points = grid[0] * grid[1]
    if len(binding.is_set) != points:
        yield _unsafe("is_set_size", f"{where}.is_set", f"there are {len(binding.is_set)} flags", str(points))
    if binding.kind not in BINDING_KINDS:
        expected = f"one of {', '.join(BINDING_KINDS)}"
        yield _warning("binding_kind", f"{where}.kind", f"the kind is {quoted(binding.kind)}", expected)
        if binding.view not in views:
            yield _unsafe("view_index", f"{where}.view", f"there is no view {binding.view}", _below(len(views)))
        return
    if binding.kind == "scalar":
        yield from _numbers(binding.view, points, "binding_size", f"{where}.view", views)
        return
    mesh = or_default(document.nodes[binding.node].mesh, None)
    if mesh is None:
        problem = f"node {quoted(document.nodes[binding.node].name)} has no mesh to deform"
        yield _tolerated("deform_without_mesh", f"{where}.node", problem, "a node with one")
        if binding.view not in views:
            yield _unsafe("view_index", f"{where}.view", f"there is no view {binding.view}", _below(len(views)))
        return
    yield from _numbers(binding.view, points * mesh.vertex_count * 2, "binding_size", f"{where}.view", views)


def _animations(document: InrDoc) -> Iterator[Problem]:
    count = len(or_default(document.params, []))
    for index, animation in enumerate(or_default(document.animations, [])):
        where = f"$.animations[{index}] ({quoted(animation.name)})"
        if animation.timestep <= 0:
            yield _tolerated("anim_timestep", f"{where}.timestep", f"the timestep is {animation.timestep}", "above 0")
        for place, lane in enumerate(or_default(animation.lanes, [])):
            spot = f"{where}.lanes[{place}]"
            yield from _known(lane.interpolation, INTERPOLATIONS, f"{spot}.interpolation")
            yield from _known(lane.merge_mode, MERGE_MODES, f"{spot}.merge_mode")
            if not -1 <= lane.param < count:
                expected = f"-1 for none, or {_below(count)}"
                yield _unsafe("lane_param", f"{spot}.param", f"there is no param {lane.param}", expected)
            if lane.target > 1:
                yield _tolerated("lane_target", f"{spot}.target", f"the axis is {lane.target}", "0 or 1")
            frames = [keyframe[0] for keyframe in lane.keyframes]
            if any(after < before for before, after in pairwise(frames)):
                yield _tolerated("keyframe_order", f"{spot}.keyframes", "the frames do not ascend", "ascending frames")


def _contours(document: InrDoc) -> Iterator[Problem]:
    uuids = {str(node.uuid) for node in document.nodes}
    for key, polygons in or_default(document.mask_contours, {}).items():
        where = f"$.mask_contours[{quoted(key)}]"
        if not (key.isascii() and key.isdigit() and int(key) <= 0xFFFFFFFF):
            yield _tolerated("contour_key", where, "the key is no uuid", "a u32 in decimal digits")
        elif key not in uuids:
            yield _tolerated("contour_node", where, "no node has this uuid", "the uuid of a node")
        for index, polygon in enumerate(polygons):
            if len(polygon) < 3:
                problem = f"the polygon has {len(polygon)} points"
                yield _tolerated("contour_points", f"{where}[{index}]", problem, "at least 3")
            if any(not -_CONTOUR_SLACK <= value <= 1 + _CONTOUR_SLACK for point in polygon for value in point):
                yield _warning("contour_points", f"{where}[{index}]", "a point lies outside 0..1", "points within 0..1")
