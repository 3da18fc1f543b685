"""How one run is kept apart: what the shim does before it forks, the child before it execs, and the end.

A run without `sandbox` in its order is a plain process and passes through here untouched. The shim stays in
the machine's own namespaces, where its folder is; only the child goes in. Killing the shim kills the first
process of the container, and with it the whole process namespace. Only the standard library.
"""

from __future__ import annotations

import os

from .. import lightly, procfs
from ..lightly import signal
from ..loop import Loop
from . import identity, kernel, root
from .cgroups import Group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HOLDER = "../../../holder.json"
"""Beside the folder of containers, seen from an attempt."""
BESIDE = "../.."
"""The folder of containers."""
GLANCE = 0.5
SHARED = {"ipc": kernel.NEWIPC, "uts": kernel.NEWUTS, "net": kernel.NEWNET, "mnt": kernel.NEWNS}


class Containment:
    """The current folder is the attempt's throughout."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._plan: dict[str, Any] | None = order.get("sandbox")
        self._user: dict[str, Any] | None = order.get("user")
        self._group = Group(order["cgroup"]) if order.get("cgroup") else None
        self._memory = int(order.get("memory") or 0)
        self._holder = -1
        self._exhausted = False

    def prepare(self) -> None:
        """In the shim: whatever it forks from now on is in the container's process namespace."""
        if self._plan is None:
            return
        shared: list[str] = self._plan["shared"]
        if shared:
            self._holder = opened_holder()
        if target := self._plan.get("target"):
            kernel.join(opened_target(target), kernel.NEWPID)
        elif "pid" in shared:
            kernel.join(self._holder, kernel.NEWPID)
        elif not self._plan.get("hostPID"):
            kernel.unshare(kernel.NEWPID)

    def limit(self, child: int) -> None:
        """In the shim: put the child under its limits, while it goes about entering."""
        if self._group is not None and not self._group.is_entered_at_once:
            self._group.make()
            self._group.take(child)

    def limit_self(self) -> None:
        """In the child: go under its limits, where that is quick."""
        if self._group is not None and self._group.is_entered_at_once:
            self._group.make()
            self._group.enter()

    def enter(self) -> None:
        """In the child: go to the namespaces of the pod and into a root of its own."""
        if self._plan is None:
            return
        shared = sum(SHARED[name] for name in self._plan["shared"] if name in SHARED)
        if shared:
            here = os.getcwd()
            kernel.join(self._holder, shared)
            # Who comes to other mounts stands at their root.
            os.chdir(here)
        kernel.unshare(kernel.NEWNS)
        root.enter(self._plan)

    def become_user(self) -> None:
        """In the child, last: the user and the capabilities of the container."""
        if self._user is not None:
            identity.become(self._user)

    def watch(self, loop: Loop, container: int) -> None:
        """In the shim: where the kernel limits no memory, look at it ourselves."""
        if self._memory and self._group is None:
            loop.every(GLANCE, lambda: self._look(container))

    def _look(self, container: int) -> None:
        if resident(procfs.descendants(os.getpid())) > self._memory:
            self._exhausted = True
            os.kill(container, signal.SIGKILL)

    def out_of_memory(self) -> bool:
        return self._exhausted or (self._group is not None and self._group.out_of_memory())

    def clean(self) -> None:
        """In the shim, when all processes are dead: what is left can be removed by its owner."""
        if self._group is not None:
            self._group.end()
        if self._plan is None:
            return
        for folder, below, _ in os.walk(root.WORK):
            # The kernel's own folders are closed even to their owner.
            for name in below:
                os.chmod(os.path.join(folder, name), 0o700)


def resident(pids: list[int]) -> int:
    """Bytes of memory that these processes have to themselves or share with others, added up."""
    total = 0
    for pid in pids:
        try:
            total += int(procfs.stat_fields(pid)[21])
        except OSError:
            continue
    return total * os.sysconf("SC_PAGE_SIZE")


def opened_holder() -> int:
    """A pidfd of the pod's holder."""
    return opened(HOLDER, "the holder of the pod is gone")


def opened_target(name: str) -> int:
    """A pidfd of the first process of another container of the pod, in its newest run."""
    runs = sorted((int(number) for number in os.listdir(f"{BESIDE}/{name}")), reverse=True)
    for number in runs[:1]:
        return opened(f"{BESIDE}/{name}/{number}/state.json", f"container {name} does not run")
    raise ProcessLookupError(3, f"container {name} does not run")


def opened(path: str, complaint: str) -> int:
    """A pidfd of the process that a record in a file means."""
    record = lightly.read(path)
    pid = int(record.get("pid", 0))
    fd = os.pidfd_open(pid) if pid else -1
    if fd < 0 or procfs.start_time(pid) != record["pidStart"] or record["boot"] != procfs.boot():
        if fd >= 0:
            os.close(fd)
        raise ProcessLookupError(3, complaint)
    return fd
