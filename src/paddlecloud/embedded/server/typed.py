"""A schema as merging sees it: fields, items, keys of lists, what is replaced as a whole; pure.

One view for both worlds: the OpenAPI schemas of built-in kinds (with `$ref` into a book of definitions)
and the structural schemas of custom kinds (without).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

Schema = Mapping[str, Any]
NO_DEFINITIONS: Mapping[str, Schema] = {}
PREFIX = "#/components/schemas/"


class Type:
    """The type of a value in an object."""

    def __init__(self, schema: Schema, definitions: Mapping[str, Schema] = NO_DEFINITIONS) -> None:
        self.schema = resolved(schema, definitions)
        self._definitions = definitions

    @property
    def name(self) -> str:
        """object, array, string, integer, number, boolean, or empty where anything goes."""
        return str(self.schema.get("type") or ("object" if "properties" in self.schema else ""))

    def field(self, name: str) -> Type | None:
        """The type of a field; None when the schema does not know it."""
        if known := self._fields.get(name):
            return known
        if name in self._properties:
            self._fields[name] = Type(self._properties[name], self._definitions)
            return self._fields[name]
        return self.value

    @cached_property
    def _properties(self) -> Mapping[str, Schema]:
        return self.schema.get("properties") or {}

    @cached_property
    def _fields(self) -> dict[str, Type]:
        return {}

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(self._properties)

    @cached_property
    def value(self) -> Type | None:
        """The type of the values of a free map (labels, data); None where it is no such map."""
        rest = self.schema.get("additionalProperties")
        return Type(rest, self._definitions) if isinstance(rest, Mapping) else None

    @cached_property
    def item(self) -> Type:
        """The type of the items of a list."""
        return Type(self.schema.get("items") or {}, self._definitions)

    @property
    def open(self) -> bool:
        """Fields that the schema does not know are kept."""
        return bool(
            self.schema.get("x-kubernetes-preserve-unknown-fields")
            or self.schema.get("additionalProperties") is True
            or self.schema.get("x-kubernetes-embedded-resource")
            or not (self.name or self._properties)
        )

    @property
    def list_type(self) -> str:
        """atomic (replaced as a whole), set (items are values) or map (items have keys)."""
        return str(self.schema.get("x-kubernetes-list-type") or "atomic")

    @property
    def keys(self) -> tuple[str, ...]:
        """The fields that identify an item of a `map` list."""
        return tuple(self.schema.get("x-kubernetes-list-map-keys") or ())

    @property
    def atomic(self) -> bool:
        """A map that is owned and replaced as a whole."""
        return self.schema.get("x-kubernetes-map-type") == "atomic"

    @property
    def merge_key(self) -> str:
        """The field by which a strategic patch finds an item; empty: the list has none."""
        return str(self.schema.get("x-kubernetes-patch-merge-key") or "")

    @property
    def strategies(self) -> tuple[str, ...]:
        """merge, replace, retainKeys: how a strategic patch treats this field."""
        return tuple(s for s in str(self.schema.get("x-kubernetes-patch-strategy") or "").split(",") if s)

    @property
    def default(self) -> Any:
        return self.schema.get("default")


def resolved(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """Follow references; what stands beside one (a default, a merge key) is kept."""
    while True:
        parts = [schema, *(schema.get("allOf") or ())]
        reference = next((p["$ref"] for p in parts if "$ref" in p), "")
        if not reference:
            return schema
        own = {k: v for k, v in schema.items() if k not in ("$ref", "allOf")}
        schema = {**definitions.get(str(reference).removeprefix(PREFIX), {}), **own}
