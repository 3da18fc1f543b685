"""Whether the machine runs short of memory, disk or processes: measured, then decided.

The decision is pure. A shortage is told at once; that it is over, only when it has not been seen for a while:
a machine at its limit would otherwise change its mind all the time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .confines import Read, confines, read_file

LEAST_MEMORY = 100 << 20
LEAST_DISK, LEAST_DISK_PART = 2 << 30, 0.10
"""Less than both: a tenth of a large disk is room enough."""
LEAST_INODES_PART, LEAST_PIDS_PART = 0.05, 0.05
CALM = 300.0
"""Seconds for which a shortage must not have been seen to be over."""
MEMORY, DISK, PIDS = "MemoryPressure", "DiskPressure", "PIDPressure"
WORDS = {
    MEMORY: ("KubeletHasInsufficientMemory", "KubeletHasSufficientMemory", "memory"),
    DISK: ("KubeletHasDiskPressure", "KubeletHasNoDiskPressure", "disk space"),
    PIDS: ("KubeletHasInsufficientPID", "KubeletHasSufficientPID", "process numbers"),
}


@dataclass(frozen=True)
class Reading:
    """What is left, and of how much."""

    memory: int
    disk: int
    disk_total: int
    inodes: int
    inodes_total: int
    pids: int
    pids_total: int


def read(home: Path, text: Read = read_file) -> Reading:
    around = confines(text)
    available = [int(line.split()[1]) * 1024 for line in lines(text, "/proc/meminfo", "MemAvailable:")]
    disk = os.statvfs(home)
    limits = (text(f"/proc/sys/kernel/{name}") for name in ("pid_max", "threads-max"))
    most = min((int(limit) for limit in limits if limit), default=32768)
    running = int((text("/proc/loadavg").split() or ["", "", "", "0/0"])[3].partition("/")[2])
    return Reading(
        memory=least(*available, around.memory_left),
        disk=disk.f_bavail * disk.f_frsize,
        disk_total=disk.f_blocks * disk.f_frsize,
        inodes=disk.f_favail,
        inodes_total=disk.f_files,
        pids=least(most - running, around.pids_left),
        pids_total=min(most, around.pids or most),
    )


def least(*amounts: int | None) -> int:
    """The smallest amount that is known."""
    return min((amount for amount in amounts if amount is not None), default=0)


def lines(text: Read, path: str, start: str) -> list[str]:
    return [line for line in text(path).splitlines() if line.startswith(start)]


def shortages(found: Reading) -> dict[str, str]:
    """What the machine is short of, and how much is left."""
    result = {}
    if found.memory < LEAST_MEMORY:
        result[MEMORY] = f"{found.memory >> 20} MiB are available"
    if found.disk < min(LEAST_DISK, LEAST_DISK_PART * found.disk_total):
        result[DISK] = f"{found.disk >> 20} MiB are free"
    elif found.inodes < LEAST_INODES_PART * found.inodes_total:
        result[DISK] = f"{found.inodes} of {found.inodes_total} inodes are free"
    if found.pids < LEAST_PIDS_PART * found.pids_total:
        result[PIDS] = f"{found.pids} of {found.pids_total} are free"
    return result


def seen_last(before: Mapping[str, float], short: Mapping[str, str], now: float) -> dict[str, float]:
    """When each shortage was last seen; those that are over are forgotten."""
    return {kind: seen for kind, seen in before.items() if now - seen < CALM} | dict.fromkeys(short, now)


def conditions(last: Mapping[str, float], short: Mapping[str, str]) -> list[dict[str, str]]:
    return [told(kind, kind in last, short.get(kind, "")) for kind in (MEMORY, DISK, PIDS)]


def told(kind: str, pressed: bool, evidence: str) -> dict[str, str]:
    worse, well, what = WORDS[kind]
    if not pressed:
        verb = "has sufficient PID available" if kind == PIDS else f"has {GOOD[kind]}"
        return {"type": kind, "status": "False", "reason": well, "message": f"kubelet {verb}"}
    message = f"the machine is short of {what}: {evidence or 'it was so minutes ago'}"
    return {"type": kind, "status": "True", "reason": worse, "message": message}


GOOD = {MEMORY: "sufficient memory available", DISK: "no disk pressure"}
