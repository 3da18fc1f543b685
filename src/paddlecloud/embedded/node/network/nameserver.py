"""The DNS server of the cluster: names of the cluster from memory, all others from the machine's resolvers.

Nothing is remembered but the silence of a resolver: while one does not answer, names of the world outside
fail at once instead of keeping every program waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from collections.abc import Callable
from typing import Any, cast

from .... import log
from . import dnswire
from .names import World, lookup
from .reach import Machine, Reach, bound
from .routing import Endpoint

PORTS = (53, 10053)
"""The second where the first is closed to us; callers are sent there by whoever sees their calls."""
PATIENCE = 2.0
SILENCE = 30.0
"""Seconds for which a resolver that did not answer is left alone."""
LONGEST = 65535
IDLE = 10.0


def machine_resolvers(text: str) -> tuple[Endpoint, ...]:
    """The resolvers that the resolv.conf *text* names, those of IPv4."""
    return tuple(Endpoint(found, 53) for found in re.findall(r"^\s*nameserver\s+([\d.]+)\s*$", text, re.M))


class Nameserver:
    def __init__(self, resolvers: tuple[Endpoint, ...] = (), reach: Reach | None = None) -> None:
        self._reach = reach or Machine()
        self.world = World()
        """What it answers from; replaced as a whole."""
        self._resolvers = resolvers
        self._silent: dict[Endpoint, float] = {}
        self._asking: set[asyncio.Task[None]] = set()
        self._open: list[asyncio.DatagramTransport | asyncio.Server] = []
        self._log = log.logger("node.dns")

    async def listen(self, host: str, ports: tuple[int, ...] = PORTS) -> int:
        """Answer at *host* by UDP and TCP on the first of *ports* that is free; returns it, 0: none is."""
        loop = asyncio.get_running_loop()
        why = ""
        for port in ports:
            try:
                listener = bound(self._reach, Endpoint(host, port), socket.SOCK_STREAM)
                server = await asyncio.start_server(self._serve, sock=listener)
            except OSError as error:
                why = error.strerror or str(error)
                continue
            port = int(server.sockets[0].getsockname()[1])
            try:
                answering = bound(self._reach, Endpoint(host, port), socket.SOCK_DGRAM)
                transport, _ = await loop.create_datagram_endpoint(lambda: Datagrams(self), sock=answering)
            except OSError as error:
                server.close()
                why = error.strerror or str(error)
                continue
            self._open += [server, transport]
            return port
        self._log.warning("names of the cluster cannot be served on %s: %s", host, why)
        return 0

    def close(self) -> None:
        for task in self._asking:
            task.cancel()
        for listener in self._open:
            listener.close()
        self._open = []

    def datagram(self, message: bytes, answer: Callable[[bytes], None]) -> None:
        """Answer *message*, at once if it is about the cluster."""
        reply = self._own(message, limited=True)
        if reply is not None:
            answer(reply)
            return

        async def ask() -> None:
            answer(await self._ask(message))

        task = asyncio.get_running_loop().create_task(ask())
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    def _own(self, message: bytes, limited: bool) -> bytes | None:
        """The answer, unless somebody else has to be asked."""
        try:
            question = dnswire.parse(message)
        except dnswire.Malformed:
            return dnswire.failure(message, dnswire.FORMAT_ERROR)
        limit = question.size if limited else 0
        try:
            found = lookup(question.name, question.kind, self.world)
        except LookupError:
            return dnswire.response(question, dnswire.NO_SUCH_NAME, (), limit)
        if found is None:
            return None
        return dnswire.response(question, dnswire.NO_ERROR, found, limit)

    async def _ask(self, message: bytes) -> bytes:
        """What the machine's resolvers say; a failure when none does."""
        loop = asyncio.get_running_loop()
        for resolver in self._resolvers:
            if loop.time() < self._silent.get(resolver, 0.0):
                continue
            try:
                async with asyncio.timeout(PATIENCE):
                    return await forwarded(message, resolver)
            except (OSError, TimeoutError):
                self._silent[resolver] = loop.time() + SILENCE
        return dnswire.response(dnswire.parse(message), dnswire.SERVER_FAILURE)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
            while True:
                async with asyncio.timeout(IDLE):
                    message = await reader.readexactly(int.from_bytes(await reader.readexactly(2), "big"))
                reply = self._own(message, limited=False)
                # Answers from outside that do not fit a datagram are cut off here, too.
                reply = (await self._ask(message) if reply is None else reply)[:LONGEST]
                writer.write(len(reply).to_bytes(2, "big") + reply)
                await writer.drain()
        writer.close()


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, server: Nameserver) -> None:
        self._server = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._server.datagram(data, lambda reply: self._send(reply, addr))

    def _send(self, reply: bytes, address: Any) -> None:
        if reply and not self._transport.is_closing():
            self._transport.sendto(reply, address)


class Waiting(asyncio.DatagramProtocol):
    """One question to one resolver."""

    def __init__(self, number: bytes) -> None:
        self._number = number
        self.reply: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def datagram_received(self, data: bytes, addr: Any) -> None:
        if data[:2] == self._number and not self.reply.done():
            self.reply.set_result(data)

    def error_received(self, exc: Exception) -> None:
        if not self.reply.done():
            self.reply.set_exception(exc)


async def forwarded(message: bytes, resolver: Endpoint) -> bytes:
    loop = asyncio.get_running_loop()
    transport, waiting = await loop.create_datagram_endpoint(
        lambda: Waiting(message[:2]), remote_addr=resolver
    )
    try:
        transport.sendto(message)
        return await waiting.reply
    finally:
        transport.close()
