"""What processes cost: memory as their share of what they map (PSS), and processor time.

A process that ends while it is looked at has cost nothing more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from paddlecloud.settings import Home

TICK = os.sysconf("SC_CLK_TCK")
ROLES = ("api", "node", "controllers", "gateway")
"""The children of the supervisor, in the order it starts them."""


@dataclass(frozen=True)
class Platform:
    """The processes of one home, apart by what they are for."""

    roles: dict[str, int]
    """The supervisor, its children and the zygote, by name."""
    around: tuple[int, ...]
    """Shims and holders: what a pod costs beside its own processes."""


def platform(home: Home) -> Platform:
    supervisor = int((home.run / "supervisor.pid").read_text())
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    roles = {"supervisor": supervisor, **dict(zip(ROLES, sorted(map(int, children)), strict=True))}
    if (lock := home.run / "zygote.lock").exists():
        roles["zygote"] = int(lock.read_text())
    nodes = home.root / "nodes"
    shims = [said(path, "shim") for path in nodes.glob("*/pods/*/containers/*/*/state.json")]
    holders = [said(path, "pid") for path in nodes.glob("*/pods/*/holder.json")]
    return Platform(roles, tuple(pid for pid in (*shims, *holders) if pid and alive(pid)))


def first_process(home: Home) -> int:
    """That of a running container."""
    found = (said(path, "pid") for path in home.root.glob("nodes/*/pods/*/containers/*/*/state.json"))
    return next(pid for pid in found if pid and alive(pid))


def said(path: Path, key: str) -> int:
    try:
        return int(json.loads(path.read_bytes()).get(key, 0))
    except FileNotFoundError:
        return 0


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def memory(pids: Iterable[int]) -> float:
    """Megabytes."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def processor(pids: Iterable[int]) -> float:
    """Seconds used so far, finer than the clock's ticks where the kernel tells."""
    total = 0.0
    for pid in pids:
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                total += int((task / "schedstat").read_text().split()[0]) / 1e9
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total
