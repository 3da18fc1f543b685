"""Tells of every group of pods how far it is, and of every queue what it holds; writes what has changed.

Pods are counted when they change and not at every look, so that a cluster without groups pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from ...api.core import Pod
from ...api.meta import Key, Resource
from ...api.scheduling import PodGroup, PriorityClass, Queue
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...errors import Conflict, NotFound
from ...scheduler.needs import group_of
from .podgroups import Census, Scene, census, queue_status, statuses

KINDS: tuple[type[Resource], ...] = (Pod, PodGroup, Queue, PriorityClass)


class GangKeeping:
    """Follows the informers of `KINDS`; call `look` after changes."""

    def __init__(
        self, client: Client, informers: Mapping[type[Resource], Informer[Any]], now: Callable[[], datetime]
    ) -> None:
        self._client, self._informers, self._now = client, informers, now
        self._pods: dict[Key, dict[Key, Pod]] = {}
        self._counted: dict[Key, Census] = {}
        self._stale: set[Key] = set()
        self._stirred = True
        for kind in KINDS:
            informers[kind].subscribe(self._pod if kind is Pod else self._stir)

    async def look(self) -> None:
        if not self._stirred:
            return
        self._stirred = False
        try:
            scene = self._scene()
            for key, status in statuses(scene, self._now()).items():
                await self._write(scene.groups[key], status.wire())
            for queue in scene.queues.values():
                await self._write(queue, queue_status(queue, scene).wire())
        except BaseException:
            self._stirred = True
            raise

    def _scene(self) -> Scene:
        for key in self._stale:
            pods = self._pods.get(key)
            if pods:
                self._counted[key] = census(pods.values())
            else:
                self._counted.pop(key, None)
        self._stale.clear()
        return Scene(
            {group.key: group for group in self._informers[PodGroup].all()},
            self._counted,
            {queue.name: queue for queue in self._informers[Queue].all()},
            {found.name: found for found in self._informers[PriorityClass].all()},
        )

    async def _write(self, obj: PodGroup | Queue, status: dict[str, Any]) -> None:
        before = obj.wire().get("status") or {}
        changed = {k: v for k, v in status.items() if (before.get(k) or None) != (v or None)}
        if not changed:
            return
        version = obj.metadata.resource_version
        try:
            if isinstance(obj, Queue):
                # The definition demands it in every status; a merge keeps what is not named.
                gone = dict.fromkeys(before.get("allocated") or ())
                whole = {**changed, "allocated": {**gone, **status["allocated"]}}
                await self._client.patch_status(Queue, obj.key, whole, resource_version=version)
            else:
                body = {"metadata": {"resourceVersion": version}, "status": changed}
                await self._client.patch(PodGroup, obj.key, body)
        except (Conflict, NotFound):
            return  # it changed meanwhile, and its watch event brings us back

    def _pod(self, old: Pod | None, new: Pod | None) -> None:
        for pod in (old, new):
            if pod is not None and (group := group_of(pod)):
                self._stale.add(group)
                self._stirred = True
        if old is not None and (group := group_of(old)):
            self._pods.get(group, {}).pop(old.key, None)
        if new is not None and (group := group_of(new)):
            self._pods.setdefault(group, {})[new.key] = new
        if old is not None and (group := group_of(old)) and not self._pods.get(group):
            self._pods.pop(group, None)

    def _stir(self, old: Resource | None, new: Resource | None) -> None:
        self._stirred = True
