"""What a fresh embedded cluster contains; idempotent, run at every start before the first request.

Definitions of our kinds are brought up to date; everything else is only made where it is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from ..store import Place
from . import aggregation, escalation, ourkinds, rbac, registration, roles
from .kinds import CRD
from .objects import Objects
from .writing import WriteOptions

NAMESPACES = (
    "default", "kube-system", "kube-public", "kube-node-lease",
    "kubeflow", "paddle-system", "paddlecloud", "paddleservice-system", "istio-system",
)  # fmt: skip
DEFAULT_QUEUE: dict[str, Any] = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "Queue",
    "metadata": {"name": "default"},
    "spec": {"weight": 1, "reclaimable": True},
}
"""Of the groups that name no other; without it `kubectl get queue` would show nothing."""


async def prepare(objects: Objects) -> None:
    for body in initial():
        await ensure(objects, body)
    for definition in ourkinds.definitions():
        await ensure_definition(objects, definition)
    await ensure(objects, DEFAULT_QUEUE)
    # Together: they are many, and the store writes what waits at once.
    components = (roles.component_binding(n) for n in NAMESPACES if roles.has_components(n))
    await asyncio.gather(
        *(ensure_role(objects, role) for role in roles.cluster_roles()),
        *(ensure(objects, binding) for binding in (*roles.bindings(), *components)),
    )
    await aggregation.settle(objects)
    await registration.settle(objects)


def initial() -> Iterator[dict[str, Any]]:
    for name in NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    for name in ("standard", "hostpath", "task-center"):
        default = {"storageclass.kubernetes.io/is-default-class": "true"} if name == "standard" else {}
        yield {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name, "annotations": default},
            "provisioner": "paddlecloud.org/local",
            "reclaimPolicy": "Delete",
            "allowVolumeExpansion": True,
            "volumeBindingMode": "Immediate",
        }
    # The node mounts JuiceFS itself, under the name of the driver that does so elsewhere.
    yield {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": "csi.juicefs.com"},
        "spec": {"attachRequired": False, "podInfoOnMount": False},
    }
    for name, value in (("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)):
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
    yield {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "pipeline-runner", "namespace": "kubeflow"},
    }


async def ensure(objects: Objects, body: dict[str, Any]) -> None:
    group, _, version = body["apiVersion"].rpartition("/")
    [kind] = [k for k in objects.registry.in_version(group, version) if k.kind == body["kind"]]
    namespace = body["metadata"].get("namespace", "")
    if objects.store.get(Place(kind.resource, namespace, body["metadata"]["name"])):
        return
    await objects.create(kind, namespace, body, WriteOptions())


async def ensure_definition(objects: Objects, body: dict[str, Any]) -> None:
    """A newer PaddleCloud on an old home changes the definitions in place; the objects stay."""
    place = Place(CRD.resource, "", body["metadata"]["name"])
    entry = objects.store.get(place)
    if entry is None:
        await objects.create(CRD, "", body, WriteOptions(checked=True))
        return
    old = entry.load()
    if old["spec"] != {**old["spec"], **body["spec"]}:
        new = {**old, "spec": {**old["spec"], **body["spec"]}}
        await objects.update(CRD, place, new, WriteOptions(checked=True))


async def ensure_role(objects: Objects, body: dict[str, Any]) -> None:
    """A role of ours that lost a rule, or never had it, gets it; what was added to it stays."""
    await ensure(objects, body)
    place = Place(rbac.CLUSTER_ROLES, "", body["metadata"]["name"])
    entry = objects.store.get(place)
    old = entry.load() if entry else {}
    wanted = body["rules"]
    if not wanted or (old["metadata"].get("annotations") or {}).get(roles.AUTOUPDATE) == "false":
        return
    held = [rbac.rule_of(rule) for rule in old.get("rules") or ()]
    if escalation.missing(held, wanted):
        new = [*(old.get("rules") or ()), *(r for r in wanted if escalation.missing(held, [r]))]
        await objects.update(aggregation.role_kind(objects), place, old | {"rules": new}, WriteOptions())
