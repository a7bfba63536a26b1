"""Folders full of files for batches: of each format, broken, foreign, odd; and what is to become of each."""

import json
import math
import os
import random
import struct
from pathlib import Path
from typing import NamedTuple

from support import inr_bytes, inr_document, node


class Tree(NamedTuple):
    """Paths of the files of a tree, from its folder, by what is to become of them."""

    valid: set[str]
    bad: set[str]
    foreign: set[str]

    @property
    def everything(self):
        return self.valid | self.bad | self.foreign


def rigc(bones: int = 3) -> bytes:
    """A rig spec of a chain of bones."""
    names = [f"bone {index}" for index in range(bones)]
    chain = [{"name": name, "x": 10, "rotation": 3} for name in names]
    for bone, parent in zip(chain[1:], names, strict=False):
        bone["parent"] = parent
    return _json(
        {"spec": "rigc-rig/1", "name": "chain", "skeleton": {"width": 1, "height": 1}, "bones": chain, "slots": []}
    )


def engine(bones: int = 3) -> bytes:
    """An engine rig of a chain of bones along x."""
    chain = []
    for index in range(bones):
        inverse_bind = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -10.0 * (index + 1), 0, 0, 1]
        rest = {"translation": [10.0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]}
        chain.append(
            {"name": f"b{index}", "parent": index - 1, "nodeIndex": index, **rest, "inverseBind": inverse_bind}
        )
    return _json({"bones": chain, "bind": "skin"})


def inr(bones: int = 3) -> bytes:
    """A puppet of a chain of nodes."""
    nodes = [node(f"n{index}", index + 2, parent=index, rotation=[0, 0, math.pi / 32]) for index in range(bones)]
    return inr_bytes(inr_document(*nodes))


def _json(value) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def png() -> bytes:
    """The beginning of an image."""
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 4, 4, 8, 6, 0, 0, 0)


VALID = {"a {}.rig.json": rigc, "{}.rig/rig.json": engine, "puppet-{}.inr": inr}
BAD = {
    "cut {}.rig.json": lambda size: rigc(size)[:-20],
    "twice-{}.rig.json": lambda size: rigc(size).replace(b'"bone 1"', b'"bone 0"'),
    "short-{}/rig.json": lambda size: engine(size).replace(b"[0, 0, 0, 1]", b"[0, 0, 1]"),
    "cut-{}.inr": lambda size: inr(size)[:40],
    "empty-{}.inr": lambda _: b"",
}
FOREIGN = {
    "notes-{}.txt": lambda _: b"nothing to see",
    "{}.png": lambda _: png(),
    "package-{}.json": lambda _: b'{"name": "some package", "bones": "none"}',
    "list {}.json": lambda _: b"[1, 2, 3]",
    "empty-{}": lambda _: b"",
    "random-{}.bin": lambda size: random.Random(size).randbytes(2000),
}
STEMS = ("bär", "骨", "with space", "-dash", "x" * 180, "💀", "q'uote\"", "new\nline", "bytes \udcff\udcfe")


def make_tree(folder: Path, count: int, bones: int = 12, seed: int = 1) -> Tree:
    """A tree of ``count`` files: three in five are valid, one in five is bad, one in five is foreign."""
    chance = random.Random(seed)
    tree = Tree(set(), set(), set())
    kinds = [(tree.valid, VALID)] * 3 + [(tree.bad, BAD), (tree.foreign, FOREIGN)]
    for number in range(count):
        into, makers = kinds[number % len(kinds)]
        pattern, make = chance.choice(list(makers.items()))
        place = "/".join(chance.choice(("hero", "enemies", "größe", "v1.0")) for _ in range(chance.randrange(4)))
        odd = chance.choice(STEMS) if chance.random() < 0.2 else "rig"
        path = f"{place}/{pattern.format(f'{odd} {number}')}".lstrip("/")
        _put(folder, path, make(chance.randrange(3, bones)))
        into.add(path)
    return tree


def add_oddities(folder: Path, tree: Tree) -> None:
    """Files that are huge, and such as cannot be read."""
    _put(folder, "huge.rig.json", rigc(20_000))
    _put(folder, "huge.bin", bytes(50_000_000))
    (folder / "dangling.inr").symlink_to("nowhere")
    (folder / "loop").symlink_to(".")
    (folder / "itself.inr").symlink_to("itself.inr")
    tree.valid.add("huge.rig.json")
    tree.foreign.add("huge.bin")
    tree.bad.update(("dangling.inr", "itself.inr"))
    if os.geteuid() != 0:  # whom permissions do not bind
        _put(folder, "secret.inr", inr())
        _put(folder, "closed/inside.inr", inr())
        (folder / "secret.inr").chmod(0)
        (folder / "closed").chmod(0)
        tree.bad.update(("secret.inr", "closed"))


def _put(folder: Path, path: str, data: bytes) -> None:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder, by their paths; those that a batch keeps for itself do not count."""
    return {
        os.fsdecode(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".rigconv-batch.")
    }
