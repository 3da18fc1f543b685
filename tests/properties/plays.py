"""One scenario played to its end, with the real runtime, disturbed or not.

A scenario is a list of acts; the next one begins when everything has settled: nobody is being looked at,
the caches show what the server has, and the node has nothing left to say. So the end follows from the acts
alone, however the writes between them fell.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from tests.cluster.widgets import running
from tests.properties.played_runtimes import PlayedRuntimes
from tests.properties.portraits import Body, Portrait, portrait
from tests.properties.simulated_node import SimulatedNode
from tests.properties.witness import CALM, Disturbance, Witness, Write

from paddlecloud.api.core import Namespace, Pod, ServiceAccount
from paddlecloud.api.meta import Key, Metadata, Resource
from paddlecloud.cluster import requests
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.informer import Informer
from paddlecloud.cluster.requests import Scope
from paddlecloud.controllers.contract import Controller
from paddlecloud.controllers.health import Health
from paddlecloud.controllers.passes import Times
from paddlecloud.controllers.runtime import Options, Runtime

SETTLES_WITHIN = 120.0
LOOK = 0.01
RESTS = 3
"""Looks in a row at which nobody is at work before the server is asked: that is dear."""
NEAR = 3.0
"""Seconds: a look that is due sooner is waited for. Longer than anything that leads on, the patience too."""
PATIENCE = 0.2
ROOT_CA = "kube-root-ca.crt"
"""A ConfigMap that every namespace has."""

Act = Callable[["Stage"], Awaitable[None]]


def nothing_of_its_own(_: Stage) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class Scenario:
    """What happens to the objects of one controller."""

    name: str
    controller: Controller
    acts: tuple[Act, ...]
    own: Callable[[Stage], Mapping[str, str]] = nothing_of_its_own
    """Texts that follow from the ids of this run, and what they stand for."""
    near: float = NEAR
    """Less for a controller that looks again and again however long nothing happens."""
    asks: bool = False
    """Whether the controller speaks to runtimes of data sets, which are played then."""

    def kinds(self) -> tuple[type[Resource], ...]:
        """What its end is told by: the objects and all that is made for them."""
        return (self.controller.kind, *self.controller.owns)


@dataclass(frozen=True)
class Played:
    """How a play ended, and what it took."""

    end: Portrait
    writes: tuple[Write, ...]
    heard: Mapping[str, int]

    def made(self) -> Counter[Write]:
        """What was created and deleted, events aside: they may be lost, and are counted when repeated."""
        told = (w for w in self.writes if w.method in ("POST", "DELETE"))
        return Counter(w for w in told if not w.place.startswith("events/"))


async def play(client: Client, scenario: Scenario, disturbance: Disturbance = CALM) -> Played:
    """Play it in a namespace of its own; *client* is the user's and the node's, and may be shared."""
    async with stage(client, scenario, disturbance) as s:
        for act in scenario.acts:
            await act(s)
            await s.settled()
        return Played(await s.portrait(), tuple(map(s.plain, s.witness.writes)), dict(s.witness.heard))


@dataclass
class Stage:
    """A namespace with a node and the controller at work; `client` is the user's."""

    scenario: Scenario
    namespace: str
    client: Client
    witness: Witness
    node: SimulatedNode
    played: PlayedRuntimes
    runtime: Runtime = field(init=False)

    async def live(self) -> None:
        """The process of the controller: killed where the disturbance says so, then started again."""
        while True:
            options = Options(self.namespace, times=replace(Times(), patience=PATIENCE))
            self.runtime = Runtime((self.scenario.controller,), self.witness, options, Health())
            work = asyncio.create_task(self.runtime.run())
            killed = asyncio.create_task(self.witness.crashed.wait())
            try:
                await asyncio.wait((work, killed), return_when=asyncio.FIRST_COMPLETED)
                if work.done():
                    work.result()
            finally:
                for task in (work, killed):
                    task.cancel()
                await asyncio.gather(work, killed, return_exceptions=True)
            self.witness.revive()

    async def settled(self) -> None:
        """Wait until nobody has anything left to do."""
        async with asyncio.timeout(SETTLES_WITHIN):
            rests = 0
            while True:
                rests = rests + 1 if self._resting() else 0
                if rests < RESTS:
                    await asyncio.sleep(LOOK)
                elif self.witness.holding:
                    self.witness.release()
                elif await self._all_seen():
                    return
                else:
                    rests = 0

    async def until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        """Wait for what others on this cluster do, who may wait for us in turn."""
        async with asyncio.timeout(SETTLES_WITHIN):
            while not await condition():
                if self.witness.holding and self._resting():
                    self.witness.release()
                await asyncio.sleep(LOOK)

    async def portrait(self) -> Portrait:
        return portrait(await self.bodies(), self.namespace, self.scenario.own(self))

    async def create(self, kind: type[Resource], body: Body) -> None:
        """An object as a user writes it, whatever our own classes would say to it."""
        whole = {"apiVersion": kind.api_version, "kind": kind.kind, **body}
        await self.client.request(requests.creation(kind, self.namespace, whole))

    async def replace(self, kind: type[Resource], key: Key, body: Body) -> None:
        whole = {"apiVersion": kind.api_version, "kind": kind.kind, **body}
        await self.client.request(requests.replacement(kind, key, whole))

    async def stir(self) -> None:
        """Change everything a little, in a way that means nothing to a controller."""
        patch = {"metadata": {"annotations": {"tests/stirred": "yes"}}}
        for kind in self.scenario.kinds():
            for obj in (await self.client.list(kind, self.namespace)).items:
                if obj.name != ROOT_CA and self._ours(kind, obj.name):
                    await self.client.patch(kind, obj.key, patch)

    async def bodies(self) -> list[Body]:
        """All that is told of the end."""
        found: list[Body] = []
        for kind in self.scenario.kinds():
            listing = await self.client.list_raw(kind, Scope(self.namespace))
            about = {"apiVersion": kind.api_version, "kind": kind.kind}
            ours = (item for item in listing.items if self._ours(kind, item["metadata"]["name"]))
            found += ({**about, **item} for item in ours)
        return [body for body in found if body["metadata"]["name"] != ROOT_CA]

    def plain(self, write: Write) -> Write:
        """Without the name of the namespace, which every run has another of."""
        return write._replace(place=write.place.replace(self.namespace, "<namespace>"))

    def _ours(self, kind: type[Resource], name: str) -> bool:
        """What lives in no namespace is of this play when it is called after its namespace."""
        return kind.namespaced or name.startswith(self.namespace)

    def _resting(self) -> bool:
        return (
            not self.witness.crashed.is_set()
            and self.runtime.resting(self.scenario.near)
            and self.node.resting()
        )

    async def _all_seen(self) -> bool:
        """Whether the caches are as the server is, and have been left in peace meanwhile."""
        before = self._moves()
        caches: list[Informer[Any]] = [*self.runtime.informers.values(), self.node.pods]
        for kind in {cache.kind for cache in caches}:
            listing = await self.client.list_raw(kind, Scope(self.namespace))
            there = {(i["metadata"]["name"], i["metadata"]["resourceVersion"]) for i in listing.items}
            for cache in caches:
                known = {(o.name, o.metadata.resource_version) for o in cache.all()}
                if cache.kind is kind and known != there:
                    return False
        return self._resting() and self._moves() == before

    def _moves(self) -> tuple[int, int, bool]:
        return len(self.witness.writes), self.node.turns, self.witness.holding


@asynccontextmanager
async def stage(client: Client, scenario: Scenario, disturbance: Disturbance = CALM) -> AsyncIterator[Stage]:
    async with Witness(client.access, disturbance) as witness:
        namespace = await new_namespace(client)
        played = PlayedRuntimes(lambda told: witness.done(Write("TELL", told)))
        s = Stage(scenario, namespace, client, witness, SimulatedNode(client, namespace), played)
        async with played.open() if scenario.asks else nullcontext(), running(s.live(), s.node.run()):
            if scenario.asks:
                witness.sockets, s.node.reuses_addresses = played.sockets, True
            # A task begins only when this one waits.
            await asyncio.sleep(0)
            yield s
        await emptied(client, namespace)


async def emptied(client: Client, namespace: str) -> None:
    """The node has gone, so nobody would end its pods: they are removed at once."""
    pods = requests.collection(Pod, namespace)
    await client.request(requests.Request("DELETE", pods, (("gracePeriodSeconds", "0"),), requests.ACCEPT))
    await client.delete(Namespace, Key("", namespace))


async def new_namespace(client: Client) -> str:
    """One in which pods can be made: somebody gives it its account."""
    name = f"test-{secrets.token_hex(6)}"
    await client.create(Namespace(metadata=Metadata(name=name)))
    async with asyncio.timeout(SETTLES_WITHIN):
        while await client.find(ServiceAccount, name, "default") is None:
            await asyncio.sleep(LOOK)
    return name
