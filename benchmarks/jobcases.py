"""The cases of the PaddleJob benchmark: bursts, lives and rest."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from tests.cluster.widgets import running as beside
from tests.kubernetes.processes import Process, running
from tests.properties.simulated_node import SimulatedNode, registered

from benchmarks.footprint import processor
from benchmarks.jobwork import PODS_A_JOB, burst, observing
from paddlecloud.api.core import Namespace
from paddlecloud.api.meta import Metadata
from paddlecloud.cluster.client import Client

STARTS_WITHIN = 60.0
SETTLED = 3.0
"""Seconds without a write after which a controller has done what was left."""


@dataclass(frozen=True)
class Found:
    what: str
    jobs: int
    seen: str
    wanted: str = ""


@dataclass(frozen=True)
class Case:
    client: Client
    kubeconfig: Path
    folder: Path

    async def namespace(self, name: str) -> str:
        await self.client.create(Namespace(metadata=Metadata(name=name)))
        return name


async def bursts(case: Case, sizes: list[int]) -> list[Found]:
    """The same controller for all of them; the jobs of the smaller ones stay."""
    found: list[Found] = []
    namespace = await case.namespace("bursts")
    async with controller(case) as process, observing(case.client, namespace) as seen:
        each: list[float] = []
        for number, size in enumerate(sizes):
            names = [f"burst{number}-{n}" for n in range(size)]
            cpu, writes, began = spent(process), seen.total(), time.perf_counter()
            await burst(case.client, namespace, names)
            made = time.perf_counter() - began
            await seen.until(lambda names=names: all(name in seen.ready for name in names))  # type: ignore[misc]
            took = max(seen.ready[name] for name in names) - began
            await seen.quiet(SETTLED)
            cpu = spent(process) - cpu
            each.append(cpu / size)
            found += [
                Found("jobs/s", size, f"{size / took:.1f} (made at {size / made:.0f}/s)", "40"),
                Found("CPU a job", size, f"{1000 * cpu / size:.1f} ms", "15 ms"),
                Found("writes a job", size, f"{(seen.total() - writes) / size:.1f}", "8"),
                Found("first of a burst ready", size, f"{seen.ready[names[0]] - began:.2f} s", "1 s"),
            ]
            show(found[-4:])
    # The first burst also warms the process up.
    return [
        *found,
        Found("CPU a job, most by least", max(sizes), f"{max(each[1:]) / min(each[1:]):.2f}", "1.5"),
    ]


async def lives(case: Case, count: int) -> list[Found]:
    """Jobs from their creation to their end, their pods played by a simulated node."""
    namespace = await case.namespace("lives")
    async with (
        controller(case) as process,
        observing(case.client, namespace) as seen,
        node(case, namespace) as simulated,
    ):
        simulated.always_end("life-*-worker-*")
        names = [f"life-{n}" for n in range(count)]
        cpu = spent(process)
        await burst(case.client, namespace, names)
        await seen.until(lambda: all(seen.phases.get(name) == "Completed" for name in names))
        cpu = spent(process) - cpu
        writes = sum(seen.status_writes[name] for name in names) / count
    return show(
        [
            Found("status writes of a life", count, f"{writes:.1f}", "4"),
            Found("CPU of a life", count, f"{1000 * cpu / count:.1f} ms"),
        ]
    )


async def idle(case: Case, count: int, seconds: float) -> list[Found]:
    """As many finished as running jobs, none of which moves; then a controller that starts with them."""
    namespace = await case.namespace("rest")
    finished, going = [f"done-{n}" for n in range(count)], [f"runs-{n}" for n in range(count)]
    async with observing(case.client, namespace) as seen, node(case, namespace) as simulated:
        simulated.always_end("done-*-worker-*")
        async with controller(case) as process:
            await burst(case.client, namespace, [*finished, *going])
            await seen.until(lambda: all(seen.phases.get(n) == "Completed" for n in finished))
            await seen.until(lambda: all(seen.phases.get(n) == "Running" for n in going))
            # Nobody has their logs here: they go when that has been given up.
            await seen.until(lambda: seen.writes["pods", "DELETED"] == PODS_A_JOB * count)
            await seen.quiet(SETTLED)
            cpu, writes = spent(process), seen.total()
            await asyncio.sleep(seconds)
            rest = (spent(process) - cpu) / seconds
            written = seen.total() - writes
        writes, began = seen.total(), time.perf_counter()
        async with controller(case) as process:
            await looked_at(process, 2 * count)
            caught_up = time.perf_counter() - began
            await asyncio.sleep(1.0)
            again = seen.total() - writes
            memory = resident(process)
    return show(
        [
            Found("CPU at rest", 2 * count, f"{100 * rest:.2f} %, {written} writes", "1 %, 0 writes"),
            Found(
                "caught up after a start", 2 * count, f"{caught_up:.1f} s, {again} writes", "3 s, 0 writes"
            ),
            Found("resident memory", 2 * count, f"{memory:.0f} MB", "150 MB"),
        ]
    )


def show(rows: list[Found]) -> list[Found]:
    for row in rows:
        print(f"{row.what}, {row.jobs}: {row.seen}", flush=True)
    return rows


@asynccontextmanager
async def node(case: Case, namespace: str) -> AsyncIterator[SimulatedNode]:
    simulated = SimulatedNode(case.client, namespace, workers=16)
    async with beside(simulated.run(), registered(case.client, simulated.name)):
        yield simulated


@asynccontextmanager
async def controller(case: Case) -> AsyncIterator[Process]:
    """The controller as it is shipped, once it leads."""
    with shipped(case) as process:
        while not re.search(r"leads \(lease", log_of(process)):
            process.check()
            await asyncio.sleep(0.02)
        yield process


@contextmanager
def shipped(case: Case, only: str = "paddlejob") -> Iterator[Process]:
    arguments = ["-m", "paddlecloud.cli.main", "--kubeconfig", str(case.kubeconfig), "controllers"]
    arguments += [
        "--only",
        only,
        "--lease-namespace",
        "default",
        "--address",
        "127.0.0.1",
        "--port",
        "0",
    ]
    with running(Path(sys.executable), arguments, case.folder / "controller") as process:
        yield process


async def looked_at(process: Process, count: int) -> None:
    """Until the controller has looked at that many objects."""
    async with asyncio.timeout(STARTS_WITHIN), aiohttp.ClientSession() as session:
        while not (port := re.search(r"metrics on port (\d+)", log_of(process))):
            await asyncio.sleep(0.02)
        while True:
            async with session.get(f"http://127.0.0.1:{port[1]}/metrics") as answer:
                looks = re.findall(
                    r'^paddlecloud_looks_total\{.*result="ok".*\} ([\d.]+)', await answer.text(), re.M
                )
            if sum(map(float, looks)) >= count:
                return
            await asyncio.sleep(0.05)


def spent(process: Process) -> float:
    """Seconds of processor time so far."""
    return processor([process.popen.pid])


def resident(process: Process) -> float:
    """Megabytes."""
    status = Path(f"/proc/{process.popen.pid}/status").read_text()
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.M)
    return int(found[1]) / 1024 if found else 0.0


def log_of(process: Process) -> str:
    return process.log.read_text(errors="replace")
