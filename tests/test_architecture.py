"""What the folders promise: arrows run one way, and a library neither prints nor exits."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from conftest import ROOT
from rigconv.formats import BUILT_IN
from rigconv.ir import codes

SOURCES = [path for folder in ("ir", "formats", "converters") for path in sorted((ROOT / folder).rglob("*.py"))]
MAY_IMPORT = {"ir": {"ir"}, "formats": {"ir", "formats"}, "converters": {"ir", "formats", "converters", ""}}


def imported(path: Path) -> list[tuple[str, ...]]:
    """Modules of ours that a module imports, as paths from the root of the package."""
    package = path.relative_to(ROOT).parent.parts
    found = []
    for item in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(item, ast.ImportFrom) and item.level:
            base = package[: len(package) - item.level + 1]
            found.append((*base, *((item.module or "").split(".") if item.module else ())))
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_arrows_run_one_way(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0]
    for module in imported(path):
        assert (module[0] if module else "") in MAY_IMPORT[layer], module


@pytest.mark.parametrize("path", sorted((ROOT / "formats").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_format_knows_another(path: Path) -> None:
    parts = path.relative_to(ROOT).parts
    own = parts[1] if len(parts) > 2 else None
    others = {declaration.id for declaration in BUILT_IN} - {own}
    for module in imported(path):
        assert not (len(module) > 1 and module[0] == "formats" and module[1] in others), module


@pytest.mark.parametrize("declaration", BUILT_IN, ids=lambda declaration: declaration.id)
def test_every_format_has_the_same_shape(declaration: object) -> None:
    folder = ROOT / "formats" / declaration.id  # type: ignore[attr-defined]
    assert {"__init__.py", "reader.py", "writer.py"} <= {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_command_line_prints_or_exits(path: Path) -> None:
    if path.parent.name == "cli":
        return
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\bprint\(|sys\.exit|\bexit\(", text)


def test_codes_are_named_as_they_are_called() -> None:
    assert codes.ALL
    for name, code in codes.ALL.items():
        assert getattr(codes, name) is code
        assert re.fullmatch(r"[A-Z_]+", name)
        assert code.meaning.endswith(".")


def test_every_code_is_documented() -> None:
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    for code in codes.ALL.values():
        assert f"| `{code.name}` | {code.severity} | {code.meaning} |" in text


def test_every_code_is_used() -> None:
    used = "".join(path.read_text(encoding="utf-8") for path in SOURCES if path.name != "codes.py")
    assert [name for name in codes.ALL if f"codes.{name}" not in used] == []


def test_every_format_is_documented() -> None:
    for declaration in BUILT_IN:
        assert (ROOT / "docs" / "formats" / f"{declaration.id}.md").exists()
