"""Keeps the cluster tidy: empties namespaces that go, removes old events.

A namespace goes only after the server itself said that nothing is left in it; a cache may be behind.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from ...api.core import Event, Namespace
from ...api.meta import Resource
from ...cluster import requests
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...errors import Conflict, MethodNotAllowed, NotFound
from .collector import Informers
from .everything import Everything
from .namespaces import conditions

EVENTS_LIVE = timedelta(hours=1)
SWEEPS_EVERY = timedelta(minutes=1)
FEW = 100  # objects of a kind: one list of all of them serves however many namespaces go


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
        self._sweeps_at = now()

    async def look(self) -> None:
        namespaces = self._informers[Namespace].all()
        going = {n.name: n for n in namespaces if n.metadata.deletion_timestamp is not None}
        if going:
            await self._empty(going)
        # There are thousands, and nobody waits for one to go.
        if (now := self._now()) >= self._sweeps_at:
            for event in expired(self._informers[Event].all(), now):
                await self._delete(event)
            self._sweeps_at = now + SWEEPS_EVERY

    async def _empty(self, going: dict[str, Namespace]) -> None:
        await self._everything.complete.wait()
        informers = [i for i in self._everything.informers if i.kind.namespaced]
        inside: dict[str, list[Resource]] = {name: [] for name in going}
        for obj in (o for informer in informers for o in informer.all() if o.namespace in inside):
            inside[obj.namespace].append(obj)
        for name, objects in inside.items():
            for obj in objects:
                if obj.metadata.deletion_timestamp is None:
                    await self._delete(obj)
            if waiting := [o for o in objects if o.metadata.finalizers]:
                await self._tell(going[name], waiting)
        empty = {name for name, objects in inside.items() if not objects}
        for name in sorted(empty - await self._with_more(informers, empty)):
            await self._finalize(going[name])

    async def _with_more(self, informers: list[Informer[Any]], empty: set[str]) -> set[str]:
        """Those in which the server itself knows something, which is asked to go: a cache may be behind."""
        found: set[str] = set()
        for informer in informers if empty else ():
            with contextlib.suppress(NotFound, MethodNotAllowed):
                for name in await self._holding(informer, empty):
                    found.add(name)
                    path = requests.collection(informer.kind, name)
                    await self._client.request(requests.write("DELETE", path, {}))
        return found

    async def _holding(self, informer: Informer[Any], names: set[str]) -> list[str]:
        """The namespaces in which there are objects of that kind."""
        if len(names) > 1 and len(informer.all()) <= FEW:
            everywhere = requests.listing(informer.kind, requests.Scope(), limit=0)
            items = (await self._client.request(everywhere)).get("items") or ()
            return sorted(names & {item["metadata"]["namespace"] for item in items})
        found = []
        for name in sorted(names):
            one = requests.listing(informer.kind, requests.Scope(name), limit=1)
            if (await self._client.request(one)).get("items"):
                found.append(name)
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
