"""Ports of a pod over a WebSocket, in the two ways clients know.

`SPDY/3.1+portforward.k8s.io`: the messages are one stream of SPDY, with two streams for every connection
(`tunnel`). `v4.channel.k8s.io` and none: two channels for each port of the query, one for its data and one
for errors, and one connection a port. Everything is passed on as it comes; a slow side slows down the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections import Counter

from aiohttp import WSMsgType, web

from ...errors import Failed
from .. import websockets
from . import dialects
from .dialects import Dialect
from .dialing import Door, Ways, dial
from .podfolder import PodFolder, Record
from .targets import FindPod, pod_of
from .tunnel import Tunnel

TUNNEL = "SPDY/3.1+portforward.k8s.io"
PIECE = 32 * 1024
HIGHEST_PORT = 65535


class Forwarding:
    def __init__(self, find: FindPod, ways: Ways, visitors: Counter[str]) -> None:
        self._find, self._ways = find, ways
        self._visitors = visitors
        """How many are connected with the pod of an address."""

    async def forward(self, request: web.Request) -> web.StreamResponse:
        folder, record = pod_of(self._find, request)
        self._visitors[record.address] += 1
        try:
            return await self._forwarded(request, folder, record)
        finally:
            self._visitors[record.address] -= 1
            if not self._visitors[record.address]:
                del self._visitors[record.address]

    async def _forwarded(self, request: web.Request, folder: PodFolder, record: Record) -> web.StreamResponse:
        if not websockets.wants_websocket(request):
            raise web.HTTPBadRequest(text="Upgrade request required")

        async def connect(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            return await opened(Door(folder, record, port), self._ways)

        offered = websockets.offered(request)
        if TUNNEL in offered:
            socket = await websockets.accepted(request, [TUNNEL])
            async with websockets.kept(socket):
                await Tunnel(socket, connect).run()
        else:
            dialect, ports = dialects.chosen(offered), ports_of(request)
            if dialect is None:
                raise web.HTTPBadRequest(text=f"none of {', '.join(offered)} is spoken here; {TUNNEL} is")
            socket = await websockets.accepted(request, [dialect.name] if dialect.name else [])
            async with websockets.kept(socket):
                await self._channels(socket, dialect, ports, (folder, record))
        await socket.close()
        return socket

    async def _channels(
        self, socket: web.WebSocketResponse, dialect: Dialect, ports: list[int], pod: tuple[PodFolder, Record]
    ) -> None:
        writers: dict[int, asyncio.StreamWriter] = {}
        async with contextlib.AsyncExitStack() as stack:
            pumps = []
            for index, port in enumerate(ports):
                for channel in (2 * index, 2 * index + 1):
                    await send(socket, dialect.encode(channel, struct.pack("<H", port)))
                try:
                    reader, writer = await opened(Door(*pod, port), self._ways)
                except Failed as failure:
                    await send(socket, dialect.encode(2 * index + 1, failure.message.encode()))
                    continue
                stack.callback(writer.close)
                writers[2 * index] = writer
                pumps.append(outgoing(socket, dialect, 2 * index, reader))
            if pumps:
                with contextlib.suppress(ConnectionError):
                    await websockets.first_of(incoming(socket, dialect, writers), together(*pumps))


async def together(*works: object) -> None:
    await asyncio.gather(*works)  # type: ignore[call-overload]


async def outgoing(
    socket: web.WebSocketResponse, dialect: Dialect, channel: int, reader: asyncio.StreamReader
) -> None:
    while data := await reader.read(PIECE):
        await send(socket, dialect.encode(channel, data))


async def incoming(
    socket: web.WebSocketResponse, dialect: Dialect, writers: dict[int, asyncio.StreamWriter]
) -> None:
    async for message in socket:
        if message.type not in (WSMsgType.BINARY, WSMsgType.TEXT):
            return
        try:
            channel, data = dialect.decode(message.data)
        except ValueError:
            return
        if channel in writers:
            writers[channel].write(data)
            await writers[channel].drain()


async def send(socket: web.WebSocketResponse, message: bytes | str) -> None:
    if isinstance(message, str):
        await socket.send_str(message)
    else:
        await socket.send_bytes(message)


async def opened(door: Door, ways: Ways) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to *door*; raises `Failed` in the words of a kubelet."""
    try:
        connection = await dial(door, ways)
    except Failed as failure:
        record = door.record
        raise Failed(
            f"error forwarding port {door.port} to pod {record.name}, uid {record.uid}: "
            f"failed to connect to {record.address}:{door.port}: {failure.message}"
        ) from failure
    return await asyncio.open_connection(sock=connection)


def ports_of(request: web.Request) -> list[int]:
    said = [text for value in request.query.getall("ports", []) for text in value.split(",")]
    if not said:
        raise web.HTTPBadRequest(text="query parameter ports is required")
    for text in said:
        if not text.isdecimal() or not 0 < int(text) <= HIGHEST_PORT:
            raise web.HTTPBadRequest(text=f"unable to parse {text!r} as a port")
    return [int(text) for text in said]
