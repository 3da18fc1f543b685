"""What is written into an expression and can be told to be wrong before it is ever asked; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import patterns
from .conversions import to_moment, to_span
from .formatting import mismatches
from .syntax import DYN, Call, Const, Entries, Items, Node, Tree, Type, below
from .values import CelError
from .wordings import located

CHECKS: dict[str, Callable[[str], object]] = {
    "duration": to_span,
    "timestamp": to_moment,
    "matches": lambda pattern: patterns.matches("", pattern),
}


def wrong_literals(source: str, tree: Tree) -> Iterator[str]:
    """Texts that are no pattern, no time; lists and maps of more than one type."""
    mixed_on_purpose = {
        node.args[0].id for node in below(tree.root) if isinstance(node, Call) and node.function == "format"
    }
    for node in below(tree.root):
        if node.id in mixed_on_purpose:
            continue
        if isinstance(node, Call):
            yield from wrong_text(source, tree, node)
            yield from wrong_format(source, tree, node)
        elif isinstance(node, Items):
            yield from mixed(source, tree, [n for i, n in enumerate(node.items) if i not in node.optional])
        elif isinstance(node, Entries):
            plain = [entry for entry in node.entries if not entry.optional]
            yield from mixed(source, tree, [entry.key for entry in plain])
            yield from mixed(source, tree, [entry.value for entry in plain])


def wrong_text(source: str, tree: Tree, node: Call) -> Iterator[str]:
    check = CHECKS.get(node.function)
    written = node.args[-1] if node.args else None
    if check is None or not isinstance(written, Const) or not isinstance(written.value, str):
        return
    try:
        check(written.value)
    except CelError:
        yield located(source, tree.places[written.id], f"invalid {node.function} argument")


def wrong_format(source: str, tree: Tree, node: Call) -> Iterator[str]:
    if node.function != "format" or not isinstance(node.target, Const) or not isinstance(node.args[0], Items):
        return
    values = node.args[0].items
    kinds = [tree.type_of(value).kind for value in values]
    for i, problem in mismatches(node.target.value, kinds):
        yield located(source, tree.places[(node if i is None else values[i]).id], problem)


def mixed(source: str, tree: Tree, nodes: list[Node]) -> Iterator[str]:
    expected: Type | None = None
    for node in nodes:
        found = tree.type_of(node)
        if expected is None or expected == DYN:
            expected = found
        elif found not in (expected, DYN):
            message = f"expected type '{expected}' but found '{found}'"
            yield located(source, tree.places[node.id], message)
