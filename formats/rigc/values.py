"""Values as ``rigc-rig/1`` spells them: colours, degrees, folded enumerations, rounded and tidy numbers."""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from ...ir.errors import ConversionError, quoted

Color = tuple[float, float, float, float]

_HEX = re.compile(r"[0-9a-fA-F]{6}(?:[0-9a-fA-F]{2})?")
_DIGITS = 14
"""Significant digits of a number that no author wrote: what trigonometry leaves of a float64."""


def given(value: Any, default: Any) -> Any:
    """A field's value, or what it means when it is not declared."""
    return default if value is UNSET else value


def color_from_hex(text: str) -> Color:
    """Red, green, blue, alpha in 0..1 from ``rrggbbaa`` or ``rrggbb``.

    Raises:
        ValueError: The text is neither.
    """
    if not _HEX.fullmatch(text):
        raise ValueError(f"the colour is {quoted(text)}")
    red, green, blue, alpha = (int(f"{text}ff"[place : place + 2], 16) / 255 for place in (0, 2, 4, 6))
    return red, green, blue, alpha


def hex_from_color(color: tuple[float, ...]) -> str:
    """``rrggbbaa`` or ``rrggbb``, each channel clamped to 0..1 and rounded to eight bits."""
    return "".join(f"{round(255 * min(max(channel, 0.0), 1.0)):02x}" for channel in color)


def stated_color(was: str | UnsetType, color: tuple[float, ...]) -> str | UnsetType:
    """What a colour field states so that it means ``color``: ``was`` while eight bits a channel cannot tell them apart.

    An absent field means opaque white, and so does one that is no colour.
    """
    text = hex_from_color(color)
    try:
        meaning = color_from_hex("ffffffff" if was is UNSET else was)
    except ValueError:
        meaning = (1.0, 1.0, 1.0, 1.0)
    return was if hex_from_color(meaning[: len(color)]) == text else text


def canonical(text: str, known: tuple[str, ...]) -> str:
    """The spelling of an enumerated value, found by folding case.

    Raises:
        ConversionError: There is none: someone edited a native record.
    """
    for value in known:
        if value.lower() == text.lower():
            return value
    raise ConversionError(f"{quoted(text)} is none of {', '.join(known)}")


def is_read_by_runtime(text: str, known: tuple[str, ...]) -> bool:
    """Whether the official runtime, which folds only the first letter, finds the value."""
    return text[:1].lower() + text[1:] in known


def round6(value: float) -> float:
    """Six decimals, halves up, as the compiler rounds (specs/rigc-facts.md §3)."""
    return math.floor(value * 1e6 + 0.5) / 1e6 + 0.0


def tidy(values: np.ndarray, size: np.ndarray | float) -> list[float | int]:
    """Numbers to be written that no author wrote.

    Args:
        values: (n,) the numbers.
        size: Magnitude beside which a value may be rounding noise; below 1e-14 of it a value is taken for zero.

    Returns:
        Rounded to 14 significant digits, whole numbers as ints.
    """
    quiet = np.where(np.abs(values) <= 1e-14 * np.asarray(size), 0.0, values)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log10(np.abs(quiet)))
    exponent = np.where(np.isfinite(exponent), exponent, 0)
    rounded = [round(value, _DIGITS - 1 - int(power)) for value, power in zip(quiet.tolist(), exponent, strict=True)]
    return [whole(value) for value in rounded]


def whole(value: float) -> float | int:
    """A number as people write it: without a point where it is whole."""
    return int(value) if value == int(value) and abs(value) < 1e15 else value


def to_builtins(value: Any) -> Any:
    """JSON of a value that no author spelt."""
    return _whole_numbers(msgspec.to_builtins(value))


def _whole_numbers(value: Any) -> Any:
    if isinstance(value, float):
        return whole(value)
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    return value
