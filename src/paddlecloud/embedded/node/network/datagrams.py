"""Datagrams passed on: a client's go to one endpoint from a socket of its own, the answers come back.

A client that says nothing for a minute is forgotten, and no more than a thousand are remembered: the one
that was silent for the longest time makes room.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterable
from typing import Any, cast

from .reach import Machine, Reach, connected
from .routing import Endpoint

Address = tuple[str, int]
SILENCE = 60.0
MOST = 1000
WAITING = 64
"""Datagrams of one client kept while its socket is being made; more are lost, as on any network."""


class Backward(asyncio.DatagramProtocol):
    """The socket of one client towards its endpoint."""

    def __init__(self, relay: DatagramRelay, client: Address) -> None:
        self._relay, self._client = relay, client

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._relay.answer(data, self._client)

    def error_received(self, exc: Exception) -> None:
        # The endpoint refuses: the next datagram of this client looks for another.
        self._relay.forget(self._client)


class Conversation:
    """What is known of one client."""

    def __init__(self, heard: float) -> None:
        self.heard = heard
        self.waiting: list[bytes] = []
        self.transport: asyncio.DatagramTransport | None = None
        self.opening: asyncio.Task[None] | None = None

    def close(self) -> None:
        if self.opening:
            self.opening.cancel()
        if self.transport:
            self.transport.close()


class DatagramRelay(asyncio.DatagramProtocol):
    """The listener of one place of a Service."""

    def __init__(self, candidates: Callable[[str], Iterable[Endpoint]], reach: Reach | None = None) -> None:
        self._candidates, self._reach = candidates, reach or Machine()
        self._talks: dict[Address, Conversation] = {}
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        loop = asyncio.get_running_loop()
        talk = self._talks.pop(addr, None) or Conversation(loop.time())
        # Put back at the end: the first is the one silent for the longest time.
        self._talks[addr] = talk
        talk.heard = loop.time()
        self._drop_silent(loop.time())
        if talk.transport is not None:
            talk.transport.sendto(data)
            return
        if len(talk.waiting) < WAITING:
            talk.waiting.append(data)
        if talk.opening is None:
            talk.opening = loop.create_task(self._open(addr, talk))

    def answer(self, data: bytes, client: Address) -> None:
        if self._transport is not None and client in self._talks:
            self._talks[client].heard = asyncio.get_running_loop().time()
            self._transport.sendto(data, client)

    def forget(self, client: Address) -> None:
        if talk := self._talks.pop(client, None):
            talk.close()

    def close(self) -> None:
        for client in list(self._talks):
            self.forget(client)
        if self._transport:
            self._transport.close()

    async def _open(self, client: Address, talk: Conversation) -> None:
        loop = asyncio.get_running_loop()
        for endpoint in self._candidates(client[0]):
            with contextlib.suppress(OSError):
                connection = await connected(self._reach, endpoint, socket.SOCK_DGRAM)
                transport, _ = await loop.create_datagram_endpoint(
                    lambda: Backward(self, client), sock=connection
                )
                talk.transport, talk.opening = transport, None
                for data in talk.waiting:
                    transport.sendto(data)
                talk.waiting = []
                return
        talk.opening = None
        self.forget(client)

    def _drop_silent(self, now: float) -> None:
        while self._talks:
            first = next(iter(self._talks))
            if len(self._talks) <= MOST and now - self._talks[first].heard <= SILENCE:
                return
            self.forget(first)
