"""A slow link: a proxy before a server on this machine that lets so many bytes a second through."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PIECE = 1 << 16


class Link:
    """A proxy before a server on this machine that lets *rate* bytes a second through; 0: all."""

    def __init__(self, host: str) -> None:
        self.rate = 0.0
        name, _, port = host.partition(":")
        self._to = name, int(port)
        self._free_at = 0.0
        self.port = 0

    async def serve(self, ready: threading.Event, stop: asyncio.Event) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        async with server:
            self.port = server.sockets[0].getsockname()[1]
            ready.set()
            await stop.wait()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._to)
        # Both end when the link does; nobody is interested in what they were at.
        ways = self._passed(reader, back), self._passed(there, writer, slowed=True)
        await asyncio.gather(*map(asyncio.ensure_future, ways), return_exceptions=True)

    async def _passed(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, slowed: bool = False
    ) -> None:
        try:
            while piece := await source.read(PIECE):
                if slowed and self.rate:
                    now = time.monotonic()
                    self._free_at = max(self._free_at, now) + len(piece) / self.rate
                    await asyncio.sleep(self._free_at - now)
                sink.write(piece)
                await sink.drain()
        except OSError:
            pass
        finally:
            sink.close()


@contextmanager
def link(host: str) -> Iterator[Link]:
    made, ready, stop = Link(host), threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        await made.serve(ready, stop)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        ready.wait()
        yield made
    finally:
        loops[0].call_soon_threadsafe(stop.set)
        thread.join()
