"""Structural schemas of custom kinds: prune, default, validate; pure.

The sentences are Kubernetes' own, because clients and people compare them.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any, NamedTuple

from . import gotext
from .formats import fits_format

Schema = dict[str, Any]
KEEP = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
ROOT = ("apiVersion", "kind", "metadata")


class Violation(NamedTuple):
    field: str
    reason: str
    message: str


def prune(body: Any, schema: Schema, path: str = "") -> tuple[Any, list[str]]:
    """The body without the fields its schema does not know, and the paths of those fields."""
    if isinstance(body, dict):
        properties, rest = schema.get("properties") or {}, schema.get("additionalProperties")
        kept, unknown = {}, []
        for key, value in body.items():
            here = f"{path}.{key}" if path else key
            if key in ROOT and (not path or schema.get(EMBEDDED)):
                kept[key] = value
            elif key in properties:
                kept[key], more = prune(value, properties[key], here)
                unknown += more
            elif isinstance(rest, dict):
                kept[key], more = prune(value, rest, here)
                unknown += more
            elif schema.get(KEEP) or rest is True:
                kept[key] = value
            else:
                unknown.append(here)
        return kept, unknown
    if isinstance(body, list) and isinstance(schema.get("items"), dict):
        pairs = [prune(item, schema["items"], f"{path}[{i}]") for i, item in enumerate(body)]
        return [item for item, _ in pairs], [field for _, fields in pairs for field in fields]
    return body, []


def default(body: Any, schema: Schema) -> Any:
    """The body with the schema's defaults; a null counts as absent."""
    if isinstance(body, dict):
        result = {}
        properties, rest = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, value in body.items():
            inner = properties.get(key) or (rest if isinstance(rest, dict) else {})
            if value is None and not inner.get("nullable") and inner:
                continue
            result[key] = default(value, inner)
        for key, inner in properties.items():
            if key not in result and inner.get("default") is not None:
                result[key] = default(copy.deepcopy(inner["default"]), inner)
        return result
    if isinstance(body, list) and isinstance(schema.get("items"), dict):
        return [default(item, schema["items"]) for item in body]
    return body


def violations(body: Any, schema: Schema, path: str = "") -> list[Violation]:
    """Everything the schema forbids about the body."""
    if body is None and schema.get("nullable"):
        return []
    if wrong := wrong_type(body, schema, path):
        return [wrong]
    found = list(limits(body, schema, path))
    if isinstance(body, dict):
        if schema.get(EMBEDDED):
            found += embedded_identity(body, path)
        properties, rest = schema.get("properties") or {}, schema.get("additionalProperties")
        for name in schema.get("required") or ():
            if name not in body:
                found.append(Violation(inner_path(path, name), "FieldValueRequired", "Required value"))
        for key, value in body.items():
            inner = properties.get(key) or (rest if isinstance(rest, dict) else None)
            if inner and not (not path and key in ROOT):
                found += violations(value, inner, inner_path(path, key))
    elif isinstance(body, list) and isinstance(schema.get("items"), dict):
        for i, item in enumerate(body):
            found += violations(item, schema["items"], f"{path}[{i}]")
        found += duplicates(body, schema, path)
    return found + junctions(body, schema, path)


def embedded_identity(body: dict[str, Any], path: str) -> list[Violation]:
    """An object in an object says what it is."""
    return [
        Violation(inner_path(path, name), "FieldValueRequired", "Required value: must not be empty")
        for name in ("apiVersion", "kind")
        if not body.get(name)
    ]


def duplicates(items: list[Any], schema: Schema, path: str) -> list[Violation]:
    """Items of a set differ, items of a map differ in their keys."""
    kind = schema.get("x-kubernetes-list-type")
    if kind not in ("set", "map"):
        return []
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    found, seen = [], set()
    for i, item in enumerate(items):
        if kind == "map":
            item = {k: item[k] for k in keys if k in item} if isinstance(item, dict) else item
        text = json.dumps(item, sort_keys=True)
        if text in seen:
            message = f"Duplicate value: {gotext.shown(item)}"
            found.append(Violation(f"{path}[{i}]", "FieldValueDuplicate", message))
        seen.add(text)
    return found


def junctions(body: Any, schema: Schema, path: str) -> list[Violation]:
    """allOf, anyOf, oneOf and not; the schemas in them only restrict."""
    found: list[Violation] = []

    def no(message: str) -> None:
        reason = f'Invalid value: "": "{path}" {message}'
        found.append(Violation("<nil>", "FieldValueInvalid", reason))

    if options := schema.get("anyOf"):
        tried = [violations(body, option, path) for option in options]
        if all(tried):
            no("must validate at least one schema (anyOf)")
            found += tried[0]
    if options := schema.get("oneOf"):
        tried = [violations(body, option, path) for option in options]
        good = sum(not t for t in tried)
        if good != 1:
            word = "Found none valid" if not good else f"Found {good} valid alternatives"
            no(f"must validate one and only one schema (oneOf). {word}")
            found += tried[0] if not good else []
    if options := schema.get("allOf"):
        tried = [violations(body, option, path) for option in options]
        if any(tried):
            found += [v for t in tried for v in t]
            no("must validate all the schemas (allOf)" + (". None validated" if all(tried) else ""))
    if isinstance(schema.get("not"), dict) and not violations(body, schema["not"], path):
        no("must not validate the schema (not)")
    return found


def inner_path(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
JSON_NAMES = (
    (bool, "boolean"),
    (dict, "object"),
    (list, "array"),
    (str, "string"),
    (int, "integer"),
    (float, "number"),
)


def wrong_type(body: Any, schema: Schema, path: str) -> Violation | None:
    if schema.get("x-kubernetes-int-or-string"):
        fits = isinstance(body, int | str) and not isinstance(body, bool)
        wanted = "integer,string"
    else:
        wanted = schema.get("type", "")
        if wanted not in TYPES:
            return None  # a definition that names another type is refused for that
        fits = isinstance(body, TYPES[wanted]) and (wanted == "boolean" or not isinstance(body, bool))
        if wanted == "integer" and isinstance(body, float):
            fits = body.is_integer()
    if fits:
        return None
    name = next((n for t, n in JSON_NAMES if isinstance(body, t)), "null")
    shown = f'"{name}"'
    return Violation(
        path,
        "FieldValueTypeInvalid",
        f"Invalid value: {shown}: {path} in body must be of type {wanted}: {shown}",
    )


def limits(body: Any, schema: Schema, path: str) -> list[Violation]:
    found = []

    def no(message: str, shown: Any) -> None:
        text = quoted(shown)
        found.append(Violation(path, "FieldValueInvalid", f"Invalid value: {text}: {path} in body {message}"))

    if schema.get("enum") and body not in schema["enum"]:
        supported = ", ".join(quoted(v if isinstance(v, str) else quoted(v)) for v in schema["enum"])
        found.append(
            Violation(
                path,
                "FieldValueNotSupported",
                f"Unsupported value: {quoted(body)}: supported values: {supported}",
            )
        )
    if isinstance(body, int | float) and not isinstance(body, bool):
        low, high, step = schema.get("minimum"), schema.get("maximum"), schema.get("multipleOf")
        if low is not None and schema.get("exclusiveMinimum") and body <= low:
            no(f"should be greater than {low}", body)
        elif low is not None and body < low:
            no(f"should be greater than or equal to {low}", body)
        if high is not None and schema.get("exclusiveMaximum") and body >= high:
            no(f"should be less than {high}", body)
        elif high is not None and body > high:
            no(f"should be less than or equal to {high}", body)
        if step and body % step:
            no(f"should be a multiple of {step}", body)
    if isinstance(body, str):
        if len(body) < schema.get("minLength", 0):
            no(f"should be at least {schema['minLength']} chars long", body)
        if len(body) > schema.get("maxLength", len(body)):
            message = f"Too long: may not be more than {schema['maxLength']} bytes"
            found.append(Violation(path, "FieldValueTooLong", message))
        if "pattern" in schema and not re.search(schema["pattern"], body):
            no(f"should match '{schema['pattern']}'", body)
        if "format" in schema and not fits_format(body, schema["format"]):
            wrong = f"{path} in body must be of type {schema['format']}: {quoted(body)}"
            found.append(Violation(path, "FieldValueTypeInvalid", f"Invalid value: {quoted(body)}: {wrong}"))
    if isinstance(body, dict):
        if len(body) < schema.get("minProperties", 0):
            no(f"should have at least {schema['minProperties']} properties", len(body))
        if len(body) > schema.get("maxProperties", len(body)):
            message = f"Too many: {len(body)}: must have at most {schema['maxProperties']} items"
            found.append(Violation(path, "FieldValueTooMany", message))
    if isinstance(body, list):
        if len(body) < schema.get("minItems", 0):
            no(f"should have at least {schema['minItems']} items", len(body))
        if len(body) > schema.get("maxItems", len(body)):
            message = f"Too many: {len(body)}: must have at most {schema['maxItems']} items"
            found.append(Violation(path, "FieldValueTooMany", message))
    return found


def quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
