"""Calls of a container to `bind` and `connect`, looked at before the kernel answers them.

Where pods share the machine's network, each has an address of its own on it. A program that binds to all
addresses or to localhost is given that address, so that two pods may listen on one port; a connection to
localhost goes to the pod's own listener if it has one there; a question to any resolver goes to the DNS of
the cluster. The shim rewrites the address in the caller's memory and lets the call go on: that makes things
work, it does not keep anybody apart. Where the kernel or the machine forbids it, nothing is looked at.

Only the standard library: `prepare_child` runs in the container's first process, `serve` in its shim.
`run.json` asks for it by `network`: {"address": POD-ADDRESS, "dns": [HOST, PORT] or nothing}.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import select
import struct

from .lightly import socket
from .loop import LIBC
from .sandbox import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .loop import Loop

# Of each machine: its number in the filter, then seccomp, bind, connect, setsockopt.
MACHINES = {"x86_64": (0xC000003E, 317, 49, 42, 54), "aarch64": (0xC00000B7, 277, 200, 203, 208)}
MOST_SOCKETS = 1000
SET_FILTER, NEW_LISTENER, NO_NEW_PRIVILEGES = 1, 8, 38
ALLOW, NOTIFY = 0x7FFF0000, 0x7FC00000
RECEIVE, SEND, STILL_VALID = 0xC0502100, 0xC0182101, 0x40082102
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
NAMES_PORT = 53
V4_ANY, V4_LOCAL = bytes(4), b"\x7f\0\0\1"
MAPPED = bytes(10) + b"\xff\xff"
V6_ANY, V6_LOCAL = bytes(16), bytes(15) + b"\1"


def prepare_child(order: dict[str, Any]) -> int | None:
    """The last thing before exec: a descriptor that the shim is to serve, or None."""
    machine = MACHINES.get(os.uname().machine)
    if not order.get("network") or machine is None:
        return None
    number, seccomp, bind, connect, option = machine
    # Of options only the one that says whether a socket takes IPv6 alone; level and name are at 24 and 32.
    steps = [
        (LOAD, 0, 0, 4), (EQUAL, 0, 9, number),
        (LOAD, 0, 0, 0), (EQUAL, 6, 0, bind), (EQUAL, 5, 0, connect), (EQUAL, 0, 5, option),
        (LOAD, 0, 0, 24), (EQUAL, 0, 3, socket.IPPROTO_IPV6),
        (LOAD, 0, 0, 32), (EQUAL, 0, 1, socket.IPV6_V6ONLY),
        (RETURN, 0, 0, NOTIFY), (RETURN, 0, 0, ALLOW),
    ]  # fmt: skip
    program = b"".join(struct.pack("=HBBI", *step) for step in steps)
    code = ctypes.create_string_buffer(program, len(program))
    head = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(steps), ctypes.addressof(code)), 16)
    kernel.prctl(NO_NEW_PRIVILEGES, 1)
    fd = int(LIBC.syscall(seccomp, SET_FILTER, NEW_LISTENER, head))
    return fd if fd >= 0 else None


def serve(loop: Loop, fd: int, order: dict[str, Any]) -> None:
    """Answer on *loop* what arrives at *fd*, the descriptor that `prepare_child` made."""
    watch = Watch(fd, order["network"])

    def ready(events: int) -> None:
        # Hung up: nobody with this filter is left.
        if events & select.POLLIN:
            watch.answer()
        elif events & (select.POLLHUP | select.POLLERR):
            loop.remove(fd)
            os.close(fd)

    loop.add(fd, ready)


class Watch:
    def __init__(self, fd: int, network: dict[str, Any]) -> None:
        self._fd = fd
        self._own = socket.inet_aton(network["address"])
        host, port = network.get("dns") or ("", 0)
        self._names = (socket.inet_aton(host), int(port)) if host else None
        self._bind, _, self._option = MACHINES[os.uname().machine][2:]
        self._alone: dict[str, bool] = {}
        """Which sockets were told to take IPv6 alone, or not to; by their names, which are used once."""

    def answer(self) -> None:
        """Take one call, change where it goes if need be, and let it go on."""
        request = bytearray(80)
        try:
            fcntl.ioctl(self._fd, RECEIVE, request)
        except OSError:
            return  # the caller is gone or was interrupted, and will come again
        number, caller, _, call, _, _, fd, second, third, fourth = struct.unpack_from("=QIIiIQQQQQ", request)
        try:
            if call == self._option:
                self._learn(caller, fd, fourth)
            else:
                self._redirect(number, caller, call, fd, second, min(third, 28))
        except OSError:
            pass  # not ours to change; the kernel decides
        finally:
            try:
                fcntl.ioctl(self._fd, SEND, struct.pack("=QqiI", number, 0, 0, 1))
            except OSError:
                return

    def _learn(self, caller: int, fd: int, value: int) -> None:
        memory = os.open(f"/proc/{caller}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._alone[socket_name(caller, fd)] = any(os.pread(memory, 4, value))
        finally:
            os.close(memory)
        if len(self._alone) > MOST_SOCKETS:
            del self._alone[next(iter(self._alone))]

    def _redirect(self, number: int, caller: int, call: int, fd: int, address: int, size: int) -> None:
        memory = os.open(f"/proc/{caller}/mem", os.O_RDWR | os.O_CLOEXEC)
        try:
            given = os.pread(memory, size, address)
            binds = call == self._bind
            alone = binds and is_v6(given) and self._alone.get(socket_name(caller, fd), False)
            new = self.target(given, binds, alone)
            if new != given:
                # Whoever has this number now must still be the one who asked.
                fcntl.ioctl(self._fd, STILL_VALID, struct.pack("=Q", number))
                os.pwrite(memory, new, address)
        finally:
            os.close(memory)

    def target(self, given: bytes, binds: bool, alone: bool) -> bytes:
        """The address to use instead of *given*; *alone*: its socket takes IPv6 alone."""
        if len(given) < 16:
            return given
        family, port = struct.unpack_from("=H", given)[0], struct.unpack_from(">H", given, 2)[0]
        if family == socket.AF_INET:
            at, size = 4, 4
        elif is_v6(given):
            at, size = 8, 16
        else:
            return given
        host = given[at : at + size]
        prefix = b"" if size == 4 else MAPPED
        if not binds and port == NAMES_PORT and self._names and host != V6_ANY:
            if size == 4:
                return given[:2] + struct.pack(">H", self._names[1]) + self._names[0] + given[8:]
            return given
        everywhere = host in (V4_ANY, V4_LOCAL, V6_ANY, V6_LOCAL, MAPPED + V4_ANY, MAPPED + V4_LOCAL)
        if not everywhere:
            return given
        if binds and alone:
            # It cannot have the pod's address; a port that nobody asks for disturbs nobody.
            return given[:2] + bytes(2) + given[4:at] + V6_LOCAL + given[at + 16 :]
        if not binds and not listens(self._own, port):
            return given
        return given[:at] + prefix + self._own + given[at + size :]


def is_v6(given: bytes) -> bool:
    return len(given) >= 28 and struct.unpack_from("=H", given)[0] == socket.AF_INET6


def listens(own: bytes, port: int) -> bool:
    """Whether somebody listens at the pod's address: then it cannot be bound again."""
    for kind, reuse in ((socket.SOCK_STREAM, 1), (socket.SOCK_DGRAM, 0)):
        with socket.socket(socket.AF_INET, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
            try:
                probe.bind((socket.inet_ntoa(own), port))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    return True
    return False


def socket_name(caller: int, fd: int) -> str:
    return os.readlink(f"/proc/{caller}/fd/{fd}")
