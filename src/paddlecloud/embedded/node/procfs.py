"""What /proc tells about processes. A process is its pid and its start time, in one boot: a pid alone lies.

Only the standard library: the shims use it.
"""

from __future__ import annotations

import os


def start_time(pid: int) -> int:
    """Ticks since boot: with the pid, the identity of a process."""
    return int(stat_fields(pid)[19])


def stat_fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may itself hold spaces and brackets."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


def boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        # Kernels without CONFIG_PROC_CHILDREN; and a process that is gone has none.
        return [int(p) for p in os.listdir("/proc") if p.isdigit() and parent(int(p)) == pid]


def descendants(pid: int) -> list[int]:
    """The processes below *pid*, parents first; those that lost their parent are not among them."""
    found: list[int] = []
    waiting = children(pid)
    while waiting:
        found += waiting
        waiting = [grandchild for child in waiting for grandchild in children(child)]
    return found


def parent(pid: int) -> int:
    try:
        return int(stat_fields(pid)[1])
    except OSError:
        return 0
