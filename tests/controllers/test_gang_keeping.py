"""Phases of groups and the books of queues, written to an API server as pods come and go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.widgets import eventually, running
from tests.controllers.widget_stage import Recorder

from paddlecloud.api.core import Node, Pod
from paddlecloud.api.meta import Key, Metadata
from paddlecloud.api.scheduling import PodGroup, Queue
from paddlecloud.cluster import requests
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.informer import Informer
from paddlecloud.cluster.kubeconfig import Access, from_kubeconfig
from paddlecloud.embedded.identity import establish
from paddlecloud.embedded.server.serve import serving
from paddlecloud.embedded.workloads.gangkeeping import KINDS, GangKeeping
from paddlecloud.settings import Home

TEAM = Key("default", "team")


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[tuple[Client, Access]]:
    """The owner's client, and what the controllers themselves may do."""
    home = Home(tmp_path / "home")
    async with serving(home, establish(home)), Client(from_kubeconfig(home.kubeconfig)) as owner:
        yield owner, from_kubeconfig(home.run / "controllers.kubeconfig")


async def add_member(owner: Client, name: str, node: str) -> Key:
    """A pod of the group, bound to a node."""
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "500m"}}}
    body = {
        "metadata": {
            "name": name,
            "namespace": TEAM.namespace,
            "annotations": {"scheduling.k8s.io/group-name": TEAM.name},
        },
        "spec": {"containers": [container], "schedulerName": "volcano"},
    }
    pod = await owner.create(Pod.read(body))
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
    await owner.request(requests.write("POST", requests.path_of(Pod, pod.key, "binding"), binding))
    return pod.key


def labels(group: PodGroup | None) -> dict[str, str]:
    return group.metadata.labels if group else {}


async def test_phases_follow_the_pods_and_what_is_settled_costs_no_write(
    cluster: tuple[Client, Access],
) -> None:
    owner, access = cluster
    await owner.create(Node(metadata=Metadata(name="a")))
    group = {"metadata": {"name": TEAM.name, "namespace": TEAM.namespace}, "spec": {"minMember": 2}}
    await owner.create(PodGroup.read(group))
    async with Recorder(access) as client:
        informers: dict[type[Any], Informer[Any]] = {kind: Informer(client, kind) for kind in KINDS}
        keeping = GangKeeping(client, informers, lambda: datetime.now(UTC).replace(microsecond=0))

        async def until(holds: Callable[[PodGroup, Queue], bool]) -> None:
            async def look() -> bool:
                await keeping.look()
                now = await owner.get(PodGroup, *TEAM)
                return holds(now, await owner.get(Queue, "", "default"))

            await eventually(look)

        async with running(*(informer.run() for informer in informers.values())):
            await asyncio.gather(*(informer.synced.wait() for informer in informers.values()))
            await until(lambda g, q: g.status.phase == "Inqueue" and q.status.inqueue == 1)
            keys = [await add_member(owner, f"p{i}", "a") for i in range(2)]
            await until(lambda g, q: g.status.phase == "Running" and q.status.allocated == {"cpu": "1"})
            for key in keys:
                await owner.patch_status(Pod, key, {"phase": "Succeeded"})
            # What the queue no longer holds is gone from its books, not nought.
            await until(lambda g, q: g.status.phase == "Completed" and q.status.allocated == {})
            await until(lambda g, q: (g.status.succeeded, q.status.completed) == (2, 1))

            written = len(client.writes)
            await owner.patch(PodGroup, TEAM, {"metadata": {"labels": {"new": "label"}}})
            await eventually(lambda: "new" in labels(informers[PodGroup].get(TEAM)))
            await keeping.look()
            assert len(client.writes) == written
