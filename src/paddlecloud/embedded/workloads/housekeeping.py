"""Keeps the cluster tidy: namespaces that go, what every namespace begins with, old events.

Each rule is pure; `Housekeeping` looks and carries out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from ...api.core import ConfigMap, Event, Namespace, ServiceAccount
from ...api.meta import Metadata, Resource
from ...cluster import requests
from ...cluster.client import Client
from ...errors import AlreadyExists, Conflict, Forbidden, MethodNotAllowed, NotFound
from ..server.roles import component_binding, has_components
from .collector import Informers
from .everything import Everything
from .namespaces import conditions

EVENTS_LIVE = timedelta(hours=1)
ROOT_CA = "kube-root-ca.crt"
BINDINGS = requests.Place("rbac.authorization.k8s.io/v1", "rolebindings")


def without_account(namespaces: Iterable[Namespace], accounts: Iterable[ServiceAccount]) -> list[Namespace]:
    have = {a.namespace for a in accounts if a.name == "default"}
    return [n for n in namespaces if n.name not in have and n.metadata.deletion_timestamp is None]


def without_authority(
    namespaces: Iterable[Namespace], maps: Iterable[ConfigMap], authority: str
) -> tuple[list[Namespace], list[ConfigMap]]:
    """The namespaces that lack the certificate of the API's authority, and the maps that hold another."""
    found = {m.namespace: m for m in maps if m.name == ROOT_CA}
    alive = [n for n in namespaces if n.metadata.deletion_timestamp is None]
    return (
        [n for n in alive if n.name not in found],
        [found[n.name] for n in alive if n.name in found and found[n.name].data != {"ca.crt": authority}],
    )


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
        namespaces = self._informers[Namespace].all()
        for namespace in namespaces:
            if namespace.metadata.deletion_timestamp is not None:
                await self._empty(namespace)
        # First, because a pod waits for its account and then needs both.
        await self._publish_authority(namespaces)
        for namespace in without_account(namespaces, self._informers[ServiceAccount].all()):
            await self._make_account(namespace.name)
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

    async def _make_account(self, namespace: str) -> None:
        # First, so that no pod starts before its programs may do their work; and only once: an
        # administrator may take it away.
        if has_components(namespace):
            binding = requests.creation(BINDINGS, namespace, component_binding(namespace))
            with contextlib.suppress(AlreadyExists, Forbidden, NotFound):
                await self._client.request(binding)
        try:
            await self._client.create(ServiceAccount(metadata=Metadata(name="default", namespace=namespace)))
        except (AlreadyExists, Forbidden, NotFound):
            return

    async def _publish_authority(self, namespaces: Iterable[Namespace]) -> None:
        authority = self._client.access.ca or ""
        lacking, wrong = without_authority(namespaces, self._informers[ConfigMap].all(), authority)
        for namespace in lacking:
            metadata = Metadata(name=ROOT_CA, namespace=namespace.name)
            try:
                await self._client.create(ConfigMap(metadata=metadata, data={"ca.crt": authority}))
            except (AlreadyExists, Forbidden, NotFound):
                continue
        for found in wrong:
            strangers = dict.fromkeys(found.data)
            try:
                await self._client.patch(ConfigMap, found.key, {"data": {**strangers, "ca.crt": authority}})
            except (Conflict, NotFound):
                continue

    async def _delete(self, obj: Resource) -> None:
        try:
            await self._client.delete(type(obj), obj.key, uid=obj.uid)
        except (NotFound, Conflict):
            return
