"""What the schema of a custom kind may say of its lists and maps: atomic, set, map, granular; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import gotext
from .complaints import forbidden, invalid, required, unsupported
from .schema import Violation

Schema = dict[str, Any]
LIST_TYPE, LIST_KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"
MAP_TYPE = "x-kubernetes-map-type"
SCALARS = ("boolean", "integer", "number", "string")


@dataclass(frozen=True)
class Spot:
    """A schema inside the schema."""

    path: str
    root: bool = False
    item: bool = False
    """The schema of the items of a list, not of a field."""
    metadata: bool = False
    """Inside the metadata of the object, which the server itself describes."""

    def at(self, name: str) -> str:
        return f"{self.path}.{name}"


def lists(schema: Schema, spot: Spot) -> Iterator[Violation]:
    kind, keys = schema.get(LIST_TYPE), schema.get(LIST_KEYS) or []
    items = schema.get("items")
    items = items if isinstance(items, dict) else {}
    if kind is not None:
        if kind not in ("atomic", "set", "map"):
            yield unsupported(spot.at(LIST_TYPE), str(kind), ("atomic", "set", "map"))
        yield from wants_type(schema, spot, "array", LIST_TYPE)
    if keys and kind != "map":
        message = "must be map if x-kubernetes-list-map-keys is non-empty"
        yield (
            required(spot.at(LIST_TYPE), message)
            if kind is None
            else invalid(spot.at(LIST_TYPE), kind, message)
        )
    if kind == "map":
        yield from keyed(items, keys, spot)
    if kind == "set" and items:
        yield from set_items(items, spot)


def wants_type(schema: Schema, spot: Spot, wanted: str, word: str) -> Iterator[Violation]:
    given = schema.get("type") or ""
    if given == wanted:
        return
    message = f"must be {wanted} if {word} is specified"
    yield required(spot.at("type"), message) if not given else invalid(spot.at("type"), given, message)


def keyed(items: Schema, keys: list[str], spot: Spot) -> Iterator[Violation]:
    """A list of items that are found by the values of their keys."""
    if not keys:
        yield required(spot.at(LIST_KEYS), "must not be empty if x-kubernetes-list-type is map")
        return
    if items.get("type") != "object":
        message = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(spot.at("items.type"), items.get("type") or "", message)
        return
    properties = items.get("properties") or {}
    if any(key not in properties for key in keys):
        reason = f"Invalid value: {gotext.texts(keys)}: entries must all be names of item properties"
        yield Violation(spot.at(LIST_KEYS), "FieldValueInvalid", reason)
        return
    for key in keys:
        inner, where = properties[key], spot.at(f"items.properties[{key}]")
        if inner.get("type") not in SCALARS:
            message = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield invalid(f"{where}.type", inner.get("type") or "", message)
        elif key not in (items.get("required") or ()) and inner.get("default") is None:
            yield required(
                f"{where}.default",
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required "
                "property",
            )
        if inner.get("nullable"):
            yield forbidden(f"{where}.nullable", "cannot be nullable when x-kubernetes-list-type is map")


def set_items(items: Schema, spot: Spot) -> Iterator[Violation]:
    where = spot.at("items")
    if items.get("nullable"):
        yield forbidden(f"{where}.nullable", "cannot be nullable when x-kubernetes-list-type is set")
    if items.get("type") == "object" and items.get(MAP_TYPE) != "atomic":
        given = items.get(MAP_TYPE) or "null"
        message = "must be atomic as item of a list with x-kubernetes-list-type=set"
        yield invalid(f"{where}.{MAP_TYPE}", given, message)
    if items.get("type") == "array" and items.get(LIST_TYPE) not in (None, "atomic"):
        message = "must be atomic as item of a list with x-kubernetes-list-type=set"
        yield invalid(f"{where}.{LIST_TYPE}", items[LIST_TYPE], message)


def maps(schema: Schema, spot: Spot) -> Iterator[Violation]:
    kind = schema.get(MAP_TYPE)
    if kind is None:
        return
    if kind not in ("atomic", "granular"):
        yield unsupported(spot.at(MAP_TYPE), str(kind), ("atomic", "granular"))
    yield from wants_type(schema, spot, "object", MAP_TYPE)
