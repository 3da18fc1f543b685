"""A limit on bytes a second for all workers together; who is ahead waits, and can be ended meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

SLICE = 0.2


class Throttle:
    """*megabits* a second; 0 is no limit."""

    def __init__(
        self,
        megabits: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._rate = megabits * 1_000_000 / 8
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._free_at = clock()
        """When all that was taken will have gone by at the rate."""

    @property
    def limited(self) -> bool:
        return bool(self._rate)

    def take(self, size: int, check: Callable[[], None]) -> None:
        """Return when *size* bytes more may go by; *check* is called while waiting and may raise."""
        if not self._rate:
            return
        with self._lock:
            begin = max(self._free_at, self._clock())
            self._free_at = begin + size / self._rate
        while (left := begin - self._clock()) > 0:
            check()
            self._sleep(min(left, SLICE))
