"""Carries out placements: binds pods to nodes, settles their claims, and tells a pod why it has no node.

The board follows the informers change by change, so that a look costs what waits and not what runs. A pod
that was bound stands on the board from that moment on, until the watch shows it there or gone. Nothing is
kept that the cluster does not say: killed between any two writes, the next look goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from ...api.core import Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod
from ...api.meta import Key, Resource
from ...api.scheduling import PodGroup, PriorityClass, Queue, StorageClass
from ...cluster import requests
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...controllers.contract import Note
from ...controllers.events import record
from ...errors import Conflict, NotFound
from ...scheduler.board import Board
from ...scheduler.claims import SELECTED_NODE, Choice, Storage
from ...scheduler.needs import group_of, needs_of
from ...scheduler.placement import Placement, World, ours, place

KINDS: tuple[type[Resource], ...] = (
    Pod, Node, Namespace, PersistentVolumeClaim, PersistentVolume, StorageClass, PriorityClass, PodGroup,
    Queue,
)  # fmt: skip
AT_ONCE = 16
"""Writes under way; more would only wait in the server."""
BOUND_BY = "pv.kubernetes.io/bound-by-controller"


class Scheduling:
    """Follows the informers of `KINDS`; call `look` after changes."""

    def __init__(
        self, client: Client, informers: Mapping[type[Resource], Informer[Any]], now: Callable[[], datetime]
    ) -> None:
        self._client, self._informers, self._now = client, informers, now
        self._board = Board()
        self._waiting: dict[Key, Pod] = {}
        self._assumed: dict[Key, str] = {}  # uids of pods we have bound and not yet seen on their nodes
        self._written: dict[Key, tuple[type[Resource], str]] = {}  # claims we settled: who shows it, and when
        self._stirred = True
        callbacks: dict[type[Resource], Callable[[Any, Any], None]] = {
            Pod: self._pod, Node: self._node, PodGroup: self._wish, Queue: self._wish,
        }  # fmt: skip
        for kind in KINDS:
            informers[kind].subscribe(callbacks.get(kind, self._stir))

    async def look(self) -> None:
        if not self._stirred:
            return
        self._stirred = False
        for key in [k for k in self._written if self._shown(k)]:
            del self._written[key]
        try:
            placements = place(self._ready(), self._board, self._world())
            await for_each(placements, self._carry_out)
        except BaseException:
            self._stirred = True
            raise

    def _ready(self) -> list[Pod]:
        """The pods that wait, but for those whose claims we wrote and cannot see yet."""
        return [
            pod
            for pod in self._waiting.values()
            if not self._written or not any(claim in self._written for claim in claims_of(pod))
        ]

    def _world(self) -> World:
        def named(kind: type[Resource]) -> dict[str, Any]:
            return {obj.name: obj for obj in self._informers[kind].all()}

        claims = {c.key: c for c in self._informers[PersistentVolumeClaim].all()}
        return World(
            Storage(claims, named(PersistentVolume), named(StorageClass)),
            groups={g.key: g for g in self._informers[PodGroup].all()},
            queues=named(Queue),
            priorities=named(PriorityClass),
            namespaces={name: n.metadata.labels for name, n in named(Namespace).items()},
        )

    async def _carry_out(self, placement: Placement) -> None:
        if not placement.node:
            await self._explain(placement)
        elif placement.claims:
            # Bound claims bring the pod back here; until then its place is only thought of.
            self._board.remove(placement.pod)
            for choice in placement.claims:
                if not choice.told:
                    await self._settle(choice)
        else:
            await self._bind(placement)

    async def _bind(self, placement: Placement) -> None:
        pod = self._waiting.pop(placement.pod)
        self._assumed[placement.pod] = placement.uid
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "name": placement.pod.name,
                "namespace": placement.pod.namespace,
                "uid": placement.uid,
            },
            "target": {"apiVersion": "v1", "kind": "Node", "name": placement.node},
        }
        path = requests.path_of(Pod, placement.pod, "binding")
        try:
            await self._client.request(requests.write("POST", path, body))
        except (Conflict, NotFound):
            # Bound by somebody else, or gone: the watch tells, and that brings us back.
            self._take_back(placement)
            return
        except BaseException:
            self._take_back(placement)
            self._stirred = True
            raise
        text = f"Successfully assigned {placement.pod} to {placement.node}"
        await record(self._client, pod, Note("Normal", "Scheduled", text), "default-scheduler", self._now())

    def _take_back(self, placement: Placement) -> None:
        """The pod has no node after all; the cache may have news of it that were held back."""
        if self._assumed.pop(placement.pod, None) != placement.uid:
            return  # the watch has told the truth meanwhile
        self._board.remove(placement.pod)
        pod = self._informers[Pod].get(placement.pod)
        if pod is not None and ours(pod):
            self._waiting[placement.pod] = pod

    async def _settle(self, choice: Choice) -> None:
        claim = self._informers[PersistentVolumeClaim].get(choice.claim)
        if claim is None:
            return
        try:
            if choice.volume:
                await self._promise(claim, choice.volume)
            else:
                metadata = {
                    "annotations": {SELECTED_NODE: choice.node},
                    "resourceVersion": claim.metadata.resource_version,
                }
                done = await self._client.patch(PersistentVolumeClaim, claim.key, {"metadata": metadata})
                self._written[claim.key] = PersistentVolumeClaim, done.metadata.resource_version
        except (Conflict, NotFound):
            return  # somebody changed it: its watch event brings us back

    async def _promise(self, claim: PersistentVolumeClaim, name: str) -> None:
        """Give the volume to the claim; whoever binds claims does the rest."""
        volume = self._informers[PersistentVolume].get(Key("", name))
        if volume is None:
            return
        body = {
            "metadata": {
                "annotations": {BOUND_BY: "yes"},
                "resourceVersion": volume.metadata.resource_version,
            },
            "spec": {"claimRef": {**claim.reference(), "resourceVersion": claim.metadata.resource_version}},
        }
        done = await self._client.patch(PersistentVolume, volume.key, body)
        self._written[claim.key] = PersistentVolume, done.metadata.resource_version

    def _shown(self, claim: Key) -> bool:
        kind, version = self._written[claim]
        return self._informers[kind].reached(version)

    async def _explain(self, placement: Placement) -> None:
        pod = self._waiting.get(placement.pod)
        if pod is None:
            return
        before = condition(pod)
        if (before.get("reason"), before.get("message")) == (placement.reason, placement.message):
            return
        since = self._now().strftime("%Y-%m-%dT%H:%M:%SZ")
        told = {
            "type": "PodScheduled",
            "status": "False",
            "reason": placement.reason,
            "message": placement.message,
            "lastTransitionTime": before.get("lastTransitionTime") or since,
        }
        others = [c for c in pod.status.get("conditions") or () if c["type"] != "PodScheduled"]
        try:
            await self._client.patch_status(
                Pod,
                placement.pod,
                {"conditions": [*others, told]},
                resource_version=pod.metadata.resource_version,
            )
        except (Conflict, NotFound):
            return  # it changed meanwhile, and its watch event brings us back
        if placement.reason != "SchedulingGated":
            note = Note("Warning", "FailedScheduling", placement.message)
            await record(self._client, pod, note, "default-scheduler", self._now())

    def _pod(self, old: Pod | None, new: Pod | None) -> None:
        gone = old if new is None or (old and old.uid != new.uid) else None
        if gone is not None:
            self._assumed.pop(gone.key, None)
            self._waiting.pop(gone.key, None)
            self._board.forget(gone.key)
            self._stirred = True
        if new is None:
            return
        if not new.node:
            if self._assumed.get(new.key) == new.uid:
                return  # older than our binding
            self._waits(new)
        else:
            self._assumed.pop(new.key, None)
            self._waiting.pop(new.key, None)
            self._stands(new)

    def _waits(self, pod: Pod) -> None:
        if not ours(pod):
            self._stirred |= self._waiting.pop(pod.key, None) is not None
            return
        before = self._waiting.get(pod.key)
        self._waiting[pod.key] = pod
        # Our own word about the pod is no news.
        self._stirred |= before is None or asked(before) != asked(pod)

    def _stands(self, pod: Pod) -> None:
        there = self._board.find(pod.key)
        if pod.finished:
            if there or pod.phase == "Succeeded":
                self._board.forget(pod.key)
                self._board.finish(pod.key, group_of(pod) if pod.phase == "Succeeded" else None)
                self._stirred = True
        elif there is None or there[0] != pod.node or there[1].pod.metadata.labels != pod.metadata.labels:
            try:
                classes = {c.name: c for c in self._informers[PriorityClass].all()}
                self._board.put(needs_of(pod, classes), pod.node)
            except ValueError:
                return
            self._stirred = True

    def _node(self, old: Node | None, new: Node | None) -> None:
        if new is not None:
            self._stirred |= self._board.set_node(new)
        elif old is not None:
            self._stirred |= self._board.drop_node(old.name)

    def _wish(self, old: PodGroup | Queue | None, new: PodGroup | Queue | None) -> None:
        # How groups and queues fare is told after every placement; only what they ask for is news.
        self._stirred |= old is None or new is None or wishes(old) != wishes(new)

    def _stir(self, old: Resource | None, new: Resource | None) -> None:
        self._stirred = True


async def for_each(placements: Iterable[Placement], do: Callable[[Placement], Awaitable[None]]) -> None:
    """Carry out all of them, a few at once; the first trouble surfaces once the others are done."""
    door = asyncio.Semaphore(AT_ONCE)

    async def one(placement: Placement) -> None:
        async with door:
            await do(placement)

    for result in await asyncio.gather(*(one(p) for p in placements), return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


def claims_of(pod: Pod) -> list[Key]:
    return [
        Key(pod.namespace, volume["persistentVolumeClaim"]["claimName"])
        for volume in pod.spec.get("volumes") or ()
        if volume.get("persistentVolumeClaim")
    ]


def asked(pod: Pod) -> tuple[Any, ...]:
    """All of a pod that decides where it goes."""
    return pod.spec, pod.metadata.labels, pod.metadata.annotations


def wishes(obj: PodGroup | Queue) -> tuple[Any, ...]:
    return obj.uid, obj.spec, obj.status.state if isinstance(obj, Queue) else ""


def condition(pod: Pod) -> dict[str, Any]:
    return next((c for c in pod.status.get("conditions") or () if c["type"] == "PodScheduled"), {})
