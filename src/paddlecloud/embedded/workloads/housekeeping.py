"""Keeps the cluster tidy: what lost its owner, namespaces that go, default accounts, old events.

Each rule is pure; `Housekeeping` looks and carries out. An owner counts as gone only after the server
itself said so: a cache may be behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from ...api.core import (
    ConfigMap,
    Event,
    Namespace,
    PersistentVolumeClaim,
    Pod,
    Secret,
    Service,
    ServiceAccount,
    StatefulSet,
)  # fmt: skip
from ...api.kinds import EMBEDDED_ONLY, OURS
from ...api.meta import Metadata, OwnerReference, Resource
from ...cluster import requests
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...errors import AlreadyExists, Conflict, Forbidden, NotFound

NAMESPACED: tuple[type[Resource], ...] = (
    Pod, ConfigMap, Secret, Service, ServiceAccount, PersistentVolumeClaim, StatefulSet, Event,
    *OURS, *EMBEDDED_ONLY,
)  # fmt: skip
KINDS: tuple[type[Resource], ...] = (*NAMESPACED, Namespace)
EVENTS_LIVE = timedelta(hours=1)
Informers = Mapping[type[Resource], Informer[Any]]


def candidates(objects: Iterable[Resource], uids: set[str]) -> list[Resource]:
    """Objects all of whose owners seem to be gone."""
    return [
        o
        for o in objects
        if o.metadata.owner_references
        and not any(r.uid in uids for r in o.metadata.owner_references)
        and o.metadata.deletion_timestamp is None
    ]


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
        await self._collect()
        await self._empty_namespaces()
        for namespace in without_account(
            self._informers[Namespace].all(), self._informers[ServiceAccount].all()
        ):
            await self._make_account(namespace.name)
        for event in expired(self._informers[Event].all(), self._now()):
            await self._delete(event)

    async def _collect(self) -> None:
        everything = [o for k in KINDS for o in self._informers[k].all()]
        for orphan in candidates(everything, {o.uid for o in everything}):
            if not any([await self._exists(r, orphan.namespace) for r in orphan.metadata.owner_references]):
                await self._delete(orphan)

    async def _exists(self, owner: OwnerReference, namespace: str) -> bool:
        kind = next((k for k in KINDS if (k.api_version, k.kind) == (owner.api_version, owner.kind)), None)
        if kind is None:
            return True  # not a kind we know: not ours to judge
        found = await self._client.find(kind, namespace if kind.namespaced else "", owner.name)
        return found is not None and found.uid == owner.uid

    async def _empty_namespaces(self) -> None:
        for namespace in self._informers[Namespace].all():
            if namespace.metadata.deletion_timestamp is None:
                continue
            inside = [
                o for k in NAMESPACED for o in self._informers[k].all() if o.namespace == namespace.name
            ]
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
