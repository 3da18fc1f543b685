"""What this machine allows, found out by doing it: every attempt in a child of its own, nothing left behind.

    probe(FOLDER) -> {"filesystem": {"overlay": "", "user folders": "mount ...: Operation not permitted"},
                      "network": {"veth": "", "user veth": "", "notify": ""}, "limits": {"kind", "why"}}

An empty text means that it works. Systems refuse at different steps, some only the last one, so only the
whole way counts: a root is built as for a container, a file is written in it and must be found in the upper
layer. Run as a process of its own, because who forks must have one thread. Only the standard library.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import socket
import sys
import tempfile

from ..routed import switch, wiring
from . import cgroups, kernel, root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

HIDDEN = ["/tmp", "/var/tmp", "/run", "/home", "/root", "/mnt", "/media"]
SECCOMP = {"x86_64": 317, "aarch64": 277}
NETWORK = {"gateway": "10.64.0.1", "pods": ["10.64.0.0", 24], "services": ["10.64.1.0", 24]}
POD = "10.64.0.3"
GET_ACTION_AVAIL, USER_NOTIFICATION = 2, 0x7FC00000


def main(folder: str) -> None:
    json.dump(probe(folder), sys.stdout)


def probe(folder: str) -> dict[str, Any]:
    ids = (os.geteuid(), os.getegid())
    return {
        "filesystem": {
            "overlay": tried(lambda: build(folder, "overlay", None)),
            "folders": tried(lambda: build(folder, "folders", None)),
            "user folders": tried(lambda: build(folder, "folders", ids)),
        },
        "network": {
            "veth": tried(lambda: veth(None)),
            "user veth": tried(lambda: veth(ids)),
            "notify": tried(notify),
        },
        "limits": cgroups.probe(),
    }


def tried(deed: Callable[[], None]) -> str:
    """What speaks against *deed*, done in a child; empty: nothing."""
    reader, writer = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            deed()
        except BaseException as error:
            os.write(writer, (str(error.strerror) if isinstance(error, OSError) else repr(error)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        complaint = pipe.read().decode(errors="replace")
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return complaint or (f"the attempt ended with {code}" if code else "")


def build(folder: str, kind: str, ids: tuple[int, int] | None) -> None:
    place = tempfile.mkdtemp(prefix="probe-", dir=folder)
    try:
        os.chdir(place)
        complaint = tried(lambda: build_here(kind, ids))
        if not complaint and not os.path.exists(os.path.join(root.UPPER, "opt/probe/written")):
            complaint = "what is written inside does not arrive in the upper layer"
        if complaint:
            raise OSError(0, complaint)
    finally:
        open_up(place)
        shutil.rmtree(place, ignore_errors=True)


def build_here(kind: str, ids: tuple[int, int] | None) -> None:
    os.mkdir("volume")
    if ids:
        kernel.unshare(kernel.NEWUSER)
        kernel.map_user((0, 0), ids)
    kernel.unshare(kernel.NEWPID | kernel.NEWIPC | kernel.NEWUTS)
    complaint = tried(lambda: inside(kind))
    if complaint:
        raise OSError(0, complaint)


def inside(kind: str) -> None:
    """As the first process of the new namespace."""
    kernel.unshare(kernel.NEWNS)
    mounts = [{"target": "/opt/probe/volume", "source": "volume", "readOnly": True}]
    root.enter({"root": kind, "layers": [], "host": True, "hidden": HIDDEN, "mounts": mounts})
    with open("/opt/probe/written", "w", encoding="utf-8") as file:
        file.write("here")
    if os.listdir("/root") or not os.path.isdir("/usr"):
        raise OSError(0, "folders are not hidden or not shown")


def veth(ids: tuple[int, int] | None) -> None:
    """A switch in a network namespace of our own, and somebody in another who is connected with it."""
    kernel.unshare(kernel.NEWNET | (kernel.NEWUSER if ids else 0))
    if ids:
        kernel.map_user((0, 0), ids)
    switch.furnish(NETWORK)
    complaint = tried(lambda: connected(NETWORK))
    if complaint:
        raise OSError(0, complaint)


def connected(network: dict[str, Any]) -> None:
    """As a pod would be; whoever calls there is refused by nobody but the switch."""
    parent = os.getppid()
    kernel.unshare(kernel.NEWNET)
    wiring.wire({**network, "address": POD, "switch": parent})
    with socket.socket() as call:
        call.settimeout(5)
        refusal = call.connect_ex((network["gateway"], 9))
    if refusal != errno.ECONNREFUSED:
        raise OSError(refusal, f"the switch does not answer: {os.strerror(refusal)}")


def notify() -> None:
    """Whether the kernel passes system calls on to somebody who asks for it."""
    libc = ctypes.CDLL(None, use_errno=True)
    action = ctypes.c_uint32(USER_NOTIFICATION)
    if libc.syscall(SECCOMP[os.uname().machine], GET_ACTION_AVAIL, 0, ctypes.byref(action)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def open_up(place: str) -> None:
    for folder, below, _ in os.walk(place):
        for name in below:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
