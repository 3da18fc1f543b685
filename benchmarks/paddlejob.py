"""The PaddleJob controller, as shipped, in a process of its own, on kube-apiserver and on the embedded API.

    .venv/bin/python -m benchmarks.paddlejob [--only ours|kubernetes] [--quick] [--full] [--part idle]

Bursts of jobs with 2 servers and 2 workers, from the first create until each has its pods and a phase; the
lives of some with a simulated node; then 1,000 finished and 1,000 running jobs at rest. On a machine that
others use too, compare the processor time of a job: the rates say more about the machine. The numbers of the
Go operators were taken with the same jobs, at their defaults and with their client limits lifted.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import uvloop
from rich.console import Console
from rich.table import Table
from tests.kubernetes import build
from tests.kubernetes.control_plane import control_plane
from tests.servers import embedded_server

from benchmarks.jobcases import Case, Found, bursts, idle, lives
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import from_kubeconfig

PEERS = {
    "jobs/s": "2.5, lifted 5.3-6.3 · 2.6, lifted 24.9",
    "first of a burst ready": "149 s of 500 · ",
    "writes a job": "27 · 21-24",
    "status writes of a life": " · 3",
    "CPU a job": " · 31 ms",
}
"""paddle-operator · kubeflow training-operator 1.8.1."""


@contextmanager
def ours(home: Path) -> Iterator[Path]:
    with embedded_server(home) as server:
        yield server.kubeconfig


@contextmanager
def kubernetes(home: Path) -> Iterator[Path]:
    with control_plane(home, build.build(), durable=True) as plane:
        yield plane.kubeconfig


Start = Callable[[Path], AbstractContextManager[Path]]
SERVERS: dict[str, Start] = {"kubernetes": kubernetes, "ours": ours}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=SERVERS, help="measure on one of the two")
    parser.add_argument("--quick", action="store_true", help="a tenth of the jobs")
    parser.add_argument("--full", action="store_true", help="10,000 jobs too")
    parser.add_argument("--part", choices=("bursts", "lives", "idle"), action="append", help="not all three")
    options = parser.parse_args()
    console = Console()
    console.print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    for name, start in SERVERS.items():
        if options.only in (None, name):
            rows = [row for part in parts(options) for row in on_a_fresh_server(start, part)]
            console.print(table(name, rows))


Part = Callable[[Case], Awaitable[list[Found]]]


def parts(options: argparse.Namespace) -> list[Part]:
    """Each has a server of its own: what one leaves behind would count in the next."""
    share = 10 if options.quick else 1
    sizes = [max(10, size // share) for size in (10, 100, 500, 1000, *([10_000] if options.full else []))]
    known: dict[str, Part] = {
        "bursts": lambda case: bursts(case, sizes),
        "lives": lambda case: lives(case, 100 // share),
        "idle": lambda case: idle(case, 1000 // share, 60.0),
    }
    return [known[name] for name in options.part or known]


def on_a_fresh_server(start: Start, part: Part) -> list[Found]:
    async def measure(kubeconfig: Path) -> list[Found]:
        async with Client(from_kubeconfig(kubeconfig)) as client:
            return await part(Case(client, kubeconfig, Path(folder)))

    # Not below a long path: the names of sockets must stay short.
    with tempfile.TemporaryDirectory(prefix="pdc-bench-") as folder, start(Path(folder)) as config:
        return uvloop.run(measure(config))


def table(server: str, rows: list[Found]) -> Table:
    drawn = Table(title=f"PaddleJobs on {server}; load at the end {os.getloadavg()[0]:.1f}")
    for column in ("what", "jobs", "seen", "wanted", "Go operators"):
        drawn.add_column(column, justify="left" if column == "what" else "right")
    for row in rows:
        drawn.add_row(row.what, f"{row.jobs:,}", row.seen, row.wanted, PEERS.get(row.what, ""))
    return drawn


if __name__ == "__main__":
    main()
