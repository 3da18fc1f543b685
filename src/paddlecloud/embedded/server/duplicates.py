"""Fields that a JSON body says more than once: parsers forgive it, strict validation does not; pure."""

from __future__ import annotations

import json
import re
from typing import Any

KEY = re.compile(rb'"\s*:')
NESTED = (dict, list)


def duplicates(content: bytes, body: Any) -> list[str]:
    """The paths of all such fields, in order; *body* is what the content was parsed to."""
    # A colon behind a quote may also stand inside a text: then the careful way is taken for nothing.
    keys = keys_in(body)
    if content.count(b'":') == keys or len(KEY.findall(content)) == keys:
        return []
    found: list[str] = []
    try:
        walk(json.loads(content, object_pairs_hook=Pairs), "", found)
    except RecursionError:
        return []  # so deep that no kind can hold it: refused where it is cast
    return found


class Pairs(list[tuple[str, Any]]):
    """An object with everything that was said."""


def keys_in(value: Any) -> int:
    count, waiting = 0, [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            count += len(here)
            waiting += [v for v in here.values() if isinstance(v, NESTED)]
        elif isinstance(here, list):
            waiting += [v for v in here if isinstance(v, NESTED)]
    return count


def walk(value: Any, path: str, found: list[str]) -> None:
    if isinstance(value, Pairs):
        seen: set[str] = set()
        for key, inner in value:
            here = f"{path}.{key}" if path else key
            if key in seen:
                found.append(here)
            seen.add(key)
            walk(inner, here, found)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            walk(inner, f"{path}[{i}]", found)
