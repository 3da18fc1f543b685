"""How long controllers take to look at everything after a restart, and that settled objects cost no write.

    .venv/bin/python -m benchmarks.resync [--objects 10000]

The objects are PaddleJobs that wait for their data: one look each writes a status. Then new controllers
start, as after a crash, and look at all of them again.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import uvloop

from paddlecloud.api.core import Namespace
from paddlecloud.api.meta import Metadata
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import from_kubeconfig
from paddlecloud.controllers import paddlejob
from paddlecloud.controllers.health import Health
from paddlecloud.controllers.metrics import Metrics
from paddlecloud.controllers.runtime import Options, Runtime
from paddlecloud.errors import PaddleCloudError

NAMESPACE = "bench"
STARTS_WITHIN = 30.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=10_000)
    count = parser.parse_args().objects
    with tempfile.TemporaryDirectory() as folder, api(Path(folder)) as kubeconfig:
        uvloop.run(measure(kubeconfig, count))


@contextlib.contextmanager
def api(home: Path) -> Iterator[Path]:
    process = subprocess.Popen([sys.executable, "-m", "tests.embedded_api", str(home)])
    try:
        yield home / "kubeconfig"
    finally:
        process.terminate()
        process.wait()


async def measure(kubeconfig: Path, count: int) -> None:
    async with connected(kubeconfig) as client:
        await client.create(Namespace(metadata=Metadata(name=NAMESPACE)))
        began = time.perf_counter()
        for start in range(0, count, 16):
            await asyncio.gather(*(client.create(job(i)) for i in range(start, min(count, start + 16))))
        print(f"{count:,} PaddleJobs made in {time.perf_counter() - began:.1f} s")
        seconds, _ = await looked_at_all(client, count, lambda looks: looks >= 2 * count)
        print(f"first looks, with a status written for each: {seconds:.1f} s")
        before = await revision(client)
        seconds, cpu = await looked_at_all(client, count, lambda looks: looks >= count)
        written = await revision(client) - before
        print(f"resync of {count:,} settled objects: {seconds:.1f} s, {cpu:.1f} s of CPU, {written} writes")


@contextlib.asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[Client]:
    end = time.monotonic() + STARTS_WITHIN
    while True:
        try:
            async with Client(from_kubeconfig(kubeconfig)) as client:
                await client.list(Namespace)
                yield client
                return
        except (PaddleCloudError, OSError):
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.1)


def job(number: int) -> PaddleJob:
    container = {"name": "paddle", "image": "paddlecloud/shapes", "command": ["python", "train.py"]}
    return PaddleJob.read(
        {
            "metadata": {"name": f"job-{number}", "namespace": NAMESPACE},
            "spec": {
                "sampleSetRef": {"name": "not-there", "mountPath": "/data"},
                "worker": {"replicas": 2, "template": {"spec": {"containers": [container]}}},
            },
        }
    )


async def looked_at_all(client: Client, count: int, enough: Callable[[float], bool]) -> tuple[float, float]:
    """Seconds from a start until every object was looked at, and the CPU of it."""
    metrics = Metrics()
    began, cpu = time.perf_counter(), time.process_time()
    runtime = Runtime((paddlejob.CONTROLLER,), client, Options(metrics=metrics), Health())
    task = asyncio.create_task(runtime.run())
    name = paddlejob.CONTROLLER.name
    labels = {"controller": name, "result": "ok"}
    while not enough(metrics.registry.get_sample_value("paddlecloud_looks_total", labels) or 0.0):
        await asyncio.sleep(0.05)
    spent = time.perf_counter() - began, time.process_time() - cpu
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return spent


async def revision(client: Client) -> int:
    return int((await client.list(Namespace)).resource_version)


if __name__ == "__main__":
    main()
