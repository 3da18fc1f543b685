"""Services that are asleep until somebody calls: the Deployment behind one is woken, and let sleep again.

    metadata.annotations["paddlecloud.org/wakes"]: NAME         on a Service: the Deployment behind it

A call is held until somebody stands behind the Service. Who has not been called for ten minutes, and is in
no conversation, is scaled to zero; what is asleep costs nothing but its objects.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from .... import log
from ....api.apps import Deployment
from ....api.meta import Key
from ....cluster.client import Client
from ....errors import PaddleCloudError
from .proxy import Proxy
from .routing import Routes

IDLE = 600.0
"""Seconds without a call after which it may sleep."""
LOOK = 30.0


class Waker:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._log = log.logger("node.waking")

    async def scale(self, key: Key, replicas: int) -> None:
        """A refusal is told and not raised: the next call asks again."""
        try:
            await self._client.patch(Deployment, key, {"spec": {"replicas": replicas}}, subresource="scale")
            self._log.info("%s is %s", key, "woken" if replicas else "let sleep")
        except PaddleCloudError as error:
            self._log.warning("%s cannot be scaled to %d: %s", key, replicas, error.message)

    async def wake(self, key: Key) -> None:
        await self.scale(key, 1)

    async def let_sleep(self, proxy: Proxy) -> None:
        """Look at times who may sleep, until cancelled."""
        while True:
            await asyncio.sleep(LOOK)
            now = asyncio.get_running_loop().time()
            for key in sleepy(proxy.routes, proxy.last_calls(now), now):
                await self.scale(key, 0)


def sleepy(routes: Routes, last_calls: Mapping[Key, float], now: float) -> list[Key]:
    """Who is up and has not been called for long; pure."""
    awake = {b.wakes for b in routes.values() if b.wakes and b.endpoints}
    return sorted(key for key in awake if now - last_calls.get(key, now) >= IDLE)
