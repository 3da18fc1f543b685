"""Limits kept by the kernel: one control group a pod, one a container below it, always below our own.

    order["cgroup"] = {"kind": "cgroup1", "pod": {"memory": FOLDER, ...}, "podLimits": {...},
                       "name": "main-0", "limits": {"memory": BYTES, "cpu": CORES, "shares": CORES}}

The first version has a tree for every controller, the second one tree for all; both are mappings from
controllers to folders here. A group is made by the shim, entered by the container, and removed when empty.
Only the standard library.
"""

from __future__ import annotations

import errno
import os
import time

from .. import procfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CONTROLLERS = ("memory", "cpu", "cpuacct", "pids")
SECOND = "unified"
OPTIONAL = ("memory.swap.max", "memory.oom.group")
"""Not every kernel has these."""
PATIENCE = 0.5
"""Seconds that killed processes have to be gone; some wait for a disk."""
PERIOD = 100_000
"""Microseconds; what Kubernetes uses."""


class Group:
    """The control group of one run; the current user may write below its pod's."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._kind = str(said["kind"])
        self._pod: dict[str, str] = dict(said["pod"])
        self._limits, self._pod_limits = dict(said["limits"]), dict(said["podLimits"])
        self._own = {controller: os.path.join(path, said["name"]) for controller, path in self._pod.items()}

    def make(self) -> None:
        make(self._kind, self._pod, self._pod_limits)
        # Half a container is worth nothing: who runs out of memory ends as a whole.
        make(self._kind, self._own, {**self._limits, "whole": True})

    @property
    def is_entered_at_once(self) -> bool:
        """Whether a process gets in without waiting for every processor: by itself, in the first version."""
        return self._kind == "cgroup1"

    def enter(self) -> None:
        """Put this process, which has one thread, into the group, and all that it forks from now on."""
        self._put(0, "tasks" if self.is_entered_at_once else "cgroup.procs")

    def take(self, pid: int) -> None:
        """Put the process into the group, and all that it forks from now on; takes hundredths of a second."""
        self._put(pid, "cgroup.procs")

    def _put(self, pid: int, name: str) -> None:
        for folder in sorted(set(self._own.values())):
            put(os.path.join(folder, name), str(pid))

    def out_of_memory(self) -> bool:
        """Whether the kernel ended a process of the group for want of memory."""
        name = "memory.events" if self._kind == "cgroup2" else "memory.oom_control"
        folder = self._own.get("memory") or self._own.get(SECOND, "")
        return numbers(os.path.join(folder, name)).get("oom_kill", 0) > 0

    def end(self) -> None:
        """Kill what is left in the group and remove it."""
        remove(self._own)


def make(kind: str, folders: Mapping[str, str], limits: Mapping[str, Any]) -> None:
    for folder in sorted(set(folders.values())):
        os.makedirs(folder, exist_ok=True)
        if kind == "cgroup2":
            put(os.path.join(os.path.dirname(folder), "cgroup.subtree_control"), "+memory +cpu +pids")
    for controller, name, text in writes(kind, limits):
        path = os.path.join(folders.get(controller, ""), name)
        if controller in folders and (name not in OPTIONAL or os.path.exists(path)):
            put(path, text)


def writes(kind: str, limits: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Controller, file and text for every limit."""
    found = []
    if kind == "cgroup2":
        if limits.get("memory"):
            found.append((SECOND, "memory.max", str(int(limits["memory"]))))
            # A limit that swap gives way to is none.
            found.append((SECOND, "memory.swap.max", "0"))
            if limits.get("whole"):
                found.append((SECOND, "memory.oom.group", "1"))
        if limits.get("cpu"):
            found.append((SECOND, "cpu.max", f"{quota(limits['cpu'])} {PERIOD}"))
        if limits.get("shares"):
            found.append((SECOND, "cpu.weight", str(weight(limits["shares"]))))
        if limits.get("pids"):
            found.append((SECOND, "pids.max", str(int(limits["pids"]))))
        return found
    if limits.get("memory"):
        found.append(("memory", "memory.limit_in_bytes", str(int(limits["memory"]))))
    if limits.get("cpu"):
        found.append(("cpu", "cpu.cfs_period_us", str(PERIOD)))
        found.append(("cpu", "cpu.cfs_quota_us", str(quota(limits["cpu"]))))
    if limits.get("shares"):
        found.append(("cpu", "cpu.shares", str(shares(limits["shares"]))))
    if limits.get("pids"):
        found.append(("pids", "pids.max", str(int(limits["pids"]))))
    return found


def quota(cores: float) -> int:
    return max(1000, int(cores * PERIOD))


def shares(cores: float) -> int:
    return min(max(2, int(cores * 1024)), 262144)


def weight(cores: float) -> int:
    """The second version counts from 1 to 10000 where the first one did from 2 to 262144."""
    return 1 + (shares(cores) - 2) * 9999 // 262142


def remove(folders: Mapping[str, str]) -> None:
    """Remove these groups and all below them, with the processes in them."""
    for folder in set(folders.values()):
        for place, _, _ in os.walk(folder, topdown=False):
            # What does not get empty in time is left to the next sweep.
            end = time.monotonic() + PATIENCE
            while not removed(place) and time.monotonic() < end:
                time.sleep(0.005)


def removed(place: str) -> bool:
    """Whether the group is gone; what lives there is killed."""
    try:
        os.rmdir(place)
    except FileNotFoundError:
        return True
    except OSError:
        for pid in read(os.path.join(place, "cgroup.procs")).split():
            try:
                os.kill(int(pid), 9)
            except OSError:
                continue
        return False
    return True


def usage(kind: str, folders: Mapping[str, str]) -> tuple[float, int]:
    """Seconds of cpu and bytes of memory that cannot be taken back without harm."""
    if kind == "cgroup2":
        folder = folders[SECOND]
        seconds = numbers(os.path.join(folder, "cpu.stat")).get("usage_usec", 0) / 1e6
        used, cache = int(read(os.path.join(folder, "memory.current")) or 0), "inactive_file"
    else:
        folder = folders["memory"]
        seconds = int(read(os.path.join(folders.get("cpuacct", ""), "cpuacct.usage")) or 0) / 1e9
        used, cache = int(read(os.path.join(folder, "memory.usage_in_bytes")) or 0), "total_inactive_file"
    return seconds, max(0, used - numbers(os.path.join(folder, "memory.stat")).get(cache, 0))


def probe() -> dict[str, Any]:
    """Which kind of groups we may make, below which folders, and why not more."""
    complaint = "no control groups are mounted"
    for kind, folders in candidates(mounted(), read("/proc/self/cgroup")):
        tried = {
            controller: os.path.join(path, f"probe-{os.getpid()}") for controller, path in folders.items()
        }
        try:
            if kind == "cgroup2":
                open_second(folders[SECOND])
            make(kind, tried, {"memory": 64 << 20, "cpu": 1.0, "shares": 1.0, "pids": 100})
            return {"kind": kind, "folders": folders, "why": ""}
        except OSError as error:
            complaint = error.strerror or str(error)
        finally:
            remove(tried)
    return {"kind": "", "folders": {}, "why": complaint}


def candidates(mounts: list[tuple[str, str, str]], own: str) -> list[tuple[str, dict[str, str]]]:
    """Our own groups in the trees of *mounts* (kind, options, folder), by the text of /proc/self/cgroup."""
    first: dict[str, str] = {}
    second: dict[str, str] = {}
    for line in own.splitlines():
        number, controllers, path = line.split(":", 2)
        for kind, options, folder in mounts:
            place = os.path.normpath(folder + path)
            if kind == "cgroup2" and number == "0":
                second = {SECOND: place}
            elif kind == "cgroup":
                shared = set(controllers.split(",")) & set(options.split(",")) & set(CONTROLLERS)
                first |= {controller: place for controller in shared}
    complete = {"memory", "cpu", "pids"} <= first.keys()
    return [*([("cgroup1", first)] if complete else []), *([("cgroup2", second)] if second else [])]


def mounted() -> list[tuple[str, str, str]]:
    found = []
    for line in read("/proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind in ("cgroup", "cgroup2") and before.split()[3] == "/":
            found.append((kind, options, before.split()[4]))
    return found


def open_second(own: str) -> None:
    """Let groups below *own* have limits; it must not hold processes itself, so ours move one down."""
    switch = os.path.join(own, "cgroup.subtree_control")
    if not {"memory", "cpu", "pids"} <= set(read(os.path.join(own, "cgroup.controllers")).split()):
        raise OSError(0, "memory, cpu and pids are not handed down to us")
    try:
        put(switch, "+memory +cpu +pids")
    except OSError as error:
        members = [int(pid) for pid in read(os.path.join(own, "cgroup.procs")).split()]
        if error.errno != errno.EBUSY or not all(ours(pid) for pid in members):
            raise
        below = os.path.join(own, "paddlecloud")
        os.makedirs(below, exist_ok=True)
        for pid in members:
            put(os.path.join(below, "cgroup.procs"), str(pid))
        put(switch, "+memory +cpu +pids")


def ours(pid: int) -> bool:
    """Whether the process is us, or above or below us up to the command that started us all."""
    family = {os.getpid()}
    above = os.getppid()
    while above > 1 and b"pdc" in command(above):
        family.add(above)
        above = procfs.parent(above)
    top = pid
    while top > 1 and top not in family:
        top = procfs.parent(top)
    return top in family


def command(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def numbers(path: str) -> dict[str, int]:
    """A file of `name number` lines."""
    pairs = (line.split() for line in read(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def put(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
