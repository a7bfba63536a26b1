"""The formats: one package each, with ``read``, ``write``, ``CAPABILITIES`` and ``Schema``.

Here stands what must be known of a format before its module is imported: how its files are recognised and named.
A third party declares the same in a ``DECLARATION`` of its own module, under an entry point of ``rigconv.formats``.
"""

from __future__ import annotations

from typing import NamedTuple


class Mark(NamedTuple):
    """A key in a JSON document that tells its format.

    Attributes:
        path: Keys from the top down; ``*`` stands for any place in a list.
        value: What the text behind the key starts with; empty for any value.
    """

    path: tuple[str, ...]
    value: str = ""


class Declaration(NamedTuple):
    """What is known of a format without its module.

    Attributes:
        id: Short name, as ``--from`` and ``--to`` take it.
        title: What it is, in a few words.
        module: The module that reads and writes it.
        magic: First bytes of its files; empty for JSON.
        marks: Keys that tell it; one is enough.
        suffixes: Endings of the file names that it is written to.
        names: Whole file names that it is written to.
        folder: Ending of the folders that hold a file of it, or empty.
    """

    id: str
    title: str
    module: str
    magic: bytes = b""
    marks: tuple[Mark, ...] = ()
    suffixes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    folder: str = ""


BUILT_IN = (
    Declaration(
        id="rigc",
        title="rig spec rigc-rig/1",
        module="rigconv.formats.rigc",
        marks=(Mark(("spec",), "rigc-rig/"),),
        suffixes=(".rig.json",),
    ),
    Declaration(
        id="engine",
        title="engine rig asset",
        module="rigconv.formats.engine",
        marks=(Mark(("bones", "*", "inverseBind")),),
        names=("rig.json",),
        folder=".rig",
    ),
    Declaration(
        id="inr",
        title="Inochi2D runtime container, INR v1",
        module="rigconv.formats.inr",
        magic=b"INR1",
        suffixes=(".inr",),
    ),
    Declaration(
        id="ir",
        title="the shared representation, rigconv-ir/1",
        module="rigconv.formats.ir",
        marks=(Mark(("spec",), "rigconv-ir/"),),
        suffixes=(".rigir.json",),
    ),
)
