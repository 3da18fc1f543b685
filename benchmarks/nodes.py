"""Pods on the embedded nodes: how fast they start, what they cost while they do nothing, and exec.

    .venv/bin/python -m benchmarks.nodes [--level root|plain] [--quick] [--json]

Both levels by default: `root` is whatever the machine allows, `plain` are plain processes. The floor is the
same program started without us in the same run. On a busy machine the times say more about the machine: the
load is printed, and so is the processor time that a pod's start takes, which moves less.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import uvloop
from rich.console import Console
from rich.table import Table

from benchmarks import floors, footprint
from benchmarks.podwork import AT_ONCE, Bench, bench, middle
from paddlecloud.cli import clusters
from paddlecloud.settings import Home

SIZES, QUICK_SIZES = (10, 200, 500), (10, 40)
NODES = 3
QUIET, SETTLED = 3.0, 10.0
"""Seconds after a burst, and after the start, in which the platform still tidies up."""
FIRST_LINE = {"root": 60.0, "plain": 40.0}
MEGABYTES, PERCENT, MILLISECONDS, A_SECOND = "MB", "%", "ms", "/s"


@dataclass(frozen=True)
class Row:
    what: str
    level: str
    pods: int
    """That are there besides."""
    seen: float
    unit: str
    wanted: float | None = None
    """At most, or at least where it is a rate."""
    floor: float | None = None

    @property
    def ratio(self) -> float | None:
        """Above 1: better than wanted."""
        if not self.wanted or not self.seen:
            return None
        return self.seen / self.wanted if self.unit == A_SECOND else self.wanted / self.seen


@dataclass(frozen=True)
class Effort:
    rounds: int
    seconds: float
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Stage:
    """One cluster under measurement."""

    level: str
    home: Home
    bench: Bench
    effort: Effort

    def row(self, what: str, pods: int, seen: float, unit: str, wanted: float | None = None) -> Row:
        return Row(what, self.level, pods, seen, unit, wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description="Pods on the embedded nodes.")
    parser.add_argument("--level", choices=("root", "plain"), action="append")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and no more than 40 pods")
    parser.add_argument("--json", action="store_true")
    wish = parser.parse_args()
    effort = Effort(10, 5.0, QUICK_SIZES) if wish.quick else Effort(50, 20.0, SIZES)
    rows, load = [], [os.getloadavg()[0]]
    for level in wish.level or ("root", "plain"):
        with tempfile.TemporaryDirectory() as folder, cluster(Path(folder) / "home", level) as home:
            rows += uvloop.run(measure(level, home, effort))
        load.append(os.getloadavg()[0])
    if wish.json:
        print(json.dumps({"load": load, "rows": [asdict(row) | {"ratio": row.ratio} for row in rows]}))
    else:
        show(rows, load)


@contextmanager
def cluster(folder: Path, level: str) -> Iterator[Home]:
    home = Home(folder)
    before = os.environ.get("PADDLECLOUD_ISOLATION")
    os.environ["PADDLECLOUD_ISOLATION"] = "plain" if level == "plain" else "auto"
    try:
        clusters.start(home, ["--nodes", str(NODES)])
        yield home
    finally:
        clusters.stop(home)
        if before is None:
            del os.environ["PADDLECLOUD_ISOLATION"]
        else:
            os.environ["PADDLECLOUD_ISOLATION"] = before


async def measure(level: str, home: Home, effort: Effort) -> list[Row]:
    async with bench(home.kubeconfig) as pods:
        stage = Stage(level, home, pods, effort)
        rows = await at_rest(stage, 0, 0.0)
        await pods.first_lines(3, "warm")
        there = 0
        for size in effort.sizes:
            before = footprint.memory(footprint.platform(home).roles.values())
            rows += await filled(stage, there, size)
            there = size
            rows += await at_rest(stage, size, before)
            rows += await started(stage, size)
            rows += await asked(stage, size)
    return rows


async def filled(stage: Stage, there: int, size: int) -> list[Row]:
    """From *there* pods to *size* of them, as fast as it goes."""
    names = [f"idle-{i}" for i in range(there, size)]
    used = footprint.processor(footprint.platform(stage.home).roles.values())
    seconds = await stage.bench.many(names)
    platform = footprint.platform(stage.home)
    used = footprint.processor((*platform.roles.values(), *platform.around)) - used
    wanted = 20.0 if len(names) >= 100 else None
    return [
        stage.row(f"{len(names)} pods started", there, len(names) / seconds, A_SECOND, wanted),
        stage.row("processor time a pod", there, used / len(names) * 1000, MILLISECONDS),
    ]


async def at_rest(stage: Stage, size: int, before: float) -> list[Row]:
    """What it costs to have *size* pods that do nothing; *before*: the platform's memory without the last."""
    await asyncio.sleep(QUIET if size else SETTLED)
    platform = footprint.platform(stage.home)
    watched = {name: footprint.processor([pid]) for name, pid in platform.roles.items()}
    around = footprint.processor(platform.around)
    await asyncio.sleep(stage.effort.seconds)
    share = 100 / stage.effort.seconds
    spent = {n: (footprint.processor([pid]) - watched[n]) * share for n, pid in platform.roles.items()}
    beside = (footprint.processor(platform.around) - around) * share
    memory = footprint.memory(platform.roles.values())
    if not size:
        return [
            stage.row("the idle platform, 3 nodes", 0, memory, MEGABYTES, 150.0),
            stage.row("the idle platform, 3 nodes", 0, sum(spent.values()), PERCENT, 1.0),
        ]
    agent = spent["node"] + beside + spent.get("zygote", 0.0)
    per_pod = footprint.memory(platform.around) / size
    return [
        stage.row("agent, shims and holders at rest", size, agent, PERCENT, 2.0),
        stage.row("all of the platform at rest", size, sum(spent.values()) + beside, PERCENT),
        stage.row("shim and holder, a pod", size, per_pod, MEGABYTES, 2.0),
        stage.row("all of the platform", size, memory, MEGABYTES),
    ]


async def started(stage: Stage, size: int) -> list[Row]:
    times = await stage.bench.first_lines(stage.effort.rounds, f"one-{size}")
    floor = middle(floors.first_lines(stage.effort.rounds, apart=stage.level == "root"))
    best = stage.row("create to first line, best", size, min(times), MILLISECONDS)
    wanted = FIRST_LINE[stage.level]
    return [
        Row("create to first line, p50", stage.level, size, middle(times), MILLISECONDS, wanted, floor),
        best,
    ]


async def asked(stage: Stage, size: int) -> list[Row]:
    times = await stage.bench.commands("idle-0", stage.effort.rounds)
    pid = footprint.first_process(stage.home)
    floor = middle(floors.commands(stage.effort.rounds, pid if stage.level == "root" else 0))
    return [
        Row("exec, round trip, p50", stage.level, size, middle(times), MILLISECONDS, 30.0, floor),
        stage.row("exec, round trip, best", size, min(times), MILLISECONDS),
    ]


def show(rows: list[Row], load: list[float]) -> None:
    cores = os.cpu_count()
    title = (
        f"pods on {NODES} nodes; {cores} cores, load {', '.join(f'{x:.1f}' for x in load)}; {AT_ONCE} at once"
    )
    table = Table(title=title, title_justify="left")
    for name in ("level", "pods there", "what"):
        table.add_column(name)
    for name in ("wanted", "seen", "ratio", "floor"):
        table.add_column(name, justify="right")
    for row in rows:
        sign = "≥" if row.unit == A_SECOND else "≤"
        wanted = f"{sign} {row.wanted:g} {row.unit}" if row.wanted else ""
        ratio = f"{row.ratio:.2f}" if row.ratio else ""
        floor = f"{row.floor:.1f} {row.unit}" if row.floor else ""
        table.add_row(row.level, str(row.pods), row.what, wanted, f"{row.seen:.2f} {row.unit}", ratio, floor)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
