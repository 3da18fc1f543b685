"""How large the values of a schema can get: the sizes from which the cost of a rule is estimated; pure.

Where a schema sets no limit, the largest request does: so many items of at least this size fit into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .types import INT_OR_STRING, SIMPLE, escaped, fields_of

Schema = dict[str, Any]
REQUEST = 3 * 1024 * 1024
SMALLEST = {"boolean": 4, "integer": 1, "number": 1}
# The shortest and the longest text of a format, quotation marks included.
FORMATS = {"duration": (3, 32), "date": (12, 12), "date-time": (21, 32)}


@dataclass(frozen=True)
class Size:
    """How many parts a value can have, and how few bytes it takes."""

    most: int
    least_bytes: int
    fields: dict[str, Size] = field(default_factory=dict)
    item: Size | None = None
    is_map: bool = False

    def at(self, path: Sequence[str]) -> Size | None:
        found: Size | None = self
        for name in path:
            if found is None:
                return None
            if name in ("@items", "@values"):
                found = found.item
            elif name == "@keys":
                found = KEY if found.is_map else None
            else:
                found = found.fields.get(name)
        return found

    @property
    def repeated(self) -> int:
        """How often such a value can be in one request."""
        return REQUEST // (self.least_bytes + 1)


KEY = Size(0, 2)


def size_of(schema: Schema, *, root: bool = False) -> Size | None:
    """None where the schema does not say what the value is."""
    if schema.get(INT_OR_STRING):
        return Size(REQUEST - 2, 1)
    kind, items, rest = schema.get("type"), schema.get("items"), schema.get("additionalProperties")
    if kind == "array":
        inner = size_of(items) if isinstance(items, dict) else None
        return inner and Size(limit(schema, "maxItems", inner.least_bytes + 1), 2, item=inner)
    if kind == "object" and isinstance(rest, dict):
        inner = size_of(rest)
        most = inner and limit(schema, "maxProperties", inner.least_bytes + 6)
        return inner and Size(most or 0, 2, item=inner, is_map=True)
    if kind == "object":
        return object_size(schema, root=root)
    if kind == "string":
        return text_size(schema)
    return Size(0, SMALLEST[kind]) if kind in SIMPLE else None


def limit(schema: Schema, name: str, each: int) -> int:
    given = schema.get(name)
    return max(int(given), 0) if given is not None else (REQUEST - 2) // each


def object_size(schema: Schema, *, root: bool) -> Size:
    least, fields = 2, {}
    required = schema.get("required") or ()
    for name, inner in fields_of(schema, root=root).items():
        found = size_of(inner)
        if found is None:
            continue
        if identifier := escaped(name):
            fields[identifier] = found
        if name in required and inner.get("default") is None:
            least += len(name.encode()) + found.least_bytes + 4
    return Size(0, least, fields)


def text_size(schema: Schema) -> Size:
    form, given = schema.get("format"), schema.get("maxLength")
    if form in FORMATS:
        least, most = FORMATS[form]
        return Size(most, least)
    if given is not None:
        # A character of text takes four bytes at most; bytes are counted as they are.
        return Size(max(int(given), 0) * (1 if form == "byte" else 4), 2)
    choices = [len(c.encode()) for c in schema.get("enum") or () if isinstance(c, str)]
    return Size(max(choices) if choices and form != "byte" else REQUEST - 2, 2)
