"""Sockets by the shortest way through the interpreter: those of the kernel's module, and no more around them
than the processes need that the zygote forks.

The module `socket` of the standard library brings enumerations, collections and selectors, a megabyte that
every shim would carry its share of. Names and behaviour are those of `socket`. Only the standard library.
"""

from __future__ import annotations

import _socket
import sys
from _socket import *  # noqa: F403

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Self


class socket(_socket.socket):  # type: ignore[no-redef]
    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def accept(self) -> tuple[socket, Any]:
        descriptor, address = self._accept()  # type: ignore[attr-defined]
        made = socket(fileno=descriptor)
        if self.gettimeout():
            made.setblocking(True)
        return made, address


def socketpair() -> tuple[socket, socket]:  # type: ignore[no-redef]
    ours, theirs = _socket.socketpair()
    return socket(fileno=ours.detach()), socket(fileno=theirs.detach())


def send_fds(through: socket, buffers: Iterable[bytes], fds: Iterable[int]) -> int:
    packed = b"".join([fd.to_bytes(4, sys.byteorder) for fd in fds])
    return through.sendmsg(buffers, [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)])


def create_connection(place: tuple[str, int], timeout: float) -> socket:
    """To an address, not a name: nobody is asked for those here."""
    made = socket(_socket.AF_INET6 if ":" in place[0] else _socket.AF_INET, _socket.SOCK_STREAM)
    try:
        made.settimeout(timeout)
        made.connect(place)
    except BaseException:
        made.close()
        raise
    return made
