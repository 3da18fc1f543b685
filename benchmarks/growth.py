"""What a cluster that fills up costs: get and create with 1,000 and 10,000 objects there, list by its length.

    .venv/bin/python -m benchmarks.growth

Each size is asked several times in turn and the best round counts, so that a busy machine disturbs less.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import uvloop
from rich.console import Console
from rich.table import Table

from benchmarks.api import at, creates, fine
from benchmarks.peers import Peer, ours
from benchmarks.wire import Measured, Target, load

SIZES = (1_000, 10_000)
ROUNDS = 5


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ours(Path(folder) / "home") as peer:
        found = [(size, uvloop.run(measure(peer, size))) for size in SIZES]
    show(found)


async def measure(peer: Peer, size: int) -> dict[str, float]:
    """Microseconds of each operation once there are *size* objects; what was there before counts."""
    target = peer.target
    there = SIZES[SIZES.index(size) - 1] if SIZES.index(size) else 0
    await load(target, creates(target, f"fill{size}", size - there), 16, fine)
    created, got, listed = [], [], []
    for turn in range(ROUNDS):
        prefix = f"round{turn}-{size}"
        created.append(cost(await load(target, creates(target, prefix, 300), 16, fine)))
        got.append(cost(await load(target, gets(target, prefix, 1000), 16, fine)))
        listed.append(cost(await load(target, iter([target.request("GET", at("configmaps"))] * 3), 1, fine)))
        await load(target, deletions(target, prefix, 300), 16, fine)
    return {"create": min(created), "get": min(got), "list, an object": min(listed) / size}


def cost(measured: Measured) -> float:
    return measured.seconds / len(measured.times) * 1e6


def gets(target: Target, prefix: str, count: int) -> Iterator[bytes]:
    for i in range(count):
        yield target.request("GET", at("configmaps", f"{prefix}-{i % 300}"))


def deletions(target: Target, prefix: str, count: int) -> Iterator[bytes]:
    for i in range(count):
        yield target.request("DELETE", at("configmaps", f"{prefix}-{i}"))


def show(found: list[tuple[int, dict[str, float]]]) -> None:
    table = Table(title="microseconds an operation", title_justify="left")
    table.add_column("operation")
    for size, _ in found:
        table.add_column(f"{size:,} objects", justify="right")
    table.add_column("ratio", justify="right")
    for operation in found[0][1]:
        values = [costs[operation] for _, costs in found]
        table.add_row(operation, *(f"{v:,.1f}" for v in values), f"{values[-1] / values[0]:.2f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
