"""HTTP/1.1 for a model server: whole requests in, whole answers out, nothing held that nobody waits for.

One request of a connection is answered at a time. Every state in which the client has to do something has a
time limit; a body is refused as soon as it is known to be too long; a client that goes away cancels the work
on its request.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast

import httptools  # type: ignore[import-not-found,unused-ignore]

JSON = b"application/json"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
REASONS = {int(status): status.phrase.encode() for status in HTTPStatus}
HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


@dataclass(frozen=True)
class Limits:
    """Of one request; seconds and bytes."""

    body: int = 64 << 20
    head: int = 64 << 10
    head_time: float = 10.0
    body_time: float = 30.0
    """Beside a second for each MiB of the length that was announced."""
    idle_time: float = 90.0
    linger: float = 2.0
    """For the rest of what was refused: a client that still writes does not read."""


@dataclass
class Request:
    method: str
    path: str
    headers: dict[bytes, bytes]
    """Names in lower case; of several of one name the last."""
    body: bytes
    keep_alive: bool

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")


@dataclass
class Response:
    status: int
    body: bytes
    content_type: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def written(self, keep_alive: bool) -> bytes:
        head = [
            b"HTTP/1.1 %d %b\r\ncontent-type: %b\r\ncontent-length: %d\r\n"
            % (self.status, REASONS.get(self.status, b""), self.content_type, len(self.body))
        ]
        head += [b"%b: %b\r\n" % pair for pair in self.headers]
        head.append(b"\r\n" if keep_alive else b"connection: close\r\n\r\n")
        head.append(self.body)
        return b"".join(head)


Answer = Callable[[Request], Awaitable[Response]]
Refuse = Callable[[int, str], Response]
"""The answer to what never became a request."""


@dataclass
class Listener:
    """What the connections of one server share."""

    answer: Answer
    refuse: Refuse
    limits: Limits = field(default_factory=Limits)
    handed_over: Callable[[asyncio.Transport, bytes], None] | None = None
    """Takes a connection that begins with HTTP/2."""
    closing: bool = False
    connections: set[Connection] = field(default_factory=set)

    def connection(self) -> Connection:
        return Connection(self)

    async def watch(self) -> None:
        """Ends connections whose time is over; runs until cancelled."""
        loop = asyncio.get_running_loop()
        every = min(1.0, self.limits.head_time / 4, self.limits.body_time / 4)
        while True:
            await asyncio.sleep(every)
            now = loop.time()
            for connection in [c for c in self.connections if c.deadline < now]:
                connection.expire()

    async def drain(self, seconds: float) -> None:
        """Let the requests under way be answered, then close what is left."""
        self.closing = True
        for connection in list(self.connections):
            if connection.task is None:
                connection.close()
        tasks = [c.task for c in self.connections if c.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for connection in list(self.connections):
            connection.close()


class Connection(asyncio.Protocol):
    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.limits = listener.limits
        self.loop = asyncio.get_running_loop()
        self.parser: Any = httptools.HttpRequestParser(self)
        self.pending: deque[Request] = deque()
        self.task: asyncio.Task[None] | None = None
        self.deadline = math.inf
        self.refused = False
        self.reading = False
        self.paused = False
        self.full = False
        self.begun = False
        self.reset()

    def reset(self) -> None:
        self.url = b""
        self.headers: dict[bytes, bytes] = {}
        self.chunks: list[bytes] = []
        self.head_size = self.size = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.listener.connections.add(self)
        self.deadline = self.loop.time() + self.limits.head_time

    def connection_lost(self, error: Exception | None) -> None:
        self.listener.connections.discard(self)
        self.deadline = math.inf
        if self.task is not None:
            self.task.cancel()

    def data_received(self, data: bytes) -> None:
        if self.refused:
            return
        if not self.begun:
            self.begun = True
            if data.startswith(HTTP2) and self.listener.handed_over:
                self.listener.connections.discard(self)
                self.deadline = math.inf
                self.listener.handed_over(self.transport, data)
                return
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # Only HTTP/1.1 is spoken: the request is answered as if nothing else had been offered.
            pass
        except httptools.HttpParserError as error:
            self.refuse(400, f"this is no HTTP/1.1 request: {error}")

    # What httptools calls.

    def on_message_begin(self) -> None:
        self.reset()
        self.reading = True
        if self.task is None:
            self.deadline = self.loop.time() + self.limits.head_time

    def on_url(self, url: bytes) -> None:
        self.url += url
        self.count_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.lower()] = value
        self.count_head(len(name) + len(value))

    def count_head(self, size: int) -> None:
        self.head_size += size
        if self.head_size > self.limits.head:
            self.refuse(431, f"the head of a request may have at most {self.limits.head >> 10} KiB")

    def on_headers_complete(self) -> None:
        length = self.headers.get(b"content-length", b"0")
        announced = int(length) if length.isdigit() else 0
        if announced > self.limits.body:
            self.refuse_body()
            return
        if self.task is None:
            self.deadline = self.loop.time() + self.limits.body_time + announced / (1 << 20)
        if self.headers.get(b"expect", b"").lower() == b"100-continue" and not self.refused:
            self.transport.write(CONTINUE)

    def on_body(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > self.limits.body:
            self.chunks.clear()
            self.refuse_body()
        elif not self.refused:
            self.chunks.append(data)

    def on_message_complete(self) -> None:
        if self.refused:
            return
        self.reading = False
        body = self.chunks[0] if len(self.chunks) == 1 else b"".join(self.chunks)
        self.chunks = []
        method = self.parser.get_method().decode("latin-1")
        keep_alive = self.parser.should_keep_alive() and not self.parser.should_upgrade()
        path = httptools.parse_url(self.url).path if self.url[:1] == b"/" else self.url
        text = (path or b"").decode("utf-8", "replace")
        self.pending.append(Request(method, text, self.headers, body, keep_alive))
        self.advance()

    # Answers.

    def advance(self) -> None:
        """Begin with the next request, if there is one and nothing is before it."""
        if self.task is not None or self.full:
            return
        if self.pending:
            self.deadline = math.inf
            self.task = self.loop.create_task(self.work(self.pending.popleft()))
            if self.pending and not self.paused:
                self.paused = True
                self.transport.pause_reading()
        elif not self.refused:
            limit = self.limits.head_time if self.reading else self.limits.idle_time
            self.deadline = self.loop.time() + limit
            if self.paused:
                self.paused = False
                self.transport.resume_reading()

    async def work(self, request: Request) -> None:
        response = await self.listener.answer(request)
        self.task = None
        keep_alive = request.keep_alive and not self.listener.closing
        self.transport.write(response.written(keep_alive))
        if not keep_alive:
            self.close()
        else:
            self.advance()

    def refuse_body(self) -> None:
        self.refuse(413, f"a request may have at most {self.limits.body >> 20} MiB")

    def refuse(self, status: int, message: str) -> None:
        """Answer what is no request, and end the connection when the client has had time to read it."""
        if self.refused:
            return
        self.refused = True
        if self.task is None:
            self.transport.write(self.listener.refuse(status, message).written(keep_alive=False))
            self.transport.write_eof()
        self.deadline = self.loop.time() + self.limits.linger

    def expire(self) -> None:
        if self.reading and not self.refused and self.task is None:
            self.refuse(408, "the request did not arrive in time")
        self.close()

    def close(self) -> None:
        self.transport.close()

    def pause_writing(self) -> None:
        self.full = True
        self.deadline = self.loop.time() + self.limits.idle_time

    def resume_writing(self) -> None:
        self.full = False
        self.advance()
