"""Pods through the API, timed: made, started, asked to run a command, removed.

The moment of a first line is the one its log has, so that reading it late costs nothing.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Key
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.informer import Informer
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.cluster.remotecommands import Ends, RemoteCommand, run
from paddlecloud.errors import TimedOut

NAMESPACE = "default"
PATIENCE = 120.0
AT_ONCE = 16
ONCE = ["echo", "ready"]
FOREVER = ["sh", "-c", "echo ready; exec sleep 1000000"]


def a_pod(name: str, command: list[str]) -> Pod:
    return Pod.read(
        {
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "busybox", "command": command}],
            },
        }
    )


@dataclass(frozen=True)
class Bench:
    """A cluster and what is seen of its pods."""

    client: Client
    pods: Informer[Pod]
    changed: asyncio.Event
    """Set at every change of a pod."""

    async def first_lines(self, rounds: int, prefix: str) -> list[float]:
        """Milliseconds from the request to the first line, one pod after the other."""
        return [await self.one(Key(NAMESPACE, f"{prefix}-{turn}")) for turn in range(rounds)]

    async def one(self, key: Key) -> float:
        began = time.time()
        await self.client.create(a_pod(key.name, ONCE))
        await self.until(lambda: self.phase(key) in ("Succeeded", "Failed"))
        took = (await self.first_line(key) - began) * 1000
        await self.client.delete(Pod, key, grace=0)
        await self.until(lambda: not self.phase(key))
        return took

    def phase(self, key: Key) -> str:
        """As it was seen last; empty: there is no such pod."""
        pod = self.pods.get(key)
        return pod.phase if pod is not None else ""

    async def many(self, names: list[str]) -> float:
        """Seconds from the first request to the last first line."""
        door = asyncio.Semaphore(AT_ONCE)

        async def one(name: str) -> None:
            async with door:
                await self.client.create(a_pod(name, FOREVER))

        began = time.time()
        await asyncio.gather(*map(one, names))
        keys = [Key(NAMESPACE, name) for name in names]
        patience = PATIENCE + len(names)
        await self.until(lambda: all(self.phase(key) == "Running" for key in keys), patience)
        return max([await self.first_line(key) for key in keys]) - began

    async def commands(self, pod: str, rounds: int) -> list[float]:
        """Milliseconds of `exec POD -- true`, one after the other."""
        times = []
        command = RemoteCommand(Key(NAMESPACE, pod), ("true",))
        for _ in range(rounds):
            began = time.perf_counter()
            code = await run(self.client.access, command, Ends(len, len))
            if code:
                raise AssertionError(f"`true` ended with {code}")
            times.append((time.perf_counter() - began) * 1000)
        return times

    async def first_line(self, key: Key) -> float:
        """When the log of the pod begins."""
        async with asyncio.timeout(PATIENCE):
            while not (line := await self.client.logs(key.namespace, key.name, stamped=True)):
                await asyncio.sleep(0.01)
        # Nanoseconds are more than Python reads.
        return datetime.fromisoformat(line[:26] + "+00:00").timestamp()

    async def until(self, holds: Callable[[], bool], patience: float = PATIENCE) -> None:
        """Wait for the watch to show it; raises `TimedOut` with what it shows instead."""
        try:
            async with asyncio.timeout(patience):
                while not holds():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            shown = dict(Counter(pod.phase for pod in self.pods.all()))
            raise TimedOut(f"not seen within {patience:.0f} s; pods by phase: {shown}") from None


@asynccontextmanager
async def bench(kubeconfig: Path) -> AsyncIterator[Bench]:
    async with Client(from_kubeconfig(kubeconfig)) as client:
        pods, changed = Informer(client, Pod), asyncio.Event()
        pods.subscribe(lambda old, new: changed.set())
        following = asyncio.create_task(pods.run())
        await pods.synced.wait()
        try:
            yield Bench(client, pods, changed)
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)


def middle(times: list[float]) -> float:
    return statistics.median(times)
