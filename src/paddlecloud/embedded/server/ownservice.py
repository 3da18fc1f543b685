"""The Service `kubernetes` in `default`: by it programs in the cluster find this server.

Service, Endpoints and EndpointSlice are written by the server itself, as in every Kubernetes: made where they
are missing, put right where they say something else, looked at now and then.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from ... import log
from ...errors import ApiError, Unavailable
from ..identity import Identity
from ..store import Place
from .deletion import DeleteOptions
from .kinds import Kind
from .objects import Objects
from .writing import WriteOptions

Body = dict[str, Any]
NAME, NAMESPACE = "kubernetes", "default"
AGAIN = 10.0
MANAGER = "paddlecloud"


def wanted(identity: Identity) -> Iterator[Body]:
    """What is to be there; the address is the first one of the range of Services and given to no other."""
    address, port = identity.ranges.api, identity.api_port
    https = {"name": "https", "protocol": "TCP"}
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": place({"component": "apiserver", "provider": "kubernetes"}),
        "spec": {
            "type": "ClusterIP",
            "clusterIP": address,
            "ports": [{**https, "port": 443, "targetPort": port}],
            "sessionAffinity": "None",
        },
    }
    yield {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": place({"endpointslice.kubernetes.io/skip-mirror": "true"}),
        "subsets": [{"addresses": [{"ip": "127.0.0.1"}], "ports": [{**https, "port": port}]}],
    }
    yield {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": place({"kubernetes.io/service-name": NAME}),
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": True}}],
        "ports": [{**https, "port": port}],
    }


def place(labels: dict[str, str]) -> Body:
    return {"name": NAME, "namespace": NAMESPACE, "labels": labels}


async def settle(objects: Objects, identity: Identity) -> None:
    for body in wanted(identity):
        group, _, version = body["apiVersion"].rpartition("/")
        [kind] = [k for k in objects.registry.in_version(group, version) if k.kind == body["kind"]]
        await put_right(objects, kind, body)


async def put_right(objects: Objects, kind: Kind, body: Body) -> None:
    where = Place(kind.resource, NAMESPACE, NAME)
    entry = objects.store.get(where)
    if entry is None:
        await objects.create(kind, NAMESPACE, body, WriteOptions(manager=MANAGER))
        return
    old = entry.load()
    said = {k: v for k, v in body.items() if k not in ("metadata", "apiVersion", "kind")}
    if "spec" in said:
        said["spec"] = {**old["spec"], **said["spec"]}
    if all(old.get(k) == v for k, v in said.items()):
        return
    if kind.kind == "Service" and old["spec"].get("clusterIP") != said["spec"]["clusterIP"]:
        # An address does not change: what has another one is not the Service of this cluster.
        await objects.delete(kind, where, DeleteOptions())
        await objects.create(kind, NAMESPACE, body, WriteOptions(manager=MANAGER))
        return
    await objects.update(kind, where, {**old, **said}, WriteOptions(manager=MANAGER))


@contextlib.asynccontextmanager
async def kept(objects: Objects, identity: Identity) -> AsyncIterator[None]:
    """Inside this block the three are there and right, or are so soon."""
    await settle(objects, identity)
    task = asyncio.create_task(look(objects, identity))
    try:
        yield
    finally:
        task.cancel()


async def look(objects: Objects, identity: Identity) -> None:
    while True:
        await asyncio.sleep(AGAIN)
        try:
            await settle(objects, identity)
        except (ApiError, Unavailable) as error:
            log.logger("api").warning("the Service of the API is looked at again: %s", error.message)
