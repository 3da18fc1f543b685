"""Label and field selectors; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import BadRequest
from .kinds import Kind

Predicate = Callable[[dict[str, Any]], bool]
REQUIREMENT = re.compile(
    r"\s*(?:(?P<absent>!\s*)(?P<gone>[^\s,!=()]+)"
    r"|(?P<key>[^\s,!=()]+)\s*(?:(?P<op>==|=|!=)\s*(?P<value>[-\w.]*)"
    r"|(?P<set>in|notin)\s*\((?P<values>[^)]*)\))?)\s*(?:,|$)"
)
LABEL_KEY = re.compile(
    r"([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?/)?[a-zA-Z0-9]([-a-zA-Z0-9_.]{0,61}[a-zA-Z0-9])?"
)

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
        tests.append(requirement(match))
        position = match.end()

    def selected(body: dict[str, Any]) -> bool:
        have = (body.get("metadata") or {}).get("labels") or {}
        return all(test(have) for test in tests)

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
        if field not in ("metadata.name", "metadata.namespace", *FIELDS.get(kind.resource, ())):
            raise BadRequest(f"field label not supported: {field}")
        tests.append((field, op != "!=", value))

    def selected(body: dict[str, Any]) -> bool:
        return all((str(at(body, field)) == value) == equal for field, equal, value in tests)

    return selected


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
