"""How long placing pods takes, without a cluster: nodes and pods are made up, nothing is written.

python benchmarks/scheduler.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from paddlecloud.api.core import Node, Pod
from paddlecloud.api.scheduling import PodGroup, Queue
from paddlecloud.scheduler.board import board_of
from paddlecloud.scheduler.placement import World, place

OWNERS = 20
ZONES = 4
Shape = Callable[[int], dict[str, Any]]


def a_node(number: int) -> Node:
    labels = {
        "kubernetes.io/hostname": f"node-{number:03}",
        "topology.kubernetes.io/zone": f"zone-{number % ZONES}",
    }
    room = {"cpu": "64", "memory": "256Gi", "pods": "250", "nvidia.com/gpu": "8"}
    return Node.read(
        {
            "metadata": {"name": f"node-{number:03}", "labels": labels},
            "status": {"allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]},
        }
    )


def a_pod(number: int, spec: dict[str, Any]) -> Pod:
    app = f"app-{number % OWNERS}"
    container = {
        "name": "main",
        "resources": {"requests": {"cpu": f"{100 + number % 7 * 50}m", "memory": "256Mi"}},
    }
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": app, "controller": True}
    return Pod.read(
        {
            "metadata": {
                "name": f"pod-{number:05}",
                "namespace": "default",
                "uid": f"uid-{number}",
                "labels": {"app": app},
                "ownerReferences": [owner],
            },
            "spec": {"containers": [container], **spec},
        }
    )


def plain(number: int) -> dict[str, Any]:
    return {}


def choosy(number: int) -> dict[str, Any]:
    """A selector with alternatives, a wish, a toleration."""
    zone = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-1", "zone-2"]}
    wish = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["node-001"]}
    return {
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [zone]}]
                },
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 10, "preference": {"matchExpressions": [wish]}}
                ],
            }
        },
    }


def apart(number: int) -> dict[str, Any]:
    """No two of one app and team on a node, near the app where possible."""
    term = {
        "labelSelector": {"matchLabels": {"app": f"app-{number % OWNERS}"}},
        "topologyKey": "topology.kubernetes.io/zone",
    }
    alone = {
        "labelSelector": {"matchLabels": {"app": f"app-{number % OWNERS}", "alone": "yes"}},
        "topologyKey": "kubernetes.io/hostname",
    }
    return {
        "affinity": {
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [alone]},
            "podAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "podAffinityTerm": term}]
            },
        }
    }


def too_large(number: int) -> dict[str, Any]:
    return {"nodeSelector": {"disk": "none"}}


def main() -> None:
    nodes = [a_node(i) for i in range(100)]
    print(f"{'pods':12}{'count':>8}{'placed':>8}{'seconds':>10}{'of cpu':>10}")
    shapes: tuple[Shape, ...] = (plain, choosy, apart, too_large)
    for shape in shapes:
        for count in (1_000, 10_000):
            measure(shape.__name__, [a_pod(i, shape(i)) for i in range(count)], World(), nodes)
    for count in (1_000, 10_000):
        measure("gangs", gangs(count), groups(count), nodes)


def gangs(count: int) -> list[Pod]:
    """Pods in groups of four."""
    pods = [a_pod(i, {"schedulerName": "volcano"}) for i in range(count)]
    return [
        pod.but(metadata=pod.metadata.but(annotations={"scheduling.k8s.io/group-name": f"gang-{i // 4}"}))
        for i, pod in enumerate(pods)
    ]


def groups(count: int) -> World:
    """Their groups, in two queues that compete."""
    spec = {"minMember": 4, "minResources": {"cpu": "400m"}}
    found = [
        PodGroup.read(
            {
                "metadata": {"name": f"gang-{i}", "namespace": "default"},
                "spec": {**spec, "queue": ("day", "night")[i % 2]},
            }
        )
        for i in range(count // 4)
    ]
    queues = {
        name: Queue.read({"metadata": {"name": name}, "spec": {"weight": 1 + len(name)}})
        for name in ("day", "night")
    }
    return World(groups={group.key: group for group in found}, queues=queues)


def measure(name: str, pods: list[Pod], world: World, nodes: list[Node]) -> None:
    board = board_of(nodes)
    began, cpu = time.perf_counter(), time.process_time()
    placed = sum(bool(p.node) for p in place(pods, board, world))
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(f"{name:12}{len(pods):8}{placed:8}{took:10.3f}{cpu:10.3f}")


if __name__ == "__main__":
    main()
