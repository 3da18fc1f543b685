"""What the network of the nodes follows in the API, and the proxy and the DNS that follow it.

Changes come in bursts, a rollout touches a Service many times a second: however many there were since the
last look, the next one sees them all.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from .... import log
from ....api.core import Pod, Service
from ....api.endpoints import EndpointSlice
from ....api.meta import Resource
from ....cluster.informer import Informer
from .apiservice import with_api
from .names import world
from .nameserver import Nameserver
from .proxy import Proxy
from .routing import Endpoint, host_ports, left_out, routes

NOWHERE = Endpoint("", 0)
CALM = 0.02
"""Seconds in which further changes are waited for before the next look."""
RETRY = 15.0
"""Seconds after which places where somebody else listens are tried again."""


@dataclass(frozen=True)
class Sources:
    services: Informer[Service]
    slices: Informer[EndpointSlice]
    pods: Informer[Pod]
    address: str = ""
    """Of the Service of the API server; empty: there is none."""
    api: Endpoint = NOWHERE
    """Where the API server listens."""

    def now(self) -> tuple[tuple[Service, ...], tuple[EndpointSlice, ...]]:
        """The Services and their slices as they are."""
        services, slices = self.services.all(), self.slices.all()
        return with_api(services, slices, self.address, self.api) if self.address else (services, slices)


async def follow_names(sources: Sources, server: Nameserver) -> None:
    """Let the DNS answer from what the API says now, until cancelled."""
    changed = asyncio.Event()

    def wake(_: Resource | None, __: Resource | None) -> None:
        changed.set()

    sources.services.subscribe(wake)
    sources.slices.subscribe(wake)
    try:
        while True:
            changed.clear()
            server.world = world(*sources.now())
            await changed.wait()
            await asyncio.sleep(CALM)
    finally:
        server.close()


async def follow_services(sources: Sources, proxy: Proxy) -> None:
    """Keep the proxy's listeners as Services and their endpoints ask, until cancelled."""
    changed = asyncio.Event()

    def wake(_: Resource | None, __: Resource | None) -> None:
        changed.set()

    def complain(old: Service | None, new: Service | None) -> None:
        words = left_out(new) if new is not None else ""
        if new is not None and words and (old is None or left_out(old) != words):
            log.for_object("node.proxy", "Service", new.namespace, new.name).warning("%s", words)

    def moved(old: Pod | None, new: Pod | None) -> None:
        if places(old) != places(new):
            changed.set()

    sources.services.subscribe(wake)
    sources.services.subscribe(complain)
    sources.slices.subscribe(wake)
    sources.pods.subscribe(moved)
    await sources.services.synced.wait()
    await sources.slices.synced.wait()
    try:
        while True:
            changed.clear()
            await proxy.follow(routes(*sources.now(), sources.pods.all()))
            try:
                async with asyncio.timeout(RETRY if proxy.refused else None):
                    await changed.wait()
            except TimeoutError:
                continue
            await asyncio.sleep(CALM)
    finally:
        await proxy.close()


def places(pod: Pod | None) -> list[object]:
    return list(host_ports(pod)) if pod is not None else []
