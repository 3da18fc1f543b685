"""The user namespace of a home, where an ordinary user may do what otherwise root may.

There is one a home, kept by a process that only sleeps and known by `homespace.json`: all pods must live in
the same one, or mounts made in one would not be seen by the others. The zygote enters when it starts, and
with it everything it forks. Only the standard library.
"""

from __future__ import annotations

import json
import os
import signal

from .. import procfs
from . import kernel

RECORD = "homespace.json"


def enter() -> None:
    """Make this process, which has one thread, a member of the namespace; the current folder is HOME/run."""
    keeper = found() or kept()
    fd = os.pidfd_open(keeper)
    kernel.join(fd, kernel.NEWUSER)
    os.close(fd)


def found() -> int:
    """The process that keeps the namespace; 0: there is none any more."""
    try:
        with open(RECORD, encoding="utf-8") as file:
            record = json.load(file)
        alive = procfs.start_time(record["pid"]) == record["pidStart"] and record["boot"] == procfs.boot()
    except (OSError, ValueError, KeyError):
        return 0
    return int(record["pid"]) if alive else 0


def kept() -> int:
    """A new process that keeps a new namespace."""
    outside = (os.geteuid(), os.getegid())
    reader, writer = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        keep(outside, writer)
    os.close(writer)
    complaint = os.read(reader, 4096)
    os.close(reader)
    if complaint != b"ready":
        raise OSError(f"no user namespace: {complaint.decode(errors='replace')}")
    content = {"pid": pid, "pidStart": procfs.start_time(pid), "boot": procfs.boot()}
    with open(RECORD + ".new", "w", encoding="utf-8") as file:
        json.dump(content, file)
    os.rename(RECORD + ".new", RECORD)
    return pid


def keep(outside: tuple[int, int], writer: int) -> None:
    try:
        os.setsid()
        kernel.unshare(kernel.NEWUSER)
        kernel.map_user((0, 0), outside)
        os.write(writer, b"ready")
        os.close(writer)
        for fd in range(64):
            try:
                os.close(fd)
            except OSError:
                continue
        while True:
            signal.pause()
    except BaseException as error:
        os.write(writer, str(error).encode())
    os._exit(1)


def stop(run_folder: str) -> None:
    """End the process that keeps the namespace of this home, if it is there."""
    try:
        with open(os.path.join(run_folder, RECORD), encoding="utf-8") as file:
            record = json.load(file)
        fd = os.pidfd_open(record["pid"])
    except (OSError, ValueError, KeyError):
        return
    try:
        if procfs.start_time(record["pid"]) == record["pidStart"]:
            signal.pidfd_send_signal(fd, signal.SIGKILL)
    except OSError:
        return
    finally:
        os.close(fd)
