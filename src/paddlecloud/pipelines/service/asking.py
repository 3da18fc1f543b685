"""Lists as clients ask for them: filtered, sorted, page by page; pure."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import BadRequest

Body = dict[str, Any]
NUMBERS = {
    1: "EQUALS", 2: "NOT_EQUALS", 3: "GREATER_THAN", 5: "GREATER_THAN_EQUALS",
    6: "LESS_THAN", 7: "LESS_THAN_EQUALS", 8: "IN", 9: "IS_SUBSTRING",
}  # fmt: skip
TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "EQUALS": operator.eq,
    "NOT_EQUALS": operator.ne,
    "GREATER_THAN": operator.gt,
    "GREATER_THAN_EQUALS": operator.ge,
    "LESS_THAN": operator.lt,
    "LESS_THAN_EQUALS": operator.le,
    "IN": lambda value, wanted: value in wanted,
    "IS_SUBSTRING": lambda value, wanted: str(wanted).lower() in str(value).lower(),
}
SYNONYMS = {"name": "display_name", "id": "", "display_name": "name"}
PAGE = 20


def listed(items: list[Body], query: Mapping[str, str], key: str) -> Body:
    """One page of *items* under *key*, newest last unless the query says otherwise."""
    kept = [i for i in items if all(test(i) for test in predicates(query.get("filter") or ""))]
    kept = in_order(kept, query.get("sort_by") or "created_at")
    begin = offset(query.get("page_token") or "")
    size = number(query.get("page_size") or "") or PAGE
    answer: Body = {key: kept[begin : begin + size], "total_size": len(kept)}
    if begin + size < len(kept):
        answer["next_page_token"] = str(begin + size)
    return answer


def predicates(text: str) -> list[Callable[[Body], bool]]:
    """Raises `BadRequest`."""
    if not text:
        return []
    try:
        said = json.loads(text).get("predicates") or ()
        return [predicate(p) for p in said]
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise BadRequest(f"the filter cannot be read: {error}") from error


def predicate(said: Body) -> Callable[[Body], bool]:
    op = str(said.get("operation", said.get("op", "EQUALS")))
    test = TESTS[NUMBERS[int(op)] if op.isdigit() else op]
    key = str(said["key"])
    wanted = next(v for k, v in said.items() if k.lower().replace("_", "").endswith(("value", "values")))
    if isinstance(wanted, dict):
        wanted = wanted.get("values") or []
    return lambda item: passes(item, key, test, wanted)


def passes(item: Body, key: str, test: Callable[[Any, Any], bool], wanted: Any) -> bool:
    value = item.get(key, item.get(SYNONYMS.get(key, ""), ""))
    try:
        return test(value, wanted)
    except TypeError:
        return test(str(value), str(wanted))


def in_order(items: list[Body], by: str) -> list[Body]:
    field, _, way = by.partition(" ")
    return sorted(items, key=lambda i: str(value_of(i, field)), reverse=way.strip().lower() == "desc")


def value_of(item: Body, field: str) -> Any:
    for name in (field, SYNONYMS.get(field, "")):
        if name in item:
            return item[name]
    return ""


def offset(token: str) -> int:
    if not token:
        return 0
    if not token.isdigit():
        raise BadRequest(f"the page token {token!r} is none of ours")
    return int(token)


def number(text: str) -> int:
    return int(text) if text.isdigit() else 0
