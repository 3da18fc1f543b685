"""Goes into a container that runs: the way of a command that is run there besides its own.

For a process forked by the zygote, with one thread. A container that is a plain process has nothing to enter.
Only the standard library.
"""

from __future__ import annotations

import os

from .. import lightly, procfs
from . import identity, kernel
from .cgroups import Group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

INSIDE = {
    "mnt": kernel.NEWNS, "uts": kernel.NEWUTS, "ipc": kernel.NEWIPC, "net": kernel.NEWNET,
    "pid": kernel.NEWPID,
}  # fmt: skip


def enter(attempt: str) -> dict[str, Any]:
    """Join the running container of the folder *attempt*; returns its order.

    Afterwards the current folder is the container's root, and children are in its process namespace: fork,
    call `become`, and exec there. Raises `ProcessLookupError` when the container has ended.
    """
    order, state = content(attempt, "run.json"), content(attempt, "state.json")
    pid = int(state.get("pid", 0))
    fd = os.pidfd_open(pid) if pid else -1
    try:
        if fd < 0 or procfs.start_time(pid) != state["pidStart"] or state["boot"] != procfs.boot():
            raise ProcessLookupError(3, "the container does not run")
        if order.get("cgroup"):
            Group(order["cgroup"]).enter()
        if "sandbox" in order:
            kernel.join(fd, others(pid))
            os.chdir("/")
    finally:
        if fd >= 0:
            os.close(fd)
    return order


def others(pid: int) -> int:
    """The namespaces of process *pid* that are not ours already: those of the machine we may not join."""
    different = (
        name
        for name in INSIDE
        if os.readlink(f"/proc/{pid}/ns/{name}") != os.readlink(f"/proc/self/ns/{name}")
    )
    return sum(INSIDE[name] for name in different)


def become(order: dict[str, Any]) -> None:
    """In the child: the user and the capabilities of the container."""
    if order.get("user"):
        identity.become(order["user"])


def content(folder: str, name: str) -> dict[str, Any]:
    try:
        loaded: dict[str, Any] = lightly.read(os.path.join(folder, name))
        return loaded
    except FileNotFoundError:
        return {}
