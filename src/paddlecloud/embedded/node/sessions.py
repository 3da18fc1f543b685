"""Talks over a WebSocket with a command in a container, or with the container itself.

A session ends when the other side has ended or when the client is gone, whichever is first. A command ends
with its session; a container that was attached to goes on.
"""

from __future__ import annotations

from typing import Protocol

from aiohttp import WSMsgType, web

from ...errors import Failed
from .. import websockets
from . import dialects
from .attachments import Send, attached
from .commands import Wish, started
from .dialects import Dialect
from .launcher import Launcher
from .targets import FindPod, flag, running_folder


class Peer(Protocol):
    """Who the client talks to."""

    code: int

    async def pour(self, send: Send) -> None:
        """Send on all that is said, by channel, to the end; then `code` holds."""
        ...

    async def write(self, data: bytes) -> None: ...

    def resize(self, columns: int, rows: int) -> None: ...

    def close_input(self) -> None: ...


class Sessions:
    def __init__(self, find: FindPod, launcher: Launcher) -> None:
        self._find, self._launcher = find, launcher

    async def execute(self, request: web.Request) -> web.StreamResponse:
        wish = wish_of(request)
        folder = running_folder(self._find, request)
        dialect = spoken(request)
        try:
            async with started(self._launcher, folder, wish) as command:
                return await self._serve(request, dialect, command)
        except Failed as failure:
            raise web.HTTPInternalServerError(text=failure.message) from failure

    async def attach(self, request: web.Request) -> web.StreamResponse:
        folder = running_folder(self._find, request)
        dialect = spoken(request)
        names = {dialects.STDIN: "stdin", dialects.STDOUT: "stdout", dialects.STDERR: "stderr"}
        wanted = {channel for channel, name in names.items() if flag(request, name)}
        try:
            async with attached(folder, wanted) as attachment:
                return await self._serve(request, dialect, attachment)
        except Failed as failure:
            raise web.HTTPInternalServerError(text=failure.message) from failure

    async def _serve(self, request: web.Request, dialect: Dialect, peer: Peer) -> web.WebSocketResponse:
        socket = await websockets.accepted(request, [dialect.name] if dialect.name else [])
        async with websockets.kept(socket):
            await Session(socket, dialect, peer).run()
        await socket.close()
        return socket


class Session:
    def __init__(self, socket: web.WebSocketResponse, dialect: Dialect, peer: Peer) -> None:
        self._socket, self._dialect, self._peer = socket, dialect, peer

    async def run(self) -> None:
        try:
            await websockets.first_of(self._outgoing(), self._incoming())
        except ConnectionError:
            # The client is gone, and there is nobody to tell.
            return

    async def _outgoing(self) -> None:
        await self._peer.pour(self._send)
        await self._send(dialects.ERROR, self._dialect.conclusion(self._peer.code))

    async def _incoming(self) -> None:
        async for message in self._socket:
            if message.type not in (WSMsgType.BINARY, WSMsgType.TEXT):
                return
            try:
                channel, data = self._dialect.decode(message.data)
            except ValueError:
                return
            match channel:
                case dialects.STDIN:
                    await self._peer.write(data)
                case dialects.RESIZE if size := dialects.size_of(data):
                    self._peer.resize(*size)
                case dialects.CLOSE if data[:1] == b"\0":
                    self._peer.close_input()

    async def _send(self, channel: int, data: bytes) -> None:
        encoded = self._dialect.encode(channel, data)
        if isinstance(encoded, str):
            await self._socket.send_str(encoded)
        else:
            await self._socket.send_bytes(encoded)


def spoken(request: web.Request) -> Dialect:
    if not websockets.wants_websocket(request):
        raise web.HTTPBadRequest(text="Upgrade request required")
    offered = websockets.offered(request)
    dialect = dialects.chosen(offered)
    if dialect is None:
        known = ", ".join(dialect.name for dialect in dialects.DIALECTS)
        raise web.HTTPBadRequest(text=f"none of {', '.join(offered)} is spoken here; these are: {known}")
    return dialect


def wish_of(request: web.Request) -> Wish:
    argv = tuple(request.query.getall("command", []))
    if not argv:
        raise web.HTTPBadRequest(text="you must specify at least 1 command for the container")
    stdin, stdout, stderr, tty = (flag(request, name) for name in ("stdin", "stdout", "stderr", "tty"))
    return Wish(argv, stdin, stdout, stderr, tty)
