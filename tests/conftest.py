"""Fixtures that all tests share, and the rule that nothing may be skipped where everything is at hand."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent
COMPLETE = os.environ.get("RIGCONV_COMPLETE") == "1"
"""Set where everything that tests need must be there, as in CI: a skipped test is a failure then."""

settings.register_profile(
    "default",
    deadline=None,
    suppress_health_check=list(HealthCheck),
    max_examples=40,
    derandomize=COMPLETE,  # CI judges a change, not its luck; elsewhere each run draws anew
)
settings.load_profile("default")


def shared_folder() -> Path:
    """Where samples and judging tools lie, beside the project unless RIGCONV_SHARED says otherwise."""
    return Path(os.environ.get("RIGCONV_SHARED") or ROOT.parent / "shared")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Turn a skip into a failure where nothing may be skipped."""
    report = yield
    if COMPLETE and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of samples and tools."""
    folder = shared_folder()
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}")
    return folder


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """Our own small files."""
    return ROOT / "fixtures"


@pytest.fixture(scope="session")
def spine_runtime(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Asks the official Spine runtime what a skeleton JSON looks like, posed."""
    core = ROOT / "tests" / "oracle" / "node_modules" / "@esotericsoftware" / "spine-core"
    node = shutil.which("node")
    if node is None or not core.is_dir():
        pytest.skip("Node or spine-core is missing: make test installs it")
    folder = tmp_path_factory.mktemp("spine")

    def ask(document: dict[str, Any]) -> dict[str, Any]:
        file = folder / "skeleton.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        result = subprocess.run(
            [node, shared / "tools" / "spine_oracle.mjs", file],
            env={**os.environ, "SPINE_CORE_DIR": str(core)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return ask
