"""A checked expression as a function of its variables; pure.

The tree becomes closures once, each asked with a `Run`: the variables and what may still be spent. Every step
costs about what it costs in Kubernetes, so that no expression can hold up the server. An error is no value
until the expression ends: `&&`, `||` and the loops of macros may still find that it does not matter.

The library that checks the types could evaluate too, but ends every expression at 10,000 iterations, counts
no cost and has no place for values of our own, such as quantities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .conversions import CONVERSIONS
from .functions import FUNCTIONS
from .operators import OPERATORS, has, select
from .syntax import Call, Const, Entries, Items, Loop, Name, Node, Select, Tree
from .values import TYPES, CelError, Exhausted, NoOverload, Optional, extent

Ask = Callable[["Run"], Any]
Price = Callable[[list[Any]], int]
TRAVERSAL, PATTERN = 0.1, 0.25
LIST, MAP = 10, 30
CALLS: dict[str, Callable[..., Any]] = {**OPERATORS, **CONVERSIONS, **FUNCTIONS}
# What reads its first argument to the end, and how often.
READERS = {
    **dict.fromkeys(("startsWith", "endsWith", "bytes", "string", "strings.quote", "format", "url"), 1),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim", "quantity", "isQuantity"), 1),
    **dict.fromkeys(("ip", "isIP", "cidr", "isCIDR"), 1),
    **dict.fromkeys(("replace", "split", "join", "ip.isCanonical"), 2),
}
WALKERS = ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf")
PAIRS = ("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_")


class Run:
    """One evaluation: the variables, and how many steps are left."""

    __slots__ = ("left", "names")

    def __init__(self, names: dict[str, Any], left: int) -> None:
        self.names = names
        self.left = left


class Failure:
    """An error that a loop carries on with, because a later item may make it irrelevant."""

    def __init__(self, error: CelError) -> None:
        self.error = error


def evaluator(tree: Tree) -> Ask:
    return closure(tree.root)


def closure(node: Node) -> Ask:
    match node:
        case Const(value=value):
            return lambda run: value
        case Name():
            return variable(node.name)
        case Select():
            return selection(node)
        case Items():
            return items(node)
        case Entries():
            return entries(node)
        case Loop():
            return loop(node)
        case _:
            return call(node)


def variable(name: str) -> Ask:
    known = TYPES.get(name)
    kept = name.startswith("@")

    def ask(run: Run) -> Any:
        run.left -= 1
        try:
            value = run.names[name]
        except KeyError:
            if known is None:
                raise CelError(f"no such attribute: {name}") from None
            return known
        if kept and isinstance(value, Failure):
            raise value.error
        return value

    return ask


def selection(node: Select) -> Ask:
    operand, field = closure(node.operand), node.field
    if node.test:
        return lambda run: has(operand(run), field)

    def ask(run: Run) -> Any:
        value = operand(run)
        run.left -= 1
        # The way of nearly all values, without a call.
        if type(value) is dict and field in value:
            return value[field]
        return select(value, field)

    return ask


def items(node: Items) -> Ask:
    made = [(closure(item), i in node.optional) for i, item in enumerate(node.items)]

    def ask(run: Run) -> list[Any]:
        run.left -= LIST
        values = []
        for item, optional in made:
            value = item(run)
            if not optional:
                values.append(value)
            elif value.present:
                values.append(value.value)
        return values

    return ask


def entries(node: Entries) -> Ask:
    made = [(closure(e.key), closure(e.value), e.optional) for e in node.entries]

    def ask(run: Run) -> dict[Any, Any]:
        run.left -= MAP
        values: dict[Any, Any] = {}
        for key, value, optional in made:
            name, given = key(run), value(run)
            if not optional:
                values[name] = given
            elif given.present:
                values[name] = given.value
        return values

    return ask


def loop(node: Loop) -> Ask:
    over, start, result = closure(node.over), closure(node.start), closure(node.result)
    condition, step = closure(node.condition), closure(node.step)
    item, second, kept = node.item, node.second, node.kept

    def ask(run: Run) -> Any:
        outer = run.names
        values = over(run)
        names = {**outer, kept: start(run)}
        run.names = names
        try:
            for first, value in pairs(values, two=bool(second)):
                names[item] = first
                if second:
                    names[second] = value
                if not condition(run):
                    break
                try:
                    names[kept] = step(run)
                except CelError as error:
                    names[kept] = Failure(error)
                if run.left < 0:
                    raise Exhausted
            return result(run)
        finally:
            run.names = outer

    return ask


def pairs(values: Any, *, two: bool) -> Any:
    if isinstance(values, list):
        return enumerate(values) if two else ((value, None) for value in values)
    if isinstance(values, dict):
        return values.items() if two else ((key, None) for key in values)
    raise NoOverload


def call(node: Call) -> Ask:
    args = [closure(operand) for operand in node.operands]
    match node.function:
        case "_&&_":
            return decided(args[0], args[1], by=False)
        case "_||_":
            return decided(args[0], args[1], by=True)
        case "_?:_" | "_?_:_":
            return choice(args[0], args[1], args[2])
        case "@not_strictly_false":
            return not_false(args[0])
    function, price = CALLS[node.function], price_of(node.function)

    def ask(run: Run) -> Any:
        values = [arg(run) for arg in args]
        run.left -= 1 if price is None else price(values)
        if run.left < 0:
            raise Exhausted
        try:
            return function(*values)
        except (TypeError, AttributeError) as error:
            raise NoOverload from error
        except (ValueError, OverflowError) as error:
            raise CelError(str(error)) from error

    return ask


def decided(left: Ask, right: Ask, *, by: bool) -> Ask:
    """`&&` and `||`: one value on either side decides, whatever the other side is, even an error."""

    def ask(run: Run) -> Any:
        try:
            first = left(run)
            if first is by:
                return by
        except CelError as error:
            if right(run) is by:
                return by
            raise error
        second = right(run)
        if second is by:
            return by
        if not isinstance(first, bool) or not isinstance(second, bool):
            raise NoOverload
        return not by

    return ask


def choice(condition: Ask, yes: Ask, no: Ask) -> Ask:
    def ask(run: Run) -> Any:
        answer = condition(run)
        if not isinstance(answer, bool):
            raise NoOverload
        return yes(run) if answer else no(run)

    return ask


def not_false(arg: Ask) -> Ask:
    def ask(run: Run) -> bool:
        run.left -= 1
        try:
            return arg(run) is not False
        except CelError:
            return True

    return ask


def price_of(function: str) -> Price | None:
    """What a call costs for its values; None where that is one step, whatever they are."""
    if function in PAIRS:
        return lambda v: math.ceil(min(weight(v[0]), weight(v[1])) * TRAVERSAL)
    if function == "@in":
        return lambda v: extent(v[1])
    if function == "_+_":
        return lambda v: math.ceil((extent(v[0]) + extent(v[1])) * TRAVERSAL)
    if function in READERS:
        factor = READERS[function] * TRAVERSAL
        return lambda v: math.ceil(weight(v[0]) * factor) if v else 1
    if function in WALKERS:
        return lambda v: weight(v[0])
    if function in ("matches", "find", "findAll"):
        return lambda v: math.ceil((1 + extent(v[0])) * TRAVERSAL) * math.ceil(extent(v[1]) * PATTERN)
    if function == "contains":
        return lambda v: math.ceil(extent(v[0]) * TRAVERSAL) * math.ceil(extent(v[1]) * TRAVERSAL)
    if function.startswith("sets."):
        return lambda v: extent(v[0]) * extent(v[1])
    return None


def weight(value: Any) -> int:
    """The size of a value with what is right inside of it."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, list):
        return len(value) + sum(map(extent, value))
    if isinstance(value, dict):
        return len(value) + sum(map(extent, value.values()))
    return weight(value.value) if isinstance(value, Optional) else 1
