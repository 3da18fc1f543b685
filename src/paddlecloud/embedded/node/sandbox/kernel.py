"""The calls of Linux that make a sandbox and that Python lacks; each raises `OSError` with words.

Only the standard library: it runs in shims. Paths may be relative to the current folder: a mount takes at
most a page of options, and a folder of ours may lie deep.
"""

from __future__ import annotations

import ctypes
import os
import struct

NEWNS, NEWUTS, NEWIPC, NEWUSER = 0x20000, 0x4000000, 0x8000000, 0x10000000
NEWPID, NEWNET = 0x20000000, 0x40000000
RDONLY, NOSUID, NODEV, NOEXEC = 1, 2, 4, 8
BIND, REC, PRIVATE, SLAVE = 4096, 16384, 1 << 18, 1 << 19
DETACH = 2
RESOLVE_BENEATH, RESOLVE_NO_MAGICLINKS = 0x08, 0x02
PR_SET_PDEATHSIG, PR_SET_NAME, PR_CAPBSET_READ, PR_CAPBSET_DROP = 1, 15, 23, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 36, 38, 47
CAPABILITY_VERSION_3 = 0x20080522

_OPEN_TREE, _MOVE_MOUNT, _OPENAT2, _MOUNT_SETATTR = 428, 429, 437, 442
_HERE, _EMPTY_PATH, _RECURSIVE = -100, 0x1000, 0x8000
_CLONE, _FROM_EMPTY_PATH, _FOLLOW_TARGET = 1, 0x04, 0x10
_LIBC = ctypes.CDLL(None, use_errno=True)
FUNCTIONS = (
    "capset", "mount", "pivot_root", "prctl", "sethostname", "setns", "syscall", "umount2", "unshare",
)  # fmt: skip


def look_up() -> None:
    """Find the functions used here, once for all processes that are forked afterwards."""
    for name in FUNCTIONS:
        getattr(_LIBC, name)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    result = _LIBC.mount(
        os.fsencode(source), os.fsencode(target), kind.encode() or None, ctypes.c_ulong(flags),
        os.fsencode(options) or None,
    )  # fmt: skip
    check(result, f"mount {kind or source} at {target}")


def unmount(target: str) -> None:
    """Out of sight at once; gone when nobody uses it any more."""
    check(_LIBC.umount2(os.fsencode(target), DETACH), f"unmount {target}")


def unshare(namespaces: int) -> None:
    check(_LIBC.unshare(namespaces), "make namespaces")


def join(fd: int, namespaces: int) -> None:
    """Enter the namespaces of the process behind the pidfd *fd*."""
    check(_LIBC.setns(fd, namespaces), "enter namespaces")


def change_root(folder: str) -> None:
    """Make *folder*, a mount, the root of this mount namespace; the old root is out of reach afterwards."""
    os.chdir(folder)
    check(_LIBC.pivot_root(b".", b"."), "change the root")
    unmount(".")
    os.chdir("/")


def clone_tree(fd: int, recursive: bool = True) -> int:
    """A detached copy of the mounts at the descriptor *fd*, to be put somewhere by `attach`."""
    flags = _CLONE | os.O_CLOEXEC | _EMPTY_PATH | (_RECURSIVE if recursive else 0)
    tree = _LIBC.syscall(_OPEN_TREE, fd, b"", flags)
    check(min(tree, 0), "clone a mount")
    return int(tree)


def attach(tree: int, target: str) -> None:
    flags = _FROM_EMPTY_PATH | _FOLLOW_TARGET
    result = _LIBC.syscall(_MOVE_MOUNT, tree, b"", _HERE, os.fsencode(target), flags)
    check(result, f"mount at {target}")


def make_read_only(fd: int, recursive: bool = True) -> None:
    """No writing through the mount at *fd*, and through those below it."""
    wanted = (ctypes.c_uint64 * 4)(RDONLY, 0, 0, 0)
    flags = _EMPTY_PATH | (_RECURSIVE if recursive else 0)
    check(
        _LIBC.syscall(_MOUNT_SETATTR, fd, b"", flags, wanted, ctypes.c_size_t(32)), "make a mount read-only"
    )


def open_beneath(folder: int, path: str) -> int:
    """*path* below the descriptor *folder*; one that leads out of it, by `..` or by links, is refused."""
    how = (ctypes.c_uint64 * 3)(os.O_PATH | os.O_CLOEXEC, 0, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)
    fd = _LIBC.syscall(_OPENAT2, folder, os.fsencode(path), how, ctypes.c_size_t(24))
    check(min(fd, 0), f"open {path} in its volume")
    return int(fd)


def set_hostname(name: str) -> None:
    text = name.encode()
    check(_LIBC.sethostname(text, len(text)), "set the host name")


def prctl(option: int, value: int = 0, third: int = 0) -> int:
    result = _LIBC.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(third), 0, 0)
    check(min(result, 0), f"prctl {option}")
    return int(result)


def set_capabilities(mask: int) -> None:
    """Exactly the capabilities of *mask* permitted and effective, none inheritable."""
    header = struct.pack("=Ii", CAPABILITY_VERSION_3, 0)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    check(_LIBC.capset(header, struct.pack("=6I", low, low, 0, high, high, 0)), "set capabilities")


def map_user(inside: tuple[int, int], outside: tuple[int, int]) -> None:
    """In a new user namespace: be user and group *inside*, who were *outside* before."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside[0]} {outside[0]} 1"),
        ("gid_map", f"{inside[1]} {outside[1]} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:
            file.write(text)


def check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
