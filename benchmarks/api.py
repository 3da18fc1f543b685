"""The embedded API server and a real kube-apiserver with etcd, asked the same by the same client in one run.

    .venv/bin/python -m benchmarks.api [--pods 5000] [--quick]

TLS, tokens, RBAC and durable writes on both. Prints a table with ratios and the CPU each server spent on
an operation, which a busy machine disturbs less than the rates.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop
from rich.console import Console
from rich.table import Table

from benchmarks.peers import NAMESPACE, Peer, kubernetes, ours
from benchmarks.watchers import Fan, fan_out
from benchmarks.wire import Measured, Target, load

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Operation:
    name: str
    connections: int
    count: int
    requests: Callable[[Target, int], Iterator[bytes]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--quick", action="store_true", help="a tenth of the requests")
    parser.add_argument("--only", choices=["ours", "kubernetes"], help="measure one of the two")
    options = parser.parse_args()
    results: dict[str, dict[str, tuple[Measured, float]]] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for name, start in (("ours", ours), ("kubernetes", kubernetes)):
            if options.only in (None, name):
                peer = stack.enter_context(start(Path(folder) / name))
                results[name] = uvloop.run(measure(peer, options))
                stack.close()  # one at a time: they share the cores
    show(results)


async def measure(peer: Peer, options: argparse.Namespace) -> dict[str, tuple[Measured, float]]:
    found: dict[str, tuple[Measured, float]] = {}
    for operation in operations(options.pods, 10 if options.quick else 1):
        before = cpu(peer)
        measured = await load(
            peer.target, operation.requests(peer.target, operation.count), operation.connections, fine
        )
        found[operation.name] = measured, (cpu(peer) - before) / len(measured.times)
        print(f"{peer.name}: {operation.name}: {measured.rate:,.0f}/s", flush=True)
    for writers in (1, 16):
        watched, cost = await watches(peer, writers, 40 if options.quick else 400)
        found[f"watch, 100 watchers, {writers} writing"] = watched, cost
    return found


async def watches(peer: Peer, writers: int, events: int) -> tuple[Measured, float]:
    """How changes reach a hundred watchers, and the CPU of an event without what it took to listen."""
    before: list[float] = []
    fan = Fan(writers, 100, events, lambda: before.append(cpu(peer)))
    watched = await fan_out(peer.target, NAMESPACE, fan)
    return watched, (cpu(peer) - before[0]) / len(watched.times)


def fine(status: int) -> bool:
    return status in (200, 201)


def operations(pods: int, divisor: int) -> list[Operation]:
    many, few = 4000 // divisor, max(5, 20 // divisor)
    return [
        Operation("create ConfigMap, 1 connection", 1, many // 4, lambda t, n: creates(t, "a", n)),
        Operation("create ConfigMap, 16", 16, many, lambda t, n: creates(t, "b", n)),
        Operation("get ConfigMap, 1 connection", 1, many // 2, lambda t, n: gets(t, n)),
        Operation("get ConfigMap, 16", 16, many * 2, lambda t, n: gets(t, n)),
        Operation("merge-patch ConfigMap, 16", 16, many, lambda t, n: patches(t, n)),
        Operation(f"create {pods} Pods, 16", 16, pods, lambda t, n: pod_creates(t, n)),
        Operation("get Pod, 16", 16, many * 2, lambda t, n: pod_gets(t, n)),
        Operation(f"list {pods} Pods", 1, few, lambda t, n: lists(t, n, "application/json")),
        Operation(f"list {pods} Pods as Table", 1, few, lambda t, n: lists(t, n, TABLE)),
    ]


def at(plural: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{NAMESPACE}/{plural}" + (f"/{name}" if name else "")


def creates(target: Target, prefix: str, count: int) -> Iterator[bytes]:
    for i in range(count):
        body = {"metadata": {"name": f"{prefix}-{i}"}, "data": {"key": "value" * 20}}
        yield target.request("POST", at("configmaps"), body)


def gets(target: Target, count: int) -> Iterator[bytes]:
    request = target.request("GET", at("configmaps", "a-0"))
    for _ in range(count):
        yield request


def patches(target: Target, count: int) -> Iterator[bytes]:
    for i in range(count):
        # 100 objects: patches of one object would only measure how it is retried.
        body = {"data": {"round": str(i)}}
        path = at("configmaps", f"a-{i % 100}")
        yield target.request("PATCH", path, body, kind="application/merge-patch+json")


def pod(name: str) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": "registry.example.com/team/image:v1",
        "command": ["sleep", "1000"],
        "env": [{"name": f"VARIABLE_{i}", "value": "x" * 30} for i in range(8)],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
        "ports": [{"containerPort": 8080, "name": "http"}],
        "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
    }
    return {
        "metadata": {"name": name, "labels": {"app": "bench", "index": name.rpartition("-")[2]}},
        # Nobody's scheduler: the pods stay where they are on both servers.
        "spec": {
            "schedulerName": "none",
            "containers": [container],
            "volumes": [{"name": "scratch", "emptyDir": {}}],
        },
    }


def pod_creates(target: Target, count: int) -> Iterator[bytes]:
    for i in range(count):
        yield target.request("POST", at("pods"), pod(f"pod-{i}"))


def pod_gets(target: Target, count: int) -> Iterator[bytes]:
    request = target.request("GET", at("pods", "pod-0"))
    for _ in range(count):
        yield request


def lists(target: Target, count: int, accept: str) -> Iterator[bytes]:
    request = target.request("GET", at("pods"), accept=accept)
    for _ in range(count):
        yield request


def cpu(peer: Peer) -> float:
    """Milliseconds of CPU the server's processes have used so far."""
    total = 0
    for pid in peer.processes():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total * 1000 / TICK


def show(results: dict[str, dict[str, tuple[Measured, float]]]) -> None:
    table = Table(title="operations a second (p50/p99 ms; CPU ms an operation)", title_justify="left")
    table.add_column("operation")
    for name in results:
        table.add_column(name, justify="right")
    if len(results) == 2:
        table.add_column("ratio", justify="right")
        table.add_column("CPU ratio", justify="right")
    for operation in next(iter(results.values())):
        cells, measured = [operation], [r[operation] for r in results.values()]
        for found, cost in measured:
            cells.append(
                f"{found.rate:,.0f}/s ({found.percentile(0.5):.1f}/{found.percentile(0.99):.1f}; {cost:.2f})"
            )
        if len(measured) == 2:
            cells.append(f"{measured[0][0].rate / measured[1][0].rate:.2f}")
            cells.append(f"{measured[1][1] / measured[0][1]:.2f}" if measured[0][1] else "–")
        table.add_row(*cells)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
