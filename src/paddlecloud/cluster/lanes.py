"""How many requests are under way at the same time: few while answers come soon, more while they do not.

Every lane is a connection sooner or later, and to open one costs both sides more than several requests do. A
burst therefore shares those that are open. A server that is slow for a reason of its own, such as a webhook,
is another matter: whoever has waited for *patience* opens a further lane, so that nobody holds others up.
"""

from __future__ import annotations

import asyncio
from types import TracebackType

FIRST = 16
PATIENCE = 0.25


class Lanes:
    """`async with lanes:` around one request."""

    def __init__(self, first: int = FIRST, patience: float = PATIENCE) -> None:
        self.count = first
        """Lanes so far."""
        self._patience = patience
        self._free = asyncio.Semaphore(first)

    async def __aenter__(self) -> None:
        if not self._free.locked():
            await self._free.acquire()
            return
        try:
            async with asyncio.timeout(self._patience):
                await self._free.acquire()
        except TimeoutError:
            # A further one, which is free for others once this request leaves it.
            self.count += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._free.release()
