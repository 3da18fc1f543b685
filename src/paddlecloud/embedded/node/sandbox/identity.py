"""Who a container runs as: user, groups, capabilities; taken on just before its command.

What a pod asks for is decided in `securityContext`; here it is done. Order matters: groups need the
capabilities that go with the user, and the bounding set must shrink before them. Only the standard library.
"""

from __future__ import annotations

import os

from . import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CAPABILITIES = (
    "CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
    "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER",
    "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE",
    "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP",
    "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF",
    "CHECKPOINT_RESTORE",
)  # fmt: skip
"""In the order of their numbers."""


def become(user: dict[str, Any]) -> None:
    """Take on *user*: uid, gid, groups, capabilities (a list of names or None: all), noNewPrivileges."""
    uid, gid = int(user["uid"]), int(user["gid"])
    mask = None if user["capabilities"] is None else mask_of(user["capabilities"])
    if mask is not None:
        shrink(mask)
    if only_one_user():
        # Nobody else has a name here; in a namespace of its own the container may call us what it likes.
        if (uid, gid) != (0, 0):
            kernel.unshare(kernel.NEWUSER)
            kernel.map_user((uid, gid), (0, 0))
            kernel.set_capabilities(0)
    else:
        os.setgroups(user["groups"])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    if uid == 0 and mask is not None:
        kernel.set_capabilities(mask & allowed())
    if user["noNewPrivileges"]:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)


def mask_of(names: list[str]) -> int:
    return sum(1 << CAPABILITIES.index(name) for name in names if name in CAPABILITIES)


def shrink(mask: int) -> None:
    """Drop from the bounding set what is not in *mask*: no program can bring it back."""
    for number in range(64):
        try:
            held = kernel.prctl(kernel.PR_CAPBSET_READ, number)
        except OSError:
            return
        if held and not mask >> number & 1:
            kernel.prctl(kernel.PR_CAPBSET_DROP, number)


def allowed() -> int:
    """The capabilities this process may have."""
    with open("/proc/self/status", encoding="utf-8", errors="replace") as file:
        return next(int(line.split()[1], 16) for line in file if line.startswith("CapPrm"))


def only_one_user() -> bool:
    """Whether this user namespace knows a single user."""
    with open("/proc/self/uid_map", encoding="utf-8") as file:
        return file.read().split()[2:] == ["1"]
