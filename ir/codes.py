"""The codes of the conversion report. They are stable: scripts and the documentation depend on them."""

from __future__ import annotations

from .report import Code, Severity

_EXACT, _APPROXIMATED, _DROPPED = Severity.EXACT, Severity.APPROXIMATED, Severity.DROPPED

# -- said by readers --------------------------------------------------------------------------------------------------

NAME_REPAIRED = Code("NAME_REPAIRED", _EXACT, "A name that was empty, NUL-padded or used twice was made unique.")
BONES_REORDERED = Code("BONES_REORDERED", _EXACT, "Bones were put in another order, parents before children.")
ROW_MAJOR = Code(
    "ROW_MAJOR", _EXACT, "Matrices stored row by row were read as such; they are written column by column."
)
RULE_BROKEN = Code(
    "RULE_BROKEN", _EXACT, "The file breaks a rule of its format that does no harm; it was read all the same."
)
UNKNOWN_VALUE = Code("UNKNOWN_VALUE", _EXACT, "A value that this version does not know was read as the default.")
NATIVE_ONLY = Code("NATIVE_ONLY", _EXACT, "An element of a kind that has no neutral form is kept as its file said it.")
POSITION_UNKNOWN = Code(
    "POSITION_UNKNOWN", _APPROXIMATED, "A bone takes its place from a cut manifest that was not given."
)
VALUE_NORMALISED = Code("VALUE_NORMALISED", _EXACT, "A value was spelt in a way that other readers refuse or misread.")
CARRY_DROPPED = Code(
    "CARRY_DROPPED", _DROPPED, "Carried data was not restored, because what it belongs to is gone or was edited."
)

# -- said when a rig is made to fit a format --------------------------------------------------------------------------

SHEAR_HELPER_BONE = Code("SHEAR_HELPER_BONE", _EXACT, "A sheared bone is said with a helper bone NAME~shear above it.")
DEPTH_HELPER_BONE = Code(
    "DEPTH_HELPER_BONE", _EXACT, "A scale along z is said with helper bones NAME~shear and NAME~depth."
)
DEPTH_SCALE_ROUNDED = Code(
    "DEPTH_SCALE_ROUNDED", _APPROXIMATED, "A scale along z is so large or small that helper bones say it only roughly."
)
POSE_ROUNDED = Code(
    "POSE_ROUNDED", _APPROXIMATED, "A bone stands visibly elsewhere, because the format's numbers are too short for it."
)
HELPER_BONE_FOLDED = Code("HELPER_BONE_FOLDED", _EXACT, "A helper bone was folded into the bone that it helps.")
ROOT_ADDED = Code("ROOT_ADDED", _EXACT, "Several roots were put under one new root bone.")
BONE_ORDER = Code(
    "BONE_ORDER", _EXACT, "Bones are listed in another order, because the format wants subtrees together."
)
INHERIT_BAKED = Code(
    "INHERIT_BAKED",
    _APPROXIMATED,
    "An inherit mode is baked into the setup pose; it no longer follows a moving parent.",
)
LOCK_TO_ROOT_BAKED = Code(
    "LOCK_TO_ROOT_BAKED", _APPROXIMATED, "A bone locked to the root is baked into the setup pose."
)
SINGULAR_PARENT = Code(
    "SINGULAR_PARENT", _APPROXIMATED, "A bone under a parent whose axes vanish could not be placed exactly."
)
SINGULAR_BIND = Code(
    "SINGULAR_BIND",
    _APPROXIMATED,
    "A bone whose axes vanish has no inverse; its inverse bind is that of a regular frame.",
)
PROJECTED = Code("PROJECTED", _APPROXIMATED, "A bone that stands in space is seen from the front of a plane.")
PROJECTED_EDGE_ON = Code(
    "PROJECTED_EDGE_ON", _APPROXIMATED, "A bone is seen edge-on; it keeps its position and takes a regular frame."
)
BIND_ADDED = Code("BIND_ADDED", _EXACT, "Inverse bind matrices were made from the rest pose.")
BIND_DROPPED = Code("BIND_DROPPED", _DROPPED, "The bind pose, apart from the rest pose, has no place in the format.")
REST_DROPPED = Code("REST_DROPPED", _DROPPED, "The bind pose was asked for; the rest pose has no place in the format.")
BONE_FIELDS_DROPPED = Code("BONE_FIELDS_DROPPED", _DROPPED, "Attributes of a bone have no place in the format.")
NAME_ADDED = Code("NAME_ADDED", _EXACT, "A rig without a name got one, because the format wants it.")
NAME_DROPPED = Code("NAME_DROPPED", _DROPPED, "The rig's own name has no place in the format.")
META_DROPPED = Code("META_DROPPED", _DROPPED, "Who made the rig, and under which terms, has no place in the format.")
STAGE_ADDED = Code(
    "STAGE_ADDED", _EXACT, "A rig without a bounding box got that of its setup pose, because the format wants one."
)
STAGE_DROPPED = Code("STAGE_DROPPED", _DROPPED, "The bounding box and the runtime hints have no place in the format.")
SLOT_AS_NODE = Code(
    "SLOT_AS_NODE", _EXACT, "What a slot shows is a node of its own, which is bone, slot and attachment in one."
)
HIDDEN_AS_DISABLED = Code(
    "HIDDEN_AS_DISABLED", _EXACT, "An attachment that the setup pose does not show is a disabled node."
)
WEIGHTS_DROPPED = Code(
    "WEIGHTS_DROPPED", _DROPPED, "A mesh stands as in the setup pose; how its vertices follow several bones is lost."
)
MESH_FIELDS_DROPPED = Code(
    "MESH_FIELDS_DROPPED", _DROPPED, "What an attachment says for editors and atlases has no place in the format."
)
DARK_APPROXIMATED = Code(
    "DARK_APPROXIMATED", _APPROXIMATED, "A two-colour tint is said as a screen tint, which shows nearly the same."
)
SLOT_DROPPED = Code("SLOT_DROPPED", _DROPPED, "A slot has no place in the format.")
SKIN_DROPPED = Code("SKIN_DROPPED", _DROPPED, "A skin has no place in the format.")
ATTACHMENT_DROPPED = Code("ATTACHMENT_DROPPED", _DROPPED, "An attachment has no place in the format.")
SETUP_ATTACHMENT_DROPPED = Code(
    "SETUP_ATTACHMENT_DROPPED", _DROPPED, "A slot shows nothing, because its attachment was dropped."
)
BLEND_APPROXIMATED = Code("BLEND_APPROXIMATED", _APPROXIMATED, "A blend mode that the format lacks became normal.")
MASKS_DROPPED = Code("MASKS_DROPPED", _DROPPED, "The mask sources of a slot have no place in the format.")
DRAW_ORDER_CHANGED = Code(
    "DRAW_ORDER_CHANGED", _APPROXIMATED, "Slots are drawn in another order, because groups are drawn in one piece."
)
CONSTRAINT_DROPPED = Code("CONSTRAINT_DROPPED", _DROPPED, "A constraint has no place in the format.")
PARAM_DROPPED = Code("PARAM_DROPPED", _DROPPED, "A parameter and its bindings have no place in the format.")
ANIMATION_DROPPED = Code("ANIMATION_DROPPED", _DROPPED, "An animation has no place in the format.")
TEXTURE_DROPPED = Code("TEXTURE_DROPPED", _DROPPED, "A texture has no place in the format.")
NATIVE_FIELDS_DROPPED = Code(
    "NATIVE_FIELDS_DROPPED", _DROPPED, "Fields that only the source format knows have no place in the target."
)

ALL: dict[str, Code] = {value.name: value for value in list(globals().values()) if isinstance(value, Code)}
"""Every code of ours, by name."""
