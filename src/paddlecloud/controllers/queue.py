"""Which object is looked at next: one date a key, never two looks at one key at a time.

`Schedule` is the arithmetic and knows the time only as an argument; `Queue` waits for it.
A key that is woken ten times before its turn is looked at once; woken during its look, once more after.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from contextlib import suppress

from ..api.meta import Key
from ..cluster.retries import delay

FIRST_DELAY = 0.05
LONGEST_DELAY = 30.0


class Queue:
    """Hands out keys when they are due; every key taken is given back by `succeeded` or `failed`."""

    def __init__(self, clock: Callable[[], float], luck: Callable[[], float]) -> None:
        self._schedule = Schedule()
        self._clock, self._luck = clock, luck
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._schedule)

    def resting(self, seconds: float) -> bool:
        """Whether nobody is looked at, and nobody will be within that time unless something happens."""
        return self._schedule.resting(self._clock() + seconds)

    def wake(self, key: Key) -> None:
        """Look at *key* as soon as possible."""
        self._schedule.wake(key, self._clock())
        self._changed.set()

    async def take(self) -> Key:
        while True:
            now = self._clock()
            key = self._schedule.take(now)
            if key is not None:
                return key
            due = self._schedule.next_due()
            self._changed.clear()
            with suppress(TimeoutError):
                # Not wait_for: in Python 3.11 it loses a cancellation that comes together with a wake.
                async with asyncio.timeout(None if due is None else max(0.0, due - now)):
                    await self._changed.wait()

    def succeeded(self, key: Key, again: float | None, rest: float = 0.0) -> None:
        """Give the key back, to be looked at in *again* seconds at the latest (None: when it is woken).

        Within *rest* seconds it is not looked at: what wakes it meanwhile is seen afterwards.
        """
        now = self._clock()
        self._schedule.succeeded(key, None if again is None else now + again, now + rest if rest else None)
        self._changed.set()

    def failed(self, key: Key, longest: float = LONGEST_DELAY) -> None:
        """Give the key back, to be looked at again after a while that grows with every failure."""
        self._schedule.failed(key, self._clock(), self._luck(), longest)
        self._changed.set()


class Schedule:
    def __init__(self) -> None:
        self._due: dict[Key, float] = {}
        self._active: set[Key] = set()
        self._failures: dict[Key, int] = {}
        self._rested: dict[Key, float] = {}
        """When those that rest may be looked at again."""
        self._heap: list[tuple[float, int, Key]] = []
        self._order = itertools.count()

    def __len__(self) -> int:
        """Keys with a date, near or far."""
        return len(self._due)

    def wake(self, key: Key, at: float) -> None:
        """Look at *key* at that time, or earlier if that was planned; not while it rests."""
        at = max(at, self._rested.get(key, at))
        if key in self._due and self._due[key] <= at:
            return
        self._due[key] = at
        self._push(key)

    def take(self, now: float) -> Key | None:
        """The key that is due longest and not being looked at."""
        self._drop_stale()
        if not self._heap or self._heap[0][0] > now:
            return None
        _, _, key = heapq.heappop(self._heap)
        del self._due[key]
        self._rested.pop(key, None)
        self._active.add(key)
        return key

    def next_due(self) -> float | None:
        self._drop_stale()
        return self._heap[0][0] if self._heap else None

    def resting(self, until: float) -> bool:
        due = self.next_due()
        return not self._active and (due is None or due > until)

    def succeeded(self, key: Key, again: float | None, rested: float | None = None) -> None:
        self._failures.pop(key, None)
        if rested is not None:
            self._rested[key] = rested
        self._release(key, again)

    def failed(self, key: Key, now: float, luck: float, longest: float = LONGEST_DELAY) -> None:
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        self._release(key, now + delay(failures, luck, first=FIRST_DELAY, longest=longest))

    def _release(self, key: Key, at: float | None) -> None:
        self._active.discard(key)
        if key in self._due:
            # Woken while it was looked at.
            self._due[key] = max(self._due[key], self._rested.get(key, self._due[key]))
            self._push(key)
        if at is not None:
            self.wake(key, at)

    def _push(self, key: Key) -> None:
        if key not in self._active:
            heapq.heappush(self._heap, (self._due[key], next(self._order), key))

    def _drop_stale(self) -> None:
        """Entries that were overtaken by an earlier date, or whose key is being looked at, mean nothing."""
        while self._heap and (
            self._due.get(self._heap[0][2]) != self._heap[0][0] or self._heap[0][2] in self._active
        ):
            heapq.heappop(self._heap)
