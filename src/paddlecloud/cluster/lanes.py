"""How many requests are under way at the same time: few while answers come soon, more while they do not.

Every lane is a connection sooner or later, and to open one costs both sides more than several requests do. A
burst therefore shares those that are open. A server that is slow for a reason of its own, such as a webhook,
is another matter: a request that has no answer after *patience* gives up its lane, and holds up nobody.
"""

from __future__ import annotations

import asyncio
from types import TracebackType

FIRST = 16
PATIENCE = 0.25


class Lanes:
    def __init__(self, count: int = FIRST, patience: float = PATIENCE) -> None:
        self.count = count
        self._patience = patience
        self._free = asyncio.Semaphore(count)

    def one(self) -> Lane:
        """`async with lanes.one():` around one request."""
        return Lane(self._free, self._patience)


class Lane:
    """A place among those that are waited for, until the end of the request or of patience with it."""

    def __init__(self, free: asyncio.Semaphore, patience: float) -> None:
        self._free, self._patience = free, patience
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> None:
        await self._free.acquire()
        self._timer = asyncio.get_running_loop().call_later(self._patience, self._leave)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._free.release()
