"""What a pod uses right now: cpu time and memory, from its control groups or else from its processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .. import attempts, procfs
from ..attempts import State
from ..podfolder import PodFolder
from . import cgroups


class Usage(NamedTuple):
    cpu_seconds: float = 0.0
    memory_bytes: int = 0


def usage(pod: PodFolder) -> dict[str, Usage]:
    """By container, those that run; cpu counts from the start of the run."""
    record = pod.record()
    if record is None:
        return {}
    found = {}
    for name in record.names:
        runs = pod.attempts(name)
        if runs and runs[-1].state == State.RUNNING:
            found[name] = of_run(pod.run_folder(name, runs[-1].number))
    return found


def of_run(folder: Path) -> Usage:
    group = attempts.content(folder / "run.json").get("cgroup")
    if group and counts(group):
        own = {controller: os.path.join(path, group["name"]) for controller, path in group["pod"].items()}
        return Usage(*cgroups.usage(group["kind"], own))
    shim = int(attempts.content(folder / "state.json").get("shim", 0))
    return total(procfs.descendants(shim)) if shim else Usage()


def counts(group: Mapping[str, Any]) -> bool:
    """Whether the group knows both numbers; of the first version a run may be in some trees only."""
    return bool(group["kind"] == "cgroup2" or {"memory", "cpuacct"} <= group["pod"].keys())


def total(pids: list[int]) -> Usage:
    ticks, memory = 0, 0
    for pid in pids:
        try:
            fields = procfs.stat_fields(pid)
        except OSError:
            continue
        # User and system time, of its own and of the children it has waited for.
        ticks += sum(int(text) for text in fields[11:15])
        memory += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return Usage(ticks / os.sysconf("SC_CLK_TCK"), memory)
