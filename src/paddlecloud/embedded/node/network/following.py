"""What the network of the nodes follows in the API, and the proxy and the DNS that follow it.

Changes come in bursts, a rollout touches a Service many times a second: however many there were since the
last look, the next one sees them all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from .... import log
from ....api.core import Pod, Service
from ....api.endpoints import EndpointSlice
from ....api.meta import Key, Resource
from ....cluster.informer import Informer
from .apiservice import with_api
from .names import world
from .nameserver import Nameserver
from .proxy import Proxy
from .routing import Endpoint, Front, Routes, fronts, host_ports, left_out, routes

NOWHERE = Endpoint("", 0)
CALM = 0.02
"""Seconds in which further changes are waited for before the next look."""
RETRY = 15.0
"""Seconds after which places where somebody else listens are tried again."""
LOW = 1024
"""Ports below are the administrator's, unless the machine says otherwise."""
Tell = Callable[[Service | Pod, str], Awaitable[None]]
"""Hears of a Service or a pod that cannot be reached as it asks, and why."""


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

    def others(self) -> tuple[Service, ...]:
        """All Services but that of the API server, whose place pods are told of in another way, too."""
        return tuple(s for s in self.services.all() if s.spec.get("clusterIP") != self.address)


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


async def follow_services(sources: Sources, proxy: Proxy, tell: Tell) -> None:
    """Keep the proxy's listeners as Services and their endpoints ask, until cancelled."""
    changed = asyncio.Event()
    told: dict[tuple[type[Resource], Key], str] = {}

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
            pods = [pod for pod in sources.pods.all() if places(pod)]
            wanted = routes(*sources.now(), pods)
            await proxy.follow(wanted)
            refused = proxy.refused
            closed: list[tuple[Service | Pod, str]] = [(s, closed_to(s, refused)) for s in sources.others()]
            closed += [(pod, lost_by(pod, wanted, refused)) for pod in pods]
            for who, why in closed:
                if why and told.get((type(who), who.key)) != why:
                    await tell(who, why)
            told = {(type(who), who.key): why for who, why in closed if why}
            try:
                async with asyncio.timeout(RETRY if proxy.refused else None):
                    await changed.wait()
            except TimeoutError:
                continue
            await asyncio.sleep(CALM)
    finally:
        await proxy.close()


def closed_to(service: Service, refused: Mapping[Front, str]) -> str:
    """Why a Service cannot be reached at one of its ports, and the ways out; empty: it can."""
    for port in service.spec.get("ports") or ():
        for front in fronts(service, port):
            if why := refused.get(front):
                return words_of(front, why)
    return ""


def lost_by(pod: Pod, wanted: Routes, refused: Mapping[Front, str]) -> str:
    """Why a port of the machine that a pod asks for does not lead to it; empty: all of them do.

    To the scheduler every node has ports of its own; these nodes are one machine.
    """
    for front, endpoint in host_ports(pod):
        if why := refused.get(front):
            return words_of(front, why)
        held = wanted.get(front)
        if held is not None and endpoint not in held.endpoints:
            where = ", ".join(f"{other.host}:{other.port}" for other in held.endpoints) or "a Service"
            return f"port {front.port} of this machine, which all nodes share, leads to {where} already"
    return ""


def words_of(front: Front, why: str) -> str:
    words = f"nobody can listen on {front.host}:{front.port} here: {why}"
    return words + (LOW_WAYS_OUT if front.port < LOW else "")


LOW_WAYS_OUT = (
    "; ports below 1024 are closed to an ordinary user whose pods have no network of their own: "
    "ask for a higher port, or lower net.ipv4.ip_unprivileged_port_start"
)


def places(pod: Pod | None) -> list[object]:
    return list(host_ports(pod)) if pod is not None else []
