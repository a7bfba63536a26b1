"""The plug-in that pytest finds by itself where rigconv is installed: the fixture ``assert_roundtrip``.

pytest imports it at every start, so it imports nothing heavy until the fixture is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import pytest


@pytest.fixture(name="assert_roundtrip")
def assert_roundtrip_fixture(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """``rigconv.testing.assert_roundtrip`` that keeps the files on the way, as pytest keeps temporary folders."""
    from .assertions import assert_roundtrip

    def check(
        path: str | os.PathLike[str], via: str | Sequence[str] | None = None, tolerance: float | None = None
    ) -> None:
        assert_roundtrip(path, via, tolerance, folder=tmp_path_factory.mktemp("roundtrip"))

    return check
