"""What calls of Kubernetes' own functions cost at most, and how large their results are; pure."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from .declarations import ADDRESS, FORMAT, NETWORK, QUANTITY, URL
from .syntax import Call, Const, Node, Tree

LARGEST = (1 << 64) - 1
TRAVERSAL, PATTERN = 0.1, 0.25
NAME_PATTERN = 128
READ_ONCE = ("lowerAscii", "upperAscii", "substring", "trim")
PARSED = ("cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity")
WALKED = ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf")
ADDRESS_BYTES = 16
AT_ONCE = (QUANTITY, ADDRESS, NETWORK)
LONGEST_FORMAT = 64


class Estimate(NamedTuple):
    cost: int
    size: int | None = None
    """Of the result, where a call tells it."""


class Measuring(Protocol):
    """Who knows how large the value of an expression can get."""

    @property
    def tree(self) -> Tree: ...

    def size(self, node: Node) -> int: ...

    def known(self, node: Node) -> int | None: ...

    def item_size(self, node: Node) -> int: ...


def price(node: Call, by: Measuring) -> Estimate | None:
    """What a call costs where Kubernetes sets it; None for the functions of the language."""
    name, operands = node.function, node.operands
    if name == "_==_":
        return compared(operands[0], operands[1], by)
    if name in WALKED and node.target is not None:
        return walked(node.target, by)
    if name == "url":
        size = by.size(operands[0])
        return Estimate(scaled(size, TRAVERSAL), size)
    if name in READ_ONCE:
        size = by.size(operands[0])
        return Estimate(scaled(size, TRAVERSAL), size)
    if name == "replace":
        size = by.size(operands[0])
        return Estimate(scaled(size, 2 * TRAVERSAL), replaced(size, operands[1], operands[2], by))
    if name == "split":
        size = by.size(operands[0])
        limit = operands[2].value if len(operands) > 2 and isinstance(operands[2], Const) else size
        return Estimate(scaled(size, 2 * TRAVERSAL), size if limit < 0 else limit)
    if name == "join":
        return joined(operands, by)
    if name in ("find", "findAll"):
        size = by.size(operands[0])
        return Estimate(searched(size, by.size(operands[1])), size)
    if name in PARSED and node.target is None:
        return Estimate(scaled(by.size(operands[0]), TRAVERSAL))
    if name == "ip.isCanonical":
        return Estimate(scaled(by.size(operands[0]), 2 * TRAVERSAL))
    if name in ("containsIP", "containsCIDR"):
        given = by.size(operands[1]) if by.tree.type_of(operands[1]).kind == "string" else 0
        other = scaled(ADDRESS_BYTES, TRAVERSAL) + 1 if name == "containsCIDR" else 0
        return Estimate(bounded(scaled(2 * ADDRESS_BYTES, TRAVERSAL) + other + scaled(given, TRAVERSAL)))
    if name == "validate":
        read = scaled(by.size(operands[1]), TRAVERSAL)
        return Estimate(scaled(read, NAME_PATTERN * PATTERN))
    return None


def compared(left: Node, right: Node, by: Measuring) -> Estimate | None:
    """Values of Kubernetes' own types, which are compared as they were read."""
    kind = by.tree.type_of(left)
    if kind != by.tree.type_of(right) or kind.kind not in (*AT_ONCE, URL, FORMAT):
        return None
    most = {URL: by.known(right) or 1, FORMAT: LONGEST_FORMAT}.get(kind.kind)
    return Estimate(1 if most is None else scaled(most, TRAVERSAL))


def walked(target: Node, by: Measuring) -> Estimate:
    kind = by.tree.type_of(target)
    if kind.kind != "list":
        return Estimate(scaled(by.size(target), TRAVERSAL))
    each = 1
    if kind.params and kind.params[0].kind in ("string", "bytes"):
        each += scaled(by.item_size(target), TRAVERSAL)
    return Estimate(bounded(by.size(target) * each))


def joined(operands: tuple[Node, ...], by: Measuring) -> Estimate:
    count = by.size(operands[0])
    size = bounded(count * by.item_size(operands[0]))
    if len(operands) > 1:
        size = bounded(size + by.size(operands[1]) * max(count - 1, 0))
    return Estimate(scaled(size, TRAVERSAL), size)


def replaced(size: int, old: Node, new: Node, by: Measuring) -> int:
    shortest = len(old.value) if isinstance(old, Const) and isinstance(old.value, str) else 0
    longest = by.size(new)
    if not shortest:
        return bounded((size + 1) * longest + size)
    return size if longest <= shortest else bounded(math.ceil(size / shortest) * longest)


def searched(text: int, pattern: int) -> int:
    return bounded(scaled(bounded(text + 1), TRAVERSAL) * scaled(pattern, PATTERN))


def scaled(size: int, factor: float) -> int:
    return bounded(math.ceil(size * factor))


def bounded(cost: int) -> int:
    return min(cost, LARGEST)
