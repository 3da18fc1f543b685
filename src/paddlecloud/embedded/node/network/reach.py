"""From where addresses of pods and Services can be reached: a socket made there is used like any other."""

from __future__ import annotations

import asyncio
import socket
from typing import Protocol

from .routing import Endpoint


class Reach(Protocol):
    def make(self, host: str, kind: int) -> socket.socket:
        """A socket that may be bound to *host* or connected with it, and blocks nobody; raises `OSError`."""
        ...


class Machine:
    """All addresses are on the machine's own network."""

    def make(self, host: str, kind: int) -> socket.socket:
        made = socket.socket(socket.AF_INET, kind)
        made.setblocking(False)
        return made


def bound(reach: Reach, place: Endpoint, kind: int) -> socket.socket:
    """A socket at *place*; raises `OSError` when it is taken or not ours."""
    made = reach.make(place.host, kind)
    try:
        if kind == socket.SOCK_STREAM:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
    except BaseException:
        made.close()
        raise
    return made


async def connected(reach: Reach, place: Endpoint, kind: int = socket.SOCK_STREAM) -> socket.socket:
    """A socket that is connected with *place*; raises `OSError`."""
    made = reach.make(place.host, kind)
    try:
        await asyncio.get_running_loop().sock_connect(made, place)
    except BaseException:
        made.close()
        raise
    return made
