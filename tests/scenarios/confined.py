"""Runs a command with the rights of a default container: what a `pdc demo` inside one has to live with.

    python confined.py COMMAND ARGUMENT…

Root keeps Docker's default capabilities only; everybody loses the calls that make namespaces and mounts.
Nothing can be regained by executing another program.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

# chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod
# audit_write setfcap
KEPT_CAPABILITIES = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
LAST_CAPABILITY = 40
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
CAPABILITY_VERSION_3 = 0x20080522
SYS_CAPSET, SYS_SECCOMP, SYS_CLONE, SYS_CLONE3 = 126, 317, 56, 435
REFUSED = {
    "mount": 165, "umount2": 166, "pivot_root": 155, "unshare": 272, "setns": 308, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442,
    "pidfd_getfd": 438, "kexec_load": 246, "init_module": 175, "delete_module": 176, "finit_module": 313,
    "reboot": 169, "bpf": 321,
}  # fmt: skip
NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID and -NET
LOAD, JUMP_IF_EQUAL, JUMP_IF_BITS, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, X86_64 = 0, 4, 16, 0xC000003E

LIBC = ctypes.CDLL(None, use_errno=True)


def confine() -> None:
    if platform.machine() != "x86_64":
        raise OSError(errno.ENOSYS, "the filter is written for x86_64 only")
    if os.geteuid() == 0:
        drop_capabilities()
    call(LIBC.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    install(program())


def drop_capabilities() -> None:
    for capability in set(range(LAST_CAPABILITY + 1)) - set(KEPT_CAPABILITIES):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # an older kernel does not know the last ones
    mask = sum(1 << c for c in KEPT_CAPABILITIES)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    header = struct.pack("=Ii", CAPABILITY_VERSION_3, 0)
    call(LIBC.syscall, SYS_CAPSET, header, struct.pack("=6I", low, low, 0, high, high, 0))


def program() -> list[bytes]:
    """The filter: each refused call is one comparison and one answer."""
    steps = [
        step(LOAD, ARCHITECTURE),
        step(JUMP_IF_EQUAL, X86_64, then=1),
        step(RETURN, REFUSE | errno.EPERM),
        step(LOAD, NUMBER),
    ]
    for number in REFUSED.values():
        steps += [step(JUMP_IF_EQUAL, number, otherwise=1), step(RETURN, REFUSE | errno.EPERM)]
    # Its flags lie in memory, where a filter cannot look: as if unknown, the C library falls back to clone.
    steps += [step(JUMP_IF_EQUAL, SYS_CLONE3, otherwise=1), step(RETURN, REFUSE | errno.ENOSYS)]
    steps += [
        step(JUMP_IF_EQUAL, SYS_CLONE, otherwise=3),
        step(LOAD, FIRST_ARGUMENT),
        step(JUMP_IF_BITS, NEW_NAMESPACES, otherwise=1),
        step(RETURN, REFUSE | errno.EPERM),
    ]
    return [*steps, step(RETURN, ALLOW)]


def step(code: int, operand: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, operand)


def install(steps: list[bytes]) -> None:
    code = ctypes.create_string_buffer(b"".join(steps))
    header = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(steps), ctypes.addressof(code)))
    call(LIBC.syscall, SYS_SECCOMP, 1, 0, header)


def call(function: ctypes._NamedFuncPointer, *arguments: int | bytes | ctypes.Array[ctypes.c_char]) -> None:
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    confine()
    os.execvp(sys.argv[1], sys.argv[1:])
