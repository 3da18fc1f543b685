"""Placements carried out on an API server: in batches, without polling, whatever is killed in between."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from paddlecloud.api.core import Event, Node, PersistentVolume, PersistentVolumeClaim, Pod
from paddlecloud.api.meta import Key, Metadata
from paddlecloud.api.scheduling import StorageClass
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.informer import Informer
from paddlecloud.cluster.kubeconfig import Access, from_kubeconfig
from paddlecloud.cluster.requests import Request
from paddlecloud.embedded.identity import establish
from paddlecloud.embedded.server.serve import serving
from paddlecloud.embedded.workloads.scheduling import KINDS, Scheduling
from paddlecloud.errors import Unreachable
from paddlecloud.scheduler.claims import SELECTED_NODE
from paddlecloud.settings import Home

LIMIT = 20.0


class Mortal(Client):
    """A client that counts its writes and after some of them is cut off, as by a kill."""

    def __init__(self, access: Access, lives: int = 1_000_000) -> None:
        super().__init__(access)
        self.writes, self._lives = 0, lives

    async def request(self, request: Request) -> dict[str, Any]:
        if request.method != "GET":
            if self.writes >= self._lives:
                raise Unreachable("cut off")
            self.writes += 1
        return await super().request(request)


class Desk:
    """The scheduling of one process, with its own caches."""

    def __init__(self, client: Mortal) -> None:
        self.client = client
        self.informers: dict[type[Any], Informer[Any]] = {k: Informer(client, k) for k in KINDS}
        self.scheduling = Scheduling(client, self.informers, lambda: datetime.now(UTC))

    async def until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        """Look until the condition holds."""
        async with asyncio.timeout(LIMIT):
            while not await condition():
                await self.scheduling.look()
                await asyncio.sleep(0.01)

    async def sees(self, kind: type[Any], holds: Callable[[Any], bool]) -> None:
        async with asyncio.timeout(LIMIT):
            while not holds(self.informers[kind].all()):
                await asyncio.sleep(0.01)


@asynccontextmanager
async def desk(access: Access, lives: int = 1_000_000) -> AsyncIterator[Desk]:
    async with Mortal(access, lives) as client:
        found = Desk(client)
        tasks = [asyncio.create_task(i.run()) for i in found.informers.values()]
        try:
            async with asyncio.timeout(LIMIT):
                for informer in found.informers.values():
                    await informer.synced.wait()
            yield found
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[tuple[Client, Access]]:
    """The owner's client, and what the scheduler itself may do."""
    home = Home(tmp_path / "home")
    async with serving(home, establish(home)), Client(from_kubeconfig(home.kubeconfig)) as owner:
        yield owner, from_kubeconfig(home.run / "controllers.kubeconfig")


async def add_node(owner: Client, name: str, **room: str) -> None:
    node = await owner.create(Node(metadata=Metadata(name=name)))
    status = {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110", **room},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    # A new node is not ready; whoever watches its life takes that away.
    await owner.patch(Node, node.key, {"spec": {"taints": None}})
    await owner.patch_status(Node, node.key, status)


async def add_pod(owner: Client, name: str, cpu: str = "10m", **spec: Any) -> Pod:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    body = {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [container], **spec}}
    return await owner.create(Pod.read(body))


async def nodes_of(owner: Client) -> dict[str, str]:
    return {p.name: p.node for p in (await owner.list(Pod, "default")).items}


async def test_a_batch_is_bound_within_the_room_there_is(cluster: tuple[Client, Access]) -> None:
    owner, access = cluster
    for name in "ab":
        await add_node(owner, name)
    for number in range(10):
        await add_pod(owner, f"p{number}", "1")
    async with desk(access) as it:
        await it.sees(Pod, lambda pods: len(pods) == 10)
        # Twice at once: what was just bound counts although no watch has shown it yet.
        await it.scheduling.look()
        await it.scheduling.look()
        nodes = await nodes_of(owner)
        assert Counter(nodes.values()) == {"a": 4, "b": 4, "": 2}

        gone = next(name for name, node in nodes.items() if node == "a")
        await owner.delete(Pod, Key("default", gone), grace=0)

        async def replaced() -> bool:
            return Counter((await nodes_of(owner)).values()) == {"a": 4, "b": 4, "": 1}

        await it.until(replaced)
    told = (await owner.list(Event, "default")).items
    assert Counter(e.reason for e in told)["Scheduled"] == 9


@pytest.mark.parametrize("lives", range(8))
async def test_a_kill_between_any_two_writes_loses_nothing(
    cluster: tuple[Client, Access], lives: int
) -> None:
    owner, access = cluster
    await add_node(owner, "a", cpu="2")
    for number in range(3):
        await add_pod(owner, f"p{number}", "1")
    async with desk(access, lives) as it:
        try:
            await it.scheduling.look()
        except Unreachable:
            assert it.client.writes == lives
    async with desk(access) as it:

        async def settled() -> bool:
            pods = (await owner.list(Pod, "default")).items
            waiting = [p for p in pods if not p.node]
            words = [c["message"] for p in waiting for c in p.status.get("conditions") or ()]
            return len(waiting) == 1 and any("Insufficient cpu" in w for w in words)

        await it.until(settled)


async def test_a_pod_that_still_does_not_fit_costs_no_write(cluster: tuple[Client, Access]) -> None:
    owner, access = cluster
    await add_node(owner, "a")
    await add_pod(owner, "large", "9")
    async with desk(access) as it:
        await it.scheduling.look()
        written = it.client.writes
        assert written > 0
        await add_node(owner, "b", cpu="1")
        await it.sees(Node, lambda nodes: len(nodes) == 2 and all(n.status.get("allocatable") for n in nodes))
        await it.scheduling.look()
        assert it.client.writes > written, "two nodes make another message"
        written = it.client.writes
        await owner.patch(Node, Key("", "b"), {"metadata": {"labels": {"new": "label"}}})
        await it.sees(Node, lambda nodes: any("new" in n.metadata.labels for n in nodes))
        await it.scheduling.look()
        assert it.client.writes == written


async def test_a_pod_is_bound_after_the_claim_that_waited_for_it(cluster: tuple[Client, Access]) -> None:
    owner, access = cluster
    await add_node(owner, "a")
    slow = {"provisioner": "example.com/x", "volumeBindingMode": "WaitForFirstConsumer"}
    await owner.create(StorageClass.read({"metadata": {"name": "slow"}, **slow}))
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "slow",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    body = {"metadata": {"name": "data", "namespace": "default"}, "spec": spec}
    claim = await owner.create(PersistentVolumeClaim.read(body))
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    await add_pod(owner, "p", volumes=volumes)
    async with desk(access) as it:
        await it.scheduling.look()
        found = await owner.get(PersistentVolumeClaim, "default", "data")
        assert found.metadata.annotations[SELECTED_NODE] == "a"
        assert await nodes_of(owner) == {"p": ""}
        written = it.client.writes
        await it.sees(PersistentVolumeClaim, lambda claims: SELECTED_NODE in claims[0].metadata.annotations)
        await it.scheduling.look()
        assert it.client.writes == written, "the claim has been told"

        await provide(owner, claim)

        async def bound() -> bool:
            return await nodes_of(owner) == {"p": "a"}

        await it.until(bound)


async def provide(owner: Client, claim: PersistentVolumeClaim) -> None:
    """What a provisioner and the binder of claims do."""
    volume = {
        "metadata": {"name": "v"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "slow",
            "hostPath": {"path": "/data"},
        },
    }
    await owner.create(PersistentVolume.read(volume))
    await owner.patch(PersistentVolumeClaim, claim.key, {"spec": {"volumeName": "v"}})
    await owner.patch_status(PersistentVolumeClaim, claim.key, {"phase": "Bound"})
