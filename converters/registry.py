"""Which formats there are, and where their modules are.

Built-in formats come from a static list. Entry points are scanned only where that has no answer, because scanning is
slow; a third party cannot take the name of a built-in format.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from ..formats import BUILT_IN, Declaration
from ..ir.errors import UsageError, quoted

if TYPE_CHECKING:
    import msgspec

    from ..ir.capabilities import Capabilities
    from ..ir.exchange import Buffers, Reading, Writing
    from ..ir.rig import Rig

GROUP = "rigconv.formats"


class Format(NamedTuple):
    """A format whose module has been imported.

    Attributes:
        declaration: How its files are recognised and named.
        read: File to rig.
        write: Rig to file.
        capabilities: What it can hold.
        schema: The struct of its document.
    """

    declaration: Declaration
    read: Callable[[Reading], Rig]
    write: Callable[[Rig, Writing], Buffers]
    capabilities: Capabilities
    schema: type[msgspec.Struct]

    @property
    def id(self) -> str:
        """Short name."""
        return self.declaration.id


class ThirdParty(NamedTuple):
    """An entry point that another distribution offers.

    Attributes:
        declaration: What it declares; None where it could not be loaded.
        module: Where it points.
        distribution: Name and version of the distribution.
        error: Why it cannot be used; empty where it can.
    """

    declaration: Declaration | None
    module: str
    distribution: str
    error: str


def find(format_id: str) -> Format:
    """The format of a name.

    Raises:
        UsageError: There is none.
    """
    for declaration in declarations():
        if declaration.id == format_id:
            return load(declaration)
    known = ", ".join(declaration.id for declaration in declarations())
    raise UsageError(f"there is no format {quoted(format_id)}; known are {known}")


def load(declaration: Declaration) -> Format:
    """A declared format, imported."""
    module = importlib.import_module(_own_name(declaration.module))
    return Format(declaration, module.read, module.write, module.CAPABILITIES, module.Schema)


def _own_name(module: str) -> str:
    """Our own modules under the name that this package was imported by."""
    package = __name__.partition(".converters.")[0]
    return package + module.removeprefix("rigconv") if module.startswith("rigconv.formats.") else module


def declarations() -> Iterator[Declaration]:
    """All declarations, built-in ones first; third parties are looked up only when those are used up."""
    for group in declaration_groups():
        yield from group


def declaration_groups() -> Iterator[Sequence[Declaration]]:
    """The built-in declarations; then those of third parties, for whoever found no answer among the built-in ones."""
    yield BUILT_IN
    yield [item.declaration for item in third_parties() if item.declaration is not None and not item.error]


@functools.cache
def third_parties() -> tuple[ThirdParty, ...]:
    """What other distributions offer, usable or not; looked up once, because that is slow."""
    from importlib.metadata import entry_points

    taken = {declaration.id for declaration in BUILT_IN}
    found = []
    for entry_point in entry_points(group=GROUP):
        if entry_point.value.startswith("rigconv.formats."):
            continue
        third_party = _third_party(entry_point.value, entry_point.dist, entry_point.load)
        if third_party.declaration is not None and third_party.declaration.id in taken:
            third_party = third_party._replace(error=f"the name {third_party.declaration.id} is taken")
        elif third_party.declaration is not None:
            taken.add(third_party.declaration.id)
        found.append(third_party)
    return tuple(found)


def _third_party(value: str, distribution: object, import_module: Callable[[], ModuleType]) -> ThirdParty:
    source = f"{getattr(distribution, 'name', '?')} {getattr(distribution, 'version', '?')}"
    try:
        module = import_module()
        return ThirdParty(module.DECLARATION, value, source, "")
    except Exception as error:  # a broken plug-in must not take rigconv down with it
        return ThirdParty(None, value, source, f"{type(error).__name__}: {error}")
