"""Laying an applied configuration over an object, and taking fields away again; pure.

What the configuration says wins, what it does not mention stays. Lists whose items are told apart are
merged item by item, in the order of the configuration, with the other items where they were.
"""

from __future__ import annotations

from typing import Any

from .fields import Fields, shown
from .shapes import DEDUCED, Shape, Unkeyed


def laid_over(old: Any, new: Any, shape: Shape) -> Any:
    if isinstance(old, dict) and isinstance(new, dict) and shape.map and not shape.atomic_map:
        result = dict(old)
        for key, value in new.items():
            if key in old:
                result[key] = laid_over(old[key], value, shape.field(key) or DEDUCED)
            else:
                result[key] = value
        return result
    if isinstance(old, list) and isinstance(new, list) and shape.list and not shape.atomic_list:
        return laid_in(old, new, shape)
    return new


def laid_in(old: list[Any], new: list[Any], shape: Shape) -> list[Any]:
    """Both lists in one; the relative order of either is kept where the two do not disagree."""
    ours = [(shape.item_path(item), item) for item in new]
    theirs = [(shape.item_path(item), item) for item in old]
    wanted, present = dict(ours), dict(theirs)
    shared = [path for path, _ in ours if path in present]
    done: set[str] = set()
    result: list[Any] = []

    def take(path: str) -> None:
        done.add(path)
        item = wanted[path]
        result.append(laid_over(present[path], item, shape.item) if path in present else item)
        if shared and shared[0] == path:
            del shared[0]

    left = right = 0
    while left < len(theirs) or right < len(ours):
        if left < len(theirs):
            path, item = theirs[left]
            if path not in wanted:
                result.append(item)
                left += 1
                continue
            if path in done or (shared and shared[0] != path):
                # Its place is elsewhere in the configuration.
                left += 1
                continue
            if right < len(ours) and ours[right][0] == path:
                take(path)
                left, right = left + 1, right + 1
                continue
        if right < len(ours):
            take(ours[right][0])
            right += 1
    return result


def taken_away(value: Any, fields: Fields, shape: Shape, *, nulls: bool = True) -> Any:
    """The value without these fields; what has lost all its parts is null, or goes too.

    As null it is still there: whoever owns the map keeps it when its last part is somebody else's to remove.
    """
    if isinstance(value, dict):
        if not value or shape.atomic_map or not shape.map:
            return None
        kept = {}
        for key, inner in value.items():
            node = fields.get(f"f:{key}")
            if node is None:
                kept[key] = inner
            elif node and "." not in node:
                rest = taken_away(inner, node, shape.field(key) or DEDUCED, nulls=nulls)
                if nulls or rest is not None:
                    kept[key] = rest
        return kept or None
    if isinstance(value, list):
        if not value or shape.atomic_list or not shape.list:
            return None
        items = []
        for item in value:
            node = fields.get(shape.item_path(item))
            if node is None:
                items.append(item)
            elif node and "." not in node:
                items.append(taken_away(item, node, shape.item, nulls=nulls))
        return items or None
    return value


def problems(value: Any, shape: Shape, path: str = "") -> list[str]:
    """Why a configuration cannot be applied: unknown fields, items that cannot be told apart, wrong types."""
    if isinstance(value, dict):
        if not shape.map:
            return [f"{path}: expected {wanted_of(shape)}, got &{{{go(value)}}}"]
        found = []
        for key, inner in value.items():
            below = shape.field(key)
            if below is None:
                found.append(f"{path}.{key}: field not declared in schema")
            elif inner is not None:
                found += problems(inner, below, f"{path}.{key}")
        return found
    if isinstance(value, list):
        if not shape.list:
            return [f"{path}: expected {wanted_of(shape)}, got &{{{go(value)}}}"]
        return list_problems(value, shape, path)
    if not shape.scalar:
        return [f"{path}: expected {wanted_of(shape)}, got &{{{go(value)}}}"]
    if not fits(value, shape.scalar):
        return [f"{path}: {misfit(value, shape.scalar)}"]
    return []


def list_problems(value: list[Any], shape: Shape, path: str) -> list[str]:
    found: list[str] = []
    seen: set[str] = set()
    for i, item in enumerate(value):
        here = f"[{i}]"
        if not shape.atomic_list:
            try:
                name = shape.item_path(item)
            except Unkeyed as error:
                return [*found, f"{path}: element {i}: {error}"]
            here = shown(name)
            if name in seen:
                found.append(f"{path}: duplicate entries for key {here}")
            seen.add(name)
        if item is not None:
            found += problems(item, shape.item, f"{path}{here}")
    return found


def wanted_of(shape: Shape) -> str:
    return "map" if shape.map else "list" if shape.list else "any scalar"


def fits(value: Any, scalar: str) -> bool:
    if scalar == "numeric":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if scalar == "string":
        return isinstance(value, str)
    return scalar != "boolean" or isinstance(value, bool)


def misfit(value: Any, scalar: str) -> str:
    if scalar == "numeric":
        name = {str: "string", bool: "bool"}.get(type(value), "interface {}")
        return f"expected numeric (int or float), got {name}"
    return f"expected {scalar}, got &value.valueUnstructured{{Value:{go(value)}}}"


def go(value: Any) -> str:
    """A value as Go prints it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case dict():
            return "map[" + " ".join(f"{k}:{go(value[k])}" for k in sorted(value)) + "]"
        case list():
            return "[" + " ".join(go(item) for item in value) + "]"
    return str(value)
