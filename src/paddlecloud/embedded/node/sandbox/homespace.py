"""The user namespace of a home, where an ordinary user may do what otherwise root may.

There is one a home, kept by a process that only sleeps and known by `homespace.json`: all pods must live in
the same one, or mounts made in one would not be seen by the others. The zygote enters when it starts, and
with it everything it forks. Only the standard library.
"""

from __future__ import annotations

import os

from . import kernel, sleepers

RECORD = "homespace.json"


def enter() -> None:
    """Make this process, which has one thread, a member of the namespace; the current folder is HOME/run."""
    outside = (os.geteuid(), os.getegid())
    keeper = sleepers.found(RECORD) or sleepers.made(RECORD, lambda: make(outside))
    fd = os.pidfd_open(keeper)
    kernel.join(fd, kernel.NEWUSER)
    os.close(fd)


def make(outside: tuple[int, int]) -> None:
    kernel.unshare(kernel.NEWUSER)
    kernel.map_user((0, 0), outside)


def stop(run_folder: str) -> None:
    """End the process that keeps the namespace of this home, if it is there."""
    sleepers.stop(os.path.join(run_folder, RECORD))
