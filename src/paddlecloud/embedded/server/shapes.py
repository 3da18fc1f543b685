"""A type as ownership sees it: what is one value, what has parts, and how a part is named; compiled once.

A `Shape` answers in one attribute look-up what `Type` reads from the schema, because every write of every
object walks through it. Where a schema says nothing, maps have parts and lists are one value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from .typed import Type

SCALARS = {"integer": "numeric", "number": "numeric", "boolean": "boolean"}
MERGING = ("merge", "merge,retainKeys")


class Unkeyed(ValueError):
    """A list has an item that cannot be told from the others."""


class Shape:
    """What a value may be: a map, a list, a scalar, or any of them."""

    __slots__ = (
        "_fields",
        "_item",
        "_open",
        "_rest",
        "_type",
        "atomic_list",
        "atomic_map",
        "keys",
        "list",
        "map",
        "scalar",
    )

    def __init__(self, of: Type, *, below_open: bool = False) -> None:
        schema = of.schema
        name = schema.get("type") or ""
        self._type = of
        self._open = below_open or schema.get("x-kubernetes-preserve-unknown-fields") is True
        self._fields: dict[str, Shape] = {}
        self._rest: Shape | None = None
        self._item: Shape | None = None
        self.map = name in ("", "object")
        self.list = name in ("", "array")
        self.scalar = "" if name in ("object", "array") else SCALARS.get(name, "untyped")
        if name == "string" and schema.get("format") in (None, "", "byte"):
            self.scalar = "string"
        self.atomic_map = schema.get("x-kubernetes-map-type") == "atomic"
        associative, keys = relationship(schema)
        self.atomic_list = not associative
        # In the order of the names in a path; each with what an item that leaves it out means.
        self.keys = tuple((key, default_of(of, key)) for key in sorted(keys))

    def named(self, name: str) -> bool:
        """Whether the schema lists this field; the keys of a free map are not listed."""
        return name in (self._type.schema.get("properties") or ())

    def field(self, name: str) -> Shape | None:
        """The shape below a key of a map; None where the schema forbids the key."""
        known = self._fields.get(name)
        if known is not None:
            return known
        if not self.named(name):
            return self.rest
        inner = self._type.field(name)
        assert inner is not None
        made = self._fields[name] = Shape(inner, below_open=self._open)
        return made

    @property
    def rest(self) -> Shape | None:
        if self._rest is None:
            schema = self._type.schema
            given = schema.get("additionalProperties")
            if isinstance(given, Mapping):
                inner = self._type.value
                assert inner is not None
                self._rest = Shape(inner, below_open=self._open)
            elif given is True or (given is None and (self._open or not schema.get("properties"))):
                self._rest = DEDUCED
        return self._rest

    @property
    def item(self) -> Shape:
        if self._item is None:
            self._item = Shape(self._type.item, below_open=self._open)
        return self._item

    def item_path(self, item: Any) -> str:
        """The name of an item in a path: `k:{"name":"main"}` or `v:"value"`; raises `Unkeyed`."""
        if not self.keys:
            if item is None:
                raise Unkeyed("associative list without keys has an element that's an explicit null")
            if isinstance(item, (dict, list)):
                kind = "a map type" if isinstance(item, dict) else "a list type"
                raise Unkeyed(f"associative list without keys has an element that's {kind}")
            return f"v:{orjson.dumps(item).decode()}"
        if item is None:
            raise Unkeyed("associative list with keys may not have a null element")
        if not isinstance(item, dict):
            raise Unkeyed("associative list with keys may not have non-map elements")
        parts = {}
        for key, default in self.keys:
            value = item.get(key, default)
            if value is None and key not in item:
                raise Unkeyed(
                    f'associative list with keys has an element that omits key field "{key}" '
                    "(and doesn't have default value)"
                )
            parts[key] = value
        return f"k:{orjson.dumps(parts).decode()}"

    def add(self, name: str, shape: Shape) -> None:
        """Put another shape in place of a field's own."""
        self._fields[name] = shape


def relationship(schema: Mapping[str, Any]) -> tuple[bool, tuple[str, ...]]:
    """Whether the items of a list are told apart, and by which fields (none: by their value)."""
    match schema.get("x-kubernetes-list-type"):
        case "map":
            return True, tuple(schema.get("x-kubernetes-list-map-keys") or ())
        case "set":
            return True, ()
        case None if schema.get("x-kubernetes-patch-strategy") in MERGING:
            key = schema.get("x-kubernetes-patch-merge-key")
            return True, (key,) if key else ()
    return False, ()


def default_of(of: Type, key: str) -> Any:
    inner = of.item.field(key)
    return inner.default if inner is not None else None


DEDUCED = Shape(Type({}))
"""What a value without a schema is deduced to be."""
DEDUCED._rest = DEDUCED
