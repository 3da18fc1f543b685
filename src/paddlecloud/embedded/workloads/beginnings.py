"""What every namespace begins with: its default account, what that one may do, the API's authority.

A look of its own, because who makes a namespace waits for it: a pod is refused before its account is there,
and emptying another namespace takes many requests.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from ...api.core import ConfigMap, Namespace, ServiceAccount
from ...api.meta import Key, Metadata, Resource
from ...cluster import requests
from ...cluster.client import Client
from ...errors import AlreadyExists, Conflict, Forbidden, NotFound
from ..server.roles import component_binding, has_components
from .collector import Informers

ROOT_CA = "kube-root-ca.crt"
BINDINGS = requests.Place("rbac.authorization.k8s.io/v1", "rolebindings")
KINDS = (Namespace, ServiceAccount, ConfigMap)


def concerns(old: Resource | None, new: Resource | None) -> bool:
    """Whether a change can make a look find something: of all ConfigMaps only the authority's own can."""
    found = new or old
    return not isinstance(found, ConfigMap) or found.name == ROOT_CA


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


class Beginnings:
    def __init__(self, client: Client, informers: Informers) -> None:
        self._client, self._informers = client, informers

    async def look(self) -> None:
        namespaces = self._informers[Namespace].all()
        # First, because a pod waits for its account and then needs both.
        await self._publish_authority(namespaces)
        for namespace in without_account(namespaces, self._informers[ServiceAccount].all()):
            await self._make_account(namespace.name)

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
        # One look-up a namespace: there may be ten thousand other maps.
        places = [Key(namespace.name, ROOT_CA) for namespace in namespaces]
        maps = [found for place in places if (found := self._informers[ConfigMap].get(place)) is not None]
        lacking, wrong = without_authority(namespaces, maps, authority)
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
