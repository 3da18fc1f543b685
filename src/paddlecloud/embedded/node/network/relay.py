"""A connection passed on: what one side says goes out at the other, half-closes and back-pressure included.

A piece of data costs one call and no task. Neither side is closed before what it was sent has gone out, and
a side that breaks breaks the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable, Iterable
from typing import cast

from .reach import Machine, Reach, connected
from .routing import Endpoint

CONNECT_WITHIN = 5.0
RESET = struct.pack("ii", 1, 0)


class Side(asyncio.Protocol):
    """One end of a relayed connection."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.other: Side | None = None
        self.ended = False
        """Whether this end has said all it will say."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports behave as asyncio's without being of that class.
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        other = self.other
        if other is not None and other.transport is not None:
            other.transport.write(data)

    def eof_received(self) -> bool:
        self.ended = True
        if self.other is None or self.other.transport is None or self.other.transport.is_closing():
            return False
        self.other.transport.write_eof()
        if self.other.ended:
            self.other.transport.close()
        # Until the other end has ended too, its answer may still be on its way to this one.
        return not self.other.ended

    def pause_writing(self) -> None:
        if self.other and self.other.transport and not self.other.transport.is_closing():
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other and self.other.transport and not self.other.transport.is_closing():
            self.other.transport.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        other, self.other = self.other, None
        if other and other.transport:
            other.other = None
            if error is not None:
                other.transport.abort()
            else:
                other.transport.close()


class Desk:
    """What callers ask of the one who let them in: whom to try, and who is there."""

    def __init__(
        self,
        candidates: Callable[[str], Iterable[Endpoint]],
        answered: Callable[[str, Endpoint], None] = lambda client, endpoint: None,
        reach: Reach | None = None,
        somebody: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.candidates, self.answered, self.reach = candidates, answered, reach or Machine()
        self.somebody = somebody
        """Returns when there is somebody to try; None: nobody is waited for."""
        self.callers: set[Caller] = set()

    def hang_up(self) -> None:
        for caller in list(self.callers):
            caller.hang_up()


class Caller(Side):
    """The side that called; what it says before an endpoint has answered waits, and is little."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._early: list[bytes] = []
        self._dialling: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._desk.callers.add(self)
        self._dialling = asyncio.get_running_loop().create_task(self._dial())

    def data_received(self, data: bytes) -> None:
        if self.other is None and self.transport is not None:
            # Only now: uvloop begins to read after `connection_made`, whatever was asked for in it.
            self.transport.pause_reading()
            self._early.append(data)
        else:
            super().data_received(data)

    def eof_received(self) -> bool:
        if self.other is None:
            self.ended = True
            return True
        return super().eof_received()

    def connection_lost(self, error: Exception | None) -> None:
        self._desk.callers.discard(self)
        if self._dialling:
            self._dialling.cancel()
        super().connection_lost(error)

    def candidates(self, client: str) -> Iterable[Endpoint]:
        return self._desk.candidates(client)

    def hang_up(self) -> None:
        for side in (self, self.other):
            if side and side.transport:
                side.transport.abort()

    async def _dial(self) -> None:
        assert self.transport is not None
        loop = asyncio.get_running_loop()
        client = str((self.transport.get_extra_info("peername") or ("",))[0])
        if self._desk.somebody is not None:
            await self._desk.somebody()
        for endpoint in self.candidates(client):
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(CONNECT_WITHIN):
                    connection = await connected(self._desk.reach, endpoint)
                    _, callee = await loop.create_connection(Side, sock=connection)
                self._desk.answered(client, endpoint)
                self._connect(callee)
                return
        refuse(self.transport)

    def _connect(self, callee: Side) -> None:
        assert self.transport is not None and callee.transport is not None
        self.other, callee.other = callee, self
        for data in self._early:
            callee.transport.write(data)
        self._early = []
        if self.ended:
            callee.transport.write_eof()
        else:
            self.transport.resume_reading()


def refuse(transport: asyncio.Transport) -> None:
    """Reset the connection: a caller must not take "nobody is there" for an empty answer."""
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    transport.abort()
