"""Carries out placements: binds pods to nodes, and tells a pod why it has none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from ...api.core import Node, Pod
from ...api.meta import Key
from ...cluster import requests
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...controllers.contract import Note
from ...controllers.events import record
from ...errors import Conflict, NotFound
from ...scheduler.placement import SCHEDULER, Placement, place


class Scheduling:
    def __init__(
        self, client: Client, pods: Informer[Pod], nodes: Informer[Node], now: Callable[[], datetime]
    ) -> None:
        self._client, self._pods, self._nodes, self._now = client, pods, nodes, now
        self._bound: dict[Key, str] = {}  # uids we have bound and may not have seen yet

    async def look(self) -> None:
        everything = self._pods.all()
        self._bound = {k: uid for k, uid in self._bound.items() if (p := self._pods.get(k)) and not p.node}
        waiting = [p for p in everything if ours(p) and self._bound.get(p.key) != p.uid]
        placed = [p for p in everything if p.node]
        for placement in place(waiting, self._nodes.all(), placed):
            if placement.node:
                await self._bind(placement)
            else:
                await self._explain(placement)

    async def _bind(self, placement: Placement) -> None:
        pod = requests.path_of(Pod, placement.pod, "binding")
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": placement.pod.name, "namespace": placement.pod.namespace},
            "target": {"apiVersion": "v1", "kind": "Node", "name": placement.node},
        }
        try:
            await self._client.request(requests.write("POST", pod, body))
        except (Conflict, NotFound):
            return  # bound by somebody else, or gone: nothing is left to do
        self._bound[placement.pod] = placement.uid
        await self._tell(placement, Note("Normal", "Scheduled", f"assigned to {placement.node}"))

    async def _explain(self, placement: Placement) -> None:
        pod = self._pods.get(placement.pod)
        if pod is None or condition(pod).get("message") == placement.reason:
            return
        others = [c for c in pod.status.get("conditions") or () if c["type"] != "PodScheduled"]
        told = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": placement.reason,
            "lastTransitionTime": self._now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        try:
            await self._client.patch_status(Pod, placement.pod, {"conditions": [*others, told]})
        except NotFound:
            return
        await self._tell(placement, Note("Warning", "FailedScheduling", placement.reason))

    async def _tell(self, placement: Placement, note: Note) -> None:
        if pod := self._pods.get(placement.pod):
            await record(self._client, pod, note, "scheduler", self._now())


def ours(pod: Pod) -> bool:
    return (
        not pod.node
        and not pod.finished
        and pod.metadata.deletion_timestamp is None
        and pod.spec.get("schedulerName", SCHEDULER) == SCHEDULER
    )


def condition(pod: Pod) -> dict[str, Any]:
    return next((c for c in pod.status.get("conditions") or () if c["type"] == "PodScheduled"), {})
