"""Constraints, from file structs to the representation and back (specs/rigc-facts.md §1).

Fields that mean the same on both sides are listed in tables; angles and the ``properties`` map are converted one by
one. Absent mixes of y fall back on those of x, as the runtime has it.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET

from ...ir.errors import FormatError, quoted
from ...ir.native import Native, as_struct, fields_of, restore, stated
from ...ir.rig import (
    Constraint,
    ConstraintRecord,
    IkConstraint,
    NativeConstraint,
    PhysicsConstraint,
    TransformConstraint,
    TransformSource,
    TransformTarget,
)
from ..json_text import convert
from .structs import (
    SCALE_MODES,
    TRANSFORM_PROPERTIES,
    RigIkConstraint,
    RigPhysicsConstraint,
    RigTransformConstraint,
    RigTransformProperty,
    RigTransformTarget,
)
from .values import canonical, tidy, to_builtins

FORMAT = "rigc"

NATIVE_TYPES = ("path", "slider")

_IK_FIELDS = {
    "mix": "mix",
    "softness": "softness",
    "bendPositive": "bend_positive",
    "compress": "compress",
    "stretch": "stretch",
    "skin": "skin_required",
}
_TRANSFORM_FIELDS = {
    "localSource": "local_source",
    "localTarget": "local_target",
    "additive": "additive",
    "clamp": "clamp",
    "x": "x",
    "y": "y",
    "scaleX": "scale_x",
    "scaleY": "scale_y",
    "mixRotate": "mix_rotate",
    "mixX": "mix_x",
    "mixScaleX": "mix_scale_x",
    "mixShearY": "mix_shear_y",
    "skin": "skin_required",
}
_TRANSFORM_ANGLES = {"rotation": "rotation", "shearY": "shear_y"}
_PHYSICS_FIELDS = {
    "x": "x",
    "y": "y",
    "rotate": "rotate",
    "scaleX": "scale_x",
    "shearX": "shear_x",
    **{name: name for name in ("limit", "fps", "inertia", "strength", "damping", "mass", "wind", "gravity", "mix")},
    **{
        f"{name}Global": f"{name}_global"
        for name in ("inertia", "strength", "damping", "mass", "wind", "gravity", "mix")
    },
    "skin": "skin_required",
}


def _default(record: type[Any], name: str) -> Any:
    """The value that a record's attribute has when nothing is said."""
    return next(field.default for field in msgspec.structs.fields(record) if field.name == name)


# -- reading ----------------------------------------------------------------------------------------------------------


def read_constraint(fields: dict[str, Any], bones: set[str], where: str, file: str) -> Constraint:
    """A constraint as its file states it.

    Raises:
        FormatError: It could not be compiled.
    """
    kind = fields["type"]
    if kind == "ik":
        return _read_ik(convert(fields, RigIkConstraint, file, where), fields, bones, where, file)
    if kind == "transform":
        return _read_transform(convert(fields, RigTransformConstraint, file, where), fields, bones, where, file)
    if kind == "physics":
        return _read_physics(convert(fields, RigPhysicsConstraint, file, where), fields, bones, where, file)
    if kind in NATIVE_TYPES:
        return NativeConstraint(name=fields["name"], kind=kind, native={FORMAT: Native(fields=fields)})
    problem = f"constraint {quoted(fields['name'])} has type {quoted(kind)}"
    raise FormatError(file, f"{where}.type", problem, "ik, transform, physics, path or slider")


def _common(struct: msgspec.Struct, fields: dict[str, Any], table: dict[str, str]) -> dict[str, Any]:
    """Attributes of the record that are stated under another name only, and the native record."""
    unknown = tuple(key for key in fields if key not in struct.__struct_encode_fields__)
    values = {name: getattr(struct, field) for field, name in table.items() if getattr(struct, field) is not UNSET}
    return {**values, "native": {FORMAT: Native(fields=fields, unmapped=unknown)}}


def _known_bones(names: list[Any], bones: set[str], field: str, name: str, where: str, file: str) -> list[str]:
    if not names:
        raise FormatError(file, f"{where}.{field}", f"constraint {quoted(name)} names no bone", "at least one")
    for bone in names:
        if bone not in bones:
            given = "no bone" if bone is UNSET else f"bone {quoted(bone)}, which this rig does not declare"
            problem = f"constraint {quoted(name)} names {given}"
            raise FormatError(file, f"{where}.{field}", problem, "the name of a bone")
    return names


def _scale_mode(text: Any, name: str, where: str, file: str) -> str:
    if text is UNSET:
        return "none"
    if text.lower() not in SCALE_MODES:
        problem = f"constraint {quoted(name)} has scaleY {quoted(text)}"
        raise FormatError(file, f"{where}.scaleY", problem, f"one of {', '.join(SCALE_MODES)}")
    return canonical(text, SCALE_MODES)


def _read_ik(ik: RigIkConstraint, fields: dict[str, Any], bones: set[str], where: str, file: str) -> IkConstraint:
    return IkConstraint(
        name=ik.name,
        bones=_known_bones(ik.bones, bones, "bones", ik.name, where, file),
        target=_known_bones([ik.target], bones, "target", ik.name, where, file)[0],
        scale_y=_scale_mode(ik.scaleY, ik.name, where, file),
        **_common(ik, fields, _IK_FIELDS),
    )


def _read_transform(
    transform: RigTransformConstraint, fields: dict[str, Any], bones: set[str], where: str, file: str
) -> TransformConstraint:
    attributes = _common(transform, fields, _TRANSFORM_FIELDS)
    for field, name in _TRANSFORM_ANGLES.items():
        if getattr(transform, field) is not UNSET:
            attributes[name] = math.radians(getattr(transform, field))
    mix_x, mix_scale_x = attributes.get("mix_x", 1.0), attributes.get("mix_scale_x", 1.0)
    return TransformConstraint(
        name=transform.name,
        bones=_known_bones(transform.bones, bones, "bones", transform.name, where, file),
        source=_known_bones([transform.source], bones, "source", transform.name, where, file)[0],
        properties=_read_properties(transform, where, file),
        mix_y=mix_x if transform.mixY is UNSET else transform.mixY,
        mix_scale_y=mix_scale_x if transform.mixScaleY is UNSET else transform.mixScaleY,
        **attributes,
    )


def _read_properties(transform: RigTransformConstraint, where: str, file: str) -> dict[str, TransformSource]:
    properties = {} if transform.properties is UNSET else transform.properties
    for name, source in properties.items():
        for place, key in ((f"{where}.properties", name), *((f"{where}.properties.{name}.to", to) for to in source.to)):
            if key not in TRANSFORM_PROPERTIES:
                problem = f"constraint {quoted(transform.name)} names property {quoted(key)}"
                raise FormatError(file, place, problem, f"one of {', '.join(TRANSFORM_PROPERTIES)}")
    return {name: _source(name, source) for name, source in properties.items()}


def _unit(name: str) -> float:
    """Radians in a degree for properties that are angles, else 1."""
    return math.pi / 180 if name in ("rotate", "shearY") else 1.0


def _source(name: str, source: RigTransformProperty) -> TransformSource:
    unit = _unit(name)
    targets = {key: _target(target, _unit(key), _unit(key) / unit) for key, target in source.to.items()}
    return TransformSource(offset=0.0 if source.offset is UNSET else source.offset * unit, to=targets)


def _target(target: RigTransformTarget, unit: float, scale_unit: float) -> TransformTarget:
    return TransformTarget(
        offset=(0.0 if target.offset is UNSET else target.offset) * unit,
        max=(1.0 if target.max is UNSET else target.max) * unit,
        scale=(1.0 if target.scale is UNSET else target.scale) * scale_unit,
    )


def _read_physics(
    physics: RigPhysicsConstraint, fields: dict[str, Any], bones: set[str], where: str, file: str
) -> PhysicsConstraint:
    mode = physics.scaleYMode if physics.scaleY is UNSET else physics.scaleY
    return PhysicsConstraint(
        name=physics.name,
        bone=_known_bones([physics.bone], bones, "bone", physics.name, where, file)[0],
        scale_y=_scale_mode(mode, physics.name, where, file),
        **_common(physics, fields, _PHYSICS_FIELDS),
    )


# -- writing ----------------------------------------------------------------------------------------------------------


def write_constraint(constraint: Constraint) -> dict[str, Any]:
    """The object that states a constraint."""
    fields = fields_of(constraint.native, FORMAT)
    if isinstance(constraint, IkConstraint):
        was_ik = _was(fields, RigIkConstraint, constraint.name)
        return restore(fields, was_ik, _ik(constraint, was_ik), to_builtins)
    if isinstance(constraint, TransformConstraint):
        was_transform = _was(fields, RigTransformConstraint, constraint.name)
        return restore(fields, was_transform, _transform(constraint, was_transform), to_builtins)
    if isinstance(constraint, PhysicsConstraint):
        was_physics = _was(fields, RigPhysicsConstraint, constraint.name)
        return restore(fields, was_physics, _physics(constraint, was_physics), to_builtins)
    return fields


def _was(fields: dict[str, Any], struct: type[Any], name: str) -> Any:
    return as_struct(fields or {"name": name}, struct)


def _stated_fields(record: ConstraintRecord, was: msgspec.Struct, table: dict[str, str]) -> dict[str, Any]:
    return {
        field: stated(getattr(was, field), _default(type(record), name), getattr(record, name))
        for field, name in table.items()
    }


def _stated_mode(was: Any, mode: str) -> Any:
    meaning = "none" if was is UNSET else canonical(was, SCALE_MODES)
    return was if meaning == mode else mode


def _ik(ik: IkConstraint, was: RigIkConstraint) -> RigIkConstraint:
    return RigIkConstraint(
        name=ik.name,
        type="ik",
        bones=ik.bones,
        target=ik.target,
        scaleY=_stated_mode(was.scaleY, ik.scale_y),
        **_stated_fields(ik, was, _IK_FIELDS),
    )


def _transform(transform: TransformConstraint, was: RigTransformConstraint) -> RigTransformConstraint:
    now = RigTransformConstraint(
        name=transform.name,
        type="transform",
        bones=transform.bones,
        source=transform.source,
        properties=_properties(transform.properties, was.properties),
        mixY=stated(was.mixY, transform.mix_x, transform.mix_y),
        mixScaleY=stated(was.mixScaleY, transform.mix_scale_x, transform.mix_scale_y),
        **_stated_fields(transform, was, _TRANSFORM_FIELDS),
    )
    for field, name in _TRANSFORM_ANGLES.items():
        setattr(now, field, _in_unit(getattr(was, field), 0.0, getattr(transform, name), _unit("rotate")))
    return now


def _properties(properties: dict[str, TransformSource], was: Any) -> Any:
    if not properties and was is UNSET:
        return UNSET
    before = {} if was is UNSET else was
    blank = RigTransformProperty(to={})
    return {name: _property(name, source, before.get(name, blank)) for name, source in properties.items()}


def _property(name: str, source: TransformSource, was: RigTransformProperty) -> RigTransformProperty:
    unit, blank = _unit(name), RigTransformTarget()
    targets = {}
    for key, target in source.to.items():
        before, to_unit = was.to.get(key, blank), _unit(key)
        targets[key] = RigTransformTarget(
            offset=_in_unit(before.offset, 0.0, target.offset, to_unit),
            max=_in_unit(before.max, 1.0, target.max, to_unit),
            scale=_in_unit(before.scale, 1.0, target.scale, to_unit / unit),
        )
    return RigTransformProperty(offset=_in_unit(was.offset, 0.0, source.offset, unit), to=targets)


def _in_unit(was: Any, default: float, value: float, unit: float) -> Any:
    """What a field in units of ``unit`` states so that it means ``value``."""
    meaning = (default if was is UNSET else was) * unit
    if math.isclose(meaning, value, rel_tol=1e-12, abs_tol=1e-12):
        return was
    return tidy(np.array([value / unit]), 1.0)[0]


def _physics(physics: PhysicsConstraint, was: RigPhysicsConstraint) -> RigPhysicsConstraint:
    now = RigPhysicsConstraint(
        name=physics.name,
        type="physics",
        bone=physics.bone,
        scaleY=_stated_mode(was.scaleY, physics.scale_y),
        **_stated_fields(physics, was, _PHYSICS_FIELDS),
    )
    if was.scaleY is UNSET and was.scaleYMode is not UNSET:
        now.scaleYMode = _stated_mode(was.scaleYMode, physics.scale_y)
        now.scaleY = UNSET
    return now
