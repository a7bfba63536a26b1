"""Numbers as INR's JSON chunk spells them: the shortest text that reads back as the same float32."""

from __future__ import annotations

import numpy as np

PRECISION = 1e-5
"""Share of the skeleton's size within which float32 numbers place bones (DESIGN §3)."""

_MAX_DIGITS = 9
"""Significant digits that tell any two float32 numbers apart."""


def shortest(values: np.ndarray) -> np.ndarray:
    """The float64 numbers whose shortest text is the shortest one that reads back as the float32 values.

    Args:
        values: Finite numbers of any shape.

    Returns:
        float64 of the same shape; writing them as JSON gives the spelling.
    """
    single = np.asarray(values, dtype=np.float32).astype(np.float64) + 0.0
    result = single.copy()
    open_places = np.flatnonzero(single.ravel() != 0)
    for digits in range(1, _MAX_DIGITS + 1):
        if not len(open_places):
            break
        candidates = _rounded(single.ravel()[open_places], digits)
        with np.errstate(over="ignore"):  # the largest numbers, rounded up, are none any more
            fits = candidates.astype(np.float32) == single.ravel()[open_places].astype(np.float32)
        result.ravel()[open_places[fits]] = candidates[fits]
        open_places = open_places[~fits]
    return result


def _rounded(values: np.ndarray, digits: int) -> np.ndarray:
    """Decimal rounding to significant digits; exact where both powers of ten are exact floats."""
    power = digits - 1 - np.floor(np.log10(np.abs(values))).astype(np.int64)
    plain = np.abs(power) <= 22
    scale = 10.0 ** np.abs(np.where(plain, power, 0))
    rounded = np.where(power >= 0, np.rint(values * scale) / scale, np.rint(values / scale) * scale)
    if not plain.all():
        rounded[~plain] = [float(f"{value:.{digits - 1}e}") for value in values[~plain].tolist()]
    return rounded
