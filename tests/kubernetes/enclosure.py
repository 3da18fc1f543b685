"""Work in namespaces of its own, so that nothing of it can stay: processes, mounts and links go with it.

Three processes: the one outside waits, the first one inside only buries the dead, and its child works. When
one of them goes, the kernel ends all that is inside. What lies outside, control groups, is removed after it,
and what an earlier one was not allowed to remove, before.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kubernetes.processes import end_with_parent

from paddlecloud.embedded.node.sandbox import kernel

GROUPS = Path("/sys/fs/cgroup")
PREFIX = "pdc-tests-"
NAMESPACES = kernel.NEWNS | kernel.NEWNET | kernel.NEWPID | kernel.NEWIPC | kernel.NEWUTS


def enclosed(work: Callable[[], int]) -> int:
    """The exit code of *work*, done inside; a signal to end is passed on to it."""
    kernel.unshare(NAMESPACES)
    return wait_for(child(lambda: wait_for(child(work), bury=True)))


def child(work: Callable[[], int]) -> int:
    parent = os.getpid()
    if pid := os.fork():
        return pid
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        # From inside, a parent outside has the number 0.
        end_with_parent(parent if os.getppid() else 0)()
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def wait_for(pid: int, *, bury: bool = False) -> int:
    """The exit code of a child; with *bury*, any other child that ends is taken note of, too."""
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
    while True:
        ended, status = os.waitpid(-1 if bury else pid, 0)
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


@contextmanager
def control_group() -> Iterator[str]:
    """The name of a new control group in every hierarchy there is; it is gone afterwards."""
    sweep()
    name = f"{PREFIX}{os.getpid()}"
    for place in hierarchies():
        (place / name).mkdir()
        inherit_processors(place, place / name)
    try:
        yield name
    finally:
        for place in hierarchies():
            remove(place / name)


def sweep() -> None:
    """Remove what is left of those whose process is gone."""
    for place in hierarchies():
        for left in place.glob(f"{PREFIX}*"):
            if not Path("/proc", left.name.removeprefix(PREFIX)).exists():
                remove(left)


def hierarchies() -> list[Path]:
    if (GROUPS / "cgroup.controllers").exists():
        return [GROUPS]
    return [p for p in sorted(GROUPS.iterdir()) if (p / "cgroup.procs").exists() and not p.is_symlink()]


def inherit_processors(above: Path, group: Path) -> None:
    """A new group of the first version may use no processor and no memory until it is told which."""
    for name in ("cpuset.cpus", "cpuset.mems"):
        if (group / "cgroup.clone_children").exists() and (above / name).exists():
            (group / name).write_text((above / name).read_text())


def remove(group: Path) -> None:
    for folder, _, _ in os.walk(group, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def share_mounts() -> None:
    """Mounts made from here on are seen by containers, and by nobody outside."""
    shared = 1 << 20
    kernel.mount("none", "/", flags=kernel.REC | kernel.PRIVATE)
    kernel.mount("none", "/", flags=kernel.REC | shared)
    kernel.mount("proc", "/proc", "proc")


def name_host(name: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.sethostname(name.encode(), len(name)):
        raise OSError(ctypes.get_errno(), f"the host cannot be called {name}")
