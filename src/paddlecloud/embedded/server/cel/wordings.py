"""What the library says of a wrong expression, in the words of the reference implementation; pure.

Both find the same mistakes. The authors of rules search the web for the sentences that Kubernetes prints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*?)\n \| ", re.DOTALL)
WORDS = (
    (re.compile(r" not found in struct '[^']*'"), ""),
    (re.compile(r"google\.protobuf\.(Timestamp|Duration)"), lambda match: match[1].lower()),
    (re.compile(r"\bnull_type\b"), "null"),
    (
        re.compile(r"expression of (type '.*') cannot be the operand of a select operation"),
        r"\1 does not support field selection",
    ),
    (re.compile(r"cannot be the range of"), "cannot be range of"),
    (re.compile(r"has\(\) argument must be a field selection"), "invalid argument to has() macro"),
    (re.compile(r"\w+\(\) variable name must be a simple identifier"), "argument must be a simple name"),
)  # fmt: skip
NO_OVERLOAD = re.compile(r"found no matching overload for '(\w+)' applied to '\(([^,]*?)(?:, (.*))?\)'$")
UNDECLARED = re.compile(r"undeclared reference to '(\w+)\.([\w.]+)' \(in")


class Mistake(NamedTuple):
    line: int
    column: int
    message: str


def retold(source: str, told: str, names: Mapping[str, str]) -> str:
    """*names*: what the types of the library are called before authors."""
    lines = source.split("\n")
    found = []
    for line, column, message in ERROR.findall(told):
        # What follows from a mistake that has been told already.
        if "'*error*'" not in message:
            found.append(corrected(Mistake(int(line), int(column), message), lines, names))
    if not found:
        return told
    return "\n".join(shown(mistake, lines) for mistake in sorted(found))


def corrected(mistake: Mistake, lines: list[str], names: Mapping[str, str]) -> Mistake:
    line, column, message = mistake
    for pattern, words in WORDS:
        message = pattern.sub(words, message)
    for name, path in names.items():
        message = re.sub(rf"\b{re.escape(name)}\b", path, message)
    before = lines[line - 1][: column - 1]
    if (match := NO_OVERLOAD.search(message)) and before.endswith(f".{match[1]}"):
        receiver = f"{match[2]}.({match[3] or ''})"
        message = f"found no matching overload for '{match[1]}' applied to '{receiver}'"
    if match := UNDECLARED.search(message):
        # The whole chain is told at its last dot; it is the first name that nobody knows.
        chain = f"{match[1]}.{match[2]}".rpartition(".")[0]
        if before.endswith(chain):
            column -= len(chain)
            message = f"undeclared reference to '{match[1]}' (in container '')"
    return Mistake(line, column, message)


def shown(mistake: Mistake, lines: list[str]) -> str:
    """A message with the line it is about."""
    line, column, message = mistake
    return f"ERROR: <input>:{line}:{column}: {message}\n | {lines[line - 1]}\n | {'.' * (column - 1)}^"


def located(source: str, at: int, message: str) -> str:
    """A message about the character at *at*."""
    line = source.count("\n", 0, at) + 1
    return shown(Mistake(line, at - source.rfind("\n", 0, at), message), source.split("\n"))
