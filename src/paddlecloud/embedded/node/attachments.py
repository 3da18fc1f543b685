"""A visit to a running container: what it says is heard, what the visitor says is its input.

The shim keeps the container's streams; it is asked over the socket in the folder of the run (`guests`).
Leaving does not end the container; its end ends the visit.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from ... import localsockets
from ...errors import Failed
from .guests import CLOSE, HEAD, RESIZE, SOCKET, SPEAKS, STDERR, STDIN, STDOUT

Send = Callable[[int, bytes], Awaitable[None]]


class Attachment:
    code = 0
    """The end of a container is no failure of the visit; its code is in the pod's status."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, wanted: set[int]) -> None:
        self._reader, self._writer, self._wanted = reader, writer, wanted

    async def pour(self, send: Send) -> None:
        """Send on what the container says, until it has ended."""
        try:
            while True:
                kind, size = HEAD.unpack(await self._reader.readexactly(HEAD.size))
                data = await self._reader.readexactly(size)
                if kind in self._wanted:
                    await send(kind, data)
        except (asyncio.IncompleteReadError, ConnectionError):
            return

    async def write(self, data: bytes) -> None:
        if STDIN in self._wanted:
            self._say(STDIN, data)
            await self._writer.drain()

    def resize(self, columns: int, rows: int) -> None:
        self._say(RESIZE, f"{columns} {rows}".encode())

    def close_input(self) -> None:
        if STDIN in self._wanted:
            self._say(CLOSE, b"")

    def introduce(self) -> None:
        if STDIN in self._wanted:
            self._say(SPEAKS, b"")

    def _say(self, kind: int, data: bytes) -> None:
        self._writer.write(HEAD.pack(kind, len(data)) + data)


@asynccontextmanager
async def attached(run_folder: Path, wanted: set[int]) -> AsyncIterator[Attachment]:
    """Visit the container of a run for the streams *wanted*; raises `Failed` when nobody opens."""
    try:
        connection = localsockets.connected(run_folder / SOCKET)
    except OSError as error:
        raise Failed(f"the container cannot be attached to: {error.strerror}") from error
    reader, writer = await asyncio.open_unix_connection(sock=connection)
    try:
        attachment = Attachment(reader, writer, wanted & {STDIN, STDOUT, STDERR})
        attachment.introduce()
        yield attachment
    finally:
        writer.close()
