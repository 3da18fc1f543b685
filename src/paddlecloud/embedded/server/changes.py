"""Which fields differ between two states of an object; pure.

`compared` gives two sets: what has a new value or is new, and what is gone. A thing that is new counts
with everything around it that is new; a list whose items are told apart counts item by item.
"""

from __future__ import annotations

from typing import Any

from .fields import ABSENT, NONE, Fields
from .shapes import DEDUCED, Shape

Pair = tuple[Fields | None, Fields | None]
SAME: Pair = (None, None)
NESTED = (dict, list)


def compared(old: Any, new: Any, shape: Shape) -> tuple[Fields, Fields]:
    """The fields changed or added, and the fields removed; raises `Unkeyed` for a list that has no order."""
    changed, removed = between(old, new, shape)
    return changed or NONE, removed or NONE


def between(old: Any, new: Any, shape: Shape) -> Pair:
    if old is ABSENT:
        return whole(new, shape), None
    if new is ABSENT:
        return None, whole(old, shape)
    if old == new:
        return SAME
    first, second = handler(old, shape), handler(new, shape)
    result = handled(first, old, new, shape)
    if first == second:
        return result
    other = handled(second, old, new, shape)
    return joined(result[0], other[0]), joined(result[1], other[1])


def handler(value: Any, shape: Shape) -> str:
    if isinstance(value, dict):
        if shape.map:
            return "map"
    elif isinstance(value, list):
        if shape.list:
            return "list"
    elif value is not None and shape.scalar:
        return "scalar"
    return "map" if shape.map else "scalar" if shape.scalar else "list"


def handled(how: str, old: Any, new: Any, shape: Shape) -> Pair:
    """Two unequal values, seen as maps, as lists, or as one value each."""
    if how == "map":
        before, after = (v if isinstance(v, dict) else NONE for v in (old, new))
        if not shape.atomic_map and (before or after):
            return maps(before, after, shape)
    elif how == "list":
        items, others = (v if isinstance(v, list) else [] for v in (old, new))
        if not shape.atomic_list and (items or others):
            return lists(items, others, shape)
    return NONE, None


def maps(old: dict[str, Any], new: dict[str, Any], shape: Shape) -> Pair:
    changed: Fields = {}
    removed: Fields = {}
    for key, value in new.items():
        before = old.get(key, ABSENT)
        if before is ABSENT:
            changed[f"f:{key}"] = whole(value, shape.field(key) or DEDUCED)
        elif before != value:
            more, less = between(before, value, shape.field(key) or DEDUCED)
            if more is not None:
                changed[f"f:{key}"] = more
            if less is not None:
                removed[f"f:{key}"] = less
    for key, value in old.items():
        if key not in new:
            removed[f"f:{key}"] = whole(value, shape.field(key) or DEDUCED)
    return changed or None, removed or None


def lists(old: list[Any], new: list[Any], shape: Shape) -> Pair:
    changed: Fields = {}
    removed: Fields = {}
    before, after = by_path(old, shape), by_path(new, shape)
    for path, values in after.items():
        others = before.get(path)
        if others is None or (len(others) > 1 >= len(values)):
            changed[path] = whole(values[0], shape.item) if len(values) == 1 else NONE
        elif len(values) > 1:
            # Items that cannot be told apart are one thing.
            if len(others) == 1:
                removed[path] = whole(others[0], shape.item)
                changed[path] = NONE
            elif others != values:
                changed[path] = NONE
        else:
            more, less = between(others[0], values[0], shape.item)
            if more is not None:
                changed[path] = more
            if less is not None:
                removed[path] = less
    for path, values in before.items():
        if path not in after:
            removed[path] = whole(values[0], shape.item) if len(values) == 1 else NONE
        elif len(values) > 1 >= len(after[path]):
            removed[path] = NONE
    return changed or None, removed or None


def by_path(items: list[Any], shape: Shape) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(shape.item_path(item), []).append(item)
    return found


def whole(value: Any, shape: Shape) -> Fields:
    """Everything in a value that is there on one side only, with the value itself."""
    if isinstance(value, dict):
        if value and shape.map and not shape.atomic_map:
            result: Fields = {".": {}}
            for key, inner in value.items():
                result[f"f:{key}"] = (
                    whole(inner, shape.field(key) or DEDUCED) if isinstance(inner, NESTED) else NONE
                )
            return result
    elif isinstance(value, list) and value and shape.list and not shape.atomic_list:
        result = {".": {}}
        for path, items in by_path(value, shape).items():
            result[path] = whole(items[0], shape.item) if len(items) == 1 else NONE
        return result
    return NONE


def joined(left: Fields | None, right: Fields | None) -> Fields | None:
    """Two nodes of one path, each of which may be nothing, the field itself, or its parts."""
    if left is None or right is None:
        return right if left is None else left
    if not left or not right:
        rest = left or right
        return {".": {}, **rest} if rest else NONE
    return {**left, **right}
