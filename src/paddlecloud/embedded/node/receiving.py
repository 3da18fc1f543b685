"""Descriptors that come over a unix socket, kept from the programs that this process starts.

`socket.recv_fds` of Python forgets its flags: what it takes in every child would inherit, and a connection
that a child holds never ends for the one at its other side. Only the standard library: processes forked by
the zygote use it.
"""

from __future__ import annotations

import sys

from .lightly import socket

WIDTH = 4
"""Bytes of a descriptor."""


def received(connection: socket.socket, size: int, most: int) -> tuple[bytes, list[int]]:
    """Up to *size* bytes, and the descriptors that came with them."""
    found: list[int] = []
    data, others, _, _ = connection.recvmsg(size, socket.CMSG_LEN(most * WIDTH), socket.MSG_CMSG_CLOEXEC)
    for level, kind, content in others:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            starts = range(0, len(content) - WIDTH + 1, WIDTH)
            found += [int.from_bytes(content[at : at + WIDTH], sys.byteorder) for at in starts]
    return data, found
