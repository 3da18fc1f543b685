"""A client that costs as little as a Python client can: prepared bytes out, a length or chunks in.

Both servers are asked by this same client over TLS with keep-alive, so that what differs is the server.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Target:
    """One server, its authority and a token it knows."""

    server: str
    ca: str
    token: str

    @property
    def host(self) -> str:
        return str(urlsplit(self.server).hostname)

    @property
    def port(self) -> int:
        return int(urlsplit(self.server).port or 443)

    def request(
        self, method: str, path: str, body: object = None, *, accept: str = "application/json", kind: str = ""
    ) -> bytes:
        content = b"" if body is None else json.dumps(body).encode()
        head = [
            f"{method} {path} HTTP/1.1",
            f"Host: {self.host}:{self.port}",
            f"Authorization: Bearer {self.token}",
            f"Accept: {accept}",
            f"Content-Type: {kind or 'application/json'}",
            f"Content-Length: {len(content)}",
        ]
        return ("\r\n".join(head) + "\r\n\r\n").encode() + content


class Connection(asyncio.Protocol):
    """One request at a time; resolves to the status and the size of the answer."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._done: asyncio.Future[tuple[int, int]] | None = None
        self._transport: asyncio.Transport | None = None
        self.last = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport is one, though not by inheritance.
        self._transport = cast(asyncio.Transport, transport)

    def ask(self, request: bytes) -> asyncio.Future[tuple[int, int]]:
        assert self._transport
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._done

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[:end]).lower()
        body = end + 4
        at = head.find(b"content-length:")
        if at >= 0:
            length = int(head[at + 15 : head.find(b"\r\n", at) if b"\r\n" in head[at:] else None])
            if len(self._buffer) - body < length:
                return
            size = length
        elif b"transfer-encoding: chunked" in head:
            if not self._buffer.endswith(b"0\r\n\r\n"):
                return
            size = len(self._buffer) - body
        else:
            size = 0
        status = int(head[9:12])
        self.last = bytes(self._buffer[body:])
        self._buffer.clear()
        if self._done and not self._done.done():
            self._done.set_result((status, size))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._done and not self._done.done():
            self._done.set_exception(exc or ConnectionError("the server hung up"))

    def close(self) -> None:
        if self._transport:
            self._transport.close()


async def connect(target: Target) -> Connection:
    context = ssl.create_default_context(cadata=target.ca)
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(Connection, target.host, target.port, ssl=context)
    return connection


@dataclass
class Measured:
    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    """Milliseconds of each request."""
    size: int = 0

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds

    def percentile(self, share: float) -> float:
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def load(
    target: Target, requests: Iterator[bytes], connections: int, accept: Callable[[int], bool]
) -> Measured:
    """Send all requests over that many connections, each as soon as the one before was answered."""
    measured = Measured()
    opened = [await connect(target) for _ in range(connections)]

    async def work(connection: Connection) -> None:
        for request in requests:
            began = time.perf_counter()
            status, size = await connection.ask(request)
            measured.times.append((time.perf_counter() - began) * 1000)
            if not accept(status):
                raise RuntimeError(f"the server answered {status}: {connection.last[:300]!r}")
            measured.size = size

    began = time.perf_counter()
    await asyncio.gather(*(work(c) for c in opened))
    measured.seconds = time.perf_counter() - began
    for connection in opened:
        connection.close()
    return measured
