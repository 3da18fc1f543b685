"""A connection to a port of a pod, wherever the pod's network is.

Where sockets can be had that reach its address, that is tried first: it costs nothing. Only who listens on
the loopback of its pod alone is dialled from inside, by a process that is forked for it.
"""

from __future__ import annotations

import asyncio
import os
import socket
from dataclasses import dataclass

from ...errors import Failed
from . import descriptors
from .attempts import content
from .holder import WISH
from .launcher import Launcher
from .network.reach import Reach, connected
from .network.routing import Endpoint
from .podfolder import PodFolder, Record
from .receiving import received

PATIENCE = 10.0


@dataclass(frozen=True)
class Door:
    """A port of a pod."""

    folder: PodFolder
    record: Record
    port: int

    @property
    def apart(self) -> bool:
        """Whether the pod's network is not the machine's."""
        return "net" in (content(self.folder.path / WISH).get("namespaces") or ())


@dataclass(frozen=True)
class Ways:
    """How a node comes to the networks of its pods."""

    launcher: Launcher
    reach: Reach | None = None
    """None: addresses of pods lead nowhere from outside."""


async def dial(door: Door, ways: Ways) -> socket.socket:
    """Connect to *door*; raises `Failed` with what speaks against it."""
    try:
        async with asyncio.timeout(PATIENCE):
            if not door.apart:
                return await dial_here(door)
            return await dial_address(door, ways.reach) or await dial_inside(door, ways.launcher)
    except TimeoutError:
        raise Failed(f"no answer within {PATIENCE:.0f} s") from None
    except OSError as error:
        raise Failed(os.strerror(error.errno or 0).lower()) from error


async def dial_here(door: Door) -> socket.socket:
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(connection, (door.record.address, door.port))
    except BaseException:
        connection.close()
        raise
    return connection


async def dial_address(door: Door, reach: Reach | None) -> socket.socket | None:
    if reach is None:
        return None
    try:
        return await connected(reach, Endpoint(door.record.address, door.port))
    except OSError:
        return None


async def dial_inside(door: Door, launcher: Launcher) -> socket.socket:
    with await launcher.connect() as asking:
        request = f"dial {door.port} {door.record.address} ".encode() + os.fsencode(door.folder.path)
        asking.send(request + b"\n")
        await descriptors.ready(asking.fileno(), "read")
        data, given = received(asking, 4096, 1)
    if not given:
        raise Failed(data.decode(errors="replace").strip().removeprefix("failed ").lower() or "no answer")
    connection = socket.socket(fileno=given[0])
    connection.setblocking(False)
    return connection
