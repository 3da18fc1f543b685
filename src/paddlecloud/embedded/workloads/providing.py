"""What every cluster begins with: tried until it is there, and never changed afterwards.

Whoever has an object of that name, an administrator who wrote their own before, keeps it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from ... import log
from ...api.meta import Resource
from ...cluster.client import Client
from ...errors import AlreadyExists, PaddleCloudError
from .looking import RETRY


async def provide(client: Client, wanted: Iterable[Resource]) -> None:
    """Return when all of them are there."""
    for one in wanted:
        while not await made(client, one):
            await asyncio.sleep(RETRY)


async def made(client: Client, one: Resource) -> bool:
    try:
        await client.create(one)
    except AlreadyExists:
        return True
    except PaddleCloudError as error:
        log.logger("workloads").warning("%s is not made yet: %s", one.name, error.message)
        return False
    return True
