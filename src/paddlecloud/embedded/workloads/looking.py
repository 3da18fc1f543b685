"""A loop that looks again whenever one of its informers saw a change; level-triggered like a controller.

For the few jobs that are not about one object and its children: placing pods, binding claims, sweeping.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from ... import log
from ...api.meta import Resource
from ...cluster.informer import Informer
from ...errors import PaddleCloudError

RETRY = 1.0
SETTLE = 0.01  # seconds between looks; changes come in bursts, and one look serves them all
REST = 3.0  # times what the last look cost: however many objects there are, it takes a quarter of a core
Concerns = Callable[[Resource | None, Resource | None], bool]
"""Whether a change from the one to the other is worth a look."""


def everything_concerns(old: Resource | None, new: Resource | None) -> bool:
    return True


async def look_on_change(
    name: str,
    informers: Iterable[Informer[Any]],
    look: Callable[[], Awaitable[None]],
    *,
    every: float = 60.0,
    settle: float = SETTLE,
    changed: asyncio.Event | None = None,
    concerns: Concerns = everything_concerns,
) -> None:
    """Call *look* at the start, after every change and every so often; errors are logged and retried.

    Who follows more than the informers given here sets *changed*. A look that costs what is there, not what
    is new, asks for a longer time to *settle*; who needs few objects of many says which changes it
    *concerns*.
    """
    changed = changed or asyncio.Event()
    changed.set()

    def heard(old: Resource | None, new: Resource | None) -> None:
        if concerns(old, new):
            changed.set()

    for informer in informers:
        await informer.synced.wait()
        informer.subscribe(heard)
    line = log.logger(f"workloads.{name}")
    rested = 0.0
    while True:
        try:
            async with asyncio.timeout(every):
                await changed.wait()
        except TimeoutError:
            pass
        # Whoever comes after a silence is served at once.
        await asyncio.sleep(max(0.0, rested - time.monotonic()))
        changed.clear()
        began = time.process_time()
        try:
            await look()
            rested = time.monotonic() + max(settle, REST * (time.process_time() - began))
        except PaddleCloudError as error:
            line.warning("will try again: %s", error.message)
            changed.set()
            await asyncio.sleep(RETRY)
        except Exception:
            line.exception("will try again")
            changed.set()
            await asyncio.sleep(RETRY)
