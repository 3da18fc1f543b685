"""Quantities, `500m`, `1Gi`, as values of CEL; pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..quantities import Quantity, parse
from .declarations import QUANTITY
from .values import LARGEST, SMALLEST, CelError, compare, holds


@dataclass(frozen=True)
class Amount:
    quantity: Quantity
    TYPE = QUANTITY

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Amount) and self.quantity.value == other.quantity.value

    def __hash__(self) -> int:
        return hash(self.quantity.value)


def integer(amount: Amount) -> int:
    value = amount.quantity.value
    if value.denominator == 1 and SMALLEST <= value <= LARGEST:
        return int(value)
    raise CelError("cannot convert value to integer")


def plus(a: Amount, b: Any, factor: int = 1) -> Amount:
    other = Quantity(b) if isinstance(b, int) else b.quantity
    return Amount(a.quantity + Quantity(other.value * factor, other.binary))


def order(a: Amount, b: Amount) -> int:
    return compare(float(a.quantity.value - b.quantity.value), 0.0)


AMOUNTS: dict[str, Callable[..., Any]] = {
    "quantity": lambda text: Amount(parse(text)),
    "isQuantity": holds(parse),
    "sign": lambda amount: int(amount.quantity.value > 0) - int(amount.quantity.value < 0),
    "isInteger": holds(integer),
    "asInteger": integer,
    "asApproximateFloat": lambda amount: float(amount.quantity.value),
    "add": plus,
    "sub": lambda a, b: plus(a, b, -1),
    "isGreaterThan": lambda a, b: order(a, b) > 0,
    "isLessThan": lambda a, b: order(a, b) < 0,
    "compareTo": order,
}
