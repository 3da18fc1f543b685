"""Sockets in the network of the pods, for a process that is outside of it.

They are made by a child of the zygote (`doors`), which is asked over a connection that lasts; a broken one is
opened again. An answer takes less than a millisecond, so that whoever asks simply waits for it.
"""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .... import localsockets
from ...ranges import Ranges
from ..receiving import received
from ..zygote import SOCKET
from . import doors

PATIENCE = 5.0
KINDS = {int(socket.SOCK_STREAM): "stream", int(socket.SOCK_DGRAM): "datagram"}
MOST = max(doors.COUNT.values())


class Doors:
    """Where the sockets come from; *run* is the run folder of the home."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._asking: socket.socket | None = None
        self._stock: list[socket.socket] = []

    def make(self, kind: str) -> socket.socket:
        """One of this kind, see `doors.KINDS`, that blocks nobody; raises `OSError` without the network."""
        if kind == "stream" and self._stock and not self._ended():
            return self._stock.pop()
        try:
            made = self._ask(kind)
        except OSError:
            # The one we asked so far may be gone; whether the network is, another one knows.
            self.close()
            made = self._ask(kind)
        self._stock += made[1:]
        return made[0]

    def close(self) -> None:
        for one in (*self._stock, *([self._asking] if self._asking else ())):
            one.close()
        self._asking, self._stock = None, []

    def _ended(self) -> bool:
        """Whether the one who made our sockets is gone, and the network with it."""
        # Nothing is said there unasked: what can be read is the end.
        waiting = select.poll()
        if self._asking is not None:
            waiting.register(self._asking, select.POLLIN)
        return self._asking is None or bool(waiting.poll(0))

    def _ask(self, kind: str) -> list[socket.socket]:
        if self._asking is None:
            self._asking = opened(self._run)
        self._asking.send(kind[0].encode())
        _, given = received(self._asking, 1, MOST)
        if not given:
            raise ConnectionResetError("the network of the pods does not answer")
        made = [socket.socket(fileno=fd) for fd in given]
        for one in made:
            one.setblocking(False)
        return made


def opened(run: Path) -> socket.socket:
    connection = localsockets.connected(run / SOCKET)
    try:
        connection.settimeout(PATIENCE)
        connection.sendall(b"doors " + os.fsencode(run) + b"\n")
        answer = connection.recv(4096).decode(errors="replace").strip()
        if answer != "started":
            raise ConnectionError(answer.removeprefix("failed ") or "the zygote went away")
    except BaseException:
        connection.close()
        raise
    return connection


@dataclass(frozen=True)
class Through:
    """`Reach` for a cluster whose pods have a network of their own."""

    ranges: Ranges
    doors: Doors

    def make(self, host: str, kind: int) -> socket.socket:
        if self.ranges.holds(host):
            return self.doors.make(KINDS[kind])
        made = socket.socket(socket.AF_INET, kind)
        made.setblocking(False)
        return made


def factory(ranges: Ranges, doors: Doors) -> Callable[..., socket.socket]:
    """The same for aiohttp, which gives the family, the kind and the address it is about to connect to."""
    way = Through(ranges, doors)

    def make(info: tuple[int, int, int, str, tuple[str, int]]) -> socket.socket:
        family, kind, _, _, address = info
        if family == socket.AF_INET:
            return way.make(address[0], kind)
        made = socket.socket(family, kind)
        made.setblocking(False)
        return made

    return make
