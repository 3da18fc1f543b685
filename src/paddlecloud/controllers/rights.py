"""What controllers may do on a cluster, worked out from what each declares; pure.

A controller reads and changes the objects of its kind, makes and removes what it owns, and reads what it
reads; nothing else is granted. Secrets cannot be listed: only who keeps tokens reads one, by its name. The
lease by which replicas agree on a leader is the only thing it may touch in its own namespace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..api.core import Pod, Secret
from ..api.lease import Lease
from ..api.meta import Resource
from .contract import Controller, nothing_asked

Body = dict[str, Any]
NAMESPACE, ACCOUNT = "paddle-system", "paddlecloud-controllers"
LEASE = "paddlecloud-controllers"
GROUP = "rbac.authorization.k8s.io"
READ = ("get", "list", "watch")


def manifests(controllers: Iterable[Controller]) -> list[Body]:
    """The account of the controllers and its rights, in the order in which they are made."""
    place = {"name": ACCOUNT, "namespace": NAMESPACE}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": place},
        role("ClusterRole", {"name": ACCOUNT}, rules(controllers)),
        binding("ClusterRole", {"name": ACCOUNT}),
        role("Role", place, lease_rules()),
        binding("Role", place),
    ]


def deployment() -> Body:
    """The controllers themselves; of several replicas one leads."""
    labels = {"control-plane": "paddle-controller-manager"}
    probe = {"port": 8081}
    container = {
        "name": "manager",
        "image": "paddlecloud/core",
        "imagePullPolicy": "IfNotPresent",
        "args": ["controllers"],
        "ports": [{"name": "metrics", "containerPort": 8081}],
        "livenessProbe": {"httpGet": {"path": "/healthz", **probe}, "periodSeconds": 20},
        "readinessProbe": {"httpGet": {"path": "/readyz", **probe}, "periodSeconds": 10},
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "paddle-controller-manager", "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"serviceAccountName": ACCOUNT, "containers": [container]},
            },
        },
    }


def rules(controllers: Iterable[Controller]) -> list[Body]:
    """One rule for all resources of a group that the same may be done to."""
    rights: dict[tuple[str, str], set[str]] = {}
    for wanted, verbs in (right for c in controllers for right in rights_of(c)):
        rights.setdefault(wanted, set()).update(verbs)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, plural), granted in sorted(rights.items()):
        alike.setdefault((group, tuple(sorted(granted))), []).append(plural)
    return [rule(group, plurals, verbs) for (group, verbs), plurals in alike.items()]


def rights_of(controller: Controller) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
    kind = controller.kind
    # It is deleted when its time is over, and patched where something has to be done before it may go.
    yield resource(kind), (*READ, "patch", "delete")
    # A cluster may ask for this right before children can hold back the deletion of their owner.
    yield resource(kind, "finalizers"), ("update",)
    if kind.has_status:
        yield resource(kind, "status"), ("patch",)
    for owned in controller.owns:
        yield resource(owned), (*READ, "create", "patch", "delete")
    for read in controller.reads:
        yield resource(read), READ
    for patched in controller.patches:
        yield resource(patched), (*READ, "patch")
    if controller.keeps_tokens:
        yield resource(Secret), ("get", "create")
    if controller.asks is not nothing_asked and Pod in controller.owns:
        yield resource(Pod, "log"), ("get",)
    # One that is told again is read first, for its count.
    yield ("", "events"), ("create", "get", "patch", *(("list",) if controller.hears_warnings else ()))


def lease_rules() -> list[Body]:
    group, plural = resource(Lease)
    # Who makes a lease cannot be held to a name.
    return [
        rule(group, [plural], ("create",)),
        {**rule(group, [plural], ("get", "patch")), "resourceNames": [LEASE]},
    ]


def resource(kind: type[Resource], subresource: str = "") -> tuple[str, str]:
    return kind.group(), f"{kind.plural}/{subresource}" if subresource else kind.plural


def rule(group: str, plurals: list[str], verbs: Iterable[str]) -> Body:
    return {"apiGroups": [group], "resources": plurals, "verbs": sorted(verbs)}


def role(kind: str, metadata: Body, granted: list[Body]) -> Body:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, "rules": granted}


def binding(kind: str, metadata: Body) -> Body:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": ACCOUNT},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}],
    }
