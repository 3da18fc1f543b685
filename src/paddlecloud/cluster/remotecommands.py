"""Commands in containers, through any Kubernetes API: what goes in, what comes out, how it ended.

The protocol is `v5.channel.k8s.io`: the first byte of a message names the channel.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import aiohttp
import orjson

from ..api.meta import Key
from ..errors import Failed
from .kubeconfig import Access
from .requests import Place, Request, path_of
from .talking import conversation

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
Sink = Callable[[bytes], object]


@dataclass(frozen=True)
class RemoteCommand:
    pod: Key
    argv: tuple[str, ...]
    container: str = ""
    tty: bool = False


@dataclass(frozen=True)
class Ends:
    """Where the streams of a command lead on this side."""

    out: Sink
    err: Sink
    source: AsyncIterator[bytes] | None = None
    """Input; None: the command gets none."""
    sizes: asyncio.Queue[tuple[int, int]] = field(default_factory=asyncio.Queue)
    """Columns and rows of the terminal, whenever they change."""


async def run(access: Access, command: RemoteCommand, ends: Ends) -> int:
    """Run *command* to its end; returns its exit code. Raises what the server says against it."""
    query = [("container", command.container)] if command.container else []
    query += [("command", word) for word in command.argv]
    wanted = {"stdin": ends.source is not None, "stdout": True, "stderr": not command.tty, "tty": command.tty}
    query += [(name, "true") for name, holds in wanted.items() if holds]
    request = Request("GET", path_of(Place("v1", "pods"), command.pod, "exec"), tuple(query))
    async with conversation(access, request, PROTOCOLS) as socket:
        speaking = asyncio.create_task(speak(socket, ends.source))
        resizing = asyncio.create_task(resize(socket, ends.sizes))
        try:
            return await listen(socket, ends)
        finally:
            for task in (speaking, resizing):
                task.cancel()
            await asyncio.gather(speaking, resizing, return_exceptions=True)


async def listen(socket: aiohttp.ClientWebSocketResponse, ends: Ends) -> int:
    async for message in socket:
        if message.type is not aiohttp.WSMsgType.BINARY or not message.data:
            continue
        channel, data = message.data[0], message.data[1:]
        if channel == STDOUT:
            ends.out(data)
        elif channel == STDERR:
            ends.err(data)
        elif channel == ERROR and data:
            return exit_code(data)
    raise Failed("the connection to the command broke; whether it has ended is not known")


async def speak(socket: aiohttp.ClientWebSocketResponse, source: AsyncIterator[bytes] | None) -> None:
    if source is None:
        return
    # A command that has ended takes no more input: its end is told elsewhere.
    with contextlib.suppress(ConnectionError):
        async for data in source:
            await socket.send_bytes(bytes((STDIN,)) + data)
        if socket.protocol == PROTOCOLS[0]:
            await socket.send_bytes(bytes((CLOSE, STDIN)))


async def resize(socket: aiohttp.ClientWebSocketResponse, sizes: asyncio.Queue[tuple[int, int]]) -> None:
    while True:
        columns, rows = await sizes.get()
        await socket.send_bytes(bytes((RESIZE,)) + orjson.dumps({"Width": columns, "Height": rows}))


def exit_code(data: bytes) -> int:
    """What the last message says; raises `Failed` for an end that is not the command's own."""
    status = orjson.loads(data)
    if status.get("status") == "Success":
        return 0
    for cause in (status.get("details") or {}).get("causes") or ():
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise Failed(str(status.get("message") or "the command could not be run"))
