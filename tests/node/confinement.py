"""Runs a command as a container of somebody else's platform: few capabilities, no mounts, no namespaces.

    python tests/node/confinement.py [--uid NUMBER] COMMAND...

What is refused is what the common engines refuse by default to a container without privilege: calls that
mount or make namespaces answer EPERM, and clone3, whose flags a filter cannot see, answers ENOSYS: the C
library then takes the older call.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
KEPT = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
"""The numbers of the capabilities that are left."""
REFUSED = {
    "x86_64": (155, 165, 166, 169, 175, 176, 246, 272, 308, 313, 321, 428, 429, 430, 431, 432, 433, 438, 442),
    "aarch64": (39, 40, 41, 97, 104, 105, 106, 142, 268, 273, 280, 428, 429, 430, 431, 432, 433, 438, 442),
}
"""pivot_root, mount, umount2, the newer calls to mount, unshare, setns, kexec_load, reboot, those of kernel
modules, bpf, pidfd_getfd."""
CLONE, SECCOMP = {"x86_64": (56, 317), "aarch64": (220, 277)}[os.uname().machine]
CLONE3, NEW_NAMESPACES = 435, 0x7E020000
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000
NUMBER_AT, FIRST_ARGUMENT_AT = 0, 16
BOUNDING_DROP, NO_NEW_PRIVILEGES = 24, 38
LAST_CAPABILITY = 40


def main(arguments: list[str]) -> None:
    uid = None
    if arguments[0] == "--uid":
        uid, arguments = int(arguments[1]), arguments[2:]
    confine(uid)
    os.execvp(arguments[0], arguments)


def confine(uid: int | None) -> None:
    """Be confined from now on, together with all children; *uid*: as that user, which takes root."""
    for number in range(LAST_CAPABILITY + 1):
        if number not in KEPT:
            LIBC.prctl(BOUNDING_DROP, number, 0, 0, 0)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    elif os.geteuid() == 0:
        low = sum(1 << number for number in KEPT)
        header = struct.pack("=Ii", 0x20080522, 0)
        done(LIBC.capset(header, struct.pack("=6I", low, low, 0, 0, 0, 0)))
    done(LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    program = b"".join(struct.pack("=HBBI", *step) for step in steps())
    kept = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("=HxxxxxxQ", len(program) // 8, ctypes.addressof(kept))
    done(LIBC.syscall(SECCOMP, 1, 0, described))


def steps() -> list[tuple[int, int, int, int]]:
    """The filter: code, steps to skip when true, when false, operand."""
    program = [(LOAD, 0, 0, NUMBER_AT)]
    for number in REFUSED[os.uname().machine]:
        program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, FAIL | errno.EPERM)]
    program += [(EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, FAIL | errno.ENOSYS)]
    program += [(EQUAL, 0, 3, CLONE), (LOAD, 0, 0, FIRST_ARGUMENT_AT)]
    program += [(ANY_BIT, 0, 1, NEW_NAMESPACES), (RETURN, 0, 0, FAIL | errno.EPERM)]
    return [*program, (RETURN, 0, 0, ALLOW)]


def done(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    main(sys.argv[1:])
