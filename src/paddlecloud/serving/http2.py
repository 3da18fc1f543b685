"""HTTP/2 on the port of HTTP/1.1: a connection that begins with its preface is passed on to gRPC.

A platform that gives a service one port gives it both protocols so. gRPC listens on a socket in a folder of
its own, made when the first such connection comes.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any, cast

from .models import Models

SECONDS_TO_FINISH = 5.0


class GrpcDoor:
    """Takes connections over from HTTP/1.1."""

    def __init__(self, models: Models) -> None:
        self.models = models
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        self.server: Any = None
        self.starting = asyncio.Lock()
        self.tasks: set[asyncio.Task[None]] = set()

    def take(self, transport: asyncio.Transport, data: bytes) -> None:
        """Connect *transport* with gRPC; *data* is what it has sent already."""
        client = Side(transport)
        transport.set_protocol(client)
        transport.pause_reading()
        task = asyncio.get_running_loop().create_task(self.connect(client, data))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def connect(self, client: Side, data: bytes) -> None:
        try:
            path = await self.listening()
            # gRPC speaks first: whom it is for must be known before the connection is made.
            inner = Side(other=client)
            await asyncio.get_running_loop().create_unix_connection(lambda: inner, path)
        except (OSError, ImportError, RuntimeError):
            client.transport.close()
            return
        if client.transport.is_closing():
            inner.transport.close()
            return
        client.other = inner
        inner.transport.write(data)
        client.transport.resume_reading()

    async def listening(self) -> str:
        """The path of gRPC's socket; it is started by the first who asks."""
        async with self.starting:
            if self.folder is None:
                self.folder = tempfile.TemporaryDirectory(prefix="model-server-")
            path = str(Path(self.folder.name) / "grpc")
            if self.server is None:
                from .protocols.grpcservice import started

                self.server = await started(self.models, f"unix:{path}")
            return path

    async def close(self) -> None:
        if self.server is not None:
            await self.server.stop(SECONDS_TO_FINISH)
        if self.folder is not None:
            self.folder.cleanup()


class Side(asyncio.Protocol):
    """One end of a passed-on connection: what it reads the other writes, no faster than that can."""

    def __init__(self, transport: asyncio.Transport | None = None, other: Side | None = None) -> None:
        self.other = other
        if transport is not None:
            self.transport = transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self.other is not None:
            self.other.transport.write(data)

    def connection_lost(self, error: Exception | None) -> None:
        if self.other is not None:
            self.other.transport.close()

    def pause_writing(self) -> None:
        if self.other is not None and not self.other.transport.is_closing():
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None and not self.other.transport.is_closing():
            self.other.transport.resume_reading()
