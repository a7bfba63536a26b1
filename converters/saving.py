"""Writing rigs: making them fit, deciding what is carried and how, and putting whole files in place."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from ..formats import Declaration
from ..ir.capabilities import Carry
from ..ir.carry import pack
from ..ir.edit import scaled
from ..ir.errors import ConversionError, FormatError, LossError, UsageError, quoted
from ..ir.exchange import Buffers, Carried, Reading, ReadOptions, Source, Writing
from ..ir.native import Natives
from ..ir.report import ConversionReport
from ..ir.rig import Rig
from . import files, sniff
from .loading import refuse_problems, sidecar_of
from .lowering import LoweringOptions, lower
from .registry import Format, find


class ConvertOptions(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What a conversion may be told.

    Attributes:
        read: For the reader.
        lowering: For making the rig fit.
        carry: How what the target cannot say travels; None takes the target's default.
        scale: Factor on all lengths.
        strict: Refuse to write anything but an exact conversion.
        force: Replace a file of another kind.
        parents: Make the folder of the output, and those above it, where they are missing.
    """

    read: ReadOptions = ReadOptions()
    lowering: LoweringOptions = LoweringOptions()
    carry: Carry | None = None
    scale: float = 1.0
    strict: bool = False
    force: bool = False
    parents: bool = False


def write_rig(
    rig: Rig, name: str, target: Format, options: ConvertOptions, report: ConversionReport, source: str | None = None
) -> list[str]:
    """Write a rig to a file.

    Args:
        rig: The rig.
        name: A path, or ``-``.
        target: The format.
        options: How.
        report: Takes every departure.
        source: Id of the format that the rig was read from, if any.

    Returns:
        Names of the files that were written: the output and, where the carry is beside it, the sidecar.

    Raises:
        LossError: ``strict`` is set, and something would be lost.
        ConversionError: The rig cannot be said in the format.
        UsageError: The output may not be replaced.
    """
    path = name if name == files.STANDARD else _output_path(name, target)
    if path != files.STANDARD:
        _check_replaceable(path, target.declaration, options.force)
    if options.scale != 1.0:
        rig = _scaled(rig, options.scale)
    choices = options.lowering if rig.name else replace(options.lowering, name=_stem(name, target))
    mode = _carry_mode(rig, target, options, path, source)
    carried = None if mode is Carry.NONE else Carried(rig, msgspec.to_builtins(choices))
    writing = Writing(report=report, carried=carried if mode is Carry.EMBED else None)
    try:
        fitted = lower(rig, target.id, target.capabilities, choices, report)
        _check_finite(fitted)
        buffers = target.write(fitted, writing)
        if source != target.id and (target.id in rig.native or _is_document(source)):
            _check_readable(buffers, target)
    except ConversionError as error:
        raise ConversionError(f"{name}: {error}") from None
    report.carried = carried is not None
    if options.strict and report.losses:
        raise LossError(f"{name}: nothing was written: {_losses(report)}")
    if path == files.STANDARD:
        files.write_standard(buffers)
        return [path]
    if options.parents or _is_in_folder_of(path, target.declaration):
        files.make_folders(files.parent(path))
    return _write_files(path, buffers, carried if mode is Carry.SIDECAR else None)


def _check_finite(rig: Rig) -> None:
    for matrices in (rig.skeleton.local, rig.skeleton.inverse_bind):
        if matrices is not None and not np.isfinite(matrices).all():
            index = int(np.flatnonzero(~np.isfinite(matrices).all(axis=(1, 2)))[0])
            raise ConversionError(f"numbers of bone {quoted(rig.skeleton.names[index])} are too large")


def _is_document(source: str | None) -> bool:
    return source is not None and find(source).capabilities.everything


def _check_readable(buffers: Buffers, target: Format) -> None:
    """Refuse to write what cannot be read again: documents of the representation, and carries, may have been edited.

    Raises:
        ConversionError: They ask for a file that breaks a rule of its format.
    """
    reading = Reading(source=Source("", b"".join(buffers)))
    try:
        target.read(reading)
        refuse_problems(reading, target.capabilities)
    except FormatError as error:
        where = f"{error.where}: " if error.where else ""
        raise ConversionError(
            f"what is stated makes no {target.id} file that can be read: {where}{error.problem}"
        ) from None


def _check_replaceable(path: str, kind: Declaration, force: bool) -> None:
    """Refuse to replace a file of another kind, unless forced.

    Raises:
        UsageError: Something else is there.
    """
    if files.is_folder(path) or path.endswith("/"):
        raise UsageError(f"{quoted(path)} is a folder")
    if force or not files.is_file(path):
        return
    head = files.head(path, sniff.HEAD_BYTES)
    found = sniff.recognise(head)
    if head and (found is None or found.id != kind.id):
        what = f"is {found.id}" if found else "is no rig"
        raise UsageError(f"{quoted(path)} exists and {what}, not {kind.id}; --force replaces it")


def _is_in_folder_of(path: str, kind: Declaration) -> bool:
    """Whether a file stands in a folder that its format keeps."""
    return bool(kind.folder) and files.base(files.parent(path)).lower().endswith(kind.folder)


def _write_files(path: str, buffers: Buffers, carried: Carried | None) -> list[str]:
    sidecar = sidecar_of(path)
    if carried is not None:
        files.write(sidecar, [msgspec.json.encode(pack(carried))])
    elif _is_carry(sidecar):
        files.remove(sidecar)
    files.write(path, buffers)
    return [path] if carried is None else [path, sidecar]


def _is_carry(name: str) -> bool:
    """Whether an old carry lies beside an output; it would be taken for that of the new one."""
    return files.is_file(name) and b'"rigconv-carry/' in files.head(name, 64)


def _output_path(name: str, target: Format) -> str:
    folder = target.declaration.folder
    if folder and (files.base(name).lower().endswith(folder) or files.is_folder(name)):
        return files.join(name, target.declaration.names[0])
    return name


def _carry_mode(rig: Rig, target: Format, options: ConvertOptions, path: str, source: str | None) -> Carry:
    mode = target.capabilities.carry if options.carry is None else options.carry
    if target.capabilities.everything or not _needs_carry(rig, target.id, source):
        return Carry.NONE
    if mode is Carry.EMBED and target.capabilities.carry is not Carry.EMBED:
        raise UsageError(f"{target.id} cannot embed carried data; --carry sidecar puts it beside the file")
    return Carry.NONE if mode is Carry.SIDECAR and path == files.STANDARD else mode


def _needs_carry(rig: Rig, target: str, source: str | None) -> bool:
    """Whether the target says less than the rig: it was authored elsewhere, or says what only others know."""
    return (rig.origin or source) != target or any(_foreign_words(natives, target) for natives in _all_natives(rig))


def _foreign_words(natives: Natives, target: str) -> bool:
    return any(native.unmapped for format_id, native in natives.items() if format_id != target)


def _all_natives(rig: Rig) -> list[Natives]:
    """The native records of a rig and of everything in it."""
    attachments = [item for skin in rig.skins for items in skin.attachments.values() for item in items.values()]
    parts = [binding for param in rig.params for binding in param.bindings]
    lanes = [lane for animation in rig.animations for lane in animation.lanes]
    records: list[Any] = [rig, *rig.skeleton.bones, *rig.slots, *rig.skins, *attachments, *rig.constraints]
    records += [*rig.params, *parts, *rig.animations, *lanes, *rig.textures, *([rig.stage] if rig.stage else [])]
    return [record.native for record in records]


def _scaled(rig: Rig, scale: float) -> Rig:
    if not (math.isfinite(scale) and scale != 0):
        raise UsageError(f"the scale is {scale}; it must be a number other than zero")
    with np.errstate(over="ignore", invalid="ignore"):
        result = scaled(rig, scale)
    if not np.isfinite(result.skeleton.local).all():
        raise UsageError(f"the scale is {scale}; lengths of this rig become infinite")
    return result


def _stem(name: str, target: Format) -> str:
    """A rig's name, from that of its file."""
    base = "rig" if name == files.STANDARD else files.base(name)
    for suffix in target.declaration.suffixes:
        base = base[: -len(suffix)] if base.lower().endswith(suffix) and len(base) > len(suffix) else base
    return base.encode("utf-8", "replace").decode()  # names of files need not be Unicode, those of rigs must be


def _losses(report: ConversionReport) -> str:
    counts: dict[str, int] = {}
    for entry in report.losses:
        counts[entry.code] = counts.get(entry.code, 0) + 1
    listed = ", ".join(f"{code} x {count}" if count > 1 else code for code, count in sorted(counts.items()))
    return f"{len(report.losses)} things would be lost ({listed})"
