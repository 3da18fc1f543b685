"""The node's side of the API: what it watches there and what it writes.

The only module of the node that knows the client. Everything it is asked comes through `Upstream`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, TypeVar

from ...api.core import Event, Node, Pod, Service, ServiceAccount
from ...api.lease import Lease
from ...api.meta import Key, Resource
from ...cluster import requests
from ...cluster.client import Client
from ...cluster.informer import Informer
from ...errors import AlreadyExists, NotFound
from .obstacles import VolumeMissing
from .roster import Roster

R = TypeVar("R", bound=Resource)
NOT_READY = "node.kubernetes.io/not-ready"


class ClusterUpstream:
    """`Upstream` on a real client."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._services: Informer[Service] | None = None

    def follow(self, services: Informer[Service]) -> None:
        """Where to look for services without asking each time."""
        self._services = services

    async def services(self, namespace: str) -> list[Service]:
        if self._services is None:
            return list((await self._client.list(Service, namespace)).items)
        return [service for service in self._services.all() if service.namespace == namespace]

    async def find(self, kind: type[R], namespace: str, name: str) -> R | None:
        return await self._client.find(kind, namespace, name)

    async def token(self, pod: Pod, audience: str, seconds: int) -> bytes:
        account = str(pod.spec.get("serviceAccountName") or "default")
        path = requests.path_of(ServiceAccount, Key(pod.namespace, account), "token")
        bound = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid}
        spec = {"expirationSeconds": seconds, "boundObjectRef": bound}
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": spec | ({"audiences": [audience]} if audience else {}),
        }
        try:
            answer = await self._client.request(requests.write("POST", path, body))
        except NotFound as error:
            raise VolumeMissing(
                f"ServiceAccount {account} does not exist in namespace {pod.namespace}",
                next_step="create it; the pod goes on by itself",
            ) from error
        return str(answer["status"]["token"]).encode()

    async def publish(self, pod: Pod, status: dict[str, Any]) -> Pod:
        # The uid makes the write fail on another pod of the same name.
        body = {"metadata": {"uid": pod.uid}, "status": status}
        return await self._client.patch(Pod, pod.key, body, subresource="status")

    async def remove(self, pod: Pod) -> None:
        await self._client.delete(Pod, pod.key, uid=pod.uid, grace=0)

    async def record(self, event: Event) -> None:
        if event.count > 1:
            patch = {"count": event.count, "lastTimestamp": event.last_timestamp}
            try:
                await self._client.patch(Event, event.key, patch)
                return
            except NotFound:
                pass
        await self._client.create(event)

    async def register(self, node: Node) -> Node:
        try:
            await self._client.create(node)
        except AlreadyExists:
            return await self._client.get(Node, "", node.name)
        made = await self.change(node, {"status": node.wire()["status"]})
        # Every new node is closed until somebody has looked at it: we have, and it is ready.
        kept = [taint for taint in made.spec.get("taints") or () if taint["key"] != NOT_READY]
        return await self._client.patch(Node, node.key, {"spec": {"taints": kept or None}})

    async def change(self, node: Node, patch: Mapping[str, Any]) -> Node:
        result = node
        if "metadata" in patch:
            result = await self._client.patch(Node, node.key, {"metadata": patch["metadata"]})
        if "status" in patch:
            result = await self._client.patch(
                Node, node.key, {"status": patch["status"]}, subresource="status"
            )
        return result

    async def renew(self, lease: Lease) -> None:
        try:
            await self._client.patch(Lease, lease.key, {"spec": lease.wire()["spec"]})
        except NotFound:
            await self._client.create(lease)


async def follow_pods(pods: Informer[Pod], roster: Roster) -> None:
    """Hand every change to the roster; sweep once all pods are known."""
    pods.subscribe(roster.changed)
    await pods.synced.wait()
    # Without a revision the list is empty because nobody could be asked: not a reason to stop pods.
    while not pods.revision:
        await asyncio.sleep(1)
    roster.sweep()
