"""The network of pods with namespaces of their own, as the node sees it: the switch, and which pods hang on
it.

What is connected is known from the switch itself, so that a new node finds it. A pod that should be and is
not is connected again, under the address it has.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ....errors import Failed
from ....settings import Home
from ...ranges import Ranges
from ..attempts import content
from ..holder import WISH
from ..launcher import Launcher
from ..network.reach import Reach
from ..sandbox import holding
from . import rtnetlink, switch
from .opening import Doors, Through
from .rtnetlink import Netlink
from .wiring import outside_name


class Routed:
    """`Network` of routed pods; `open` comes first."""

    separate = True

    def __init__(self, home: Home, launcher: Launcher, ranges: Ranges, linked: bool) -> None:
        self._home, self._launcher, self._ranges, self._linked = home, launcher, ranges, linked
        self._connected: set[str] = set()
        self.doors = Doors(home.run)
        self.reach: Reach = Through(ranges, self.doors)

    async def open(self) -> None:
        """See that the switch is there, and what hangs on it."""
        link = link_of(self._home) if self._linked else ""
        path = self._home.run / switch.WISH
        path.write_text(json.dumps(wish_of(self._ranges, link)), encoding="utf-8")
        await self._launcher.request("switch", self._home.run)
        with self._netlink() as netlink:
            self._connected = set(netlink.links())

    async def restore(self, folders: Iterable[Path]) -> None:
        """Connect the pods in *folders* that live and are not connected."""
        for folder in folders:
            network = content(folder / WISH).get("network")
            if network and holding.pid_of(folder):
                await self.attach(folder, str(network["address"]))

    async def watch(self) -> None:
        """Raises `Failed` when the switch is killed: all that listens in it must be made anew."""
        gone = asyncio.Event()
        descriptor = os.pidfd_open(switch.found(str(self._home.run)))
        loop = asyncio.get_running_loop()
        loop.add_reader(descriptor, gone.set)
        try:
            await gone.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
        raise Failed(
            "the network of the pods was killed", next_step="nothing: the node starts again with a new one"
        )

    def wish(self, address: str) -> dict[str, Any]:
        keeper = switch.found(str(self._home.run))
        return {"address": address, "gateway": self._ranges.gateway, "switch": keeper}

    def made(self, address: str) -> None:
        self._connected.add(outside_name(address))

    async def attach(self, folder: Path, address: str) -> None:
        if outside_name(address) in self._connected:
            return
        holding.rewish(folder, self.wish(address))
        await self._launcher.request("rewire", folder)
        self.made(address)

    async def detach(self, address: str) -> None:
        name = outside_name(address)
        if name in self._connected:
            self._connected.discard(name)
            # The namespace goes a moment later; whoever calls until then must not wait for an answer.
            await asyncio.to_thread(self._forget, address)

    def close(self) -> None:
        self.doors.close()

    def _forget(self, address: str) -> None:
        with self._netlink() as netlink:
            netlink.do(rtnetlink.delete_route((address, 32)), but=(errno.ESRCH, errno.ENOENT))

    def _netlink(self) -> Netlink:
        return Netlink(self.doors.make("routes"))


def wish_of(ranges: Ranges, link: str) -> dict[str, Any]:
    """What `network.json` says; *link* is the machine's end of the connection, empty: there is none."""
    return {
        "pods": [str(ranges.pods.network_address), ranges.pods.prefixlen],
        "services": [str(ranges.services.network_address), ranges.services.prefixlen],
        "gateway": ranges.gateway,
        "machine": ranges.machine,
        "link": link,
    }


def link_of(home: Home) -> str:
    """The name of a home's link on the machine; names of links are short."""
    return f"pdc{hashlib.sha256(os.fsencode(home.root)).hexdigest()[:10]}"
