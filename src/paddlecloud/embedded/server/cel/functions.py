"""The functions that Kubernetes adds to CEL: of text, lists, sets and formats, and those next to it; pure.

Values that CEL has no type for are small classes of ours; `TYPE` is the name under which rules know them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from .. import gotext
from . import patterns
from .amounts import AMOUNTS
from .declarations import FORMAT, FORMATS
from .formats import problems
from .formatting import formatted
from .networks import NETWORKS
from .values import NONE, CelError, NoOverload, Optional, compare, contains, equal, some, whole


@dataclass(frozen=True)
class Format:
    name: str
    TYPE = FORMAT


def find_all(text: str, wanted: str, limit: int = -1) -> list[str]:
    found = patterns.find_all(text, wanted)
    return found if limit < 0 else found[:limit]


def split(text: str, by: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if not by:
        return list(text) if limit < 0 else [*text[: limit - 1], text[limit - 1 :]]
    return text.split(by) if limit < 0 else text.split(by, limit - 1)


def substring(text: str, start: int, end: int | None = None) -> str:
    for index in (start, len(text) if end is None else end):
        if not 0 <= index <= len(text):
            raise CelError(f"index out of range: {index}")
    if end is not None and start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    return text[start:end]


def index_of(value: Any, wanted: Any, start: int = 0) -> int:
    if isinstance(value, str):
        if start and not 0 <= start < len(value):
            raise CelError(f"index out of range: {start}")
        return value.find(wanted, start)
    return next((i for i, item in enumerate(value) if equal(item, wanted)), -1)


def last_index_of(value: Any, wanted: Any, start: int | None = None) -> int:
    if isinstance(value, str):
        if start is not None and not 0 <= start < len(value):
            raise CelError(f"index out of range: {start}")
        return value.rfind(wanted) if start is None else value.rfind(wanted, 0, start + len(wanted))
    return next((i for i in reversed(range(len(value))) if equal(value[i], wanted)), -1)


def char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise CelError(f"index out of range: {index}")
    return text[index : index + 1]


def ascii_case(text: str, change: Callable[[str], str]) -> str:
    return "".join(change(c) if c.isascii() else c for c in text)


def is_sorted(values: list[Any]) -> bool:
    return all(compare(a, b) <= 0 for a, b in itertools.pairwise(values))


def total(values: list[Any]) -> Any:
    if values and isinstance(values[0], timedelta):
        return sum(values, timedelta())
    made = sum(values)
    return made if isinstance(made, float) else type(values[0])(whole(made)) if values else 0


def extreme(values: list[Any], sign: int, name: str) -> Any:
    if not values:
        raise CelError(f"{name} called on empty list")
    best = values[0]
    for value in values[1:]:
        if compare(value, best) * sign > 0:
            best = value
    return best


def validated(form: Format, text: str) -> Optional:
    if not isinstance(text, str):
        raise NoOverload
    found = problems(form.name, text)
    return some(found) if found else NONE


def all_in(a: list[Any], b: list[Any]) -> bool:
    return all(contains(a, x) for x in b)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "charAt": char_at,
    "indexOf": index_of,
    "lastIndexOf": last_index_of,
    "join": lambda values, by="": by.join(values),
    "lowerAscii": lambda text: ascii_case(text, str.lower),
    "upperAscii": lambda text: ascii_case(text, str.upper),
    "replace": lambda text, old, new, limit=-1: text.replace(old, new, limit),
    "split": split,
    "substring": substring,
    "trim": str.strip,
    "format": formatted,
    "strings.quote": gotext.quoted,
    "find": patterns.find,
    "findAll": find_all,
    "isSorted": is_sorted,
    "sum": total,
    "min": lambda values: extreme(values, -1, "min"),
    "max": lambda values: extreme(values, 1, "max"),
    "sets.contains": all_in,
    "sets.equivalent": lambda a, b: all_in(a, b) and all_in(b, a),
    "sets.intersects": lambda a, b: any(contains(a, x) for x in b),
    **{f"format.{name}": (lambda name=name: Format(name)) for name in FORMATS},
    "format.named": lambda name: some(Format(name)) if name in FORMATS else NONE,
    "validate": validated,
    **AMOUNTS,
    **NETWORKS,
}
