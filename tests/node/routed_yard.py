"""A node without a cluster whose pods have a network of their own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.node.isolation_levels import levels_or_skip
from tests.node.pod_yard import NODE, Yard

from paddlecloud.embedded.node.network.podfiles import Resolution
from paddlecloud.embedded.node.network.reach import connected
from paddlecloud.embedded.node.network.routing import Endpoint
from paddlecloud.embedded.node.network.standing import Standing
from paddlecloud.embedded.node.podfolder import every_pod
from paddlecloud.embedded.node.roster import Roster
from paddlecloud.embedded.node.routed import switch
from paddlecloud.embedded.node.routed.choosing import Asked, machine_routes, ranges_for
from paddlecloud.embedded.node.routed.network import Routed
from paddlecloud.embedded.ranges import Ranges


class RoutedYard(Yard):
    """Call `open` before anything else; one that is opened again is a node that was killed and started."""

    network: Routed
    ranges: Ranges

    async def open(self) -> None:
        await self.roster.close()
        if hasattr(self, "network"):
            self.network.close()
        luck = int.from_bytes(self.home.root.parent.name.encode()[-8:]) >> 3
        found = ranges_for(Asked(), None, self.levels, machine_routes(self.home), luck)
        assert found is not None
        self.ranges = getattr(self, "ranges", found)
        self.network = Routed(
            self.home, self.shop.launcher, self.ranges, linked=not self.levels.user_namespace
        )
        await self.network.open()
        await self.network.restore(folder.path for folder in every_pod(self.home))
        standing = Standing(self.ranges.names, 53, Resolution())
        inner = (self.ranges.api, "443")
        self.shop = replace(self.shop, network=self.network, standing=standing, inner_api=inner)
        self.roster = Roster([NODE], self.ranges, self.shop)
        self.shelf.watcher = self.roster.changed
        for pod in list(self.shelf.pods.values()):
            self.roster.changed(None, pod)

    async def close(self) -> None:
        await super().close()
        self.network.close()
        switch.stop(str(self.home.run))

    async def answer(self, host: str, port: int, question: bytes = b"") -> bytes:
        """What is said at *host*, as the node hears it."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(10):
            with await connected(self.network.reach, Endpoint(host, port)) as connection:
                await loop.sock_sendall(connection, question)
                connection.shutdown(socket.SHUT_WR)
                said = b""
                while piece := await loop.sock_recv(connection, 4096):
                    said += piece
                return said


@asynccontextmanager
async def routed_yard(level: str, root: Path) -> AsyncIterator[RoutedYard]:
    """Skips the test where this machine has no such network."""
    levels = levels_or_skip(level)
    if levels.network != "namespaces":
        pytest.skip(f"pods have no network of their own here: {levels.why_not['network']}")
    yard = RoutedYard(root, levels)
    await yard.open()
    try:
        yield yard
    finally:
        await yard.close()
