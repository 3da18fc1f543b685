"""A node without a machine: places pods on itself and says what becomes of them, through the API alone.

It knows nothing but the pods, so it can be started and ended at any time and works on any server. Pods that
other schedulers are responsible for are placed too: use a namespace of your own, or say which pods are meant.
"""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any
from zlib import crc32

from tests.properties.pod_lives import End, Sight, next_status

from paddlecloud.api.core import Node, Pod
from paddlecloud.api.lease import Lease, LeaseSpec
from paddlecloud.api.meta import Key, Metadata
from paddlecloud.cluster import requests
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.informer import Informer
from paddlecloud.cluster.requests import Place
from paddlecloud.controllers.passes import utc_now
from paddlecloud.controllers.queue import Queue
from paddlecloud.errors import AlreadyExists, Conflict, NotFound

BINDINGS = "binding"


class SimulatedNode:
    """The pods of *namespace* (empty: of all), from nowhere to their end, while `run` runs."""

    def __init__(
        self, client: Client, namespace: str = "", *, name: str = "simulated", workers: int = 4
    ) -> None:
        self.name = name
        self.pods = Informer(client, Pod, namespace)
        self.turns = 0
        """How often it has turned to a pod."""
        self.reuses_addresses = False
        """Whether a pod that comes back has the address it had before."""
        self.network = 10
        """The first number of the addresses; 127 where a controller asks the pods themselves."""
        self._client, self._workers = client, workers
        self._queue = Queue(time.monotonic, random.random)
        self._ends: list[tuple[str, End]] = []
        self._lives: dict[Key, list[str]] = {}

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.pods.run())
            await self.pods.synced.wait()
            self.pods.subscribe(self._changed)
            for _ in range(self._workers):
                tasks.create_task(self._work())

    def end(self, names: str, code: int = 0, **told: str) -> None:
        """The pods that are there and called so (`train-worker-*`) end with that code once they run."""
        end = End(code, **told)
        for pod in self.pods.all():
            if fnmatchcase(pod.name, names):
                self._ends.append((pod.uid, end))
                self._queue.wake(pod.key)

    def always_end(self, names: str, code: int = 0) -> None:
        """Every pod that is called so, now and later, ends with that code once it runs."""
        self._ends.append((names, End(code)))
        for pod in self.pods.all():
            self._queue.wake(pod.key)

    def resting(self) -> bool:
        return self._queue.resting(1.0)

    def _changed(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None:
            lives = self._lives.setdefault(new.key, [])
            if new.uid not in lives:
                lives.append(new.uid)
            self._queue.wake(new.key)

    async def _work(self) -> None:
        while True:
            key = await self._queue.take()
            self.turns += 1
            pod = self.pods.get(key)
            try:
                if pod is not None:
                    await self._serve(pod)
            except (Conflict, NotFound):
                # Somebody else wrote to it; that will wake us.
                pass
            self._queue.succeeded(key, None)

    async def _serve(self, pod: Pod) -> None:
        if pod.metadata.deletion_timestamp is not None:
            await self._client.delete(Pod, pod.key, uid=pod.uid, grace=0)
        elif not pod.node:
            await self._client.request(binding(pod, self.name))
        elif pod.node == self.name:
            now = utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")
            sight = Sight(self._address(pod), now, self._end_of(pod))
            if status := next_status(pod, sight):
                await self._client.patch_status(
                    Pod, pod.key, status, resource_version=pod.metadata.resource_version
                )

    def _end_of(self, pod: Pod) -> End | None:
        return next((end for who, end in self._ends if who == pod.uid or fnmatchcase(pod.name, who)), None)

    def _address(self, pod: Pod) -> str:
        """The same for the same name and life in every run, another for a pod that came back."""
        life = 0 if self.reuses_addresses else self._lives[pod.key].index(pod.uid)
        number = (crc32(pod.name.encode()) + life) % (1 << 24)
        return f"{self.network}.{number >> 16}.{number >> 8 & 255}.{number & 255}"


async def registered(client: Client, name: str) -> None:
    """Keep a node of that name known and alive until cancelled: for pods that are to stay for minutes."""
    now = utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")
    with suppress(AlreadyExists):
        await client.create(Node(metadata=Metadata(name=name)))
    ready = {"type": "Ready", "status": "True", "reason": "Simulated", "lastHeartbeatTime": now}
    await client.patch_status(Node, Key("", name), {"conditions": [{**ready, "lastTransitionTime": now}]})
    key = Key("kube-node-lease", name)
    lease = LeaseSpec(holder_identity=name, lease_duration_seconds=40)
    with suppress(AlreadyExists):
        await client.create(Lease(metadata=Metadata(name=name, namespace=key.namespace), spec=lease))
    while True:
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        await client.patch(Lease, key, {"spec": {"renewTime": stamp}})
        await asyncio.sleep(10.0)


def binding(pod: Pod, node: str) -> requests.Request:
    body: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    path = requests.path_of(Place("v1", "pods"), pod.key, BINDINGS)
    return requests.write("POST", path, body)
