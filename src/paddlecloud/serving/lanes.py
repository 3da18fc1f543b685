"""The activator: who is asked next, and who waits until somebody can be asked.

A request has a place in the lane of its revision from its arrival to the end of its answer. While no pod can
take it, because there is none yet or all have as many requests as they may, it is held: in order, for no
longer than the revision says, and not more than `MOST` of them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from ..api.meta import Key
from ..errors import TooManyRequests, Unavailable
from .meter import Meter
from .routes import Backend, Fleet
from .tally import Tally

MOST = 1000
"""Requests held for one revision."""


class Lane:
    """The requests of one revision."""

    def __init__(self, now: float) -> None:
        self.meter = Meter(now)
        self.tally = Tally()
        self.busy: dict[Backend, int] = {}
        self.held: deque[asyncio.Future[None]] = deque()
        self.turns = 0
        """Requests that were given to a pod: the next one begins its search after the last pod."""


class Lanes:
    """*fleet* tells of the pods of a revision at any moment; *wake* asks for pods where there are none."""

    def __init__(
        self,
        fleet: Callable[[Key], Fleet | None],
        wake: Callable[[Key], None],
        clock: Callable[[], float],
    ) -> None:
        self._fleet, self._wake, self._clock = fleet, wake, clock
        self.lanes: dict[Key, Lane] = {}

    @contextmanager
    def place(self, revision: Key) -> Iterator[Lane]:
        """A place in the lane of a revision, for as long as the request takes."""
        lane = self.lanes.setdefault(revision, Lane(self._clock()))
        lane.meter.came(self._clock())
        try:
            yield lane
        finally:
            lane.meter.went(self._clock())

    @contextmanager
    def seat(self, lane: Lane, backend: Backend) -> Iterator[None]:
        """The pod is being asked."""
        lane.busy[backend] = lane.busy.get(backend, 0) + 1
        try:
            yield
        finally:
            lane.busy[backend] -= 1
            if not lane.busy[backend]:
                del lane.busy[backend]
            release(lane, 1)

    async def pod(self, revision: Key, lane: Lane, passed_over: Collection[Backend]) -> Backend:
        """The pod to ask: the least busy one that is not *passed_over*, when there is one.

        Raises `Unavailable` when none can come or none came in time, `TooManyRequests` for one request too
        many.
        """
        end: float | None = None
        while True:
            fleet = self._fleet(revision)
            if fleet is None or not fleet.usable:
                raise Unavailable(f"{revision} has no pod that is ready{because(fleet)}")
            if chosen := least_busy(fleet, lane, passed_over):
                lane.turns += 1
                return chosen
            if not fleet.wakes and not fleet.limit:
                raise Unavailable(f"{revision} has no pod that takes the request")
            if len(lane.held) >= MOST:
                raise TooManyRequests(f"{MOST} requests wait for {revision} already; try again later")
            end = end or self._clock() + fleet.timeout
            if not fleet.backends:
                self._wake(revision)
            if not await self._hold(lane, end - self._clock()):
                raise Unavailable(f"no pod of {revision} took the request within {fleet.timeout:g} s")

    async def _hold(self, lane: Lane, left: float) -> bool:
        """Wait until something has changed; whether it did in time."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lane.held.append(turn)
        try:
            async with asyncio.timeout(max(0.0, left)):
                await turn
        except TimeoutError:
            return False
        finally:
            if turn in lane.held:
                lane.held.remove(turn)
            elif turn.cancelled():
                # It was this one's turn, and it has gone: the next one's then.
                release(lane, 1)
        return True

    def moved(self, revision: Key) -> None:
        """The pods of *revision* are others than before: whoever is held for them looks again."""
        if lane := self.lanes.get(revision):
            release(lane, len(lane.held))

    def forget(self, living: Collection[Key]) -> None:
        """Drop the lanes of revisions that are gone and have nobody in them."""
        for key in [k for k, lane in self.lanes.items() if k not in living and not lane.meter.under_way]:
            del self.lanes[key]


def release(lane: Lane, many: int) -> None:
    for _ in range(many):
        while lane.held:
            turn = lane.held.popleft()
            if not turn.done():
                turn.set_result(None)
                break


def least_busy(fleet: Fleet, lane: Lane, passed_over: Collection[Backend]) -> Backend | None:
    """Of those that are equally busy, the one whose turn it is."""
    several, busy = len(fleet.backends), lane.busy
    free = [
        (busy.get(backend, 0), (number - lane.turns) % several, backend)
        for number, backend in enumerate(fleet.backends)
        if backend not in passed_over and not (fleet.limit and busy.get(backend, 0) >= fleet.limit)
    ]
    return min(free)[2] if free else None


def because(fleet: Fleet | None) -> str:
    return f": {fleet.trouble}" if fleet and fleet.trouble else "; `pdc why` says what it waits for"
