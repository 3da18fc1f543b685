"""A built-in object in the form of its kind: wrong types refused, unknown fields left out, zeros as Go has them.

The body that comes out shares nothing that will be changed with the one that went in.
"""

from __future__ import annotations

from typing import Any

from ...errors import BadRequest
from .facts.book import struct_name
from .facts.scalars import Mismatch
from .facts.structs import handling
from .kinds import Kind

Body = dict[str, Any]


def cast(kind: Kind, body: Body) -> tuple[Body, list[str]]:
    """The body and the paths of its unknown fields, in the order they were written.

    Raises `BadRequest` in the words of Go's decoder.
    """
    unknown: list[str] = []
    try:
        made: Body = handling(struct_name(kind)).convert(body, unknown)
    except Mismatch as error:
        raise refused(kind, error.sentence()) from error
    return made, unknown


def refused(kind: Kind, sentence: str) -> BadRequest:
    return BadRequest(
        f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {sentence}'
    )
