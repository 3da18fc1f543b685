"""Who of a PaddleJob may begin: servers, then workers, then heterogeneous workers; pure.

Every pod waits in an init container for an annotation of its own, which a volume shows it. It gets that once
the endpoints of the job are written down and all of the roles before its own are up: so no container begins
without knowing where the others are, and no trainer before its servers.
"""

from __future__ import annotations

from typing import Any

from ..api.core import Pod
from .contract import Update

START, RANK = "batch.paddlepaddle.org/start", "batch.paddlepaddle.org/rank"
GATE, VOLUME = "coord-paddle", "paddle-start"
FOLDER, FILE = "/var/run/paddlecloud/start", "go"
# Some know whole seconds only, and an image may have none at all: that is no reason to end with an error.
WAIT = f"until [ -s {FOLDER}/{FILE} ]; do sleep 0.1 || sleep 1; done 2>/dev/null; true"


WEIGHED = ("cpu", "memory", "ephemeral-storage")
"""What decides how soon a pod is evicted, and what a quota may demand of every container."""
LITTLE = {"requests": {"cpu": "10m", "memory": "10Mi"}}
"""Where its neighbour asks for nothing: Volcano places pods that ask for nothing at all one by one."""


def add_gate(spec: dict[str, Any]) -> None:
    """Let the pod of this spec wait for its start, in the image of its first container.

    It asks for what that one asks for and runs with its rights: the pod needs no more than without a gate, a
    Guaranteed one stays so, and whoever takes its first container takes the gate.
    """
    first: dict[str, Any] = next(iter(spec.get("containers") or ()), {})
    shown = {"path": FILE, "fieldRef": {"fieldPath": f"metadata.annotations['{START}']"}}
    gate = {
        "name": GATE,
        "image": first.get("image", ""),
        "command": ["sh", "-c", WAIT],
        "resources": weighed(first.get("resources") or {}) or LITTLE,
        "volumeMounts": [{"name": VOLUME, "mountPath": FOLDER, "readOnly": True}],
    }
    gate |= {name: first[name] for name in ("imagePullPolicy", "securityContext") if first.get(name)}
    spec["initContainers"] = [*(spec.get("initContainers") or ()), gate]
    spec["volumes"] = [*(spec.get("volumes") or ()), {"name": VOLUME, "downwardAPI": {"items": [shown]}}]


def weighed(resources: dict[str, Any]) -> dict[str, Any]:
    """Of what a container asks for, what is asked of every container; devices stay with their user."""
    parts = {
        part: {name: value for name, value in (resources.get(part) or {}).items() if name in WEIGHED}
        for part in ("requests", "limits")
    }
    return {part: asked for part, asked in parts.items() if asked}


def at_gate(pod: Pod) -> bool:
    """Whether the pod is there and waits only for its start."""
    return any(
        status.get("name") == GATE and "running" in (status.get("state") or {})
        for status in pod.status.get("initContainerStatuses") or ()
    )


def releases(up: dict[str, list[tuple[Pod, bool]]], mark: str) -> tuple[Update, ...]:
    """The pods to be told that they may begin, with what they begin with.

    *up*: the pods that take part, by role in the order in which roles begin, and whether each has begun.
    """
    for pods in up.values():
        closed = [(rank, pod) for rank, (pod, _) in enumerate(pods) if START not in pod.metadata.annotations]
        if closed:
            return tuple(
                Update(pod, {"metadata": {"annotations": {START: mark, RANK: str(rank)}}})
                for rank, pod in closed
            )
        if not all(begun for _, begun in pods):
            return ()
    return ()
