"""The JSONPath of printer columns: fields, quoted keys, indexes, slices, one-field filters; pure."""

from __future__ import annotations

import functools
import re
from typing import Any

STEP = re.compile(
    r"""\.(?P<field>(?:\\.|[^.\[\]\\])+)
      |\[\s*['"](?P<key>[^'"]+)['"]\s*\]
      |\[(?P<index>-?\d+|\*)\]
      |\[(?P<from>-?\d+)?:(?P<to>-?\d+)?\]
      |\[\?\(\s*@\.(?P<name>[\w.-]+)\s*==\s*["'](?P<value>[^"']*)["']\s*\)\]""",
    re.VERBOSE,
)


@functools.cache
def steps(path: str) -> tuple[re.Match[str], ...] | None:
    """None where the path is none we understand."""
    found, position = [], 0
    while position < len(path):
        match = STEP.match(path, position)
        if not match:
            return None
        found.append(match)
        position = match.end()
    return tuple(found)


def first(body: Any, path: str) -> Any:
    """The first value at *path*, or None."""
    found = steps(path)
    if not found:
        return None
    values = [body]
    for step in found:
        values = [v for value in values for v in advance(value, step)]
    return values[0] if values else None


def advance(value: Any, step: re.Match[str]) -> list[Any]:
    key = step["key"] or (step["field"] and re.sub(r"\\(.)", r"\1", step["field"]))
    if key:
        return [value[key]] if isinstance(value, dict) and key in value else []
    if not isinstance(value, list):
        return []
    if step["index"] == "*":
        return value
    if step["index"]:
        index = int(step["index"])
        return [value[index]] if -len(value) <= index < len(value) else []
    if step["name"] is None:
        return value[bound(step["from"]) : bound(step["to"])]
    return [v for v in value if isinstance(v, dict) and str(v.get(step["name"])) == step["value"]]


def bound(number: str | None) -> int | None:
    return int(number) if number else None
