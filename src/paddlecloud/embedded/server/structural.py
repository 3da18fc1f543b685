"""Whether the schema of a custom kind is structural: the type of every field is said once, in one place.

Only of such a schema can a server know what to prune and where defaults go. `problems` is pure, reports
everything it finds, and speaks in Kubernetes' words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .complaints import forbidden, invalid, required, unsupported
from .listtypes import LIST_KEYS, LIST_TYPE, MAP_TYPE, Spot, lists, maps
from .schema import KEEP, Violation, prune, violations

Schema = dict[str, Any]
EMBEDDED, INT_OR_STRING = "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"
RULES = "x-kubernetes-validations"
TYPES = ("array", "boolean", "integer", "number", "object", "string")
UNSUPPORTED = ("$ref", "id", "patternProperties", "definitions", "dependencies")
JUNCTORS = ("allOf", "anyOf", "oneOf")
# Inside a junctor only values are restricted; what a field is has been said outside.
EMPTY_INSIDE = ("type", "title", "description", RULES)
UNDEFINED_INSIDE = ("default", "additionalProperties", LIST_TYPE, LIST_KEYS, MAP_TYPE)
FALSE_INSIDE = ("nullable", KEEP, EMBEDDED, INT_OR_STRING)
METADATA_FIELDS = ("name", "generateName")
# The two ways in which a field that may be either says so a second time.
EITHER = [{"type": "integer"}, {"type": "string"}]


def problems(schema: Schema, path: str) -> Iterator[Violation]:
    yield from values(schema, Spot(path, root=True))
    yield from types(schema, Spot(path, root=True))
    yield from metadata(schema, path)


def values(schema: Schema, spot: Spot) -> Iterator[Violation]:
    """What no schema of a custom kind may say, wherever it stands."""
    for word in UNSUPPORTED:
        if schema.get(word):
            yield forbidden(spot.at(word), f"{word} is not supported")
    if schema.get("uniqueItems"):
        reason = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(spot.at("uniqueItems"), reason)
    if schema.get("type") and schema["type"] not in TYPES:
        yield unsupported(spot.at("type"), str(schema["type"]), TYPES)
    if schema.get(KEEP) is False:
        yield invalid(spot.at(KEEP), False, "must be true or undefined")
    if problem := bad_pattern(schema.get("pattern")):
        yield invalid(
            spot.at("pattern"), schema["pattern"], f"must be a valid regular expression, but isn't: {problem}"
        )
    yield from lists(schema, spot)
    yield from maps(schema, spot)
    for name, inner in children(schema, spot):
        yield from values(inner, name)


def bad_pattern(pattern: Any) -> str:
    if pattern is None:
        return ""
    try:
        re.compile(str(pattern))
    except re.error as error:
        if "unterminated subpattern" in error.msg:
            return f"error parsing regexp: missing closing ): `{pattern}`"
        return f"error parsing regexp: {error.msg}: `{pattern}`"
    return ""


def children(schema: Schema, spot: Spot) -> Iterator[tuple[Spot, Schema]]:
    """The schemas below, those in junctors included."""
    for name, inner in (schema.get("properties") or {}).items():
        yield Spot(spot.at(f"properties[{name}]")), inner
    if isinstance(rest := schema.get("additionalProperties"), dict):
        yield Spot(spot.at("additionalProperties")), rest
    if isinstance(items := schema.get("items"), dict):
        yield Spot(spot.at("items"), item=True), items
    for word in JUNCTORS:
        for i, inner in enumerate(schema.get(word) or ()):
            yield Spot(spot.at(f"{word}[{i}]")), inner
    if isinstance(inner := schema.get("not"), dict):
        yield Spot(spot.at("not")), inner


def types(schema: Schema, spot: Spot) -> Iterator[Violation]:
    """Every field, item and value of a map says what it is."""
    yield from own_type(schema, spot)
    yield from embedded(schema, spot)
    yield from either(schema, spot)
    yield from default_fits(schema, spot)
    rest, properties = schema.get("additionalProperties"), schema.get("properties") or {}
    if rest is not None and rest is not False:
        where = spot.at("additionalProperties")
        if spot.root:
            yield forbidden(where, "must not be used at the root")
        elif properties:
            yield forbidden(where, "additionalProperties and properties are mutual exclusive")
        if isinstance(rest, dict):
            yield from types(rest, Spot(where, metadata=spot.metadata))
    for name, inner in properties.items():
        inside = spot.metadata or (spot.root and name == "metadata")
        yield from types(inner, Spot(spot.at(f"properties[{name}]"), metadata=inside))
    items = schema.get("items")
    if isinstance(items, list):
        yield forbidden(spot.at("items"), "items must be a schema object and not an array")
    elif isinstance(items, dict):
        yield from types(items, Spot(spot.at("items"), item=True, metadata=spot.metadata))
    elif schema.get("type") == "array":
        yield required(spot.at("items"), "must be specified")
    yield from junctors(schema, spot)


def own_type(schema: Schema, spot: Spot) -> Iterator[Violation]:
    given = schema.get("type") or ""
    if spot.root:
        if not given:
            yield required(spot.at("type"), "must not be empty at the root")
        elif given != "object":
            yield invalid(spot.at("type"), given, "must be object at the root")
    elif not given and not schema.get(INT_OR_STRING) and not schema.get(KEEP) and not schema.get(EMBEDDED):
        what = "array items" if spot.item else "object fields"
        yield required(spot.at("type"), f"must not be empty for specified {what}")


def embedded(schema: Schema, spot: Spot) -> Iterator[Violation]:
    if not schema.get(EMBEDDED):
        return
    if not schema.get(KEEP) and not schema.get("properties"):
        yield required(
            spot.at("properties"),
            "must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields",
        )
    given = schema.get("type") or ""
    message = "must be object if x-kubernetes-embedded-resource is true"
    if not given:
        yield required(spot.at("type"), message)
    elif given != "object":
        yield invalid(spot.at("type"), given, message)


def either(schema: Schema, spot: Spot) -> Iterator[Violation]:
    if schema.get(INT_OR_STRING):
        for word in (KEEP, EMBEDDED):
            if schema.get(word):
                yield invalid(spot.at(word), True, "must be false if x-kubernetes-int-or-string is true")


def default_fits(schema: Schema, spot: Spot) -> Iterator[Violation]:
    """A default must be a value that a client could have written."""
    default = schema.get("default")
    if default is None:
        return
    where = spot.at("default")
    if spot.metadata:
        yield forbidden(where, "must not be set in top-level metadata")
        return
    if prune(default, schema, "x")[1]:
        yield invalid(where, default, "must not have unknown fields")
    for found in violations(default, schema, ""):
        yield Violation(f"{where}.{found.field}" if found.field else where, found.reason, found.message)


def junctors(schema: Schema, spot: Spot) -> Iterator[Violation]:
    said = restates_either(schema)
    for word in JUNCTORS:
        for i, inner in enumerate(schema.get(word) or ()):
            if not (said and (word == "anyOf" or (word == "allOf" and i == 0))):
                yield from restricts_only(inner, Spot(spot.at(f"{word}[{i}]")))
    if isinstance(inner := schema.get("not"), dict):
        yield from restricts_only(inner, Spot(spot.at("not")))


def restates_either(schema: Schema) -> bool:
    if not schema.get(INT_OR_STRING):
        return False
    first = (schema.get("allOf") or [{}])[0]
    return schema.get("anyOf") == EITHER or first.get("anyOf") == EITHER


def restricts_only(schema: Schema, spot: Spot) -> Iterator[Violation]:
    for words, message in (
        (EMPTY_INSIDE, "must be empty to be structural"),
        (UNDEFINED_INSIDE, "must be undefined to be structural"),
        (FALSE_INSIDE, "must be false to be structural"),
    ):
        for word in words:
            if schema.get(word) not in (None, False, ""):
                yield forbidden(spot.at(word), message)
    inside = {k: v for k, v in schema.items() if k != "additionalProperties"}
    for inner_spot, inner in children(inside, spot):
        yield from restricts_only(inner, inner_spot)


def metadata(schema: Schema, path: str) -> Iterator[Violation]:
    """What the server knows by itself can only be narrowed."""
    properties = schema.get("properties") or {}
    for name in ("apiVersion", "kind"):
        given = (properties.get(name) or {}).get("type") or ""
        if given not in ("", "string"):
            yield invalid(f"{path}.properties[{name}].type", given, "must be string")
    own = properties.get("metadata")
    if own is None:
        return
    where = f"{path}.properties[metadata]"
    if own.get("type") not in (None, "", "object"):
        yield invalid(f"{where}.type", own["type"], "must be object")
    elif own.keys() - {"type", "description", "title", "properties"} or any(
        name not in METADATA_FIELDS for name in own.get("properties") or ()
    ):
        yield forbidden(
            where,
            "must not specify anything other than name and generateName, "
            "but metadata is implicitly specified",
        )
