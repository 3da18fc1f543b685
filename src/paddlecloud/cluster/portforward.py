"""Ports of a pod on this machine, through any Kubernetes API.

One WebSocket carries SPDY, and SPDY carries two streams for each connection: one for errors, one for data.
There is no flow control in it: who takes nothing holds up everybody in the same WebSocket. So each connection
has one of its own (`alone`), and what slows it down slows down nobody else.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import aiohttp

from ..api.meta import Key
from ..errors import Failed
from . import spdy
from .kubeconfig import Access
from .requests import Place, Request, path_of
from .spdy import Frame, Kind
from .talking import conversation

PROTOCOL = "SPDY/3.1+portforward.k8s.io"
PIECE = 32 * 1024

Complain = Callable[[str], object]


@dataclass
class Line:
    writer: asyncio.StreamWriter
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Way(NamedTuple):
    """A local connection, and the port it is for."""

    port: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class Forwarder:
    """One pod; any number of its ports and connections."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, complain: Complain) -> None:
        self._socket, self._complain = socket, complain
        self._reader, self._writer = spdy.Reader(), spdy.Writer()
        self._next = 1
        self._lines: dict[int, Line] = {}
        self._errors: dict[int, bytes] = {}

    async def run(self) -> None:
        """Take in what the pod says, until the connection ends."""
        async for message in self._socket:
            if message.type is not aiohttp.WSMsgType.BINARY:
                break
            for frame in self._reader.frames(message.data):
                await self._take(frame)
        raise Failed("the connection to the pod was lost")

    async def carry(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Join a local connection to *port* of the pod, until both sides have ended."""
        errors, data = self._next, self._next + 2
        self._next += 4
        line = self._lines[data] = Line(writer)
        self._errors[errors] = b""
        said = {"port": str(port), "requestid": str(errors)}
        try:
            # Errors are only heard: our half of their stream is closed from the start.
            await self._send(self._writer.open(errors, {"streamtype": "error", **said}, fin=True))
            await self._send(self._writer.open(data, {"streamtype": "data", **said}))
            while piece := await reader.read(PIECE):
                await self._send(self._writer.data(data, piece))
            await self._send(self._writer.data(data, b"", fin=True))
            await line.ended.wait()
        except OSError:
            with contextlib.suppress(OSError):
                await self._send(self._writer.reset(data, spdy.CANCELLED))
        finally:
            self._lines.pop(data, None)
            self._errors.pop(errors, None)
            writer.close()

    async def _take(self, frame: Frame) -> None:
        line = self._lines.get(frame.stream)
        if frame.kind == Kind.DATA and line is not None:
            # Who has gone costs the others nothing; not every such error is a `ConnectionError`.
            with contextlib.suppress(OSError):
                if frame.data:
                    line.writer.write(frame.data)
                    await line.writer.drain()
                if frame.fin and line.writer.can_write_eof():
                    line.writer.write_eof()
            if frame.fin:
                line.ended.set()
        elif frame.kind == Kind.DATA and frame.stream in self._errors:
            self._errors[frame.stream] += frame.data
            if frame.fin and (complaint := self._errors.pop(frame.stream)):
                self._complain(complaint.decode(errors="replace"))
                if line := self._lines.get(frame.stream + 2):
                    line.writer.close()
        elif frame.kind == Kind.RST_STREAM and line is not None:
            line.writer.close()
            line.ended.set()
        elif frame.kind == Kind.PING:
            await self._send(self._writer.pong(frame.data))

    async def _send(self, data: bytes) -> None:
        await self._socket.send_bytes(data)


async def alone(
    access: Access, pod: Key, complain: Complain, way: Way, opened: Callable[[], object] = lambda: None
) -> None:
    """Join one local connection to a port of *pod*, until both sides have ended; raises a refusal.

    *opened* is called when the API has let us in; what the pod itself says against it is told.
    """
    try:
        async with forwarder(access, pod, complain) as made:
            opened()
            deeds = (made.run(), made.carry(way.port, way.reader, way.writer))
            works = [asyncio.ensure_future(deed) for deed in deeds]
            try:
                await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for work in works:
                    work.cancel()
                await asyncio.gather(*works, return_exceptions=True)
    finally:
        way.writer.close()


@asynccontextmanager
async def forwarder(access: Access, pod: Key, complain: Complain) -> AsyncIterator[Forwarder]:
    """A way to the ports of *pod*; raises what the server says against it."""
    request = Request("GET", path_of(Place("v1", "pods"), pod, "portforward"))
    async with conversation(access, request, (PROTOCOL,)) as socket:
        yield Forwarder(socket, complain)
