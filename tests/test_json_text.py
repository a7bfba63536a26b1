"""JSON as the text formats share it: where a fault is, and how documents are laid out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rigconv import FormatError
from rigconv.formats.json_text import LINE_WIDTH, decode, encode, path_at

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=25,
)


@given(VALUES)
def test_what_is_written_is_json_of_the_same_value(value: Any) -> None:
    text = encode(value)
    assert json.loads(text) == value
    assert decode(text, "file") == value


def test_what_fits_on_a_line_stands_on_one() -> None:
    bones = [{"name": "root"}, {"name": "arm", "parent": "root", "x": 1, "y": 2.5}]
    assert encode({"bones": bones, "note": "x" * LINE_WIDTH}).decode().splitlines()[:4] == [
        "{",
        '  "bones": [{"name": "root"}, {"name": "arm", "parent": "root", "x": 1, "y": 2.5}],',
        f'  "note": "{"x" * LINE_WIDTH}"',
        "}",
    ]


def test_numbers_stand_on_one_line_however_many() -> None:
    assert len(encode({"vertices": [0.5] * 500}).splitlines()) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "byte 0: the file is empty"),
        (b"   ", "the file is empty"),
        (b'{"a": 1,}', "byte 8: trailing comma"),
        (b'{"bones": [{"name": "arm", "x": 1 2}]}', r'\$.bones\[0\].x \("arm"\), byte \d+'),
        (b'{"a": [1, 2', r"\$.a\[1\], byte 11: the JSON ends early"),
        (b'{"a": nan}', "the number is not finite"),
        (b'{"a": 1} x', "trailing characters"),
        (b'{"a": "\xff"}', r"\$.a, byte 7: .*UTF-8"),
        (b'{"a": 1, "b": 2, "a": 3}', r'\$: the key "a" stands twice'),
        (b'{"x": [{"a" : 1, "a" :2}]}', r'\$.x\[0\]: the key "a" stands twice'),
        (b'{"a": 1, "\\u0061": 2}', 'the key "a" stands twice'),
        (b"[" * 5000 + b"]" * 5000, "nested too deeply"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "nested too deeply"),
    ],
)
def test_faults_are_found(text: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        decode(text, "file")


@pytest.mark.parametrize(
    "text", [b'{"a": "\\"b\\": 1, \\"b\\": 2"}', b'{"a:": {"a": 1}, "a": 2}', b'\xef\xbb\xbf{"a": 1}']
)
def test_what_only_looks_like_a_fault_is_none(text: bytes) -> None:
    assert decode(text, "file") == json.loads(text.removeprefix(b"\xef\xbb\xbf"))


def test_the_path_of_a_byte() -> None:
    text = b'{"bones": [{"name": "a"}, {"name": "arm", "local": [1, [2, 3]]}]}'
    assert path_at(text, text.index(b"3")) == '$.bones[1].local[1][1] ("arm"), '
    assert path_at(text, 0) == ""
