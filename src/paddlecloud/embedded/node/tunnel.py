"""Port-forwarding over SPDY in a WebSocket: any number of connections at once.

For each the client opens two streams with the same `requestid`: `error`, then `data`. Either side may close
its half of a connection and go on listening. A stream ends for both when both halves are closed or one resets
it. The protocol has no flow control: a connection that takes nothing any more holds up the tunnel once
`PATIENT_BYTES` wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import WSMsgType, web

from ...cluster import spdy
from ...cluster.spdy import Broken, Frame, Kind
from ...errors import Failed

Connect = Callable[[int], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
PIECE = 32 * 1024
PATIENT_BYTES = 4 * 1024 * 1024


@dataclass
class Line:
    """One forwarded connection, from the first byte that comes for it."""

    task: asyncio.Task[None]
    arriving: asyncio.Queue[bytes]
    """What the client sent; empty bytes are its end."""
    waiting: int = 0
    taken: asyncio.Event | None = None


class Tunnel:
    def __init__(self, socket: web.WebSocketResponse, connect: Connect) -> None:
        self._socket, self._connect = socket, connect
        self._reader, self._writer = spdy.Reader(), spdy.Writer()
        self._errors: dict[str, int] = {}
        """Streams for errors by `requestid`, until their data streams come."""
        self._lines: dict[int, Line] = {}

    async def run(self) -> None:
        """Forward until the client goes."""
        try:
            async for message in self._socket:
                if message.type is not WSMsgType.BINARY:
                    return
                for frame in self._reader.frames(message.data):
                    if not await self._take(frame):
                        return
        except (Broken, ConnectionError):
            return
        finally:
            tasks = [line.task for line in self._lines.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _take(self, frame: Frame) -> bool:
        match frame.kind:
            case Kind.SYN_STREAM:
                await self._open(frame)
            case Kind.DATA if line := self._lines.get(frame.stream):
                await self._deliver(line, frame)
            case Kind.RST_STREAM if line := self._lines.get(frame.stream):
                line.task.cancel()
            case Kind.PING:
                await self._socket.send_bytes(self._writer.pong(frame.data))
            case Kind.GOAWAY:
                return False
        return True

    async def _open(self, frame: Frame) -> None:
        said, request = frame.headers, frame.headers.get("requestid", "")
        port = said.get("port", "")
        if not port.isdecimal() or said.get("streamtype") not in ("error", "data"):
            await self._socket.send_bytes(self._writer.reset(frame.stream, spdy.REFUSED))
            return
        await self._socket.send_bytes(self._writer.reply(frame.stream))
        if said["streamtype"] == "error":
            self._errors[request] = frame.stream
            return
        arriving: asyncio.Queue[bytes] = asyncio.Queue()
        errors = self._errors.pop(request, 0)
        task = asyncio.create_task(self._forward(frame.stream, errors, int(port)))
        self._lines[frame.stream] = Line(task, arriving)
        task.add_done_callback(lambda _: self._lines.pop(frame.stream, None))

    async def _deliver(self, line: Line, frame: Frame) -> None:
        line.waiting += len(frame.data)
        if frame.data:
            line.arriving.put_nowait(frame.data)
        if frame.fin:
            line.arriving.put_nowait(b"")
        while line.waiting > PATIENT_BYTES and not line.task.done():
            line.taken = asyncio.Event()
            waits = [line.task, asyncio.ensure_future(line.taken.wait())]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            waits[1].cancel()

    async def _forward(self, stream: int, errors: int, port: int) -> None:
        line = self._lines[stream]
        try:
            reader, writer = await self._connect(port)
        except Failed as failure:
            await self._fail(stream, errors, failure.message)
            return
        try:
            sending = asyncio.create_task(self._send(line, writer))
            try:
                while data := await reader.read(PIECE):
                    await self._socket.send_bytes(self._writer.data(stream, data))
                await self._socket.send_bytes(self._writer.data(stream, b"", fin=True))
                if errors:
                    await self._socket.send_bytes(self._writer.data(errors, b"", fin=True))
                await sending
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
        except OSError as error:
            with contextlib.suppress(OSError):
                await self._fail(stream, errors, f"the connection to port {port} broke: {error}")
        finally:
            writer.close()

    async def _send(self, line: Line, writer: asyncio.StreamWriter) -> None:
        while data := await line.arriving.get():
            writer.write(data)
            await writer.drain()
            line.waiting -= len(data)
            if line.taken:
                line.taken.set()
        if writer.can_write_eof():
            writer.write_eof()

    async def _fail(self, stream: int, errors: int, message: str) -> None:
        if errors:
            await self._socket.send_bytes(self._writer.data(errors, message.encode(), fin=True))
        await self._socket.send_bytes(self._writer.data(stream, b"", fin=True))
