"""Reading and writing descriptors that are not sockets, without waiting for anybody: pipes and terminals.

For descriptors that do not block. Whoever reads slowly is waited for: nothing is kept here.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator
from typing import Literal

PIECE = 32 * 1024


async def pieces(descriptor: int, over: asyncio.Event) -> AsyncIterator[bytes]:
    """What comes, until the other side is closed; once *over*, only what is there already."""
    while True:
        try:
            data = os.read(descriptor, PIECE)
        except BlockingIOError:
            if over.is_set():
                return
            await either(descriptor, over)
            continue
        except OSError as error:
            # That is how a terminal says that nobody sits at it any more.
            if error.errno == errno.EIO:
                return
            raise
        if not data:
            return
        yield data


async def write(descriptor: int, data: bytes) -> None:
    """All of *data*; raises `BrokenPipeError` when nobody reads."""
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:
            await ready(descriptor, "write")


async def either(descriptor: int, over: asyncio.Event) -> None:
    waits = [asyncio.ensure_future(ready(descriptor, "read")), asyncio.ensure_future(over.wait())]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


async def ready(descriptor: int, way: Literal["read", "write"]) -> None:
    loop = asyncio.get_running_loop()
    come: asyncio.Future[None] = loop.create_future()

    def tell() -> None:
        if not come.done():
            come.set_result(None)

    add, remove = (
        (loop.add_reader, loop.remove_reader) if way == "read" else (loop.add_writer, loop.remove_writer)
    )
    add(descriptor, tell)
    try:
        await come
    finally:
        remove(descriptor)
