"""Keeps the cluster tidy: namespaces that go, default accounts, old events.

Each rule is pure; `Housekeeping` looks and carries out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from ...api.core import Event, Namespace, ServiceAccount
from ...api.meta import Metadata, Resource
from ...cluster import requests
from ...cluster.client import Client
from ...errors import AlreadyExists, Conflict, Forbidden, NotFound
from .collector import NAMESPACED, Informers

EVENTS_LIVE = timedelta(hours=1)


def without_account(namespaces: Iterable[Namespace], accounts: Iterable[ServiceAccount]) -> list[Namespace]:
    have = {a.namespace for a in accounts if a.name == "default"}
    return [n for n in namespaces if n.name not in have and n.metadata.deletion_timestamp is None]


def expired(events: Iterable[Event], now: datetime) -> list[Event]:
    def last(event: Event) -> datetime:
        stamp = event.last_timestamp
        return datetime.fromisoformat(stamp) if stamp else event.metadata.creation_timestamp or now

    return [e for e in events if now - last(e) > EVENTS_LIVE]


class Housekeeping:
    def __init__(self, client: Client, informers: Informers, now: Callable[[], datetime]) -> None:
        self._client, self._informers, self._now = client, informers, now

    async def look(self) -> None:
        namespaces = self._informers[Namespace].all()
        for namespace in namespaces:
            if namespace.metadata.deletion_timestamp is not None:
                await self._empty(namespace)
        for namespace in without_account(namespaces, self._informers[ServiceAccount].all()):
            await self._make_account(namespace.name)
        for event in expired(self._informers[Event].all(), self._now()):
            await self._delete(event)

    async def _empty(self, namespace: Namespace) -> None:
        inside = [o for k in NAMESPACED for o in self._informers[k].all() if o.namespace == namespace.name]
        for obj in inside:
            if obj.metadata.deletion_timestamp is None:
                await self._delete(obj)
        if not inside:
            await self._finalize(namespace)

    async def _finalize(self, namespace: Namespace) -> None:
        body = namespace.wire()
        body["spec"] = {**body.get("spec", {}), "finalizers": []}
        try:
            await self._client.request(requests.replacement(Namespace, namespace.key, body, "finalize"))
        except (NotFound, Conflict):
            return

    async def _make_account(self, namespace: str) -> None:
        try:
            await self._client.create(ServiceAccount(metadata=Metadata(name="default", namespace=namespace)))
        except (AlreadyExists, Forbidden, NotFound):
            return

    async def _delete(self, obj: Resource) -> None:
        try:
            await self._client.delete(type(obj), obj.key, uid=obj.uid)
        except (NotFound, Conflict):
            return
