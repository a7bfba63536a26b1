"""A stored document to the representation."""

from __future__ import annotations

from ...ir.document import DocumentError, from_builtins
from ...ir.errors import FormatError
from ...ir.exchange import Reading
from ...ir.rig import Rig
from ..json_text import decode


def read(reading: Reading) -> Rig:
    """The rig that a file describes.

    Raises:
        FormatError: The document breaks a rule.
    """
    document = decode(reading.source.data, reading.file)
    if not isinstance(document, dict):
        raise FormatError(reading.file, "$", "the document is not an object", "a rigconv-ir/1 document")
    try:
        return from_builtins(document)
    except DocumentError as error:
        raise FormatError(reading.file, error.where, error.problem, error.expected) from None
