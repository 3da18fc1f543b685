"""`text.format(values)`: the verbs `%s %d %f %e %b %o %x %X %%`; pure.

What can be told from the types alone (`mismatches`) is told when an expression is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from ..gotext import quoted
from .conversions import decimal, to_string
from .values import CelError, TypeName, kind_of, numeric

VERB = re.compile(r"%(?:%|(?:\.(\d+))?(.)|$)", re.DOTALL)
WHOLE = ("int", "uint")
NUMBERS = (*WHOLE, "double", "string")
PLAIN = (
    "string", "bool", "bytes", "int", "uint", "double", "map", "list", "type", "duration", "timestamp",
    "google.protobuf.Duration", "google.protobuf.Timestamp", "null", "null_type",
)  # fmt: skip
HEX = ((*WHOLE, "string", "bytes"), "only integers, byte buffers, and strings can be formatted as hex")
# What each verb takes, and what is said where it is given something else.
VERBS = {
    "s": (
        PLAIN,
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
        "durations, and timestamps",
    ),
    "d": ((*WHOLE, "double"), "decimal clause can only be used on integers"),
    "f": (NUMBERS, "fixed-point clause can only be used on doubles"),
    "e": (NUMBERS, "scientific clause can only be used on doubles"),
    "b": ((*WHOLE, "bool"), "only integers and bools can be formatted as binary"),
    "o": (WHOLE, "octal clause can only be used on integers"),
    "x": HEX,
    "X": HEX,
}


def formatted(text: str, values: Sequence[Any]) -> str:
    for _, problem in mismatches(text, [kind_of(value).name for value in values]):
        raise CelError(problem)
    left = iter(values)
    return VERB.sub(lambda m: "%" if m[0] == "%%" else shown(m[2], next(left), m[1]), text)


def mismatches(text: str, kinds: Sequence[str]) -> Iterator[tuple[int | None, str]]:
    """What is wrong, and with which of the values; None where it is with the whole."""
    used = 0
    for match in VERB.finditer(text):
        verb = match[2]
        if match[0] == "%%":
            continue
        if verb is None:
            yield None, "unexpected end of string"
            return
        if used >= len(kinds):
            yield None, f"index {used} out of range"
            return
        if verb not in VERBS:
            yield None, f'could not parse formatting clause: unrecognized formatting clause "{verb}"'
            return
        accepted, complaint = VERBS[verb]
        if kinds[used] not in (*accepted, "dyn"):
            yield used, f"error during formatting: {complaint}, was given {kinds[used]}"
        used += 1
    if used < len(kinds):
        told = f"(expected {used}, got {len(kinds)})"
        yield None, f"too many arguments supplied to string.format {told}"


def shown(verb: str, value: Any, precision: str | None) -> str:
    match verb:
        case "s":
            return plain(value)
        case "d":
            return decimal(value) if isinstance(value, float) else str(int(value))
        case "f" | "e":
            return f"{float(value):.{int(precision) if precision else 6}{verb}}"
        case "b" | "o":
            return f"{int(value):{verb}}"
    made = (
        f"{int(value):x}" if numeric(value) else (value.encode() if isinstance(value, str) else value).hex()
    )
    return made.upper() if verb == "X" else made


def plain(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(nested, value))}]"
    if isinstance(value, dict):
        ordered = sorted((nested(key), nested(inner)) for key, inner in value.items())
        return "{" + ", ".join(f"{key}: {inner}" for key, inner in ordered) + "}"
    if isinstance(value, TypeName):
        return value.name
    return "null" if value is None else to_string(value)


def nested(value: Any) -> str:
    """A value inside of another, as one would write it in an expression."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, datetime | timedelta):
        return f'{"timestamp" if isinstance(value, datetime) else "duration"}("{to_string(value)}")'
    return plain(value)
