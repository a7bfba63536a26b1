"""Assertions about rigs and files, with messages that name what differs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..converters.loading import load_file
from ..converters.roundtrip import round_trips
from ..ir.compare import differences, world_errors
from ..ir.rig import Rig


def assert_same_worlds(before: Rig, after: Rig, tolerance: float) -> None:
    """Fail unless every bone of ``before`` is in ``after`` and stands where it stood.

    Args:
        before: The rig.
        after: What became of it; it may have more bones.
        tolerance: Share of the skeleton's size.
    """
    errors = world_errors(before, after)
    missing = [name for name in before.skeleton.names if name not in errors]
    assert not missing, f"bones are missing: {missing}"  # noqa: S101
    worst = max(errors, key=errors.__getitem__)
    assert errors[worst] <= tolerance, f"bone {worst!r} is off by {errors[worst]} of the skeleton's size"  # noqa: S101


def assert_same(before: Rig, after: Rig, tolerance: float = 1e-9) -> None:
    """Fail unless two rigs say the same, native spellings apart."""
    found = list(differences(before, after, tolerance))
    assert not found, "\n".join(f"{item.path}: {item.before!r} -> {item.after!r}" for item in found[:10])  # noqa: S101


def assert_roundtrip(
    path: str | os.PathLike[str],
    via: str | Sequence[str] | None = None,
    tolerance: float | None = None,
    folder: Path | None = None,
) -> None:
    """Fail unless a file comes back from other formats.

    With what the others cannot say carried along, it must come back the same; without, only what the reports list may
    differ. On the way the bones must stand where they stood.

    Args:
        path: The file, or a folder that a format keeps; its format is told by its content.
        via: A format, or several on the way out; None goes to each other format and back.
        tolerance: Relative tolerance of values, and share of the skeleton's size within which bones must stand; None
            takes what the formats promise.
        folder: Where the files on the way are kept; None throws them away.

    Raises:
        AssertionError: It does not; the message names the elements that differ.
        RigconvError: The file cannot be read.
    """
    start = load_file(os.fspath(path))
    way = (via,) if isinstance(via, str) else via
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        trips = round_trips(start, way, folder or Path(temporary), tolerance)
        faults = [f"{trip.title}: {fault}" for trip in trips for fault in trip.faults]
    kept = f"\nthe files on the way are in {folder}" if folder else ""
    assert not faults, f"{start.reading.file} does not come back:\n" + "\n".join(faults) + kept  # noqa: S101
