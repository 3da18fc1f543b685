"""Label and field selectors; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import BadRequest
from ..store import Entry
from .kinds import Kind
from .views import view_of

Predicate = Callable[[dict[str, Any]], bool]
REQUIREMENT = re.compile(
    r"\s*(?:(?P<absent>!\s*)(?P<gone>[^\s,!=()]+)"
    r"|(?P<key>[^\s,!=()]+)\s*(?:(?P<op>==|=|!=)\s*(?P<value>[-\w.]*)"
    r"|(?P<set>in|notin)\s*\((?P<values>[^)]*)\))?)\s*(?:,|$)"
)
LABEL_KEY = re.compile(
    r"([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?/)?[a-zA-Z0-9]([-a-zA-Z0-9_.]{0,61}[a-zA-Z0-9])?"
)
LONGEST_VALUE = 63
ESCAPES = re.compile(r"(?:[^\\]|\\[\\,=])*")

FIELDS: Mapping[str, tuple[str, ...]] = {
    "/pods": (
        "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
        "status.phase", "status.podIP",
    ),
    "/events": (
        "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
        "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
        "reason", "type", "source", "reportingComponent",
    ),
    "/secrets": ("type",),
    "/namespaces": ("status.phase",),
}  # fmt: skip


def labels(text: str) -> Predicate | None:
    """The predicate of a label selector; None when it selects everything."""
    if not text.strip():
        return None
    tests: list[Callable[[dict[str, str]], bool]] = []
    position = 0
    while position < len(text):
        match = REQUIREMENT.match(text, position)
        if not match or match.end() == position:
            raise BadRequest(f"unable to parse requirement: found '{text[position:]}'")
        key = match["key"] or match["gone"]
        if not LABEL_KEY.fullmatch(key):
            raise BadRequest(f'unable to parse requirement: invalid label key "{key}"')
        for value in (match["value"] or match["values"] or "").split(","):
            if len(value.strip()) > LONGEST_VALUE:
                raise BadRequest(
                    f'unable to parse requirement: values[0][{key}]: Invalid value: "{value.strip()}": '
                    f"must be no more than {LONGEST_VALUE} characters"
                )
        tests.append(requirement(match))
        position = match.end()

    def selected(body: dict[str, Any]) -> bool:
        have = (body.get("metadata") or {}).get("labels") or {}
        for test in tests:  # noqa: SIM110 - runs for every object of a list: a generator takes twice as long
            if not test(have):
                return False
        return True

    return selected


def requirement(match: re.Match[str]) -> Callable[[dict[str, str]], bool]:
    if match["absent"]:
        gone = match["gone"]
        return lambda have: gone not in have
    key, op, value = match["key"], match["op"], match["value"]
    if op == "!=":
        return lambda have: have.get(key) != value
    if op:
        return lambda have: have.get(key) == value
    if match["set"]:
        wanted = {v.strip() for v in match["values"].split(",")}
        inside = match["set"] == "in"
        # `notin` also holds for objects that do not have the label at all.
        return lambda have: (have.get(key) in wanted) == inside
    return lambda have: key in have


def fields(text: str, kind: Kind) -> Predicate | None:
    """The predicate of a field selector; only the fields the kind declares can be selected by."""
    if not text.strip():
        return None
    tests: list[tuple[str, bool, str]] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([\w.\[\]-]+?)\s*(==|!=|=)\s*(.*?)\s*", part)
        if not match:
            raise BadRequest(f"invalid field selector: {part!r}")
        field, op, value = match.groups()
        if not ESCAPES.fullmatch(value):
            raise BadRequest(f"invalid field selector: invalid escape sequence in {value}")
        place = selectable(kind).get(field)
        if place is None:
            raise BadRequest(f"field label not supported: {field}")
        tests.append((place, op != "!=", value))

    def selected(body: dict[str, Any]) -> bool:
        return all((str(at(body, field)) == value) == equal for field, equal, value in tests)

    return selected


def selectable(kind: Kind) -> dict[str, str]:
    """The fields that can be selected by, and where they are in what is kept."""
    view = view_of(kind)
    own = dict(view.fields) if view else {field: field for field in FIELDS.get(kind.resource, ())}
    return {"metadata.name": "metadata.name", "metadata.namespace": "metadata.namespace", **own}


def outline(entry: Entry) -> dict[str, Any]:
    """As much of an object as selectors look at, kept with the entry: a list of thousands is read once."""
    found: dict[str, Any] | None = entry.kept("outline")
    if found is None:
        body = entry.load()
        metadata = {key: body["metadata"].get(key) for key in ("name", "namespace", "labels")}
        found = {"metadata": metadata}
        for path in FIELDS.get(entry.place.resource, ()):
            value: Any = at(body, path)
            for part in reversed(path.split(".")):
                value = {part: value}
            merge(found, value)
        entry.keep("outline", found)
    return found


def merge(into: dict[str, Any], tree: dict[str, Any]) -> None:
    for key, value in tree.items():
        if isinstance(value, dict) and key in into:
            merge(into[key], value)
        else:
            into[key] = value


def at(body: Any, path: str) -> Any:
    for part in path.split("."):
        body = (body or {}).get(part)
    if isinstance(body, dict):  # an event's `source` is compared by its component
        body = body.get("component")
    return "" if body is None else body


def both(*predicates: Predicate | None) -> Predicate | None:
    given = [p for p in predicates if p]
    if not given:
        return None
    return lambda body: all(p(body) for p in given)
