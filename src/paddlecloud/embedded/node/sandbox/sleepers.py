"""Processes that only sleep: as long as one of them is there, so are the namespaces it lives in.

Each is known by a record, a small file in the run folder of its home, and outlives whoever made it. Only the
standard library: it runs in processes forked by the zygote.
"""

from __future__ import annotations

import os
import select

from .. import lightly, procfs
from ..lightly import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

PATIENCE = 5.0
FOREVER = str(2**31 - 1)


def found(record: str) -> int:
    """The process of this record; 0: there is none any more."""
    content = read(record)
    return int(content["pid"]) if procfs.is_alive(content, "pid") else 0


def made(record: str, enter: Callable[[], None]) -> int:
    """A new process that lives in the namespaces that *enter* makes for it."""
    reader, writer = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        sleep(enter, writer)
    os.close(writer)
    with open(reader, "rb") as pipe:
        complaint = pipe.readline()
    if complaint != b"ready\n":
        raise OSError(f"no namespace: {complaint.decode(errors='replace')}")
    content: dict[str, str | int] = {"pid": pid, "pidStart": procfs.start_time(pid), "boot": procfs.boot()}
    with open(record + ".new", "w", encoding="utf-8") as file:
        file.write(lightly.text_of(content))
    os.rename(record + ".new", record)
    return pid


def sleep(enter: Callable[[], None], writer: int) -> NoReturn:
    try:
        os.setsid()
        enter()
        os.write(writer, b"ready\n")
        os.close(writer)
        become_small()
        while True:
            signal.pause()
    except BaseException as error:
        os.write(writer, str(error).encode())
    os._exit(1)


def become_small(*kept: int) -> None:
    """Go on as `sleep`, the same process with a tenth of the memory; where there is none, return.

    Of its descriptors only those in *kept* stay open.
    """
    os.chdir("/")
    for descriptor in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC), descriptor)
    # A lock must stay as long as the process does.
    for descriptor in kept:
        os.set_inheritable(descriptor, True)
    try:
        os.execvpe("sleep", ["sleep", FOREVER], {"PATH": os.defpath})
    except OSError:
        return


def stop(record: str) -> None:
    """End the process of this record, if it is there, and wait until it is gone."""
    content = read(record)
    if not procfs.is_alive(content, "pid"):
        return
    try:
        process = os.pidfd_open(int(content["pid"]))
    except OSError:
        return
    try:
        # The pid could have changed hands before it was opened; now it cannot.
        if procfs.is_alive(content, "pid"):
            signal.pidfd_send_signal(process, signal.SIGKILL)
            select.select([process], [], [], PATIENCE)
    except OSError:
        return
    finally:
        os.close(process)


def read(record: str) -> dict[str, Any]:
    try:
        content: dict[str, Any] = lightly.read(record)
        return content
    except (OSError, ValueError):
        return {}
