"""Copies of requests for a canary: sent after the default has answered, compared with what it said.

Nobody waits for them, and at most `MOST` are under way: more are not begun. They count as requests of the
canary, so that its gate can be held against them before it has any requests of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import aiohttp
from multidict import CIMultiDict

from ..api.meta import Key
from ..errors import ApiError
from .comparing import alike
from .lanes import Lanes
from .routes import Backend

MOST = 8
LOST = 502
Answer = tuple[int, bytes]
"""Status and body."""


@dataclass(frozen=True)
class Copy:
    key: Key
    revision: Key
    method: str
    path: str
    headers: CIMultiDict[str]
    body: bytes


class Shadows:
    def __init__(self, lanes: Lanes, send: Callable[[Copy, Backend], Awaitable[Answer]]) -> None:
        self._lanes, self._send = lanes, send
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def full(self) -> bool:
        return len(self._tasks) >= MOST

    def begin(self, copy: Copy, said: Answer) -> None:
        """Ask the canary, too, and hold its answer against what was *said*."""
        task = asyncio.create_task(self._follow(copy, said))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self, copy: Copy, said: Answer) -> None:
        with self._lanes.place(copy.revision) as lane:
            began = time.perf_counter()
            try:
                backend = await self._lanes.pod(copy.revision, lane, ())
                with self._lanes.seat(lane, backend):
                    answer = await self._send(copy, backend)
            except (ApiError, aiohttp.ClientError, TimeoutError):
                answer = LOST, b""
            lane.tally.answered(answer[0], time.perf_counter() - began)
            lane.tally.compare(alike(said, answer))
