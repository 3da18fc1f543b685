"""Structural schemas of custom kinds: prune, default, validate; pure.

The sentences are Kubernetes' own, because clients and people compare them.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any, NamedTuple

Schema = dict[str, Any]
KEEP = "x-kubernetes-preserve-unknown-fields"
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
            if not path and key in ROOT:
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
            if key not in result and "default" in inner:
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
        if not wanted:
            return None
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

    if "enum" in schema and body not in schema["enum"]:
        supported = ", ".join(quoted(v) for v in schema["enum"])
        found.append(
            Violation(
                path,
                "FieldValueNotSupported",
                f"Unsupported value: {quoted(body)}: supported values: {supported}",
            )
        )
    if isinstance(body, int | float) and not isinstance(body, bool):
        if "minimum" in schema and body < schema["minimum"]:
            no(f"should be greater than or equal to {schema['minimum']}", body)
        if "maximum" in schema and body > schema["maximum"]:
            no(f"should be less than or equal to {schema['maximum']}", body)
    if isinstance(body, str):
        if len(body) < schema.get("minLength", 0):
            no(f"should be at least {schema['minLength']} chars long", body)
        if len(body) > schema.get("maxLength", len(body)):
            message = f"Too long: may not be more than {schema['maxLength']} bytes"
            found.append(Violation(path, "FieldValueTooLong", message))
        if "pattern" in schema and not re.search(schema["pattern"], body):
            no(f"should match '{schema['pattern']}'", body)
    if isinstance(body, list):
        if len(body) < schema.get("minItems", 0):
            no(f"should have at least {schema['minItems']} items", len(body))
        if len(body) > schema.get("maxItems", len(body)):
            message = f"Too many: {len(body)}: must have at most {schema['maxItems']} items"
            found.append(Violation(path, "FieldValueTooMany", message))
    return found


def quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
