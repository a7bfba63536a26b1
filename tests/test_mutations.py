"""Files that were damaged at random: whatever comes, it is an error of ours, and what is written can be read."""

import copy
import functools
import json
import random
import shutil
import struct
import tempfile
from pathlib import Path

import pytest
import rigconv
from hypothesis import given, settings
from hypothesis import strategies as st
from support import FILE_NAMES, FORMATS

VALUES = [
    None, True, False, 0, -1, 2**31, 2**63, 10**30, 1e308, 5e-324, 0.5, "", "x", "root", "\0", [], {}, [0], [None], {"a": 1},
]  # fmt: skip


@functools.cache
def documents():
    """For each format, the JSON and the binary rest of a few files."""
    fixtures, folder = Path(__file__).parent.parent / "fixtures", Path(tempfile.mkdtemp())
    found = {format_id: [] for format_id in FORMATS}
    for source in (fixtures / "swing.rig.json", fixtures / "puppet.inr", fixtures / "walker.rig"):
        for format_id in FORMATS:
            path = folder / FILE_NAMES[format_id]
            rigconv.convert(source, path, options=rigconv.ConvertOptions(force=True))
            found[format_id].append(_taken_apart(path.read_bytes()))
    shutil.rmtree(folder)
    return found


def _taken_apart(data):
    if data[:4] != b"INR1":
        return json.loads(data), None
    length = struct.unpack_from("<I", data, 8)[0]
    return json.loads(data[16 : 16 + length]), data[16 + length :]


def _put_together(document, rest):
    text = json.dumps(document).encode()
    if rest is None:
        return text
    text += b" " * (-len(text) % 4)
    return struct.pack("<4sIII", b"INR1", 1, len(text), len(rest)) + text + rest


def _places(value):
    """Every container and key in a JSON value."""
    waiting, found = [value], []
    while waiting:
        item = waiting.pop()
        keys = list(item) if isinstance(item, dict) else range(len(item)) if isinstance(item, list) else ()
        found += [(item, key) for key in keys]
        waiting += [item[key] for key in keys]
    return found


def _mutate(document, chance):
    for _ in range(chance.choice((1, 1, 2, 3))):
        places = _places(document)
        if not places:
            return
        container, key = chance.choice(places)
        other, other_key = chance.choice(places)
        action = chance.randrange(5)
        if action == 0:
            del container[key]
        elif action == 1:
            container[key], other[other_key] = json.loads(json.dumps([other[other_key], container[key]]))
        elif action == 2 and isinstance(container[key], (int, float)):
            container[key] = chance.choice((-container[key], container[key] * 1e30, container[key] + 1))
        else:
            container[key] = chance.choice(VALUES)


@pytest.mark.parametrize("source", FORMATS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_damaged_documents(source, seed, tmp_path_factory):
    chance = random.Random(seed)
    document, rest = copy.deepcopy(chance.choice(documents()[source]))
    _mutate(document, chance)
    folder = tmp_path_factory.mktemp("damaged")
    path = folder / FILE_NAMES[source]
    path.write_bytes(_put_together(document, rest))
    for target in FORMATS:
        output = folder / "out" / FILE_NAMES[target]
        output.parent.mkdir(exist_ok=True)
        try:
            rigconv.convert(path, output, source, target)
        except rigconv.RigconvError:
            assert not output.exists()
            continue
        rigconv.read(output)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=150)
def test_damaged_bytes(seed, tmp_path_factory):
    chance = random.Random(seed)
    data = bytearray(_put_together(*chance.choice(documents()["inr"])))
    for _ in range(chance.choice((1, 2, 8))):
        data[chance.randrange(chance.choice((16, len(data))))] = chance.randrange(256)
    path = tmp_path_factory.mktemp("damaged") / "a.inr"
    path.write_bytes(data[: chance.choice((len(data), chance.randrange(len(data))))])
    try:
        rigconv.convert(path, path.with_name("b.rigir.json"), "inr")
    except (rigconv.FormatError, rigconv.UnknownFormatError, rigconv.ConversionError) as error:
        said = str(error)
        assert said.startswith(str(path.parent))
