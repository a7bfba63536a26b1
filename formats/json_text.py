"""JSON as the text formats share it: decoding with located errors, and a layout that people can read.

Nothing here knows what any document means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from ..ir.errors import FormatError, quoted

Struct = TypeVar("Struct", bound=msgspec.Struct)
Path = tuple[str | int, ...]

MAX_DEPTH = 200
"""Nesting beyond which a document is refused; no format here needs a tenth of it."""

LINE_WIDTH = 110
"""Objects that fit within this many characters stay on one line."""

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_KEY = re.compile(rb'(?<!\\)"\s*:')
_NOT_FINITE = re.compile(rb'(?<![\w"])-?(?:nan|inf|infinity)(?![\w"])', re.IGNORECASE)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


# -- reading ----------------------------------------------------------------------------------------------------------


def decode(data: bytes | memoryview, file: str, max_depth: int = MAX_DEPTH) -> Any:
    """The JSON value that ``data`` holds.

    Args:
        data: UTF-8 text; a byte order mark before it is passed over.
        file: Name for errors.
        max_depth: Nesting that is allowed.

    Raises:
        FormatError: The text is no JSON, is nested too deeply, or an object has a key twice.
    """
    text = data[len(_BYTE_ORDER_MARK) :] if bytes(data[:3]) == _BYTE_ORDER_MARK else data
    try:
        value = msgspec.json.decode(text)
    except RecursionError:
        raise _too_deep(file, max_depth) from None
    except msgspec.DecodeError as error:
        raise _malformed(error, bytes(text), file) from None
    if _depth_exceeds(value, max_depth):
        raise _too_deep(file, max_depth)
    _refuse_duplicate_keys(bytes(text), value, file)
    return value


def _malformed(error: msgspec.DecodeError, text: bytes, file: str) -> FormatError:
    message = str(error)
    found = re.search(r"\(byte (\d+)\)", message)
    offset = int(found.group(1)) if found else len(text)
    if "utf-8" in message.lower():
        offset = _invalid_utf8(text)
    if _NOT_FINITE.search(text[max(offset - 4, 0) : offset + 10]):
        return FormatError(file, f"{path_at(text, offset)}byte {offset}", "the number is not finite", "a finite number")
    problem = message.partition(" (byte ")[0].removeprefix("JSON is malformed: ").rstrip(".")
    problem = problem[:1].lower() + problem[1:]
    if "truncated" in problem:
        problem = "the JSON ends early" if text.strip() else "the file is empty"
    place = path_at(text, offset)
    return FormatError(file, f"{place}byte {offset}", f"{problem} (not valid JSON)", "one JSON document")


def _invalid_utf8(text: bytes) -> int:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _too_deep(file: str, max_depth: int) -> FormatError:
    return FormatError(file, "", "the JSON is nested too deeply", f"at most {max_depth} levels")


def _depth_exceeds(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [item for parent in level for item in _containers(parent)]
        if not level:
            return False
    return True


def _containers(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [item for item in value.values() if isinstance(item, (dict, list))]
    if isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        return [item for item in value if isinstance(item, (dict, list))]
    return []


def _refuse_duplicate_keys(text: bytes, value: Any, file: str) -> None:
    """Keys are counted in the text and in what came of it; only where the counts differ is the text walked."""
    if len(_KEY.findall(text)) == len(_KEY.findall(msgspec.json.encode(value))):
        return
    seen: dict[Path, set[str | int]] = {}
    opened: set[Path] = set()
    for path, token, _ in tokens(text):
        if token == b"{" and path not in opened:
            opened.add(path)
            seen[path] = set()
        elif token == b":":
            keys = seen.setdefault(path[:-1], set())
            if path[-1] in keys:
                place = "$" + _path_text(path[:-1])
                raise FormatError(file, place, f"the key {quoted(path[-1])} stands twice", "each key once")
            keys.add(path[-1])


def tokens(text: bytes) -> Iterator[tuple[Path, bytes, int]]:
    """The tokens of a JSON text, with the path of the value that each belongs to and its byte offset.

    A key's colon comes with the path of the value behind it. The text may be cut off or malformed: this is for
    finding places in it, not for reading it.
    """
    path: list[str | int] = []
    objects: list[bool] = []
    last = b""
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == b":" and objects and objects[-1]:
            path[-1] = _key(last)
        elif token == b"," and objects:
            index = path[-1]
            path[-1] = index + 1 if isinstance(index, int) else ""
        if token in (b"}", b"]") and objects:
            objects.pop()
            path.pop()
        yield tuple(path), token, match.start()
        if token in (b"{", b"["):
            objects.append(token == b"{")
            path.append("" if token == b"{" else 0)
        last = token


def _key(token: bytes) -> str:
    try:
        return str(msgspec.json.decode(token, type=str))
    except msgspec.MsgspecError:
        return token.decode("utf-8", "replace").strip('"')


def path_at(text: bytes, offset: int) -> str:
    """Where in the document a byte lies, as ``$.bones[1] ("arm"), ``; empty at its top."""
    path: Path = ()
    names: dict[Path, str] = {}
    for current, token, start in tokens(text):
        if start > offset:
            break
        path = current
        if current and current[-1] == "name" and token[:1] == b'"':
            names[current[:-1]] = _key(token)
    if not path:
        return ""
    named = next((names[path[:end]] for end in range(len(path), -1, -1) if path[:end] in names), None)
    return "$" + _path_text(path) + (f" ({quoted(named)})" if named is not None else "") + ", "


def _path_text(path: Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def convert(value: Any, struct: type[Struct], file: str, root: str = "$") -> Struct:
    """A decoded document, or an object in one, as a file struct.

    Args:
        value: The JSON value.
        struct: What it should be.
        file: Name for errors.
        root: Where in the file the value stands.

    Raises:
        FormatError: A value has the wrong type; the error names its path and the nearest name above it.
    """
    try:
        return msgspec.convert(value, struct)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `")
        place = place.rstrip("`") or "$"
        where = root + place.removeprefix("$") + _name_at(value, place)
        raise _mistyped(problem, where, file) from None


_EXPECTED = re.compile(r"Expected (?P<wanted>.+), got (?P<got>.+)")


def _mistyped(problem: str, where: str, file: str) -> FormatError:
    missing = re.fullmatch(r"Object missing required field `(.+)`", problem)
    if missing:
        return FormatError(file, where, f"{missing.group(1)} is missing", f"an object with {missing.group(1)}")
    length = re.fullmatch(r"Expected `array` of length (\d+), got (\d+)", problem)
    if length:
        return FormatError(file, where, f"the list has {length.group(2)} values", length.group(1))
    found = _EXPECTED.fullmatch(problem)
    if found:
        found_type, wanted = (found.group(name).replace("`", "") for name in ("got", "wanted"))
        return FormatError(file, where, f"the value is of type {found_type}", wanted)
    return FormatError(file, where, problem[:1].lower() + problem[1:].replace("`", '"'))


def _name_at(value: Any, where: str) -> str:
    """The name of the innermost element around a path, as `` ("arm")``; empty where none has one."""
    name = ""
    for key, index in re.findall(r"\.([^.\[\]]+)|\[(\d+)\]", where):
        try:
            value = value[int(index)] if index else value[key]
        except (KeyError, IndexError, TypeError):
            break
        if isinstance(value, dict) and isinstance(value.get("name"), str):
            name = f" ({quoted(value['name'])})"
    return name


# -- writing ----------------------------------------------------------------------------------------------------------


def encode(value: Any) -> bytes:
    """``value`` as JSON text: two spaces a level, what fits on a line on one line, lists of scalars always so."""
    lines: list[bytes] = []
    _layout(value, 0, b"", b"", lines)
    return b"\n".join(lines) + b"\n"


def _layout(value: Any, level: int, prefix: bytes, suffix: bytes, lines: list[bytes]) -> None:
    indent = b"  " * level
    if _is_leaf(value):
        lines.append(indent + prefix + _one_line(value) + suffix)
        return
    line = _one_line(value)
    if len(indent) + len(prefix) + len(line) <= LINE_WIDTH:
        lines.append(indent + prefix + line + suffix)
        return
    opening, closing = (b"{", b"}") if isinstance(value, dict) else (b"[", b"]")
    items = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    lines.append(indent + prefix + opening)
    last = len(value) - 1
    for index, (key, item) in enumerate(items):
        name = b"" if key is None else msgspec.json.encode(key) + b": "
        _layout(item, level + 1, name, b"," if index < last else b"", lines)
    lines.append(indent + closing + suffix)


def _is_leaf(value: Any) -> bool:
    if isinstance(value, list):
        return not any(isinstance(item, (dict, list)) for item in value)
    return not isinstance(value, dict) or not value


def _one_line(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=0)
