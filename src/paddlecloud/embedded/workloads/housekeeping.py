"""Keeps the cluster tidy: empties namespaces that go, removes old events.

A namespace goes only after the server itself said that nothing is left in it; a cache may be behind.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from ...api.core import Event, Namespace
from ...api.meta import Resource
from ...cluster import requests
from ...cluster.client import Client
from ...errors import Conflict, MethodNotAllowed, NotFound
from .collector import Informers
from .everything import Everything
from .namespaces import conditions

EVENTS_LIVE = timedelta(hours=1)


def expired(events: Iterable[Event], now: datetime) -> list[Event]:
    def last(event: Event) -> datetime:
        """When it was last told; a story of old times, told today, lives as long as any other."""
        told = event.metadata.creation_timestamp or now
        return max(told, datetime.fromisoformat(event.last_timestamp)) if event.last_timestamp else told

    return [e for e in events if now - last(e) > EVENTS_LIVE]


class Housekeeping:
    def __init__(
        self, client: Client, informers: Informers, everything: Everything, now: Callable[[], datetime]
    ) -> None:
        self._client, self._informers, self._now = client, informers, now
        self._everything = everything

    async def look(self) -> None:
        for namespace in self._informers[Namespace].all():
            if namespace.metadata.deletion_timestamp is not None:
                await self._empty(namespace)
        for event in expired(self._informers[Event].all(), self._now()):
            await self._delete(event)

    async def _empty(self, namespace: Namespace) -> None:
        await self._everything.complete.wait()
        informers = [i for i in self._everything.informers if i.kind.namespaced]
        inside = [o for informer in informers for o in informer.all() if o.namespace == namespace.name]
        for obj in inside:
            if obj.metadata.deletion_timestamp is None:
                await self._delete(obj)
        waiting = [o for o in inside if o.metadata.finalizers]
        if waiting:
            await self._tell(namespace, waiting)
        elif not inside and not await self._anything([i.kind for i in informers], namespace.name):
            await self._finalize(namespace)

    async def _anything(self, kinds: list[type[Resource]], namespace: str) -> bool:
        """Asked of the server itself, and what is found is asked to go: a cache may be behind."""
        scope = requests.Scope(namespace)
        found = False
        for kind in kinds:
            with contextlib.suppress(NotFound, MethodNotAllowed):
                page = await self._client.request(requests.listing(kind, scope, limit=1))
                if page.get("items"):
                    found = True
                    path = requests.collection(kind, namespace)
                    await self._client.request(requests.write("DELETE", path, {}))
        return found

    async def _tell(self, namespace: Namespace, waiting: list[Resource]) -> None:
        old = namespace.status.get("conditions") or []
        told = conditions(waiting, old, self._now().strftime("%Y-%m-%dT%H:%M:%SZ"))
        if told != old:
            with contextlib.suppress(NotFound, Conflict):
                await self._client.patch_status(Namespace, namespace.key, {"conditions": told})

    async def _finalize(self, namespace: Namespace) -> None:
        body = namespace.wire()
        body["spec"] = {**body.get("spec", {}), "finalizers": []}
        try:
            await self._client.request(requests.replacement(Namespace, namespace.key, body, "finalize"))
        except NotFound:
            return

    async def _delete(self, obj: Resource) -> None:
        try:
            await self._client.delete(type(obj), obj.key, uid=obj.uid)
        except (NotFound, Conflict):
            return
