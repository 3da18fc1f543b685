"""What a cluster with Kubeflow Pipelines needs for a package: the kinds its steps make, the right to; pure.

Only packages with steps of our components need anything: those act on kinds of ours, under the name of the
account that runs the steps.
"""

from __future__ import annotations

from typing import Any

from ..api.crds import crd
from ..api.kinds import OURS
from ..api.workflowgraph import Graph
from .component import IMAGE

Body = dict[str, Any]
NAME, ACCOUNT = "paddlecloud-components", "pipeline-runner"
"""The role, and under whose name Kubeflow Pipelines runs steps where nobody says otherwise."""
VERBS = ("create", "delete", "patch", "update", "get", "list", "watch")
OTHERS = {
    "": ("persistentvolumeclaims", "services", "configmaps", "pods", "pods/log"),
    "apps": ("deployments",),
    "batch": ("jobs",),
}
"""What components use of Kubernetes itself."""


def resources_for(graph: Graph, namespace: str, account: str = "") -> list[Body]:
    """To be applied before the package is run elsewhere; nothing for steps of others."""
    if not any(uses_ours(step.pod, step.image) for step in graph.every_step()):
        return []
    groups: dict[str, set[str]] = {group: set(names) for group, names in OTHERS.items()}
    for kind in OURS:
        groups.setdefault(kind.group(), set()).add(kind.plural)
    rules = [
        {"apiGroups": [group], "resources": sorted(names), "verbs": list(VERBS)}
        for group, names in groups.items()
    ]
    metadata = {"name": NAME, "namespace": namespace}
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": account or ACCOUNT, "namespace": namespace}
    return [
        *(crd(kind) for kind in OURS),
        {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": metadata, "rules": rules},
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": group, "kind": "Role", "name": NAME},
            "subjects": [subject],
        },
    ]


def uses_ours(pod: Body, image: str) -> bool:
    containers = (pod.get("spec") or {}).get("containers") or ()
    images = [image, *(str(c.get("image") or "") for c in containers)]
    return any(name.partition(":")[0] == IMAGE for name in images)
