"""What ownership has to know of a kind: its shape, what a new object starts from, who may not own what.

An outline is made once for each schema; a definition that changes brings a new schema and a new outline.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import facts
from .casting import cast
from .fields import NONE, Fields
from .kinds import Kind
from .shapes import Shape
from .typed import Type

OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
TEXT = {"type": "string"}
# What a write through the object's own path, or through its status, leaves as it was.
STATUS_ONLY: dict[str, Fields] = {
    "/pods": {"f:spec": {}, "f:metadata": {"f:deletionTimestamp": {}, "f:ownerReferences": {}}},
    "apps/deployments": {"f:spec": {}, "f:metadata": {"f:labels": {}}},
}
ALL_BUT_STATUS: Fields = {"f:spec": {}}
NO_STATUS: Fields = {"f:status": {}}


class Outline(NamedTuple):
    shape: Shape
    blank: dict[str, Any]
    """An object of the kind of which nothing has been said: the parts that are there all the same."""
    kind: str
    schema: Any

    def ignored(self, kind: Kind, subresource: str) -> Fields:
        """The fields a write through this path cannot change, so nobody owns them by it."""
        if subresource == "status":
            return STATUS_ONLY.get(kind.resource, ALL_BUT_STATUS)
        return NO_STATUS if kind.has_status else NONE


KNOWN: dict[tuple[str, str], Outline] = {}


def outline_of(kind: Kind) -> Outline:
    place = (kind.resource, kind.version)
    known = KNOWN.get(place)
    if known is None or known.schema is not kind.schema:
        known = KNOWN[place] = custom(kind) if kind.custom else built_in(kind)
    return known


def built_in(kind: Kind) -> Outline:
    blank, _ = cast(kind, {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {}})
    return Outline(Shape(facts.type_of(kind)), blank, kind.kind, kind.schema)


def custom(kind: Kind) -> Outline:
    shape = Shape(Type(kind.schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}))
    definitions = facts.definitions()
    for name in ("apiVersion", "kind"):
        shape.add(name, Shape(Type(TEXT)))
    shape.add("metadata", Shape(Type(definitions[OBJECT_META], definitions)))
    return Outline(shape, {}, kind.kind, kind.schema)
