"""A store on a file of the test's own, and objects to put into it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from paddlecloud.embedded.store import Change, Place, Store, Watch

RESOURCE = "/configmaps"
PATIENCE = 10.0


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Store]:
    store = Store(path)
    try:
        yield store
    finally:
        await store.close()


def at(name: str, namespace: str = "ml", resource: str = RESOURCE) -> Place:
    return Place(resource, namespace, name)


def body(**data: Any) -> dict[str, Any]:
    return {"metadata": {}, "data": data}


async def next_of(watch: Watch) -> Change:
    """The next change; one that does not come is a failure."""
    change = await watch.next(PATIENCE)
    assert change is not None, "no change came"
    return change
