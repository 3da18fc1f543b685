"""Whether two servers answer alike: the same JSON, numbers as near as engines compute them; pure."""

from __future__ import annotations

import math
from typing import Any

import orjson

RELATIVE, ABSOLUTE = 1e-3, 1e-5
MARKS = ("isCanary", "model_version", "id")
"""What may differ by its nature: who answers, and the number of the request."""


def alike(one: tuple[int, bytes], other: tuple[int, bytes]) -> bool:
    """Status and body of two answers."""
    if one[0] != other[0]:
        return False
    try:
        return near(orjson.loads(one[1]), orjson.loads(other[1]))
    except orjson.JSONDecodeError:
        return one[1] == other[1]


def near(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if isinstance(one, dict) and isinstance(other, dict):
        names = {*one, *other}.difference(MARKS)
        return all(name in one and name in other and near(one[name], other[name]) for name in names)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(near, one, other))
    return bool(one == other)
