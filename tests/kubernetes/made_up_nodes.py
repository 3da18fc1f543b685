"""Nodes that exist on paper only: no kubelet, but ready, so that schedulers may use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

Body = dict[str, Any]
OURS = {"key": "tests/made-up", "value": "yes", "effect": "NoSchedule"}
"""A taint that keeps the pods of everybody else away."""
TOLERATED = {"key": "tests/made-up", "operator": "Exists"}


def a_node(
    name: str, *, labels: Mapping[str, str] | None = None, spec: Body | None = None, **room: str
) -> Body:
    """A node with `room` to allocate: cpu, memory, pods and what else is given."""
    given = spec or {}
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {**given, "taints": [OURS, *given.get("taints", [])]},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10", **room}},
    }


@contextmanager
def made_up(rest: Rest, nodes: list[Body]) -> Iterator[None]:
    """The nodes, ready and without a taint that says otherwise; afterwards none is left."""
    try:
        for node in nodes:
            rest.post("/api/v1/nodes", node).expect(201)
            make_ready(rest, node)
        for node in nodes:
            path = f"/api/v1/nodes/{node['metadata']['name']}"
            taints = len(node["spec"]["taints"])
            until(partial(settled, rest, path, taints), what=f"{path} to be ready")
        yield
    finally:
        for node in nodes:
            rest.delete(f"/api/v1/nodes/{node['metadata']['name']}")


def make_ready(rest: Rest, node: Body) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ready = {"type": "Ready", "status": "True", "reason": "Test", "lastHeartbeatTime": now}
    room = node["status"]["allocatable"]
    status = {"conditions": [{**ready, "lastTransitionTime": now}], "allocatable": room, "capacity": room}
    rest.merge(f"/api/v1/nodes/{node['metadata']['name']}/status", {"status": status}).expect(200)


def settled(rest: Rest, path: str, taints: int) -> bool:
    """Whether the controllers have taken back what they put on every new node."""
    spec = rest.get(path).expect(200)["spec"]
    return len([t for t in spec.get("taints") or () if t["key"] != CORDON]) == taints


CORDON = "node.kubernetes.io/unschedulable"
