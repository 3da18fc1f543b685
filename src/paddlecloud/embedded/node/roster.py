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
from .admission import refusal
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
        self._addresses: dict[str, str] = {}
        self._next_address = 0
        self._log = log.logger("node")
        for folder in self._folders():
            if record := folder.record():
                self._addresses[record.uid] = record.address

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
        found = [k for k in self._keepers.values() if k.pod.namespace == namespace and k.pod.name == name]
        return found[-1].folder if found else None

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
        if self._without_place(folder) and not leaving:
            beside = [k.pod for k in self._keepers.values() if k.pod.node == pod.node]
            refused = refusal(pod, beside, self._shop.machine.room)
            if refused is None:
                holding.end(folder.path)
                record = record_of(pod, self._address(pod.uid))
                with contextlib.suppress(OSError):
                    folder.settle(record)
                    # Where there is no room for it now, its keeper says so and tries again.
                    record = None
        keeper = Keeper(pod, folder, self._shop, refused, record)
        task = asyncio.create_task(keeper.run(), name=f"pod {pod.key}")
        self._keepers[pod.uid], self._tasks[pod.uid] = keeper, task
        task.add_done_callback(lambda done: self._kept(pod.uid, done))

    def _without_place(self, folder: PodFolder) -> bool:
        """Whether a pod has no address yet, or one of a network that was given up and nobody of it uses."""
        record = folder.record()
        if record is None or IPv4Address(record.address) in self._ranges.pods:
            return record is None
        names = (*record.init_containers, *record.containers)
        return all(attempt.state != State.RUNNING for name in names for attempt in folder.attempts(name))

    def _kept(self, uid: str, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self._log.error("%s: its keeper broke", task.get_name(), exc_info=error)
        for table in (self._keepers, self._tasks, self._addresses):
            table.pop(uid, None)

    def _address(self, uid: str) -> str:
        used = {*self._addresses.values(), *self._ranges.reserved}
        address = free_address(self._ranges.pods, used, self._next_address)
        self._addresses[uid] = address
        self._next_address = position(self._ranges.pods, address) + 1
        return address

    def _folders(self) -> list[PodFolder]:
        """Those of all nodes the home ever had: a node may be gone, and its pods not."""
        return every_pod(self._shop.home)
