"""The listeners of Services: one at every place that somebody stands behind, and nowhere else.

A Service without ready pods is refused by the kernel at once. Connections that are open outlive any change
of the routes; what changed holds for the next one.
"""

from __future__ import annotations

import asyncio
import socket
from functools import partial

from .... import log
from .balancing import Turns
from .datagrams import DatagramRelay
from .reach import Machine, Reach, bound
from .relay import Caller, Desk
from .routing import Behind, Endpoint, Front, Routes

NOBODY = Behind()


class Proxy:
    """Keeps the listeners that the routes ask for."""

    def __init__(self, reach: Reach | None = None) -> None:
        self._reach = reach or Machine()
        self._routes: Routes = {}
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
        self._routes = wanted
        served = {front for front, behind in wanted.items() if behind.endpoints}
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
        desk = self._desks.setdefault(front, Desk(candidates, answered, self._reach))
        listener = bound(self._reach, place, socket.SOCK_STREAM)
        return await loop.create_server(lambda: Caller(desk), sock=listener, backlog=1024)

    def _candidates(self, front: Front, client: str) -> list[Endpoint]:
        turns = self._turns.setdefault(front, Turns())
        return turns.candidates(self._routes.get(front, NOBODY), client, now())

    def _answered(self, front: Front, client: str, endpoint: Endpoint) -> None:
        turns = self._turns.setdefault(front, Turns())
        turns.answered(self._routes.get(front, NOBODY), client, endpoint, now())


def now() -> float:
    return asyncio.get_running_loop().time()
