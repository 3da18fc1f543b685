"""Waits for a condition, never for a time: a wait that ends without its condition is a failure."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], T | None], *, what: str, limit: float = 60.0) -> T:
    """The first true answer of *condition*; raises `TimeoutError` that names *what* was waited for."""
    end = time.monotonic() + limit
    while True:
        if answer := condition():
            return answer
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not come true within {limit:g} s")
        time.sleep(0.02)
