"""Lowering of the skeleton: one exact step for each thing that a format may lack."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from ...ir import codes, paths
from ...ir.capabilities import BoneOrder, Capabilities
from ...ir.compare import matrices_agree
from ...ir.edit import free_name, pre_order, reordered, with_bones
from ...ir.errors import quoted
from ...ir.matrix import (
    depth_scale,
    factor_depth_scale,
    factor_shear,
    inverse,
    is_flat,
    is_sheared,
    is_singular,
)
from ...ir.pose import inverse_bind_of_rest, local_matrices, world_matrices
from ...ir.report import Code, ConversionReport
from ...ir.rig import Bone, Inherit, Rig, Skeleton
from .options import LoweringOptions, Plane, Pose

SHEAR_SUFFIX = "~shear"
DEPTH_SUFFIX = "~depth"

_EXACT = 1e-9
"""Relative tolerance of what counts as exact."""

_DEPTH_SCALE_LIMIT = 100.0
"""Scale along z, or one over it, up to which float32 places bones within 1e-5 of the skeleton's size."""

_THIN = 1e-4
"""Ratio of the axes of a projected frame below which a bone counts as seen edge-on."""


def lower_skeleton(
    rig: Rig, format_id: str, capabilities: Capabilities, options: LoweringOptions, report: ConversionReport
) -> Rig:
    """The rig with a skeleton that a format with these capabilities can say."""
    skeleton = rig.skeleton
    if not capabilities.bind:
        skeleton = _with_one_pose(skeleton, options.pose, report)
    skeleton = _with_baked_modes(skeleton, capabilities, report)
    if capabilities.dimensions == 2:
        skeleton = _projected(skeleton, options.plane, report)
    skeleton = _with_folded_helpers(skeleton, format_id, capabilities, report)
    if not capabilities.several_roots:
        skeleton = _with_one_root(skeleton, report)
    skeleton = _with_helpers(skeleton, capabilities, report)
    if capabilities.bone_order is BoneOrder.PRE_ORDER:
        skeleton = _in_pre_order(skeleton, report)
    if capabilities.bind and skeleton.inverse_bind is None:
        skeleton = _with_rest_bind(skeleton, _is_skinned(rig), report)
    return replace(rig, skeleton=_without_fields(skeleton, capabilities, report))


# -- bind and rest ----------------------------------------------------------------------------------------------------


def _with_one_pose(skeleton: Skeleton, pose: Pose, report: ConversionReport) -> Skeleton:
    if skeleton.inverse_bind is None:
        return skeleton
    bind = inverse(skeleton.inverse_bind)
    differs = ~matrices_agree(world_matrices(skeleton), bind)
    if pose is Pose.BIND:
        code, lost = codes.REST_DROPPED, "rest pose"
        bones = [replace(bone, inherit=Inherit.NORMAL, lock_to_root=False) for bone in skeleton.bones]
        skeleton = replace(skeleton, bones=bones, local=local_matrices(skeleton, bind))
    else:
        code, lost = codes.BIND_DROPPED, "bind pose"
    if skeleton.bind != "rest":
        report.add(codes.BIND_DROPPED, "bind", "Where the bind pose comes from has no place in the format.")
    for index in np.flatnonzero(differs):
        name = skeleton.bones[index].name
        place = f"{paths.bone(name)}.{'local' if pose is Pose.BIND else 'inverse_bind'}"
        report.add(code, place, f"The {lost} of bone {quoted(name)} has no place in the format.")
    return replace(skeleton, inverse_bind=None, bind=None)


def _with_rest_bind(skeleton: Skeleton, skinned: bool, report: ConversionReport) -> Skeleton:
    source = "skin" if skinned else "rest"
    report.add(codes.BIND_ADDED, "bind", f'The inverse bind matrices are those of the rest pose; bind is "{source}".')
    for index in np.flatnonzero(is_singular(world_matrices(skeleton))):
        name = skeleton.bones[index].name
        message = f"Bone {quoted(name)} has no inverse; its inverse bind is that of axes of length one."
        report.add(codes.SINGULAR_BIND, f"{paths.bone(name)}.inverse_bind", message)
    return replace(skeleton, inverse_bind=inverse_bind_of_rest(skeleton), bind=source)


def _is_skinned(rig: Rig) -> bool:
    meshes = (
        getattr(attachment, "mesh", None)
        for skin in rig.skins
        for items in skin.attachments.values()
        for attachment in items.values()
    )
    return any(mesh is not None and len(mesh.weights) > mesh.vertex_count for mesh in meshes)


# -- inherit modes and locks ------------------------------------------------------------------------------------------


def _with_baked_modes(skeleton: Skeleton, capabilities: Capabilities, report: ConversionReport) -> Skeleton:
    """Bones whose way of following the parent the format lacks get the local matrix that shows the same."""
    locks = "lock_to_root" in capabilities.bone_fields
    modes = {Inherit.NORMAL, *capabilities.inherit}
    baked = [index for index, bone in enumerate(skeleton.bones) if bone.inherit not in modes or _locked(bone, locks)]
    if not baked:
        return skeleton
    world = world_matrices(skeleton)
    local = skeleton.local.copy()
    local[baked] = local_matrices(skeleton, world)[baked]
    bones = list(skeleton.bones)
    for index in baked:
        bone = bones[index]
        bones[index] = replace(bone, inherit=Inherit.NORMAL, shear_x=0.0, lock_to_root=False)
        _report_baked(bone, report)
    result = replace(skeleton, bones=bones, local=local)
    _report_moved(result, world, codes.SINGULAR_PARENT, "hangs on a bone whose axes vanish", report)
    return result


def _locked(bone: Bone, can_lock: bool) -> bool:
    return bone.lock_to_root and not can_lock


def _report_baked(bone: Bone, report: ConversionReport) -> None:
    name = quoted(bone.name)
    if bone.inherit is not Inherit.NORMAL:
        message = f"Inherit mode {bone.inherit} of bone {name} is baked into its setup pose."
        report.add(codes.INHERIT_BAKED, paths.bone(bone.name), message)
    if bone.lock_to_root:
        message = f"Bone {name} is locked to the root; this is baked into its setup pose."
        report.add(codes.LOCK_TO_ROOT_BAKED, paths.bone(bone.name), message)


def _report_moved(skeleton: Skeleton, world: np.ndarray, code: Code, why: str, report: ConversionReport) -> None:
    """Report the bones whose world matrix is not the wanted one."""
    moved = ~matrices_agree(world_matrices(skeleton), world, _EXACT)
    for index in np.flatnonzero(moved):
        name = skeleton.bones[index].name
        report.add(code, paths.bone(name), f"Bone {quoted(name)} {why}; it could not be placed exactly.")


# -- projection -------------------------------------------------------------------------------------------------------


def _projected(skeleton: Skeleton, plane: Plane, report: ConversionReport) -> Skeleton:
    """World matrices seen along the plane's normal, and the local ones that give them."""
    if plane is Plane.XY and _lies_flat(skeleton.local).all():
        return skeleton
    right, up = plane.axes
    world = world_matrices(skeleton)
    seen = np.tile(np.eye(4), (len(skeleton), 1, 1))
    seen[:, :2, :2] = world[:, [[right], [up]], [right, up]]
    seen[:, :2, 3] = world[:, [right, up], 3]
    frame, edge_on = _regular_frames(seen)
    bones = [replace(bone, inherit=Inherit.NORMAL, shear_x=0.0, lock_to_root=False) for bone in skeleton.bones]
    result = replace(skeleton, bones=bones, local=local_matrices(skeleton, frame))
    changed = ~(matrices_agree(skeleton.local, result.local, _EXACT) & _lies_flat(world))
    for index in np.flatnonzero(changed | edge_on):
        bone = skeleton.bones[index]
        name = quoted(bone.name)
        if edge_on[index]:
            message = f"Bone {name} is seen edge-on in the {plane} plane; it takes the nearest regular frame."
            report.add(codes.PROJECTED_EDGE_ON, paths.bone(bone.name), message)
        else:
            report.add(codes.PROJECTED, paths.bone(bone.name), f"Bone {name} is seen in the {plane} plane.")
    return result


def _lies_flat(matrices: np.ndarray) -> np.ndarray:
    upright = is_flat(matrices[:, :3, :3]) & (np.abs(matrices[:, 2, 2] - 1.0) <= _EXACT)
    return np.asarray(upright & (matrices[:, 2, 3] == 0))


def _regular_frames(seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``seen`` with singular frames replaced by the nearest turned and evenly scaled one, and which those were."""
    edge_on = _is_thin(seen)
    if not edge_on.any():
        return seen, edge_on
    left, scale, right = np.linalg.svd(seen[edge_on][:, :2, :2])
    mirrored = np.sign(np.linalg.det(left @ right))
    left[:, :, 1] *= mirrored[:, None]
    size = np.where(scale[:, :1] > 0, scale[:, :1], 1.0)
    frames = seen.copy()
    frames[edge_on, :2, :2] = size[:, :, None] * (left @ right)
    return frames, edge_on


def _is_thin(seen: np.ndarray) -> np.ndarray:
    """Which frames are so thin that what hangs on them could not be placed exactly."""
    values = np.linalg.svd(seen[:, :2, :2], compute_uv=False)
    return np.asarray(values[:, 1] <= _THIN * values[:, 0])


# -- helper bones -----------------------------------------------------------------------------------------------------


def _with_helpers(skeleton: Skeleton, capabilities: Capabilities, report: ConversionReport) -> Skeleton:
    """Bones that are not T·R·S as the format knows it, factored into bones that are."""
    if capabilities.shear:
        return skeleton
    sheared, deep = _needs_helpers(skeleton.local, capabilities)
    if not (sheared.any() or deep.any()):
        return skeleton
    _report_rounded([skeleton.bones[index] for index in np.flatnonzero(deep)], skeleton.local[deep], report)
    parent, local, bones = skeleton.parent.tolist(), [*skeleton.local], list(skeleton.bones)
    taken = set(skeleton.names)
    for mask, factor, code in (
        (sheared, factor_shear, codes.SHEAR_HELPER_BONE),
        (deep, factor_depth_scale, codes.DEPTH_HELPER_BONE),
    ):
        places = np.flatnonzero(mask).tolist()
        for index, *factors in zip(places, *factor(skeleton.local[mask]), strict=True):
            bone = bones[index]
            bones[index] = replace(bone, lock_to_root=False)
            report.add(code, paths.bone(bone.name), f"Bone {quoted(bone.name)} is said with a helper bone above it.")
            for suffix, matrix in zip((SHEAR_SUFFIX, DEPTH_SUFFIX), factors[:-1], strict=False):
                bones.append(Bone(name=free_name(bone.name + suffix, taken), lock_to_root=bone.lock_to_root))
                report.add(code, paths.bone(bones[-1].name), f"It is the helper bone of {quoted(bone.name)}.")
                bone = replace(bone, lock_to_root=False)
                taken.add(bones[-1].name)
                local.append(matrix)
                parent.append(parent[index])
                parent[index] = len(parent) - 1
            local[index] = factors[-1]
    grown = replace(skeleton, bones=bones[: len(skeleton)])
    return _grown(grown, bones[len(skeleton) :], parent, np.array(local))


def _report_rounded(bones: list[Bone], local: np.ndarray, report: ConversionReport) -> None:
    """Turning a scale into the plane and back costs float32 formats digits, more the further it is from 1."""
    scale = np.abs(depth_scale(local))
    for index in np.flatnonzero((scale < 1 / _DEPTH_SCALE_LIMIT) | (scale > _DEPTH_SCALE_LIMIT)):
        name = bones[index].name
        message = f"Bone {quoted(name)} scales by {scale[index]:g} along z, which is said only roughly."
        report.add(codes.DEPTH_SCALE_ROUNDED, paths.bone(name), message)


def _needs_helpers(local: np.ndarray, capabilities: Capabilities) -> tuple[np.ndarray, np.ndarray]:
    """(n,) bool: which matrices want one helper bone, and which want two, because of a z scale that is lacking."""
    sheared = is_sheared(local)
    if capabilities.depth_scale:
        return sheared, np.zeros(len(local), dtype=bool)
    scaled = np.abs(np.linalg.norm(local[:, :3, 2], axis=1) - 1.0) > _EXACT
    deep = (sheared | scaled) & (np.abs(depth_scale(local) - 1.0) > _EXACT)
    return (sheared | scaled) & ~deep, deep


def _grown(skeleton: Skeleton, added: list[Bone], parent: list[int], local: np.ndarray) -> Skeleton:
    """The skeleton with bones added above others; bind matrices of the new ones are those of the rest pose."""
    grown = with_bones(skeleton, added, np.array(parent), local)
    if grown.inverse_bind is None:
        return grown
    names = {bone.name for bone in added}
    fresh = [index for index, name in enumerate(grown.names) if name in names]
    inverse_bind = grown.inverse_bind.copy()
    inverse_bind[fresh] = inverse_bind_of_rest(grown)[fresh]
    return replace(grown, inverse_bind=inverse_bind)


def _with_folded_helpers(
    skeleton: Skeleton, format_id: str, capabilities: Capabilities, report: ConversionReport
) -> Skeleton:
    """Helper bones whose whole chain the format can say as one bone, folded into the bone that they help.

    Helpers that a file of this very format holds stay as they are: an author may have put them there.
    """
    places = {name: index for index, name in enumerate(skeleton.names)}
    children = np.bincount(skeleton.parent[skeleton.parent >= 0], minlength=len(skeleton))
    parent, local = skeleton.parent.copy(), skeleton.local.copy()
    bones = list(skeleton.bones)
    removed: set[int] = set()
    for name, index in places.items():
        chain = _helper_chain(skeleton, name, index, places, children)
        whole = local[index]
        for helper in chain:
            whole = local[helper] @ whole
        authored = any(format_id in bones[helper].native for helper in chain)
        if not chain or authored or not _can_say(whole[None], capabilities):
            continue
        parent[index], local[index] = skeleton.parent[chain[-1]], whole
        bones[index] = replace(bones[index], lock_to_root=bones[chain[-1]].lock_to_root)
        removed.update(chain)
        report.add(codes.HELPER_BONE_FOLDED, paths.bone(name), f"The helper of bone {quoted(name)} is folded into it.")
        for helper in chain:
            report.add(codes.HELPER_BONE_FOLDED, paths.bone(skeleton.bones[helper].name), "It is a helper bone.")
    if not removed:
        return skeleton
    whole_skeleton = replace(skeleton, bones=bones, parent=parent, local=local)
    return reordered(whole_skeleton, [index for index in range(len(skeleton)) if index not in removed])


def _helper_chain(skeleton: Skeleton, name: str, index: int, places: dict[str, int], children: np.ndarray) -> list[int]:
    """The helpers above a bone, nearest first; empty where it has none."""
    chain: list[int] = []
    above = int(skeleton.parent[index])
    for suffix in (DEPTH_SUFFIX, SHEAR_SUFFIX):
        if above >= 0 and places.get(name + suffix) == above and children[above] == 1:
            chain.append(above)
            above = int(skeleton.parent[above])
    is_helped = bool(chain) and skeleton.bones[chain[-1]].name == name + SHEAR_SUFFIX
    return chain if is_helped and _is_rotation(skeleton.local[index]) else []


def _is_rotation(matrix: np.ndarray) -> bool:
    linear = matrix[:3, :3]
    return bool(np.allclose(linear @ linear.T, np.eye(3), atol=1e-5) and not matrix[:3, 3].any())


def _can_say(local: np.ndarray, capabilities: Capabilities) -> bool:
    if capabilities.shear:
        return True
    return not any(mask.any() for mask in _needs_helpers(local, capabilities))


# -- tree -------------------------------------------------------------------------------------------------------------


def _with_one_root(skeleton: Skeleton, report: ConversionReport) -> Skeleton:
    tops = np.flatnonzero(skeleton.parent < 0)
    if len(tops) == 1:
        return skeleton
    name = free_name("root", skeleton.names)
    report.add(codes.ROOT_ADDED, paths.bone(name), f"{len(tops)} roots were put under a new root {quoted(name)}.")
    for top in tops:
        report.add(codes.ROOT_ADDED, f"{paths.bone(skeleton.bones[top].name)}.parent", f"It hangs on {quoted(name)}.")
    parent = np.append(np.where(skeleton.parent < 0, len(skeleton), skeleton.parent), -1)
    local = np.concatenate([skeleton.local, np.eye(4)[None]])
    return _grown(skeleton, [Bone(name=name)], parent.tolist(), local)


def _in_pre_order(skeleton: Skeleton, report: ConversionReport) -> Skeleton:
    order = pre_order(skeleton.parent.tolist())
    if order == list(range(len(skeleton))):
        return skeleton
    report.add(codes.BONE_ORDER, "bones.order", "The bones are listed so that every subtree is together.")
    return reordered(skeleton, order)


# -- attributes -------------------------------------------------------------------------------------------------------

_POSE_FIELDS = {"name", "native", "inherit", "shear_x", "lock_to_root"}
"""What the steps above have seen to."""


def _without_fields(skeleton: Skeleton, capabilities: Capabilities, report: ConversionReport) -> Skeleton:
    blank = Bone(name="")
    lacking = [name for name in Bone.__struct_fields__ if name not in capabilities.bone_fields | _POSE_FIELDS]
    bones = []
    for bone in skeleton.bones:
        lost = {name: getattr(blank, name) for name in lacking if getattr(bone, name) != getattr(blank, name)}
        for name in lost:
            message = f"The {name.replace('_', ' ')} of bone {quoted(bone.name)} has no place in the format."
            report.add(codes.BONE_FIELDS_DROPPED, f"{paths.bone(bone.name)}.{name}", message)
        bones.append(replace(bone, **lost) if lost else bone)
    return replace(skeleton, bones=bones)
