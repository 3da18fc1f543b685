"""What all our WebSockets keep to: how large a message may be, and how a peer that went away is noticed.

While input is held up by somebody slow nothing is read, so nobody sees the other side go; writing to it now
and then does.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientWebSocketResponse, web

LARGEST = 32 * 1024 * 1024
"""Bytes of a message; clients of others send a whole file at once."""
PING_EVERY = 5.0

Socket = web.WebSocketResponse | ClientWebSocketResponse


def offered(request: web.Request) -> list[str]:
    """The subprotocols a client can speak, in its order."""
    said = ",".join(request.headers.getall("Sec-WebSocket-Protocol", []))
    return [name.strip() for name in said.split(",") if name.strip()]


def wants_websocket(request: web.Request) -> bool:
    return request.headers.get("Upgrade", "").lower() == "websocket"


async def accepted(request: web.Request, protocols: Sequence[str]) -> web.WebSocketResponse:
    """The WebSocket of *request*, open; speaks the first of *protocols*, or none when there are none."""
    socket = web.WebSocketResponse(protocols=protocols, max_msg_size=LARGEST, compress=False, timeout=2.0)
    await socket.prepare(request)
    return socket


@asynccontextmanager
async def kept(socket: Socket) -> AsyncIterator[None]:
    """Notice within the context when the other side is gone, even while nothing is read."""
    task = asyncio.create_task(ping(socket))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def ping(socket: Socket) -> None:
    while not socket.closed:
        await asyncio.sleep(PING_EVERY)
        with contextlib.suppress(ConnectionError, RuntimeError):
            await socket.ping()


async def first_of(*works: Any) -> None:
    """Run *works* until one of them is done; the others are cancelled. What one raises is raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
