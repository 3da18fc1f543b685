"""Keeps the Node objects of this process there, true and fresh, until cancelled.

Every ten seconds each node renews its Lease, the cheap sign of life; the Node itself is written only when it
should say something else. What others made of it in the API is seen and put right.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from ... import log
from ...api.core import Event, Node
from ...api.lease import Lease
from ...cluster.informer import Informer
from ...errors import PaddleCloudError
from . import nodestatus
from .containerstatus import timestamp
from .nodestatus import Outlook
from .pressure import Reading, conditions, seen_last, shortages

RENEW = 10.0
LEASE_SECONDS = 40
LEASES = "kube-node-lease"
RETRY = 1.0
SETTLE = 0.1


class Desk(Protocol):
    """Where nodes are written down."""

    async def register(self, node: Node) -> Node:
        """Make the node, with its status; one that is there already comes back as it is."""
        ...

    async def change(self, node: Node, patch: Mapping[str, Any]) -> Node:
        """Carry out a merge patch of metadata or status or both."""
        ...

    async def renew(self, lease: Lease) -> None: ...

    async def record(self, event: Event) -> None: ...


class Heartbeats:
    def __init__(
        self,
        outlook: Outlook,
        read: Callable[[], Reading],
        desk: Desk,
        nodes: Informer[Node],
        now: Callable[[], float],
    ) -> None:
        self._outlook, self._read, self._desk, self._nodes, self._now = outlook, read, desk, nodes, now
        self._changed = asyncio.Event()
        self._last_short: dict[str, float] = {}
        self._written: dict[str, Node] = {}
        self._greeted: set[str] = set()
        self._log = log.logger("node")

    async def run(self) -> None:
        await self._nodes.synced.wait()
        self._nodes.subscribe(self._saw)
        clock = asyncio.get_running_loop().time
        renewal = clock()
        while True:
            self._changed.clear()
            self._look()
            well = all([await self._written_down(name) for name in self._outlook.names])
            if clock() >= renewal:
                well &= all([await self._renewed(name) for name in self._outlook.names])
                renewal = clock() + (RENEW if well else RETRY)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, renewal - clock()) if well else RETRY):
                    await self._changed.wait()
                    # What others do to a node comes in pieces.
                    await asyncio.sleep(SETTLE)

    def _saw(self, old: Node | None, new: Node | None) -> None:
        if any(node.name in self._outlook.names for node in (old, new) if node is not None):
            self._changed.set()

    def _look(self) -> None:
        short = shortages(self._read())
        self._last_short = seen_last(self._last_short, short, self._now())
        self._outlook = replace(self._outlook, pressures=conditions(self._last_short, short))

    async def _written_down(self, name: str) -> bool:
        known = self._known(name)
        node = nodestatus.wanted(name, self._outlook, known, self._now())
        patch = nodestatus.patch_of(known, node, self._now()) if known else {}
        if known and not patch:
            return True
        try:
            writing = self._desk.change(known, patch) if known else self._desk.register(node)
            self._written[name] = await writing
        except PaddleCloudError as error:
            self._log.warning("node %s could not be written down: %s", name, error)
            return False
        await self._tell(name, nodestatus.news(known, node))
        return True

    def _known(self, name: str) -> Node | None:
        """The newest that is known of a node: what was seen, or what we wrote after that."""
        seen = next((n for n in self._nodes.all() if n.name == name), None)
        written = self._written.get(name)
        if written is None or self._nodes.reached(written.metadata.resource_version):
            return seen
        return written

    async def _renewed(self, name: str) -> bool:
        known = self._known(name)
        if known is None:
            return False
        try:
            await self._desk.renew(lease_of(known, self._now()))
        except PaddleCloudError as error:
            self._log.warning("the lease of node %s could not be renewed: %s", name, error)
            return False
        return True

    async def _tell(self, name: str, reasons: list[str]) -> None:
        told = [(reason, f"Node {name} status is now: {reason}") for reason in reasons]
        if name not in self._greeted:
            self._greeted.add(name)
            told.insert(0, ("Starting", "Starting kubelet."))
        for count, (reason, message) in enumerate(told):
            with contextlib.suppress(PaddleCloudError):
                await self._desk.record(event_of(name, reason, message, self._now() + count * 1e-6))


def lease_of(node: Node, now: float) -> Lease:
    owner = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.uid}
    return Lease.read({
        "metadata": {"name": node.name, "namespace": LEASES, "ownerReferences": [owner]},
        "spec": {
            "holderIdentity": node.name,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": f"{timestamp(now)[:-1]}.{int(now % 1 * 1e6):06d}Z",
        },
    })  # fmt: skip


def event_of(name: str, reason: str, message: str, now: float) -> Event:
    return Event.read({
        "metadata": {"name": f"{name}.{int(now * 1e9):x}", "namespace": "default"},
        # A kubelet knows its node by name only; kubectl looks for events under both.
        "involvedObject": {"kind": "Node", "name": name, "uid": name},
        "reason": reason,
        "message": message,
        "type": "Normal",
        "count": 1,
        "source": {"component": "kubelet", "host": name},
        "firstTimestamp": timestamp(now),
        "lastTimestamp": timestamp(now),
    })  # fmt: skip
