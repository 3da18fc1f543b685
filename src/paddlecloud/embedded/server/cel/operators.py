"""The operators and functions of the language CEL itself; pure.

Those that decide which of their arguments are looked at (`&&`, `||`, `?:`) are in `evaluation`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from . import patterns
from .syntax import Uint
from .values import (
    NONE,
    CelError,
    NoOverload,
    Optional,
    compare,
    contains,
    equal,
    kind_of,
    numeric,
    size,
    some,
    unsigned,
    whole,
)


def add(a: Any, b: Any) -> Any:
    if isinstance(a, datetime | timedelta) and isinstance(b, datetime | timedelta):
        if isinstance(a, datetime) and isinstance(b, datetime):
            raise NoOverload
        return a + b  # type: ignore[operator]  # a moment and a span, in either order
    if type(a) is type(b) and isinstance(a, str | bytes | list):
        return a + b
    return arithmetic(a, b, lambda x, y: x + y)


def subtract(a: Any, b: Any) -> Any:
    if isinstance(a, datetime | timedelta) and isinstance(b, datetime | timedelta):
        if isinstance(a, timedelta) and isinstance(b, datetime):
            raise NoOverload
        return a - b  # type: ignore[operator]
    return arithmetic(a, b, lambda x, y: x - y)


def arithmetic(a: Any, b: Any, compute: Callable[[Any, Any], Any]) -> Any:
    """Numbers of one type; CEL converts none by itself."""
    if type(a) is not type(b) or not numeric(a):
        raise NoOverload
    if isinstance(a, float):
        return compute(a, b)
    return unsigned(compute(int(a), int(b))) if isinstance(a, Uint) else whole(compute(a, b))


def divide(a: Any, b: Any) -> Any:
    if isinstance(a, float) and isinstance(b, float):
        if b:
            return a / b
        return math.nan if not a or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
    if b == 0 and numeric(b):
        raise CelError("division by zero")
    return arithmetic(a, b, lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1))


def remainder(a: Any, b: Any) -> Any:
    if isinstance(a, float):
        raise NoOverload
    if b == 0 and numeric(b):
        raise CelError("modulus by zero")
    return arithmetic(a, b, lambda x, y: abs(x) % abs(y) * (-1 if x < 0 else 1))


def negate(value: Any) -> Any:
    if isinstance(value, float):
        return -value
    if not numeric(value) or isinstance(value, Uint):
        raise NoOverload
    return whole(-value)


def negation(value: Any) -> bool:
    if not isinstance(value, bool):
        raise NoOverload
    return not value


def index(values: Any, key: Any) -> Any:
    if isinstance(values, Optional):
        return optional_index(values, key)
    if isinstance(values, dict):
        if not isinstance(key, list | dict) and key in values:
            return values[key]
        raise CelError(f"no such key: {key}")
    if not isinstance(values, list) or not numeric(key) or key != int(key):
        raise NoOverload
    if not 0 <= key < len(values):
        raise CelError(f"index out of bounds: {int(key)}")
    return values[int(key)]


def optional_index(values: Any, key: Any) -> Optional:
    if isinstance(values, Optional):
        return optional_index(values.value, key) if values.present else NONE
    if isinstance(values, dict):
        return some(values[key]) if key in values else NONE
    return some(values[int(key)]) if isinstance(values, list) and 0 <= key < len(values) else NONE


def select(value: Any, name: str) -> Any:
    if isinstance(value, Optional):
        return optional_index(value, name)
    if not isinstance(value, dict):
        raise CelError(f"no such key: {name}") if value is None else NoOverload
    if name not in value:
        raise CelError(f"no such key: {name}")
    return value[name]


def has(value: Any, name: str) -> bool:
    if isinstance(value, Optional):
        return value.present and has(value.value, name)
    if not isinstance(value, dict):
        raise NoOverload
    return name in value


def matches(text: Any, pattern: Any) -> bool:
    if not isinstance(text, str) or not isinstance(pattern, str):
        raise NoOverload
    return patterns.matches(text, pattern)


def on_text(read: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    def ask(text: Any, part: Any) -> bool:
        if not isinstance(text, str) or not isinstance(part, str):
            raise NoOverload
        return read(text, part)

    return ask


def or_value(value: Optional, other: Any) -> Any:
    return value.value if value.present else other


def unwrapped(values: list[Optional]) -> list[Any]:
    return [value.value for value in values if value.present]


def inserted(entries: dict[Any, Any], key: Any, value: Any = None) -> dict[Any, Any]:
    """How the macros that make maps go on: with a pair, or with a map that holds it."""
    return {**entries, **(key if isinstance(key, dict) else {key: value})}


OPERATORS: dict[str, Callable[..., Any]] = {
    "_+_": add,
    "_-_": subtract,
    "_*_": lambda a, b: arithmetic(a, b, lambda x, y: x * y),
    "_/_": divide,
    "_%_": remainder,
    "-_": negate,
    "!_": negation,
    "_==_": equal,
    "_!=_": lambda a, b: not equal(a, b),
    "_<_": lambda a, b: compare(a, b) < 0,
    "_<=_": lambda a, b: compare(a, b) <= 0,
    "_>_": lambda a, b: compare(a, b) > 0,
    "_>=_": lambda a, b: compare(a, b) >= 0,
    "@in": lambda wanted, values: contains(values, wanted),
    "_[_]": index,
    "_[?_]": optional_index,
    "_?._": optional_index,
    "size": size,
    "type": kind_of,
    "dyn": lambda value: value,
    "contains": on_text(lambda text, part: part in text),
    "startsWith": on_text(str.startswith),
    "endsWith": on_text(str.endswith),
    "matches": matches,
    "optional.of": some,
    "optional.none": lambda: NONE,
    "optional.ofNonZeroValue": lambda value: some(value) if value else NONE,
    "hasValue": lambda value: value.present,
    "value": Optional.get,
    "or": lambda value, other: value if value.present else other,
    "orValue": or_value,
    "first": lambda values: some(values[0]) if values else NONE,
    "last": lambda values: some(values[-1]) if values else NONE,
    "optional.unwrap": unwrapped,
    "unwrapOpt": unwrapped,
    "cel.@mapInsert": inserted,
}
