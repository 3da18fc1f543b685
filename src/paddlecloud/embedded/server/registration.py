"""APIServices: the server tells of every group and version it serves that it serves it itself.

`wanted` is pure. The objects are kept as stored ones, so that they are read and watched like all others; they
follow the definitions of custom kinds, and nobody else can write them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any

from ..store import Place
from .kinds import CRD
from .objects import Objects
from .settling import settled

Body = dict[str, Any]
RESOURCE = "apiregistration.k8s.io/apiservices"
MANAGED = "kube-aggregator.kubernetes.io/automanaged"
# Which group clients should prefer where two have a kind of one name, and its versions in order.
PRIORITIES = {
    "": 18000, "apps": 17800, "events.k8s.io": 17750, "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600, "autoscaling": 17500, "batch": 17400, "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200, "policy": 17100, "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800, "admissionregistration.k8s.io": 16700, "apiextensions.k8s.io": 16700,
    "scheduling.k8s.io": 16600, "coordination.k8s.io": 16500, "node.k8s.io": 16300,
    "discovery.k8s.io": 16200, "flowcontrol.apiserver.k8s.io": 16100,
}  # fmt: skip
VERSIONS = {("", "v1"): 1, ("autoscaling", "v2"): 30, ("flowcontrol.apiserver.k8s.io", "v1"): 21}
OWN = "apiregistration.k8s.io"  # it does not register itself


def wanted(served: Iterable[tuple[str, str]], now: str) -> dict[str, Body]:
    """The APIServices of these groups and versions, by name; without what only a stored object has."""
    return {
        f"{version}.{group}": service(group, version, now)
        for group, version in sorted(set(served))
        if group != OWN
    }


def service(group: str, version: str, now: str) -> Body:
    built_in = group in PRIORITIES
    spec: Body = {"group": group} if group else {}
    spec |= {
        "version": version,
        "groupPriorityMinimum": PRIORITIES.get(group, 1000),
        "versionPriority": VERSIONS.get((group, version), 15 if built_in else 100),
    }
    available = {
        "type": "Available",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "Local",
        "message": "Local APIServices are always available",
    }
    return {
        "apiVersion": f"{OWN}/v1",
        "kind": "APIService",
        "metadata": {
            "name": f"{version}.{group}",
            "labels": {MANAGED: "onstart" if built_in else "true"},
            "creationTimestamp": now,
        },
        "spec": spec,
        "status": {"conditions": [available]},
    }


async def settle(objects: Objects) -> None:
    """Write those that are missing, delete those of groups that are gone."""
    store = objects.store
    needed = wanted(((k.group, k.version) for k in objects.registry.kinds), objects.stamp())
    known = {e.place.name: e for e in store.entries(RESOURCE)}
    for name in needed.keys() - known.keys():
        body = needed[name]
        body["metadata"]["uid"] = str(uuid.uuid4())
        await store.put(Place(RESOURCE, "", name), body, 0)
    for name in known.keys() - needed.keys():
        await store.delete(known[name].place, known[name].load(), known[name].revision)


def kept(objects: Objects) -> AbstractAsyncContextManager[None]:
    """Inside this block the APIServices follow the definitions."""
    return settled(objects.store, CRD.resource, lambda: settle(objects), "APIServices")
