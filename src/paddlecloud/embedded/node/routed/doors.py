"""Makes sockets in the switch for processes that are elsewhere: who has one talks to pods and Services with
it.

The request is the run folder of the home; the answer is `started`. From then on a byte that names a kind
comes in and `COUNT` sockets of that kind go out, until the one who asks hangs up. Only the standard library:
it runs in a process forked by the zygote.
"""

from __future__ import annotations

import errno
import os
import select

from ..lightly import socket
from ..sandbox import kernel
from . import switch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

KINDS = {
    "stream": (socket.AF_INET, socket.SOCK_STREAM, 0),
    "datagram": (socket.AF_INET, socket.SOCK_DGRAM, 0),
    "routes": (socket.AF_NETLINK, socket.SOCK_RAW, 0),
    "filter": (socket.AF_NETLINK, socket.SOCK_RAW, 12),
}
COUNT = {"stream": 16, "datagram": 1, "routes": 1, "filter": 1}
"""Connections are made by the dozen, the others now and then."""
NAMES = {kind[0].encode(): kind for kind in KINDS}


def run(folder: str, ready: int, given: list[int]) -> NoReturn:
    connection = socket.socket(fileno=ready)
    try:
        keeper = enter(folder)
        connection.sendall(b"started\n")
        serve(connection, keeper)
    except OSError as error:
        why = error.strerror or str(error)
        try:
            connection.sendall(f"failed {why}\n".encode())
        except OSError:
            os._exit(1)
    os._exit(0)


def enter(folder: str) -> int:
    """Go to the switch; returns a descriptor of the process that keeps it."""
    keeper = switch.found(folder)
    if not keeper:
        raise OSError(errno.ESRCH, "the network of the pods is gone")
    fd = os.pidfd_open(keeper)
    kernel.join(fd, kernel.NEWNET)
    return fd


def serve(connection: socket.socket, keeper: int) -> None:
    while True:
        ready, _, _ = select.select([connection.fileno(), keeper], [], [])
        asked = connection.recv(1) if connection.fileno() in ready else b""
        # Sockets of a switch that is gone would lead nowhere: who asks is to ask anew.
        if keeper in ready or not asked:
            return
        kind = NAMES[asked]
        made = [socket.socket(*KINDS[kind]) for _ in range(COUNT[kind])]
        socket.send_fds(connection, [asked], [one.fileno() for one in made])
        for one in made:
            one.close()
