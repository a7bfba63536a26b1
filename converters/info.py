"""What is in a file, as data: the value that ``info --json`` prints and that ``info`` shows."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from ..ir.geometry import triangles_of, world_vertices
from ..ir.pose import world_matrices
from ..ir.rig import Animation, Param, Rig, Texture
from .loading import Loaded


def describe(loaded: Loaded, with_world: bool) -> dict[str, Any]:
    """A file's content (DESIGN §4).

    Args:
        loaded: The file.
        with_world: Tell world matrices and world positions of vertices, too.
    """
    rig = loaded.rig
    return {
        "format": loaded.format.id,
        "name": rig.name,
        "bones": _bones(rig, with_world),
        "slots": [slot.name for slot in rig.slots],
        "meshes": _meshes(rig, with_world),
        "params": [_param(param) for param in rig.params],
        "animations": [_animation(animation) for animation in rig.animations],
        "textures": [_texture(texture) for texture in rig.textures],
        "constraints": [
            {"name": constraint.name, "type": getattr(constraint, "kind", constraint.__struct_config__.tag)}
            for constraint in rig.constraints
        ],
        "losses": [msgspec.to_builtins(entry) for entry in loaded.reading.report.losses],
    }


def _bones(rig: Rig, with_world: bool) -> list[dict[str, Any]]:
    skeleton = rig.skeleton
    bones: list[dict[str, Any]] = [
        {"name": name, "parent": parent} for name, parent in zip(skeleton.names, skeleton.parent_names, strict=True)
    ]
    if with_world:
        columns = world_matrices(skeleton).swapaxes(1, 2).reshape(-1, 16).tolist()
        for bone, world in zip(bones, columns, strict=True):
            bone["world"] = world
    return bones


def _meshes(rig: Rig, with_world: bool) -> list[dict[str, Any]]:
    """Every attachment whose geometry is known, in draw order, the setup attachment of each slot first."""
    world = world_matrices(rig.skeleton)
    index = {name: place for place, name in enumerate(rig.skeleton.names)}
    meshes = []
    for slot in rig.slots:
        found = [
            (skin.name, placeholder, attachment)
            for skin in rig.skins
            for placeholder, attachment in skin.attachments.get(slot.name, {}).items()
        ]
        for skin, placeholder, attachment in sorted(found, key=lambda item: item[1] != slot.attachment):
            vertices = world_vertices(attachment, slot.bone, world, index)
            if vertices is None:
                continue
            mesh: dict[str, Any] = {"slot": slot.name, "attachment": placeholder, "skin": skin}
            mesh |= {"vertices": vertices.tolist()} if with_world else {"vertex_count": len(vertices)}
            meshes.append({**mesh, "triangles": len(triangles_of(attachment))})
    return meshes


def _param(param: Param) -> dict[str, Any]:
    axes = 2 if param.is_vec2 else 1
    return {
        "name": param.name,
        "axes": axes,
        "min": list(param.min[:axes]),
        "max": list(param.max[:axes]),
        "default": list(param.default[:axes]),
        "bindings": [{"bone": binding.bone, "target": binding.target} for binding in param.bindings],
    }


def _animation(animation: Animation) -> dict[str, Any]:
    return {
        "name": animation.name,
        "seconds": animation.length * animation.timestep,
        "lanes": [lane.param for lane in animation.lanes],
    }


def _texture(texture: Texture) -> dict[str, Any]:
    return {
        "width": texture.width,
        "height": texture.height,
        "sha256": hashlib.sha256(texture.data.data).hexdigest(),
    }
