"""Lists: selectors, pages that agree with each other, and the three forms of an answer."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from ...errors import BadRequest, Timeout
from ..store import Entry, Store
from . import refusals, selectors
from .kinds import Kind
from .negotiation import Form
from .rows import Printing, printed
from .selectors import Predicate
from .tables import partial
from .versions import as_read_all

NUMBER = re.compile(r"[-+]?[0-9]+")
MATCHES = ("Exact", "NotOlderThan", "")
TOO_LARGE = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}


@dataclass(frozen=True)
class Query:
    """What a list or watch asks for."""

    selected: Predicate | None
    selector: str = ""
    """The text of the selectors: the same text selects the same objects."""
    limit: int = 0
    after: str = ""
    """The continue token."""
    revision: str = ""
    match: str = ""
    include: str = "Metadata"


def query_of(kind: Kind, parameters: dict[str, str]) -> Query:
    limit = whole(parameters.get("limit") or "0")
    revision = parameters.get("resourceVersion") or ""
    if problem := no_revision(revision):
        raise BadRequest(
            f'invalid resource version: resourceVersion: Invalid value: "{revision}": '
            f'strconv.ParseUint: parsing "{revision}": {problem}'
        )
    match = parameters.get("resourceVersionMatch") or ""
    if match not in MATCHES:
        supported = ", ".join(f'"{m}"' for m in MATCHES)
        raise refusals.invalid_options(
            "resourceVersionMatch", f'Unsupported value: "{match}": supported values: {supported}'
        )
    if match and not revision and "watch" not in parameters:
        raise refusals.invalid_options(
            "resourceVersionMatch",
            "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        )
    return Query(
        selectors.both(
            selectors.labels(parameters.get("labelSelector") or ""),
            selectors.fields(parameters.get("fieldSelector") or "", kind),
        ),
        "\0".join((parameters.get("labelSelector") or "", parameters.get("fieldSelector") or "")),
        max(0, limit),
        parameters.get("continue") or "",
        revision,
        match,
        parameters.get("includeObject") or "Metadata",
    )


def whole(text: str) -> int:
    """A number of a query; raises `BadRequest` for what is none that a machine counts with."""
    if not NUMBER.fullmatch(text):
        raise BadRequest(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        raise BadRequest(f'strconv.ParseInt: parsing "{text}": value out of range')
    return int(text)


def no_revision(text: str) -> str:
    """Why a text is no revision; empty when it is one, or none is given."""
    if not text or (text.isascii() and text.isdigit() and len(text) <= 20 and int(text) < 2**64):
        return ""
    return "value out of range" if text.isascii() and text.isdigit() else "invalid syntax"


def answer(store: Store, kind: Kind, namespace: str, query: Query, form: Form, now: datetime) -> bytes:
    """The body of a list."""
    revision, start = store.revision, ("", "")
    if query.after:
        revision, start = decoded(query.after)
    elif query.revision not in ("", "0"):
        asked = int(query.revision)
        if asked > store.revision:
            raise Timeout(
                f"Too large resource version: {asked}, current: {store.revision}",
                details={"causes": [TOO_LARGE], "retryAfterSeconds": 1},
            )
        if query.match == "Exact":
            revision = asked
    entries = store.entries_as_of(kind.resource, namespace, revision)
    if start != ("", ""):
        entries = [e for e in entries if (e.place.namespace, e.place.name) > start]
    if query.selected:
        entries = [e for e in entries if query.selected(selectors.outline(e))]
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    if query.limit and len(entries) > query.limit:
        last = entries[query.limit - 1].place
        metadata["continue"] = encoded(revision, last.namespace, last.name)
        metadata["remainingItemCount"] = len(entries) - query.limit
        entries = entries[: query.limit]
    return rendered(kind, entries, metadata, form, (query.include, now))


def rendered(
    kind: Kind, entries: list[Entry], metadata: dict[str, Any], form: Form, printing: tuple[str, datetime]
) -> bytes:
    include, now = printing
    entries = as_read_all(kind, entries)
    if form is Form.TABLE:
        return printed(kind, entries, metadata, Printing(include, now))
    if form is Form.PARTIAL:
        items = b",".join(orjson.dumps(partial(e.load())) for e in entries)
        head: dict[str, Any] = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
    else:
        # The objects are kept as the bytes that go out: a list is only joined.
        values = (e.value for e in entries) if kind.custom else nameless(kind, entries)
        items = b",".join(values)
        head = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version}
    head["metadata"] = metadata
    return orjson.dumps(head)[:-1] + b',"items":[' + items + b"]}"


def nameless(kind: Kind, entries: list[Entry]) -> Iterator[bytes]:
    """The items of a built-in list do not repeat their kind; it stands first in what is stored."""
    head = orjson.dumps({"apiVersion": kind.api_version, "kind": kind.kind})[:-1] + b","
    for entry in entries:
        yield b"{" + entry.value.removeprefix(head) if entry.value.startswith(head) else entry.value


def encoded(revision: int, namespace: str, name: str) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([revision, namespace, name])).decode().rstrip("=")


def decoded(token: str) -> tuple[int, tuple[str, str]]:
    try:
        revision, namespace, name = orjson.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        return int(revision), (str(namespace), str(name))
    except (ValueError, TypeError, binascii.Error) as error:
        raise BadRequest("continue key is not valid") from error
