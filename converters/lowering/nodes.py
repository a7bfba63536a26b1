"""Slots as nodes: for a format whose bone, slot and attachment are one, each attachment becomes a bone of its own.

What is shown in the setup pose becomes an enabled node under its slot's bone, what a slot or a skin keeps beside it a
disabled one. Slots that are one node with their bone already stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
from msgspec.structs import replace

from ...ir import codes, paths
from ...ir.edit import free_name, pre_order, reordered, with_bones
from ...ir.errors import ConversionError, quoted
from ...ir.geometry import region_corners, region_uvs, triangles_of, world_vertices
from ...ir.matrix import inverse, is_singular
from ...ir.pose import world_matrices
from ...ir.report import ConversionReport
from ...ir.rig import Attachment, Bone, Mesh, MeshAttachment, RegionAttachment, Rig, Skin, Slot

DEFAULT_SKIN = "default"


class _Shown(msgspec.Struct, frozen=True, eq=False):
    """An attachment that becomes a node.

    Attributes:
        slot: Where it is shown.
        skin, placeholder: How the rig names it.
        attachment: What it is.
        visible: Whether the setup pose shows it.
    """

    slot: Slot
    skin: str
    placeholder: str
    attachment: RegionAttachment | MeshAttachment
    visible: bool

    @property
    def path(self) -> str:
        return paths.attachment(self.skin, self.slot.name, self.placeholder)

    @property
    def title(self) -> str:
        return f"Attachment {quoted(self.placeholder)} of slot {quoted(self.slot.name)}"


def slots_as_nodes(rig: Rig, nodes: set[str], report: ConversionReport) -> Rig:
    """The rig with a bone, a slot and an attachment of one name for every region and mesh.

    Args:
        rig: Its bones stand as they will be written, in pre-order.
        nodes: Names of the slots that are nodes already.
        report: Takes an entry for everything that is said otherwise.

    Raises:
        ConversionError: The size of a region is not known.
    """
    shown = [item for slot in rig.slots if slot.name not in nodes for item in _shown(rig, slot)]
    if not shown:
        return rig
    place = {name: index for index, name in enumerate(rig.skeleton.names)}
    world = world_matrices(rig.skeleton)
    singular = is_singular(world)
    taken, reserved = set(place), {slot.name for slot in rig.slots}
    bones: list[Bone] = []
    parents: list[int] = []
    slots: dict[str, list[Slot]] = {}
    attachments: dict[str, dict[str, Attachment]] = {}
    for item in shown:
        bone = Bone(name=_node_name(item, taken, reserved), enabled=item.visible)
        taken.add(bone.name)
        above = place[item.slot.bone]
        # What hangs on a bone whose axes vanish is placed from the root, as nothing could be placed from there.
        if singular[above] and not _is_rigid_on(item, item.slot.bone):
            above = 0
        bones.append(bone)
        parents.append(above)
        slots.setdefault(item.slot.name, []).append(_node_slot(item, bone.name))
        mesh = _node_mesh(item, bone.name, world, place, above)
        attachments[bone.name] = {bone.name: MeshAttachment(mesh=mesh)}
        _report(item, bone.name, report)
    skeleton = with_bones(
        rig.skeleton,
        bones,
        np.concatenate([rig.skeleton.parent, np.array(parents, dtype=np.int64)]),
        np.concatenate([rig.skeleton.local, np.tile(np.eye(4), (len(bones), 1, 1))]),
    )
    return replace(
        rig,
        skeleton=reordered(skeleton, pre_order(skeleton.parent.tolist())),
        slots=[made for slot in rig.slots for made in slots.get(slot.name, [slot])],
        skins=_node_skins(rig.skins, set(slots), attachments, report),
    )


def _shown(rig: Rig, slot: Slot) -> Iterator[_Shown]:
    """The regions and meshes of a slot, the visible one last: what is disabled behind it is out of the way."""
    found = [
        _Shown(slot, skin.name, placeholder, item, skin.name == DEFAULT_SKIN and placeholder == slot.attachment)
        for skin in rig.skins
        for placeholder, item in skin.attachments.get(slot.name, {}).items()
        if isinstance(item, RegionAttachment) or (isinstance(item, MeshAttachment) and item.mesh is not None)
    ]
    yield from sorted(found, key=lambda item: item.visible)


def _node_name(item: _Shown, bones: set[str], slots: set[str]) -> str:
    """The slot's own name for what is shown, if no bone has it; names of other slots are left to these."""
    name = item.slot.name
    if item.visible and name not in bones:
        return name
    skin = "" if item.skin == DEFAULT_SKIN else f"~{item.skin}"
    return free_name(f"{name}~part" if item.visible else f"{name}{skin}~{item.placeholder}", bones | slots)


def _node_slot(item: _Shown, name: str) -> Slot:
    """The slot of a node: its colour is that of slot and attachment together."""
    own, other = item.slot.color, item.attachment.color
    color = (own[0] * other[0], own[1] * other[1], own[2] * other[2], own[3] * other[3])
    return replace(item.slot, name=name, bone=name, attachment=name, color=color, native={})


def _node_skins(
    skins: list[Skin], slots: set[str], nodes: dict[str, dict[str, Attachment]], report: ConversionReport
) -> list[Skin]:
    """The skins without the attachments that became nodes; these are all in the default one."""
    result = [
        replace(skin, attachments={slot: items for slot, items in skin.attachments.items() if slot not in slots})
        for skin in skins
    ]
    for skin in result:
        if skin.name == DEFAULT_SKIN:
            skin.attachments.update(nodes)
            return result
    return [Skin(name=DEFAULT_SKIN, attachments=nodes), *result]


# -- geometry ---------------------------------------------------------------------------------------------------------


def _is_rigid_on(item: _Shown, bone: str) -> bool:
    mesh = getattr(item.attachment, "mesh", None)
    return mesh is None or (mesh.bones == [bone] and mesh.is_rigid)


def _node_mesh(item: _Shown, bone: str, world: np.ndarray, place: dict[str, int], above: int) -> Mesh:
    """The geometry of an attachment as it stands in the setup pose, in the space of bone ``above``."""
    attachment = item.attachment
    if isinstance(attachment, MeshAttachment) and attachment.mesh is not None:
        mesh = attachment.mesh
        if _is_rigid_on(item, item.slot.bone):
            points = mesh.positions[:, :2] - mesh.origin
        else:
            points = _in_space_of(world[above], world_vertices(attachment, item.slot.bone, world, place))
        return _rigid_mesh(bone, points, mesh.uvs, mesh.triangles)
    corners = region_corners(attachment) if isinstance(attachment, RegionAttachment) else None
    if corners is None:
        raise ConversionError(
            f"{item.path}: the size of the region is not known: "
            f"it states none, and there is no image {quoted(getattr(attachment, 'image', None))} that tells"
        )
    return _rigid_mesh(bone, corners, region_uvs(), triangles_of(attachment))


def _in_space_of(matrix: np.ndarray, points: np.ndarray | None) -> np.ndarray:
    flat = np.eye(4)
    flat[:2, :2], flat[:2, 3] = matrix[:2, :2], matrix[:2, 3]
    back = inverse(flat[None])[0]
    return np.asarray(points @ back[:2, :2].T + back[:2, 3])


def _rigid_mesh(bone: str, points: np.ndarray, uvs: np.ndarray, triangles: np.ndarray) -> Mesh:
    count = len(points)
    positions = np.zeros((count, 3))
    positions[:, :2] = points
    return Mesh(
        bones=[bone],
        starts=np.arange(count + 1),
        influence_bones=np.zeros(count, dtype=np.int64),
        positions=positions,
        weights=np.ones(count),
        uvs=uvs,
        triangles=triangles,
    )


# -- report -----------------------------------------------------------------------------------------------------------


_EDITOR_FIELDS = ("path", "image", "generator")
"""What an attachment says of its picture and of how it was made."""


def _report(item: _Shown, name: str, report: ConversionReport) -> None:
    node = quoted(name)
    report.add(codes.SLOT_AS_NODE, paths.record("slots", item.slot), f"What slot shows is node {node}.")
    for path in (paths.bone(name), f"slots[{node}]", paths.attachment(DEFAULT_SKIN, name, name)):
        report.add(codes.SLOT_AS_NODE, path, f"It is {item.title.lower()}.")
    report.add(codes.SLOT_AS_NODE, item.path, f"{item.title} is node {node}.")
    if not item.visible:
        report.add(codes.HIDDEN_AS_DISABLED, item.path, f"{item.title} is not shown: node {node} is disabled.")
    mesh = getattr(item.attachment, "mesh", None)
    lost = [name for name in _EDITOR_FIELDS if getattr(item.attachment, name, None) is not None]
    lost += [name for name in ("hull", "edges") if getattr(mesh, name, None) is not None]
    if lost:
        message = f"{item.title} says {', '.join(lost)}, which has no place in the format."
        report.add(codes.MESH_FIELDS_DROPPED, item.path, message)
    if mesh is not None and not _is_rigid_on(item, item.slot.bone):
        message = f"{item.title} stands as in the setup pose; its weights have no place in the format."
        report.add(codes.WEIGHTS_DROPPED, f"{item.path}.mesh.weights", message)
