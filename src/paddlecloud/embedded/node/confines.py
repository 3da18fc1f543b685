"""What the control groups around this process leave of the machine: in a container that is less than all.

Pure but for the reading of files. The tightest limit on the way from our own group up to the root of what we
see holds; where nothing can be read, there is none.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Read = Callable[[str], str]
"""The text of a file; empty where there is none."""


@dataclass(frozen=True)
class Confines:
    """None: not limited."""

    cpus: float | None = None
    memory: int | None = None
    memory_left: int | None = None
    """Bytes until the limit."""
    pids: int | None = None
    pids_left: int | None = None


def confines(read: Read) -> Confines:
    found: dict[str, list[float]] = {}
    for kind, folder in groups(read("/proc/self/mountinfo"), read("/proc/self/cgroup")):
        for name, amount in limits(kind, folder, read):
            found.setdefault(name, []).append(amount)
    tight = {name: min(amounts) for name, amounts in found.items()}
    whole = {name: int(amount) for name, amount in tight.items() if name != "cpus"}
    return Confines(cpus=tight.get("cpus"), **whole)


def groups(mountinfo: str, own: str) -> Iterator[tuple[str, str]]:
    """The kinds and folders of our groups and of all above them."""
    paths = [line.split(":", 2) for line in own.splitlines() if line.count(":") >= 2]
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = (*after.split(" ", 2), "", "")[:3]
        if kind not in ("cgroup", "cgroup2"):
            continue
        root, point = before.split()[3:5]
        for number, controllers, path in paths:
            if number == "0" if kind == "cgroup2" else set(controllers.split(",")) & set(options.split(",")):
                below = posixpath.relpath(path, root) if path.startswith(root) else "."
                folder = posixpath.normpath(posixpath.join(point, below))
                while True:
                    yield kind, folder
                    if folder == point or not folder.startswith(point):
                        break
                    folder = posixpath.dirname(folder)


def limits(kind: str, folder: str, read: Read) -> Iterator[tuple[str, float]]:
    def number(name: str) -> float | None:
        text = read(f"{folder}/{name}").strip()
        # The first version writes "no limit" as a number that no machine has.
        return float(text) if text.isdecimal() and int(text) < 1 << 60 else None

    second = kind == "cgroup2"
    memory = number("memory.max" if second else "memory.limit_in_bytes")
    if memory is not None:
        yield "memory", memory
        yield "memory_left", max(0.0, memory - (number(MEMORY_USED[second]) or 0))
    if second:
        quota, _, period = read(f"{folder}/cpu.max").strip().partition(" ")
    else:
        quota, period = (read(f"{folder}/cpu.cfs_{what}_us").strip() for what in ("quota", "period"))
    if quota.isdecimal() and period.isdecimal() and int(period):
        yield "cpus", int(quota) / int(period)
    if (pids := number("pids.max")) is not None:
        yield "pids", pids
        yield "pids_left", max(0.0, pids - (number("pids.current") or 0))


MEMORY_USED = {True: "memory.current", False: "memory.usage_in_bytes"}


def read_file(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""
