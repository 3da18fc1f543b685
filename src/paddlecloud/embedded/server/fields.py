"""Sets of fields of an object, in the form `FieldsV1` has on the wire; pure, the arguments are never changed.

A set is a dictionary of paths: `f:name` a field, `k:{...}` an item by its keys, `v:...` an item by its
value. Below a path stands `{}` where the field itself is meant, and what is inside it otherwise, with `.`
beside it when the field is meant too. So a set is never parsed and never serialised: it is stored as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from .shapes import DEDUCED, Shape

Fields = dict[str, Any]
NONE: Fields = {}
MEMBER: Fields = {".": {}}
ABSENT: Any = object()


def union(left: Fields, right: Fields) -> Fields:
    if not left or not right:
        return left or right
    result = dict(left)
    for path, node in right.items():
        mine = result.get(path)
        if mine is None:
            result[path] = node
        elif mine is not node and (mine or node):
            result[path] = trimmed(union(mine or MEMBER, node or MEMBER))
    return result


def difference(left: Fields, right: Fields) -> Fields:
    """What is in the first set only; a field is not taken away with the field around it."""
    if not right:
        return left
    result = {}
    for path, node in left.items():
        other = right.get(path)
        if other is None:
            result[path] = node
        elif path != "." and (node or other):
            rest = difference(node or MEMBER, other or MEMBER)
            if rest:
                result[path] = trimmed(rest)
    return result


def intersection(left: Fields, right: Fields) -> Fields:
    result = {}
    for path, node in left.items():
        other = right.get(path)
        if other is None:
            continue
        if path == "." or not (node or other):
            result[path] = NONE
        else:
            common = intersection(node or MEMBER, other or MEMBER)
            if common:
                result[path] = trimmed(common)
    return result


def without(fields: Fields, excluded: Fields) -> Fields:
    """The set without the given fields and everything inside them."""
    result = {}
    for path, node in fields.items():
        other = excluded.get(path)
        if other is None:
            result[path] = node
        elif other and "." not in other:
            rest = without(node or MEMBER, other)
            if rest:
                result[path] = trimmed(rest)
    return result


def trimmed(node: Fields) -> Fields:
    return NONE if len(node) == 1 and "." in node else node


def with_names(fields: Fields, shape: Shape | None) -> Fields:
    """The set with every listed field it reaches into, `a` for `a.b`; keys of free maps are not listed."""
    result = {}
    for path, node in fields.items():
        below = None
        if shape is not None and path[0] == "f" and shape.map:
            below = shape.field(path[2:])
        elif shape is not None and path[0] == "k" and shape.list:
            below = shape.item
        if node:
            node = with_names(node, below)
            if "." not in node and path[0] == "f" and shape is not None and shape.named(path[2:]):
                node = {".": {}, **node}
        result[path] = node
    return result


def of(value: Any, shape: Shape) -> Fields:
    """The fields an applied configuration speaks of; a field with parts stands for its parts alone."""
    return parts_of(value, shape) or NONE


def parts_of(value: Any, shape: Shape) -> Fields | None:
    """The set below a value: `{}` when the value itself is meant, None when it means nothing."""
    if isinstance(value, dict) and shape.map:
        if shape.atomic_map:
            return NONE
        result: Fields = {}
        for key, inner in value.items():
            node = parts_of(inner, shape.field(key) or DEDUCED)
            if inner is None or inner == {}:
                node = NONE
            elif not shape.named(key):
                node = {**node, ".": {}} if node else NONE
            if node is not None:
                result[f"f:{key}"] = node
        return result or None
    if isinstance(value, list) and shape.list:
        if shape.atomic_list:
            return NONE
        result = {}
        for item in value:
            path = shape.item_path(item)
            node = parts_of(item, shape.item) if path not in result else None
            result[path] = {".": {}, **node} if node else NONE
        return result or None
    if value is None and not shape.scalar:
        return NONE if (shape.atomic_map if shape.map else shape.atomic_list) else None
    return NONE


def paths(fields: Fields, before: str = "") -> Iterator[str]:
    """Every field of the set as people write it: `.spec.containers[name="main"].image`."""
    ordered = sorted(path for path in fields if path != ".")
    for path in ordered:
        if not fields[path] or "." in fields[path]:
            yield before + shown(path)
    for path in ordered:
        if fields[path]:
            yield from paths(fields[path], before + shown(path))


def shown(path: str) -> str:
    match path[0]:
        case "f":
            return f".{path[2:]}"
        case "k":
            keys = orjson.loads(path[2:])
            return "[" + ",".join(f"{k}={orjson.dumps(v).decode()}" for k, v in keys.items()) + "]"
        case "v":
            return f"[={path[2:]}]"
    return f"[{path[2:]}]"
