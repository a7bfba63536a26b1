"""Telling a file's format by its content, and an output's by its name (DESIGN §2)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from ..formats import Declaration, Mark
from ..formats.json_text import Path as KeyPath
from ..formats.json_text import tokens
from ..ir.errors import UnknownFormatError, UsageError, one_line, quoted
from ..ir.exchange import Source
from . import files
from .registry import Format, declaration_groups, declarations, load

HEAD_BYTES = 1 << 16
"""How much of a file is looked at first; only where that says nothing the rest is."""

_BLANK = b"\xef\xbb\xbf \t\r\n"
"""What may stand before the first character of a JSON document."""


def format_of(source: Source, name: str) -> Format:
    """The format of a file that was read under a name."""
    return load(of_content(source.data, files.member(name)))


def of_content(data: bytes | memoryview, name: str) -> Declaration:
    """The format of a file.

    Content decides. Where a JSON object bears no format's mark, a name that only one format writes breaks the tie, so
    that the reader of that format can say what is missing.

    Args:
        data: The file's bytes.
        name: Its name.

    Raises:
        UnknownFormatError: Neither says which format it is.
    """
    found = recognise(bytes(data[:HEAD_BYTES])) or recognise(bytes(data))
    if found is None and _is_json(bytes(data[:HEAD_BYTES])):
        found = of_name(name)
    if found is None:
        raise UnknownFormatError(one_line(f"{name}: {_nature(data)} that no format recognises; known are {_known()}"))
    return found


def of_file(name: str) -> Declaration | None:
    """The format that a file's first bytes show, else the one whose files alone bear its name.

    Raises:
        FileError: It cannot be read.
    """
    return recognise(files.head(name, HEAD_BYTES)) or of_name(name)


def _is_json(head: bytes) -> bool:
    return head.lstrip(_BLANK)[:1] in (b"{", b"[")


def recognise(head: bytes) -> Declaration | None:
    """The format whose magic or mark the beginning of a file bears."""
    return next(filter(None, (_recognised(head, group) for group in declaration_groups())), None)


def _recognised(head: bytes, candidates: Sequence[Declaration]) -> Declaration | None:
    for declaration in candidates:
        if declaration.magic and head.startswith(declaration.magic):
            return declaration
    if head.lstrip(_BLANK)[:1] != b"{":
        return None
    marks = [(mark, declaration) for declaration in candidates for mark in declaration.marks]
    for path, token, _ in tokens(head):
        if token in (b":", b",", b"}", b"]"):
            continue
        for mark, declaration in marks:
            if _bears(mark, path, token):
                return declaration
    return None


def _bears(mark: Mark, path: KeyPath, token: bytes) -> bool:
    if len(path) != len(mark.path):
        return False
    same = all(want == got or (want == "*" and isinstance(got, int)) for want, got in zip(mark.path, path, strict=True))
    return same and token.startswith(b'"' + mark.value.encode() if mark.value else b"")


def _nature(data: bytes | memoryview) -> str:
    head = bytes(data[:HEAD_BYTES]).lstrip(_BLANK)
    if not data:
        return "an empty file"
    return {b"{": "a JSON object", b"[": "a JSON list"}.get(head[:1], "a file")


def of_name(name: str) -> Declaration | None:
    """The format that files of a name are written in; None where the name decides nothing.

    The longest ending wins, a whole name beats any ending, and built-in formats come before all others.
    """
    return next(filter(None, (_named(PurePath(name), group) for group in declaration_groups())), None)


def _named(path: PurePath, candidates: Sequence[Declaration]) -> Declaration | None:
    matches = [
        (len(ending), declaration)
        for declaration in candidates
        for ending in declaration.suffixes
        if path.name.lower().endswith(ending) and path.name.lower() != ending
    ]
    for declaration in candidates:
        if path.name.lower() in declaration.names:
            return declaration
        if declaration.folder and path.name.lower().endswith(declaration.folder):
            return declaration
    return max(matches, key=lambda match: match[0])[1] if matches else None


def of_output(name: str) -> Declaration:
    """The format of an output.

    Raises:
        UsageError: The name decides nothing.
    """
    found = of_name(name)
    if found is None:
        raise UsageError(f"{quoted(name)} does not say which format to write; use --to, or a name like {_known()}")
    return found


def _known() -> str:
    return ", ".join(f"{declaration.id} ({_example(declaration)})" for declaration in declarations())


def _example(declaration: Declaration) -> str:
    names = [f"*{suffix}" for suffix in declaration.suffixes] + list(declaration.names)
    return " or ".join([*names, *([f"NAME{declaration.folder}/"] if declaration.folder else [])])
