"""What data sets cost that nobody touches: the status of a large one, and a thousand that are ready."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from tests.servers import embedded_server

from benchmarks import datastage, footprint
from benchmarks.datarows import Row
from benchmarks.jobcases import Case, shipped
from paddlecloud.api.core import Namespace, PersistentVolumeClaim, Pod
from paddlecloud.api.meta import Metadata
from paddlecloud.api.sampleset import SampleSet
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.controllers.dataruntimes import PORT

LOOKS = 5
ADDRESS = "127.113.7.1"
"""Where all runtimes of the sets at rest answer; of the loopback, and nobody else's."""
NAMESPACE = "rest"
RUNS = {"phase": "Running", "podIP": ADDRESS, "conditions": [{"type": "Ready", "status": "True"}]}
"""What is told of the runtimes, though nobody runs them."""
AT_ONCE = 16
SETTLES_WITHIN, SETTLED = 900.0, 30.0


def status(folder: Path, divisor: int) -> list[Row]:
    """A set of many files, asked again and again for what it holds."""
    files = 100_000 // divisor
    data = folder / "set" / "data"
    for number in range(files):
        path = data / f"{number // 1000:03}" / f"{number:06}.bin"
        if not number % 1000:
            path.parent.mkdir(parents=True)
        path.write_bytes(b"x")
    with datastage.runtime(folder) as runtime:
        end = time.monotonic() + 600
        while (seen := runtime.info())["phase"] == "Verifying":
            assert time.monotonic() < end, seen
            time.sleep(0.2)
        assert seen["cachedFiles"] == files, seen
        taken = []
        for _ in range(LOOKS):
            # What was seen is told for a second to all who ask.
            time.sleep(1.1)
            began = time.perf_counter()
            runtime.info()
            taken.append(time.perf_counter() - began)
        peak = runtime.peak()
    return [
        Row(f"status of {files:,} files", max(taken), "", 2.0, 1.0),
        Row(f"memory of its runtime, {files:,} files", peak, "", 100.0, 1.0, unit="MB"),
    ]


async def rest(folder: Path, divisor: int, seconds: float) -> list[Row]:
    """The controller as it is shipped, with sets that are ready and stay so."""
    count = 1_000 // divisor
    with embedded_server(folder) as server:
        async with Client(from_kubeconfig(server.kubeconfig)) as client, answering():
            await client.create(Namespace(metadata=Metadata(name=NAMESPACE)))
            case = Case(client, server.kubeconfig, folder)
            with shipped(case, "sampleset") as process:
                await many(client.create(a_set(number)) for number in range(count))
                await ready(client, count)
                await asyncio.sleep(SETTLED)
                before = footprint.processor([process.popen.pid])
                await asyncio.sleep(seconds)
                spent = footprint.processor([process.popen.pid]) - before
    return [Row(f"controller with {count:,} sets at rest", 100 * spent / seconds, "", 1.0, 1.0, unit="%")]


def a_set(number: int) -> SampleSet:
    spec = {"source": {"uri": "s3://bucket.example.com/samples"}, "csi": {"driver": "local"}}
    return SampleSet.read({"metadata": {"name": f"set-{number}", "namespace": NAMESPACE}, "spec": spec})


async def ready(client: Client, count: int) -> None:
    """Play the rest of the cluster until all sets are ready: claims are bound, runtimes run."""
    bound, started = set[str](), set[str]()
    async with asyncio.timeout(SETTLES_WITHIN):
        while True:
            claims = (await client.list(PersistentVolumeClaim, NAMESPACE)).items
            fresh = [claim for claim in claims if claim.name not in bound and not claim.bound]
            await many(client.patch_status(PersistentVolumeClaim, c.key, {"phase": "Bound"}) for c in fresh)
            bound |= {claim.name for claim in claims}
            pods = (await client.list(Pod, NAMESPACE)).items
            begun = [pod for pod in pods if pod.name not in started]
            await many(client.patch_status(Pod, pod.key, RUNS) for pod in begun)
            started |= {pod.name for pod in begun}
            phases = [found.status.phase.value for found in (await client.list(SampleSet, NAMESPACE)).items]
            print(f"{len(bound)} bound, {len(started)} running, {phases.count('Ready')} ready", flush=True)
            if phases.count("Ready") == count:
                return
            await asyncio.sleep(2)


async def many(calls: Iterable[Awaitable[object]]) -> None:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(call: Awaitable[object]) -> None:
        async with gate:
            await call

    await asyncio.gather(*map(one, calls))


@asynccontextmanager
async def answering() -> AsyncIterator[None]:
    """All runtimes: each has verified what it holds, and has done what it was told."""
    held = {
        "totalSize": 1 << 30,
        "totalFiles": 1000,
        "cachedSize": 1 << 30,
        "diskSize": 1 << 40,
        "revision": "x",
    }

    async def answer(request: web.Request) -> web.Response:
        told: dict[str, Any] = {"phase": "Synced", "message": "1000 files", **held}
        return web.json_response({"status": "success"} if "Result" in request.path else told)

    served = web.Application()
    served.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(served, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, ADDRESS, PORT).start()
    try:
        yield
    finally:
        await runner.cleanup()
