"""Every way to change one field of a spec, read off the schema of its kind; pure.

A field that is there goes up and down, becomes each other value it may have, and goes; one that is not comes.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from paddlecloud.api.crds import crd
from paddlecloud.api.meta import Resource

Body = dict[str, Any]
Path = tuple[str | int, ...]

OPAQUE = "x-kubernetes-preserve-unknown-fields"


class Edit(NamedTuple):
    field: str
    """`spec.worker.replicas`"""
    how: str
    spec: Body
    """The whole spec afterwards."""

    def __str__(self) -> str:
        return f"{self.field} {self.how}"


def fields(kind: type[Resource], base: Body) -> list[str]:
    """The fields of the spec that can be changed, without the parts of what is not there."""
    return list(dict.fromkeys(edit.field for edit in edits(kind, base, {})))


def edits(kind: type[Resource], base: Body, samples: Mapping[str, Any]) -> Iterator[Edit]:
    """Of a spec *base*; *samples*: values for fields whose schema does not tell what makes sense."""
    schema = crd(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for path, node in walk(schema, base, ()):
        field = ".".join(("spec", *map(str, path)))
        there, value = found(base, path)
        if not there:
            yield Edit(field, "added", changed(base, path, samples.get(field, sample(node))))
            continue
        for how, other in others(node, value):
            yield Edit(field, how, changed(base, path, other))
        yield Edit(field, "removed", removed(base, path))


def walk(schema: Body, value: Any, path: Path) -> Iterator[tuple[Path, Body]]:
    for name, node in schema.get("properties", {}).items():
        inner = value.get(name) if isinstance(value, dict) else None
        yield (*path, name), node
        # What has no schema of its own is one field.
        if isinstance(inner, dict) and not node.get(OPAQUE):
            yield from walk(node, inner, (*path, name))


def others(node: Body, value: Any) -> Iterator[tuple[str, Any]]:
    """What else the field could be."""
    if "enum" in node:
        yield from ((f"to {other}", other) for other in node["enum"] if other != value)
    elif isinstance(value, bool):
        yield "turned", not value
    elif isinstance(value, int | float):
        yield "up", value + 1
        yield "down", value - 1
    elif isinstance(value, str):
        yield "changed", f"{value}-changed"
    elif (node.get(OPAQUE) or "properties" not in node) and (other := with_another_text(value)) != value:
        yield "changed", other


def with_another_text(value: Any) -> Any:
    """The same with the first text in it changed: that is all one can do to what has no schema."""
    if isinstance(value, str):
        return f"{value}-changed"
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        if (other := with_another_text(inner)) != inner:
            return changed(value, (name,), other)
    return value


def sample(node: Body) -> Any:
    """A value of that schema, with everything in it that it may have."""
    if "enum" in node:
        return node["enum"][0]
    match node.get("type"):
        case "integer" | "number":
            return max(1, node.get("minimum", 1))
        case "boolean":
            return True
        case "string":
            return "x" * max(1, node.get("minLength", 1))
        case "array":
            return [sample(node.get("items", {}))]
    return {name: sample(inner) for name, inner in node.get("properties", {}).items()}


def found(base: Any, path: Path) -> tuple[bool, Any]:
    for name in path:
        if not isinstance(base, dict) or name not in base:
            return False, None
        base = base[name]
    return True, base


def changed(base: Any, path: Path, value: Any) -> Any:
    other = copy.deepcopy(base)
    place = other
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return other


def removed(base: Body, path: Path) -> Body:
    other = copy.deepcopy(base)
    place: Any = other
    for name in path[:-1]:
        place = place[name]
    del place[path[-1]]
    return other
