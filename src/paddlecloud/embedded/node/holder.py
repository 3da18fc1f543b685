"""The holder of a pod: the process whose namespaces the pod's containers share, for as long as the pod lives.

It makes the namespaces that `hold.json` in the pod's folder names, sets the host name, connects its network,
mounts its memory, writes `holder.json` and sleeps. It depends on nobody: the node and the zygote may be
killed, the next node finds it by its record. With a process namespace it is the first process there and takes
in the orphans; without, it becomes the smallest program that sleeps. Only the standard library.
"""

from __future__ import annotations

import fcntl
import os

from . import lightly, procfs
from .lightly import signal
from .routed import wiring
from .sandbox import kernel
from .sandbox.sleepers import become_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

WISH, RECORD, LOCK = "hold.json", "holder.json", "holder.lock"
LOCK_AT = 100
"""A descriptor that nothing else uses."""
NAMESPACES = {
    "ipc": kernel.NEWIPC, "uts": kernel.NEWUTS, "net": kernel.NEWNET, "pid": kernel.NEWPID,
    "mnt": kernel.NEWNS,
}  # fmt: skip


def run(folder: str, ready: int, given: list[int]) -> NoReturn:
    """Hold the pod in *folder* until killed; `started` or `taken` is said on *ready*."""
    try:
        os.setsid()
        os.chdir(folder)
        if not claim():
            say(ready, "taken")
            os._exit(0)
        hold(lightly.read(WISH), ready)
    except BaseException as error:
        say(ready, f"failed {type(error).__name__}: {error}")
    os._exit(1)


def claim() -> bool:
    """Make this pod ours, unless its holder is alive; the lock lives as long as we do."""
    lock = os.open(LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    os.dup2(lock, LOCK_AT, inheritable=False)
    os.close(lock)
    return True


def hold(wish: dict[str, Any], ready: int) -> None:
    kernel.unshare(sum(NAMESPACES[name] for name in wish["namespaces"]))
    if "uts" in wish["namespaces"]:
        kernel.set_hostname(wish["hostname"])
    if wish.get("network"):
        wiring.wire(wish["network"])
    if "mnt" in wish["namespaces"]:
        mount_memory(wish["memory"])
    # Children of the zygote are reaped by the kernel; ours are our own affair.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if "pid" in wish["namespaces"]:
        # Only a child lives in the new process namespace.
        first = os.fork()
        if first:
            record(first, ready)
            os._exit(0)
        os.close(ready)
    else:
        record(os.getpid(), ready)
        become_small(LOCK_AT)
    # The folder may go while we sleep.
    os.chdir("/")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    while True:
        signal.sigwait({signal.SIGCHLD})
        reap()


def mount_memory(wanted: dict[str, int]) -> None:
    """A file system in memory over each folder, of its size and with its owner and mode."""
    # What the machine mounts and unmounts later is seen here; what is mounted here is seen nowhere else.
    kernel.mount("none", "/", flags=kernel.REC | kernel.SLAVE)
    for path, size in wanted.items():
        looks = os.stat(path)
        options = f"mode={looks.st_mode & 0o7777:o}" + (f",size={size}" if size else "")
        kernel.mount("tmpfs", path, "tmpfs", kernel.NOSUID | kernel.NODEV, options)
        os.chown(path, looks.st_uid, looks.st_gid)


def record(pid: int, ready: int) -> None:
    content: dict[str, str | int] = {"pid": pid, "pidStart": procfs.start_time(pid), "boot": procfs.boot()}
    descriptor = os.open(RECORD + ".new", os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    os.write(descriptor, lightly.text_of(content).encode())
    os.close(descriptor)
    os.rename(RECORD + ".new", RECORD)
    say(ready, "started")


def reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def say(descriptor: int, text: str) -> None:
    try:
        os.write(descriptor, text.encode() + b"\n")
        os.close(descriptor)
    except OSError:
        # Whoever asked is gone; the record tells the next one.
        return
