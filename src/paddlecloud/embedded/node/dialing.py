"""A connection to a port of a pod, wherever the pod's network is."""

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


async def dial(door: Door, launcher: Launcher) -> socket.socket:
    """Connect to *door*; raises `Failed` with what speaks against it."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await (dial_inside(door, launcher) if door.apart else dial_here(door))
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
