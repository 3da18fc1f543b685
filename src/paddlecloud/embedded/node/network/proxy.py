"""The listeners of Services: one at every place that somebody stands behind, and nowhere else.

A Service without ready pods is refused by the kernel at once, but for one that is woken by a call: that call
is held. Connections that are open outlive any change of the routes; what changed holds for the next one.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from .... import log
from ....api.meta import Key
from .balancing import Turns
from .datagrams import DatagramRelay
from .reach import Machine, Reach, bound
from .relay import Caller, Desk
from .routing import Behind, Endpoint, Front, Routes

NOBODY = Behind()
WOKEN_WITHIN = 60.0
ASK_AGAIN = 5.0
"""Seconds without news after which a Deployment is woken once more."""
Wake = Callable[[Key], Awaitable[None]]
NO_VISITORS: Mapping[str, int] = {}


async def nobody_wakes(_: Key) -> None:
    pass


class Proxy:
    """Keeps the listeners that the routes ask for."""

    def __init__(
        self, reach: Reach | None = None, wake: Wake = nobody_wakes, visitors: Mapping[str, int] = NO_VISITORS
    ) -> None:
        self._reach = reach or Machine()
        self._wake = wake
        self._visitors = visitors
        """How many are with the pod of an address without having called here."""
        self.routes: Routes = {}
        self._changed = asyncio.Event()
        self._calls: dict[Key, float] = {}
        self._turns: dict[Front, Turns] = {}
        self._listeners: dict[Front, asyncio.Server | DatagramRelay] = {}
        self._desks: dict[Front, Desk] = {}
        self._refused: dict[Front, str] = {}
        self._log = log.logger("node.proxy")

    @property
    def refused(self) -> dict[Front, str]:
        """The places where this machine does not let us listen, and why."""
        return dict(self._refused)

    async def follow(self, wanted: Routes) -> None:
        """Listen where *wanted* says and nowhere else; connections that are open stay open."""
        self.routes = wanted
        self._changed.set()
        self._changed = asyncio.Event()
        served = {front for front, behind in wanted.items() if behind.endpoints or behind.wakes}
        for front in self._listeners.keys() - served:
            self._listeners.pop(front).close()
        for front in self._turns.keys() - wanted.keys():
            del self._turns[front]
        for front in [f for f, desk in self._desks.items() if f not in served and not desk.callers]:
            del self._desks[front]
        self._refused = {front: why for front, why in self._refused.items() if front in served}
        for front in sorted(served - self._listeners.keys()):
            try:
                self._listeners[front] = await self._listen(front)
                self._refused.pop(front, None)
            except OSError as error:
                self._complain(front, error.strerror or str(error))

    async def close(self) -> None:
        """Stop listening and hang up."""
        desks = list(self._desks.values())
        await self.follow({})
        for desk in desks:
            desk.hang_up()

    def _complain(self, front: Front, why: str) -> None:
        if self._refused.get(front) != why:
            self._log.warning("cannot listen on %s:%d/%s: %s", *front, why)
        self._refused[front] = why

    async def _listen(self, front: Front) -> asyncio.Server | DatagramRelay:
        loop = asyncio.get_running_loop()
        candidates = partial(self._candidates, front)
        place = Endpoint(front.host, front.port)
        if front.protocol == "UDP":
            _, relay = await loop.create_datagram_endpoint(
                lambda: DatagramRelay(candidates, self._reach),
                sock=bound(self._reach, place, socket.SOCK_DGRAM),
            )
            return relay
        answered = partial(self._answered, front)
        desk = self._desks.setdefault(
            front, Desk(candidates, answered, self._reach, partial(self._somebody, front))
        )
        listener = bound(self._reach, place, socket.SOCK_STREAM)
        return await loop.create_server(lambda: Caller(desk), sock=listener, backlog=1024)

    async def _somebody(self, front: Front) -> None:
        """Return when somebody stands behind *front*, or when it took too long."""
        key = self.routes.get(front, NOBODY).wakes
        if key is None:
            return
        self._calls[key] = now()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WOKEN_WITHIN):
                while not self.routes.get(front, NOBODY).endpoints:
                    changed = self._changed
                    await self._wake(key)
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(ASK_AGAIN):
                            await changed.wait()

    def last_calls(self, now: float) -> dict[Key, float]:
        """When those who are woken by calls were called last; now, for who is in a conversation."""
        for front, behind in self.routes.items():
            if behind.wakes:
                desk = self._desks.get(front)
                known = self._calls.setdefault(behind.wakes, now)
                visited = any(self._visitors.get(endpoint.host) for endpoint in behind.endpoints)
                self._calls[behind.wakes] = now if visited or (desk and desk.callers) else known
        return dict(self._calls)

    def _candidates(self, front: Front, client: str) -> list[Endpoint]:
        turns = self._turns.setdefault(front, Turns())
        return turns.candidates(self.routes.get(front, NOBODY), client, now())

    def _answered(self, front: Front, client: str, endpoint: Endpoint) -> None:
        turns = self._turns.setdefault(front, Turns())
        turns.answered(self.routes.get(front, NOBODY), client, endpoint, now())


def now() -> float:
    return asyncio.get_running_loop().time()
