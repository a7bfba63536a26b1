"""Where attachments are: vertices in world space, in the setup pose."""

from __future__ import annotations

import numpy as np

from .pose import world_matrices
from .rig import Attachment, Mesh, RegionAttachment, Rig, Stage

_QUAD = np.array([[0, 1, 2], [0, 2, 3]])


def world_vertices(attachment: Attachment, bone: str, world: np.ndarray, index: dict[str, int]) -> np.ndarray | None:
    """Vertices of an attachment.

    Args:
        attachment: Any attachment.
        bone: The bone of its slot.
        world: (n, 4, 4) world matrices of the bones.
        index: Place of each bone, by name.

    Returns:
        (v, 2) positions; None where the attachment has no geometry, or none yet.
    """
    if isinstance(attachment, RegionAttachment):
        return _region(attachment, world[index[bone]])
    mesh = getattr(attachment, "mesh", None)
    return None if mesh is None else _mesh(mesh, world, index)


def triangles_of(attachment: Attachment) -> np.ndarray:
    """(t, 3) vertex indices; (0, 3) where there is no geometry."""
    if isinstance(attachment, RegionAttachment):
        return _QUAD
    mesh = getattr(attachment, "mesh", None)
    return np.zeros((0, 3), dtype=np.int64) if mesh is None else mesh.triangles


def region_corners(region: RegionAttachment) -> np.ndarray | None:
    """(4, 2) corners in the bone's space, in the runtime's order: bottom left, top left, top right, bottom right.

    None where the size is not known. Source: specs/spine-facts.md §4.
    """
    measured = region.image_size or (None, None)
    width = measured[0] if region.width is None else region.width
    height = measured[1] if region.height is None else region.height
    if width is None or height is None:
        return None
    half = np.array([width * region.scale_x, height * region.scale_y]) / 2
    corners = half * [[-1, -1], [-1, 1], [1, 1], [1, -1]]
    cosine, sine = np.cos(region.rotation), np.sin(region.rotation)
    return np.asarray(corners @ np.array([[cosine, sine], [-sine, cosine]]) + [region.x, region.y])


def region_uvs() -> np.ndarray:
    """(4, 2) texture coordinates of the corners of a region, in their order; v goes down."""
    return np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])


def stage_of(rig: Rig) -> Stage:
    """The box around all bones and attachments in the setup pose, in whole length units and not empty."""
    world = world_matrices(rig.skeleton)
    index = {name: place for place, name in enumerate(rig.skeleton.names)}
    bone_of = {slot.name: slot.bone for slot in rig.slots}
    points = [world[:, :2, 3]]
    for skin in rig.skins:
        for slot, items in skin.attachments.items():
            found = (world_vertices(attachment, bone_of[slot], world, index) for attachment in items.values())
            points.extend(vertices for vertices in found if vertices is not None)
    everything = np.concatenate(points)
    low, high = np.floor(everything.min(axis=0)), np.ceil(everything.max(axis=0))
    (x, y), (width, height) = low.tolist(), np.maximum(high - low, 1.0).tolist()
    return Stage(x=x, y=y, width=width, height=height)


def _region(region: RegionAttachment, world: np.ndarray) -> np.ndarray | None:
    corners = region_corners(region)
    return None if corners is None else corners @ world[:2, :2].T + world[:2, 3]


def _mesh(mesh: Mesh, world: np.ndarray, index: dict[str, int]) -> np.ndarray:
    matrices = world[[index[name] for name in mesh.bones]][mesh.influence_bones]
    positions = mesh.positions.copy()
    positions[:, :2] -= mesh.origin
    moved = np.einsum("kij,kj->ki", matrices[:, :2, :3], positions) + matrices[:, :2, 3]
    vertices = np.zeros((mesh.vertex_count, 2))
    owner = np.repeat(np.arange(mesh.vertex_count), np.diff(mesh.starts))
    np.add.at(vertices, owner, moved * mesh.weights[:, None])
    return vertices
