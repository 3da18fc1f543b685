"""The work of the PaddleJob benchmark: jobs made in a burst, and somebody who notes what becomes of them.

The observer counts writes as watches show them, so it needs nothing from the controller it measures: every
version of a job is a status write, every pod, ConfigMap and Service that appears is a write too.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from paddlecloud.api.core import ConfigMap, Event, Pod, Service
from paddlecloud.api.meta import Resource
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.cluster import requests
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.requests import Scope
from paddlecloud.cluster.watching import WatchEvent

PODS_A_JOB = 4
AT_ONCE = 16
KINDS: tuple[type[Resource], ...] = (PaddleJob, Pod, ConfigMap, Service, Event)
LONGEST = 1800.0


class Observer:
    """What is written in one namespace, and when each job was ready: all of its pods and a phase."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.namespace = namespace
        self.writes: Counter[tuple[str, str]] = Counter()
        self.phases: dict[str, str] = {}
        self.status_writes: Counter[str] = Counter()
        self.ready: dict[str, float] = {}
        self._pods: dict[str, set[str]] = defaultdict(set)
        self._client, self._moved = client, asyncio.Event()
        self._followed = 0

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(LONGEST):
            while not condition():
                self._moved.clear()
                await self._moved.wait()

    async def quiet(self, seconds: float) -> None:
        """Until nothing has been written for that long."""
        async with asyncio.timeout(LONGEST):
            before = -1
            while before != (before := sum(self.writes.values())):
                await asyncio.sleep(seconds)

    def total(self) -> int:
        """Writes to children, statuses and events."""
        return sum(count for (_, type_), count in self.writes.items() if type_ != "DELETED")

    async def follow(self, kind: type[Resource]) -> None:
        version = (await self._client.list_raw(kind, Scope(self.namespace))).resource_version
        self._followed += 1
        self._moved.set()
        while True:
            events = self._client.watch(kind, self.namespace, version)
            async with aclosing(events):
                async for event in events:
                    version = event.resource_version or version
                    if event.type != "BOOKMARK":
                        self._note(kind, event)

    async def everywhere(self) -> None:
        await self.until(lambda: self._followed == len(KINDS))

    def _note(self, kind: type[Resource], event: WatchEvent) -> None:
        name = event.object["metadata"]["name"]
        if kind is PaddleJob and event.type != "DELETED":
            self.phases[name] = phase = (event.object.get("status") or {}).get("phase", "")
            self.status_writes[name] += event.type == "MODIFIED"
            self._look(name, phase)
        elif kind is Pod:
            job = name.rsplit("-", 2)[0]
            if event.type == "ADDED":
                self._pods[job].add(name)
                self._look(job, self.phases.get(job, ""))
        # The job itself is the user's; what happens to a pod later is its node's.
        if (kind, event.type) not in ((PaddleJob, "ADDED"), (Pod, "MODIFIED")):
            self.writes[kind.plural, event.type] += 1
        self._moved.set()

    def _look(self, job: str, phase: str) -> None:
        if phase and len(self._pods[job]) == PODS_A_JOB:
            self.ready.setdefault(job, time.perf_counter())


@asynccontextmanager
async def observing(client: Client, namespace: str) -> AsyncIterator[Observer]:
    observer = Observer(client, namespace)
    tasks = [asyncio.create_task(observer.follow(kind)) for kind in KINDS]
    try:
        await observer.everywhere()
        yield observer
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def burst(client: Client, namespace: str, names: list[str]) -> None:
    """All of these jobs, some at the same time."""
    left = iter(names)

    async def make() -> None:
        for name in left:
            await client.request(requests.creation(PaddleJob, namespace, job(name)))

    await asyncio.gather(*(make() for _ in range(AT_ONCE)))


def job(name: str) -> dict[str, Any]:
    """Two servers and two workers; a scheduler nobody runs, so that they stay where they are."""
    container = {
        "name": "paddle",
        "image": "example/paddle:1",
        "command": ["python", "train.py"],
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
    }
    role = {"replicas": 2, "template": {"spec": {"schedulerName": "nobody", "containers": [container]}}}
    return {
        "apiVersion": PaddleJob.api_version,
        "kind": PaddleJob.kind,
        "metadata": {"name": name},
        "spec": {"withGloo": 1, "ps": role, "worker": role},
    }
