"""Passes connections on from a socket of one network to an address in another, in a thread of its own.

A socket stays in the network it was made in, so this is the whole bridge between a namespace and its maker.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading


def relay(listener: socket.socket, host: str, port: int) -> None:
    """Pass every connection on for as long as this process lives."""
    work = serve(listener, host, port)
    threading.Thread(target=lambda: asyncio.run(work), name="relay", daemon=True).start()


async def serve(listener: socket.socket, host: str, port: int) -> None:
    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection(host, port)
        except OSError:
            writer.close()
            return
        async with asyncio.TaskGroup() as both:
            both.create_task(copy(reader, back))
            both.create_task(copy(there, writer))
        back.close()
        writer.close()

    server = await asyncio.start_server(meet, sock=listener)
    async with server:
        await server.serve_forever()


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
        writer.write_eof()
        return
    # Nothing more can be said in this direction: neither may the other wait.
    writer.close()
