"""Who of a PaddleJob may begin: servers, then workers, then heterogeneous workers; pure.

Every pod waits in an init container for an annotation of its own, which a volume shows it. It gets that once
the endpoints of the job are written down and all of the roles before its own are up: so no container begins
without knowing where the others are, and no trainer before its servers.
"""

from __future__ import annotations

from typing import Any

from ..api.core import Pod
from ..api.paddlejob import PaddleJob
from .contract import Update

START = "batch.paddlepaddle.org/start"
GATE, VOLUME = "coord-paddle", "paddle-start"
FOLDER, FILE = "/var/run/paddlecloud/start", "go"
WAIT = f"until [ -s {FOLDER}/{FILE} ]; do sleep 0.1; done"


def add_gate(spec: dict[str, Any]) -> None:
    """Let the pod of this spec wait for its start, in the image of its first container."""
    first: dict[str, Any] = next(iter(spec.get("containers") or ()), {})
    shown = {"path": FILE, "fieldRef": {"fieldPath": f"metadata.annotations['{START}']"}}
    gate = {
        "name": GATE,
        "image": first.get("image", ""),
        "command": ["sh", "-c", WAIT],
        "resources": {"requests": {"cpu": "10m", "memory": "10Mi"}},
        "volumeMounts": [{"name": VOLUME, "mountPath": FOLDER, "readOnly": True}],
    }
    if policy := first.get("imagePullPolicy"):
        gate["imagePullPolicy"] = policy
    spec["initContainers"] = [*(spec.get("initContainers") or ()), gate]
    spec["volumes"] = [*(spec.get("volumes") or ()), {"name": VOLUME, "downwardAPI": {"items": [shown]}}]


def at_gate(pod: Pod) -> bool:
    """Whether the pod is there and waits only for its start."""
    return any(
        status.get("name") == GATE and "running" in (status.get("state") or {})
        for status in pod.status.get("initContainerStatuses") or ()
    )


def releases(job: PaddleJob, up: dict[str, list[tuple[Pod, bool]]]) -> tuple[Update, ...]:
    """The pods to be told that they may begin; *up*: those of each role, and whether each has begun."""
    for role, group in job.spec.roles().items():
        pods = up.get(role, [])
        if closed := [pod for pod, _ in pods if START not in pod.metadata.annotations]:
            patch = {"metadata": {"annotations": {START: role}}}
            return tuple(Update(pod, patch) for pod in closed if pod.metadata.deletion_timestamp is None)
        if len(pods) < group.replicas or not all(begun for _, begun in pods):
            return ()
    return ()
