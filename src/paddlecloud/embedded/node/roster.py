"""All pods of the nodes of this process: one keeper each, those found in folders included.

A pod is known by its uid: a new pod of an old name is another pod. Addresses are given here, where all
pods are known.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from ipaddress import IPv4Address

from ... import log
from ...api.core import Pod
from ..ranges import Ranges
from .addresses import free_address, position
from .admission import Ledger
from .attempts import State
from .keeper import Keeper
from .podfolder import PodFolder, every_pod, record_of
from .sandbox import holding
from .sight import Ending
from .workshop import Workshop


class Roster:
    def __init__(self, nodes: Iterable[str], ranges: Ranges, shop: Workshop) -> None:
        self._nodes, self._ranges, self._shop = frozenset(nodes), ranges, shop
        self._keepers: dict[str, Keeper] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._named: dict[tuple[str, str], Keeper] = {}
        """The newest of a namespace and name."""
        self._ledgers = {node: Ledger(shop.machine.room) for node in self._nodes}
        self._addresses: dict[str, str] = {}
        self._taken = set(ranges.reserved)
        self._next_address = 0
        self._log = log.logger("node")
        for folder in self._folders():
            if record := folder.record():
                self._addresses[record.uid] = record.address
                self._taken.add(record.address)

    def changed(self, old: Pod | None, new: Pod | None) -> None:
        """A pod of the cluster is now *new*; call it for every change and at the start for every pod."""
        if old is not None and (new is None or new.uid != old.uid) and (keeper := self._keepers.get(old.uid)):
            keeper.gone()
        if new is None or new.node not in self._nodes:
            return
        keeper = self._keepers.get(new.uid)
        if keeper is None:
            self._keep(new)
        else:
            keeper.update(new)
        if new.finished:
            self._ledgers[new.node].leave(new.uid)

    def sweep(self) -> None:
        """Stop and remove the pods that have a folder but are not in the API; call it once all are known."""
        for folder in self._folders():
            record = folder.record()
            if record is None:
                folder.remove()
            elif record.uid not in self._keepers:
                self._log.info("pod %s/%s is not in the API any more", record.namespace, record.name)
                self._keep(record.pod())
                self._keepers[record.uid].gone()

    def find(self, namespace: str, name: str) -> PodFolder | None:
        """The folder of the pod of that name; while an old one of the name goes, the newer one."""
        found = self._named.get((namespace, name))
        return found.folder if found else None

    def pods(self, node: str) -> list[Pod]:
        """The pods of one node, as they are known here."""
        return [keeper.pod for keeper in self._keepers.values() if keeper.pod.node == node]

    def every(self) -> list[Pod]:
        return [keeper.pod for keeper in self._keepers.values()]

    def evict(self, pod: Pod, why: str) -> None:
        """The pod has taken more than it may have: it ends, and stays as a record of why."""
        if keeper := self._keepers.get(pod.uid):
            keeper.learn(evicted=Ending("Evicted", why))

    def folders(self) -> list[PodFolder]:
        return [keeper.folder for keeper in self._keepers.values()]

    async def close(self) -> None:
        """Let go of all pods; they run on."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def idle(self) -> None:
        """Return once no pod is kept."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    def _keep(self, pod: Pod) -> None:
        folder = PodFolder(self._shop.home.pods(pod.node) / pod.uid)
        leaving = pod.metadata.deletion_timestamp is not None or pod.finished
        refused = record = None
        # A pod that is swept may be of a node that this process is not.
        ledger = self._ledgers.get(pod.node)
        if self._without_place(folder) and not leaving:
            refused = ledger.refusal(pod) if ledger else None
            if refused is None:
                holding.end(folder.path)
                record = record_of(pod, self._address(pod.uid))
                with contextlib.suppress(OSError):
                    folder.settle(record)
                    # Where there is no room for it now, its keeper says so and tries again.
                    record = None
        if ledger and refused is None:
            ledger.take(pod)
        keeper = Keeper(pod, folder, self._shop, refused, record)
        task = asyncio.create_task(keeper.run(), name=f"pod {pod.key}")
        self._keepers[pod.uid], self._tasks[pod.uid] = keeper, task
        self._named[pod.namespace, pod.name] = keeper
        task.add_done_callback(lambda done: self._kept(pod, done))

    def _without_place(self, folder: PodFolder) -> bool:
        """Whether a pod has no address yet, or one of a network that was given up and nobody of it uses."""
        record = folder.record()
        if record is None or IPv4Address(record.address) in self._ranges.pods:
            return record is None
        names = (*record.init_containers, *record.containers)
        return all(attempt.state != State.RUNNING for name in names for attempt in folder.attempts(name))

    def _kept(self, pod: Pod, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._log.error("%s: its keeper broke", task.get_name(), exc_info=error)
        keeper = self._keepers.pop(pod.uid)
        del self._tasks[pod.uid]
        if self._named.get(name := (pod.namespace, pod.name)) is keeper:
            del self._named[name]
        if address := self._addresses.pop(pod.uid, ""):
            self._taken.discard(address)
        if pod.node in self._ledgers:
            self._ledgers[pod.node].leave(pod.uid)

    def _address(self, uid: str) -> str:
        address = free_address(self._ranges.pods, self._taken, self._next_address)
        if before := self._addresses.pop(uid, ""):
            self._taken.discard(before)
        self._addresses[uid] = address
        self._taken.add(address)
        self._next_address = position(self._ranges.pods, address) + 1
        return address

    def _folders(self) -> list[PodFolder]:
        """Those of all nodes the home ever had: a node may be gone, and its pods not."""
        return every_pod(self._shop.home)
