"""Native records: the authored values of an element, exactly as its file spelt them.

A writer of the same format spells an element as its record does wherever the record still agrees with the neutral
values, and afresh where it does not: reading and writing restores the authored file, and an edit always wins.
What the record of a given format holds is that format's affair; nothing here knows any format.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET

from .errors import ConversionError

Value = TypeVar("Value")
FileStruct = TypeVar("FileStruct", bound=msgspec.Struct)
Encode = Callable[[Any], Any]


class Native(msgspec.Struct, kw_only=True, omit_defaults=True, eq=False):
    """What a format's file said about one element.

    Attributes:
        fields: The authored JSON object, with its key order and number spelling.
        derived: Values that the reader found elsewhere for fields the author left out (a cut manifest, an image).
        unmapped: Names of the fields that no neutral value holds, so that other formats lose them.
        index: Place in the file's list, where the order of the representation may differ from it.
        buffers: Bulk data that the record refers to, by key.
    """

    fields: dict[str, Any] = {}
    derived: dict[str, Any] = {}
    unmapped: tuple[str, ...] = ()
    index: int | None = None
    buffers: dict[str, np.ndarray] = {}


Natives = dict[str, Native]
"""The native records of one element, by format id."""


def fields_of(natives: Mapping[str, Native], format_id: str) -> dict[str, Any]:
    """The authored object of ``format_id``, empty where the element was not read from that format."""
    native = natives.get(format_id)
    return native.fields if native else {}


def as_struct(fields: dict[str, Any], struct: type[FileStruct]) -> FileStruct:
    """An authored object as the struct that it was read as.

    Raises:
        ConversionError: It is none: someone edited the record.
    """
    try:
        return msgspec.convert(fields, struct)
    except msgspec.ValidationError as error:
        raise ConversionError(f"a native record is no {struct.__name__}: {error}") from None


def stated(
    was: Value | msgspec.UnsetType,
    default: Value,
    value: Value,
    agree: Callable[[Value, Value], bool] = operator.eq,
) -> Value | msgspec.UnsetType:
    """What a field should state so that it means ``value``.

    Args:
        was: What the authored file stated; ``UNSET`` where it left the field out.
        default: What the format takes an absent field to mean.
        value: What the field must mean now.
        agree: Whether two values mean the same.

    Returns:
        ``was`` (which may be ``UNSET``) while it still means ``value``, else ``value``.
    """
    meaning = default if was is UNSET else was
    return was if agree(meaning, value) else value


def restore(
    fields: dict[str, Any], was: FileStruct, now: FileStruct, encode: Encode = msgspec.to_builtins
) -> dict[str, Any]:
    """Spell ``now`` as its author spelt ``was``.

    Args:
        fields: The authored object; fields that the struct does not know are kept.
        was: ``fields`` as a file struct.
        now: The file struct to be written.
        encode: How values that no author spelt become JSON values.

    Returns:
        The object to write: authored values where ``was`` and ``now`` agree, in the authored order, then new fields.
    """
    if not fields:
        return dict(encode(now))
    if now == was:
        return fields
    names = dict(zip(now.__struct_encode_fields__, now.__struct_fields__, strict=True))
    result = {key: value for key, value in fields.items() if key not in names}
    for key, name in names.items():
        before, after = getattr(was, name), getattr(now, name)
        if key in fields and before == after:
            result[key] = fields[key]
        elif after is not UNSET:
            result[key] = _spell(fields.get(key), before, after, encode)
    return {key: result[key] for key in [*fields, *names] if key in result}


def _spell(authored: Any, before: Any, after: Any, encode: Encode) -> Any:
    """JSON for ``after``, as near to ``authored`` as its value allows."""
    if isinstance(after, msgspec.Struct) and type(before) is type(after) and isinstance(authored, dict):
        return restore(authored, before, after, encode)
    if isinstance(after, list) and isinstance(before, list) and len(after) == len(before) == len(authored or ()):
        return [_spell(*items, encode) for items in zip(authored, before, after, strict=True)]
    return authored if authored is not None and before == after else encode(after)
