"""A quota with many who want its last places: never more are let in than there are, however they come."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from paddlecloud.embedded.server import bootstrap
from paddlecloud.embedded.server.objects import Objects
from paddlecloud.embedded.server.writing import WriteOptions
from paddlecloud.embedded.store import Place, Store
from paddlecloud.errors import Forbidden

PLACES = 3


@pytest.fixture
async def objects(tmp_path: Path) -> AsyncIterator[Objects]:
    store = Store(tmp_path / "store.db")
    made = Objects(store, lambda service: None)
    await bootstrap.prepare(made)
    yield made
    await store.close()


async def make(objects: Objects, plural: str, name: str, namespace: str = "default", **content: Any) -> bool:
    [kind] = [k for k in objects.registry.kinds if k.resource == f"/{plural}"]
    try:
        await objects.create(kind, namespace, {"metadata": {"name": name}, **content}, WriteOptions())
    except Forbidden as error:
        assert "exceeded quota: few" in error.message
        return False
    return True


@contextlib.asynccontextmanager
async def others_write(objects: Objects) -> AsyncIterator[None]:
    """Beside others a write takes its time on the way to the disk."""

    async def write(who: int) -> None:
        for n in itertools.count():
            await make(objects, "configmaps", f"c{who}-{n}", "kube-system", data={})

    tasks = [asyncio.create_task(write(who)) for who in range(2)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_as_many_are_let_in_as_there_are_places(objects: Objects) -> None:
    await make(objects, "resourcequotas", "few", spec={"hard": {"configmaps": str(PLACES)}})

    async def insist(who: int) -> int:
        """Who is refused makes the server count anew, while another's object is on its way."""
        return sum([await make(objects, "configmaps", f"c{who}-{n}", data={}) for n in range(8)])

    async with others_write(objects):
        made = await asyncio.gather(*(insist(who) for who in range(4)))

    assert sum(made) == PLACES == len(objects.store.entries("/configmaps", "default"))


async def test_what_was_counted_and_could_not_be_stored_is_taken_back(objects: Objects) -> None:
    await make(objects, "resourcequotas", "few", spec={"hard": {"configmaps": "2"}})
    async with others_write(objects):
        same = (make(objects, "configmaps", "same", data={}) for _ in range(5))
        ends = await asyncio.gather(*same, return_exceptions=True)

    assert ends.count(True) == 1
    async with asyncio.timeout(10):
        while used(objects) != "1":
            await asyncio.sleep(0)
    assert await make(objects, "configmaps", "other", data={})
    assert used(objects) == "2"


def used(objects: Objects) -> str:
    quota = objects.store.get(Place("/resourcequotas", "default", "few"))
    assert quota is not None
    return str(quota.load()["status"]["used"]["configmaps"])
