"""Keeps something that follows from a resource true: looked at again after every change of it.

A look that another write got ahead of is no loss: that write wakes the next one.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from ... import log
from ...errors import ApiError
from ..store import Store


@contextlib.asynccontextmanager
async def settled(
    store: Store, resource: str, settle: Callable[[], Awaitable[None]], what: str
) -> AsyncIterator[None]:
    """Inside this block *settle* runs after every change of *resource*; *what* it keeps, for the log."""
    changed = asyncio.Event()
    watch = store.watch(resource, store.revision)
    watch.listen(lambda _: changed.set())
    task = asyncio.create_task(follow(changed, settle, what))
    try:
        yield
    finally:
        task.cancel()
        watch.close()


async def follow(changed: asyncio.Event, settle: Callable[[], Awaitable[None]], what: str) -> None:
    while True:
        await changed.wait()
        changed.clear()
        try:
            await settle()
        except ApiError as error:
            log.logger("api").warning("%s are looked at again: %s", what, error.message)
