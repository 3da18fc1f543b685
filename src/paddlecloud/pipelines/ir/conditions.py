"""The conditions kfp 2 writes: comparisons of inputs and literals, negated and joined; pure."""

from __future__ import annotations

import re
from typing import Any

from ...api.workflowgraph import Binding, When
from ...errors import WrongUse

COMPARISON = re.compile(r"^(.+?)\s*(==|!=|>=|<=|>|<)\s*(.+)$", re.DOTALL)
INPUT = re.compile(r"^inputs\.parameter_values\[(['\"])(.+?)\1\]$")
CAST = re.compile(r"^(?:int|double)\((.*)\)$", re.DOTALL)


def condition(text: str) -> When:
    """Raises `WrongUse` for what kfp does not write."""
    text = re.sub(r"\s+", " ", text).strip()
    parts = split(text, " && ")
    if len(parts) > 1:
        return When(every=[condition(p) for p in parts])
    if text.startswith("!(") and text.endswith(")"):
        return When(every=[condition(text[2:-1])], negated=True)
    if text.startswith("(") and text.endswith(")") and closes(text):
        return condition(text[1:-1])
    found = COMPARISON.match(text)
    if not found:
        raise WrongUse(f"the condition {text!r} is no comparison")
    left, op, right = found.groups()
    return When(left=operand(left), op=op, right=operand(right))


def split(text: str, by: str) -> list[str]:
    """At the top: not inside parentheses."""
    parts, depth, begin = [], 0, 0
    for index, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and text.startswith(by, index):
            parts.append(text[begin:index])
            begin = index + len(by)
    return [*parts, text[begin:]]


def closes(text: str) -> bool:
    """Whether the first parenthesis closes at the end."""
    depth = 0
    for index, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return index == len(text) - 1
    return False


def operand(text: str) -> Binding:
    text = text.strip()
    if cast := CAST.match(text):
        return operand(cast[1])
    if found := INPUT.match(text):
        return Binding(template="{{input." + found[2] + "}}")
    return Binding(value=literal(text))


def literal(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError as error:
        raise WrongUse(f"{text!r} in a condition is neither an input nor a value") from error
