"""Strategic merge patch: a merge patch that knows lists, because it knows the schema; pure.

Items are found by their merge key, and directives (`$patch`, `$setElementOrder/…`, …) say what a plain merge
cannot. The arguments are never changed; the result shares with them what it did not have to change.
"""

from __future__ import annotations

from typing import Any

from ...errors import ApiError, BadRequest, Invalid, ServerError
from .merging import go
from .typed import Type

Body = dict[str, Any]
PATCH, RETAIN = "$patch", "$retainKeys"
ORDER, FORGET = "$setElementOrder/", "$deleteFromPrimitiveList/"
UNKNOWN = Type({})


def strategic_merge(old: Body, patch: Body, of: Type) -> Body:
    """The object after the patch; raises `BadRequest`, `Invalid` or `ServerError` as the directives fail."""
    if PATCH in patch:
        return directed(patch)
    result = retained(old, patch)
    handled = {RETAIN}
    for key in patch:
        if key.startswith(ORDER):
            name = key.removeprefix(ORDER)
            handled |= {key, name}
            reorder(result, patch, name, of)
    for key, value in patch.items():
        if key in handled:
            continue
        if key.startswith(FORGET):
            forget(result, key.removeprefix(FORGET), value)
        elif value is None:
            result.pop(key, None)
        else:
            merge_field(result, key, value, of)
    return result


def merge_field(result: Body, key: str, value: Any, of: Type) -> None:
    before = result.get(key)
    inner = of.field(key) or UNKNOWN
    if isinstance(before, dict) and isinstance(value, dict):
        replaced = "replace" in inner.strategies
        result[key] = value if replaced else strategic_merge(before, value, inner)
    elif isinstance(before, list) and isinstance(value, list):
        result[key] = merge_list(before, value, inner) if "merge" in inner.strategies else value
    elif isinstance(value, dict) and PATCH in value:
        result.pop(key, None)
    else:
        result[key] = plain(without_nulls(value))


def directed(patch: Body) -> Body:
    match patch[PATCH]:
        case "replace":
            return {k: v for k, v in patch.items() if k != PATCH}
        case "delete":
            return {}
    raise ServerError(f"unknown patch type: {go(patch[PATCH])} in map: {go(patch)}")


def retained(old: Body, patch: Body) -> Body:
    """The fields that stay when the patch lists all there may be."""
    if RETAIN not in patch:
        return dict(old)
    keys = patch[RETAIN]
    if not isinstance(keys, list):
        raise BadRequest("invalid patch format of retainKeys")
    for key, value in patch.items():
        free = value is None or key == RETAIN or key.startswith((ORDER, FORGET))
        if not free and key not in keys:
            raise BadRequest("invalid patch format of retainKeys")
    return {k: v for k, v in old.items() if k in keys}


def forget(result: Body, name: str, values: Any) -> None:
    """Take values out of a list of scalars; a list that is not there has lost them already."""
    before = result.get(name)
    if isinstance(before, list) and isinstance(values, list):
        result[name] = [v for v in before if v not in values]


def reorder(result: Body, patch: Body, name: str, of: Type) -> None:
    """Merge a list and bring it into the order the patch wants, others between them as they were."""
    order, inner = patch[ORDER + name], of.field(name) or UNKNOWN
    before, given = result.get(name), patch.get(name)
    for value in (order, before, given):
        if value is not None and not isinstance(value, list):
            raise wrong_type("[]interface {}", value)
    if before is None and given is None:
        return
    check_order(given or [], order, inner.merge_key)
    if given is None:
        merged = before or []
    elif before is None:
        merged = plain(given)
    else:
        merged = merge_list(before, given, inner) if "merge" in inner.strategies else given
    result[name] = interleaved(merged, order, before or [], inner.merge_key)


def check_order(given: list[Any], order: list[Any], key: str) -> None:
    """Every item of the patch is in the wanted order, and in that order."""
    if not order:
        return
    wanted = [item for item in given if not (isinstance(item, dict) and PATCH in item)]
    rest = iter(order)
    for item in wanted:
        if not any(same(item, other, key) for other in rest):
            raise ServerError(
                f"The order in patch list:\n{go(given)}\n doesn't match $setElementOrder list:\n{go(order)}\n"
            )


def same(left: Any, right: Any, key: str) -> bool:
    if not key:
        return bool(left == right)
    for item in (left, right):
        if not isinstance(item, dict):
            raise wrong_type("map[string]interface {}", item)
        if key not in item:
            raise no_merge_key(item, key)
    return bool(left[key] == right[key])


def merge_list(before: list[Any], patch: list[Any], of: Type) -> list[Any]:
    if not before and not patch:
        return before
    if any(isinstance(item, list) for item in (*before, *patch)):
        raise Invalid("lists of lists are not supported")
    if not isinstance((before or patch)[0], dict):
        both = list(dict.fromkeys([*before, *patch]))
        return interleaved(both, patch, before, "")
    key = of.merge_key
    if not key:
        raise ServerError(f"cannot merge lists without merge key for {of.name}")
    current, changes, replaced = special(before, patch, key)
    if replaced:
        return changes
    merged = list(current)
    for item in changes:
        if key not in item:
            raise no_merge_key(item, key)
        at = position(merged, item, key)
        if at < 0:
            merged.append(plain(item))
        else:
            merged[at] = strategic_merge(merged[at], item, of.item)
    return interleaved(merged, changes, current, key)


def special(before: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any], bool]:
    """Carry out the items that are directives: what is left, what to merge, whether that is all there is."""
    changes, replaced = [], False
    for item in patch:
        match item.get(PATCH) if isinstance(item, dict) else None:
            case None:
                changes.append(item)
            case "delete":
                if key not in item:
                    raise no_merge_key(item, key)
                before = [b for b in before if not (isinstance(b, dict) and b.get(key) == item[key])]
            case "replace":
                replaced = True
            case "merge":
                raise ServerError("merging lists cannot yet be specified in the patch")
            case other:
                raise ServerError(f"unknown patch type: {go(other)} in map: {go(item)}")
    return before, changes, replaced


def interleaved(merged: list[Any], order: list[Any], live: list[Any], key: str) -> list[Any]:
    """The items the patch names in its order; the others before those they stood before."""
    if key:
        for item in merged:
            if key not in item:
                raise no_merge_key(item, key)
    named = sorted((i for i in merged if position(order, i, key) >= 0), key=lambda i: position(order, i, key))
    others = [i for i in merged if position(order, i, key) < 0]
    others.sort(key=lambda i: position(live, i, key))
    result = []
    for item in others:
        here = position(live, item, key)
        while named and not 0 <= here < position(live, named[0], key):
            result.append(named.pop(0))
        result.append(item)
    return result + named


def position(items: list[Any], item: Any, key: str) -> int:
    for i, other in enumerate(items):
        if (other.get(key) == item.get(key)) if key and isinstance(other, dict) else other == item:
            return i
    return -1


def plain(value: Any) -> Any:
    """A new value without the directives in it."""
    if isinstance(value, dict):
        inside = ((k, v) for k, v in value.items() if not (isinstance(v, dict) and PATCH in v))
        return {k: plain(v) for k, v in inside}
    if isinstance(value, list):
        return [plain(v) for v in value if not (isinstance(v, dict) and PATCH in v)]
    return value


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_nulls(v) for v in value]
    return value


def no_merge_key(item: Body, key: str) -> ApiError:
    return ServerError(f"map: {go(item)} does not contain declared merge key: {key}")


def wrong_type(wanted: str, value: Any) -> ApiError:
    names = {str: "string", bool: "bool", int: "int64", float: "float64", dict: "map[string]interface {}"}
    return ServerError(f"expected a {wanted}, but received a {names.get(type(value), '[]interface {}')}")
