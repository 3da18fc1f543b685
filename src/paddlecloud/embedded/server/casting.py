"""An object in the form of its kind: wrong types refused, unknown fields left out, zeros as in Go.

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
GIVEN = (
    "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
    "deletionGracePeriodSeconds", "selfLink", "namespace", "managedFields",
)  # fmt: skip
"""Metadata that is put back or left out on the way into the store, before the rest is cast."""


class Unfit(BadRequest):
    """A body that its kind cannot hold; a patch that made it says so in other words."""

    def __init__(self, kind: Kind, body: Body, sentence: str) -> None:
        super().__init__(
            f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {sentence}'
        )
        self.body, self.sentence = body, sentence


def cast(kind: Kind, body: Body) -> tuple[Body, list[str]]:
    """The body and the paths of its unknown fields, in the order they were written.

    Raises `Unfit` in the words of Go's decoder.
    """
    unknown: list[str] = []
    try:
        made: Body = handling(struct_name(kind)).convert(body, unknown)
    except Mismatch as error:
        raise Unfit(kind, body, error.sentence()) from error
    except RecursionError as error:
        raise Unfit(kind, {}, "exceeded max depth") from error
    return made, unknown


def cast_metadata(kind: Kind, body: Body) -> tuple[Body, list[str]]:
    """The metadata of a custom object: the one part of it that has a type of Go's own."""
    unknown: list[str] = []
    try:
        made: Body = handling("meta/v1.ObjectMeta").convert(body["metadata"], unknown)
    except Mismatch as error:
        raise Unfit(kind, body, error.sentence()) from error
    return made, [f"metadata.{name}" for name in unknown]


def check_given(kind: Kind, body: Body, known: Body) -> None:
    """Raises `Unfit` where metadata that only the server sets is none of its type.

    What is as in *known* was looked at before; of the rest nothing but its type counts: it is put back.
    """
    metadata = body["metadata"]
    given = {}
    for name in GIVEN:
        value = metadata.get(name)
        # True is 1 to Python, and no number to anybody else.
        if value is not None and (value != known.get(name) or value is True):
            given[name] = value
    if not given:
        return
    try:
        handling("meta/v1.ObjectMeta").convert(given, [])
    except Mismatch as error:
        if not kind.custom:
            error.path.append("metadata")
        raise Unfit(kind, body, error.sentence()) from error


def unfit_metadata(kind: Kind, body: Body) -> Unfit:
    """The refusal of a body whose metadata is no object, whatever else it says."""
    wrong = Mismatch(body["metadata"], "v1.ObjectMeta")
    wrong.struct, wrong.path = kind.kind, ["metadata"]
    return Unfit(kind, body, wrong.sentence())
