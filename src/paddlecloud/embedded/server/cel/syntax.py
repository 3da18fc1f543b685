"""The tree of a checked expression: what the type checker understood, as values of our own; pure.

The checker hands its tree over in protobuf (`cel.expr.CheckedExpr`). Macros such as `all` are loops by then,
every name is resolved, and every node has a type.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from .wire import Message

PRIMITIVES = ("", "bool", "int", "uint", "double", "string", "bytes")
WELL_KNOWN = ("", "dyn", "timestamp", "duration")


class Type(NamedTuple):
    kind: str
    params: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.params))})" if self.params else self.kind


class Uint(int):
    """An unsigned number: a type of its own in CEL."""


DYN = Type("dyn")


@dataclass(frozen=True, slots=True)
class Const:
    id: int
    value: Any


@dataclass(frozen=True, slots=True)
class Name:
    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Select:
    id: int
    operand: Node
    field: str
    test: bool


@dataclass(frozen=True, slots=True)
class Call:
    id: int
    function: str
    target: Node | None
    args: tuple[Node, ...]

    @property
    def operands(self) -> tuple[Node, ...]:
        return self.args if self.target is None else (self.target, *self.args)


@dataclass(frozen=True, slots=True)
class Items:
    id: int
    items: tuple[Node, ...]
    optional: frozenset[int]


class Entry(NamedTuple):
    key: Node
    value: Node
    optional: bool


@dataclass(frozen=True, slots=True)
class Entries:
    id: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A macro: *result*, after *step* has been done for every item of *over* as long as *condition* holds."""

    id: int
    item: str
    second: str
    over: Node
    kept: str
    start: Node
    condition: Node
    step: Node
    result: Node


Node = Const | Name | Select | Call | Items | Entries | Loop


@dataclass(frozen=True)
class Tree:
    root: Node
    types: dict[int, Type]
    names: frozenset[str]
    """What the expression refers to: variables, types, functions."""
    overloads: dict[int, tuple[str, ...]]
    places: dict[int, int]
    """Where in the text a node stands."""

    def type_of(self, node: Node) -> Type:
        return self.types.get(node.id, DYN)


def read(serialized: bytes) -> Tree:
    """The tree in a `google.protobuf.Any` that holds a `cel.expr.CheckedExpr`."""
    whole = Message(Message(serialized).bytes(2))
    names, overloads, types = set(), {}, {}
    for pair in whole.all(2):
        reference = pair.message(2)
        names.add(reference.text(1))
        if found := tuple(m.decode() for m in reference.raw(3)):
            overloads[pair.number(1)] = found
    for pair in whole.all(3):
        types[pair.number(1)] = type_in(pair.message(2))
    places = {pair.number(1): pair.number(2) for pair in whole.message(5).all(4)}
    return Tree(node_in(whole.message(4)), types, frozenset(names), overloads, places)


def below(node: Node) -> Iterator[Node]:
    """A node and all nodes in it, in the order of the text."""
    yield node
    match node:
        case Select():
            yield from below(node.operand)
        case Call():
            for operand in node.operands:
                yield from below(operand)
        case Items():
            for item in node.items:
                yield from below(item)
        case Entries():
            for entry in node.entries:
                yield from below(entry.key)
                yield from below(entry.value)
        case Loop():
            for part in (node.over, node.start, node.condition, node.step, node.result):
                yield from below(part)


def node_in(expr: Message) -> Node:
    number = expr.number(2)
    if expr.has(3):
        return Const(number, constant(expr.message(3)))
    if expr.has(4):
        return Name(number, expr.message(4).text(1))
    if expr.has(5):
        select = expr.message(5)
        return Select(number, node_in(select.message(1)), select.text(2), bool(select.number(3)))
    if expr.has(6):
        call = expr.message(6)
        target = node_in(call.message(1)) if call.has(1) else None
        return Call(number, call.text(2), target, tuple(node_in(a) for a in call.all(3)))
    if expr.has(7):
        made = expr.message(7)
        return Items(number, tuple(node_in(i) for i in made.all(1)), frozenset(made.packed(2)))
    if expr.has(8):
        listed = expr.message(8).all(2)
        return Entries(
            number,
            tuple(Entry(node_in(e.message(3)), node_in(e.message(4)), bool(e.number(5))) for e in listed),
        )
    loop = expr.message(9)
    over, start, condition, step, result = (node_in(loop.message(n)) for n in (2, 4, 5, 6, 7))
    return Loop(number, loop.text(1), loop.text(8), over, loop.text(3), start, condition, step, result)


def constant(value: Message) -> Any:
    if value.has(2):
        return bool(value.number(2))
    if value.has(3):
        return signed(value.number(3))
    if value.has(4):
        return Uint(value.number(4))
    if value.has(5):
        return struct.unpack("<d", value.bytes(5))[0]
    if value.has(6):
        return value.text(6)
    return value.bytes(7) if value.has(7) else None


def signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


def type_in(message: Message) -> Type:
    if message.has(2):
        return Type("null")
    if message.has(3):
        return Type(PRIMITIVES[message.number(3)])
    if message.has(4):
        return Type(PRIMITIVES[message.number(4)])
    if message.has(5):
        return Type(WELL_KNOWN[message.number(5)])
    if message.has(6):
        return Type("list", (type_in(message.message(6).message(1)),))
    if message.has(7):
        pair = message.message(7)
        return Type("map", (type_in(pair.message(1)), type_in(pair.message(2))))
    if message.has(9):
        return Type("object")
    if message.has(10):
        return Type("parameter")
    if message.has(14):
        opaque = message.message(14)
        return Type(opaque.text(1), tuple(type_in(p) for p in opaque.all(2)))
    return DYN
