"""Which form of an answer the client wants, from its Accept header; pure."""

from __future__ import annotations

from enum import Enum

from ...errors import NotAcceptable


class Form(Enum):
    PLAIN = "plain"
    TABLE = "Table"
    PARTIAL = "PartialObjectMetadata"


def wanted(accept: str) -> Form:
    """The first form in the list that we can give."""
    for part in accept.split(",") if accept else ["*/*"]:
        media, *parameters = (p.strip() for p in part.split(";"))
        if media not in ("application/json", "application/*", "*/*"):
            continue
        given = dict(p.partition("=")[::2] for p in parameters)
        form = given.get("as", "")
        if form == "Table" and given.get("v") in ("v1", "v1beta1"):
            return Form.TABLE
        if form in ("PartialObjectMetadata", "PartialObjectMetadataList"):
            return Form.PARTIAL
        if not form:
            return Form.PLAIN
    raise NotAcceptable(
        "only the following media types are accepted: application/json",
    )


def wants_aggregated(accept: str) -> str:
    """The version of the aggregated discovery document the client prefers, or an empty text."""
    for part in accept.split(","):
        given = dict(p.strip().partition("=")[::2] for p in part.split(";")[1:])
        if given.get("as") == "APIGroupDiscoveryList" and given.get("v") in ("v2", "v2beta1"):
            return given["v"]
    return ""
