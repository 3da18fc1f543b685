"""Values of CEL and what they have in common: equality, order, size, type; pure.

A value is a Python value: numbers, text, bytes, lists, dictionaries, `datetime`, `timedelta`. What Python has
no type for is here: unsigned numbers (`syntax.Uint`), optional values, types themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from .syntax import Uint

SMALLEST, LARGEST = -(1 << 63), (1 << 63) - 1


class CelError(Exception):
    """An expression that cannot be compiled or has no value, in Kubernetes' words where it has some."""


class NoOverload(CelError):
    """A function that was given what it is not made for."""

    def __init__(self) -> None:
        super().__init__("no such overload")


class Exhausted(Exception):
    """An expression that took more steps than it may: nothing inside of it catches this."""


@dataclass(frozen=True)
class Optional:
    value: Any = None
    present: bool = False

    def get(self) -> Any:
        if not self.present:
            raise CelError("optional.none() dereference")
        return self.value


NONE = Optional()


class Partly(dict[str, Any]):
    """An object that holds more than its schema names: rules cannot ask for the rest, but it counts."""

    def __init__(self, named: dict[str, Any], rest: dict[str, Any]) -> None:
        super().__init__(named)
        self.rest = rest


@dataclass(frozen=True)
class TypeName:
    name: str


def some(value: Any) -> Optional:
    return Optional(value, present=True)


def kind_of(value: Any) -> TypeName:
    if isinstance(value, bool):
        return TypeName("bool")
    for kind, name in NAMES:
        if isinstance(value, kind):
            return TypeName(name)
    return TypeName(getattr(value, "TYPE", type(value).__name__))


NAMES: tuple[tuple[type, str], ...] = (
    (Uint, "uint"),
    (int, "int"),
    (float, "double"),
    (str, "string"),
    (bytes, "bytes"),
    (list, "list"),
    (dict, "map"),
    (datetime, "google.protobuf.Timestamp"),
    (timedelta, "google.protobuf.Duration"),
    (type(None), "null_type"),
    (Optional, "optional_type"),
    (TypeName, "type"),
)
TYPES = {
    **{t.name: t for t in map(TypeName, ("bool", "type", *(name for _, name in NAMES)))},
    "timestamp": TypeName("google.protobuf.Timestamp"),
    "duration": TypeName("google.protobuf.Duration"),
}


def numeric(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return (
            isinstance(b, dict)
            and a.keys() == b.keys()
            and all(equal(value, b[key]) for key, value in a.items())
            and getattr(a, "rest", {}) == getattr(b, "rest", {})
        )
    if isinstance(a, Optional) and isinstance(b, Optional):
        return a.present == b.present and equal(a.value, b.value)
    return bool(a == b)


def contains(values: Any, wanted: Any) -> bool:
    if isinstance(values, dict):
        return not isinstance(wanted, list | dict) and wanted in values
    if not isinstance(values, list):
        raise NoOverload
    return any(equal(value, wanted) for value in values)


def compare(a: Any, b: Any) -> int:
    """Below, at or above zero, as *a* is below, equal to or above *b*."""
    if not (numeric(a) and numeric(b)) and (type(a) is not type(b) or isinstance(a, list | dict)):
        raise NoOverload
    try:
        return int(a > b) - int(a < b)
    except TypeError as error:
        raise NoOverload from error


def whole(value: int) -> int:
    """A result of arithmetic, as long as 64 bits can hold it."""
    if not SMALLEST <= value <= LARGEST:
        raise CelError("integer overflow")
    return value


def unsigned(value: int) -> Uint:
    if not 0 <= value < 1 << 64:
        raise CelError("unsigned integer overflow")
    return Uint(value)


def size(value: Any) -> int:
    if not isinstance(value, str | bytes | list | dict):
        raise NoOverload
    return len(value)


def extent(value: Any) -> int:
    """The size of what has one; a single thing is one."""
    return len(value) if isinstance(value, str | bytes | list | dict) else 1


def holds(read: Callable[..., Any]) -> Callable[..., bool]:
    """Whether a reading of text succeeds."""

    def ask(*values: Any) -> bool:
        try:
            read(*values)
        except (ValueError, CelError):
            return False
        return True

    return ask
