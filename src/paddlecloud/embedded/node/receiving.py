"""Descriptors that come over a unix socket, kept from the programs that this process starts.

`socket.recv_fds` of Python forgets its flags: what it takes in every child would inherit, and a connection
that a child holds never ends for the one at its other side. Only the standard library: processes forked by
the zygote use it.
"""

from __future__ import annotations

import array
import socket


def received(connection: socket.socket, size: int, most: int) -> tuple[bytes, list[int]]:
    """Up to *size* bytes, and the descriptors that came with them."""
    found = array.array("i")
    data, others, _, _ = connection.recvmsg(
        size, socket.CMSG_LEN(most * found.itemsize), socket.MSG_CMSG_CLOEXEC
    )
    for level, kind, content in others:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            found.frombytes(content[: len(content) - len(content) % found.itemsize])
    return data, list(found)
