"""The way of pods to the world outside: their connections end at the node, which goes on in their name.

So the machine forwards nothing, its packet filter stays as it is, and an ordinary user may have it, too. What
is no connection, datagrams and pings, gets no further than the switch, which says so at once. A pod sees a
connection before the other end has agreed; if it does not, the connection is reset.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Callable, Iterable

from .... import log
from ...ranges import Ranges
from ..network.reach import bound
from ..network.relay import Caller, Desk
from ..network.routing import Endpoint
from . import nftables
from .opening import Doors, Through

ORIGINAL_DESTINATION = 80
Way = Callable[[Endpoint], Iterable[Endpoint]]


class Outgoing(Caller):
    """A pod that calls somebody outside."""

    def __init__(self, desk: Desk, way: Way) -> None:
        super().__init__(desk)
        self._way = way

    def candidates(self, client: str) -> Iterable[Endpoint]:
        assert self.transport is not None
        try:
            return self._way(meant_by(self.transport.get_extra_info("socket").fileno()))
        except OSError:
            return ()


async def open_outside(
    ranges: Ranges, doors: Doors, way: Way = lambda destination: (destination,)
) -> asyncio.Server | None:
    """Let pods out; *way* says whom to call for a destination. None: this kernel does not help."""
    reach = Through(ranges, doors)
    desk = Desk(lambda client: (), reach=reach)
    listener = bound(reach, Endpoint(ranges.gateway, 0), socket.SOCK_STREAM)
    try:
        ours = (ranges.pods, ranges.services)
        nftables.redirect(doors.make("filter"), ours, listener.getsockname()[:2])
    except OSError as error:
        listener.close()
        log.logger("node").warning("pods do not reach the world outside: %s", error.strerror or error)
        return None
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: Outgoing(desk, way), sock=listener, backlog=1024)


def meant_by(descriptor: int) -> Endpoint:
    """Where the connection was to go before it was sent to us; raises `OSError` if it meant us."""
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        raw = connection.getsockopt(socket.SOL_IP, ORIGINAL_DESTINATION, 16)
        own = connection.getsockname()
    found = Endpoint(socket.inet_ntoa(raw[4:8]), int(struct.unpack_from(">H", raw, 2)[0]))
    if found == own:
        raise OSError("nobody was meant")
    return found
