"""Connects to a port inside the network of a pod and hands the connection out.

The request is `PORT ADDRESS FOLDER`, the pod's own address and its folder; the answer is `started` with the
connection, or `failed WHY`. Programs that listen on the loopback of the pod are found as well. Only the
standard library: it runs in a process forked by the zygote.
"""

from __future__ import annotations

import os

from .lightly import socket
from .sandbox import entering, kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

PATIENCE = 5.0


def run(request: str, ready: int, given: list[int]) -> NoReturn:
    answer = socket.socket(fileno=ready)
    try:
        port, address, folder = request.split(" ", 2)
        enter(folder)
        with connected(int(port), address) as connection:
            socket.send_fds(answer, [b"started\n"], [connection.fileno()])
    except BaseException as error:
        why = getattr(error, "strerror", None) or str(error)
        answer.sendall(f"failed {why}\n".encode())
    os._exit(0)


def enter(folder: str) -> None:
    holder = entering.content(folder, "holder.json")
    fd = os.pidfd_open(int(holder["pid"]))
    kernel.join(fd, kernel.NEWNET)
    os.close(fd)


def connected(port: int, address: str) -> socket.socket:
    refusal: OSError | None = None
    for host in ("127.0.0.1", address, "::1"):
        try:
            return socket.create_connection((host, port), PATIENCE)
        except OSError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal
