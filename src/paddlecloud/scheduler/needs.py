"""A pod as the scheduler sees it: everything it asks of a node, read once; pure.

Pods of one *shape* ask every node for the same: what was found out for one of them holds for the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..api.core import Pod
from ..api.meta import Key
from ..api.scheduling import PriorityClass
from .resources import Amounts, likely, requests
from .selectors import NodeTerm, Requirement, Requirements, node_term, node_terms
from .taints import Tolerations
from .terms import Attractions, attractions

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
GROUP_NAMES = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
EVERYWHERE = ("", "0.0.0.0", "::")


class Port(NamedTuple):
    """A port of the machine itself."""

    address: str
    protocol: str
    number: int

    def clashes(self, other: Port) -> bool:
        if (self.protocol, self.number) != (other.protocol, other.number):
            return False
        return self.address == other.address or not self.address or not other.address


@dataclass(frozen=True, slots=True, eq=False)
class Needs:
    pod: Pod
    key: Key
    priority: int
    patient: bool
    """It waits for room and never makes others leave."""
    requests: Amounts
    likely: tuple[int, int]
    ports: tuple[Port, ...]
    selector: Requirements
    nodes: tuple[NodeTerm, ...] | None
    """Required node affinity: one of these must hold."""
    preferred: tuple[tuple[int, NodeTerm], ...]
    tolerations: Tolerations
    near: Attractions
    owner: str
    group: Key | None
    claims: tuple[str, ...]
    shape: str


def needs_of(pod: Pod, classes: Mapping[str, PriorityClass]) -> Needs:
    """Read a pod; *classes* are those of priority, by name. Raises `ValueError` for what cannot be read."""
    spec = pod.spec
    affinity = spec.get("affinity") or {}
    on_nodes = affinity.get("nodeAffinity") or {}
    wanted, ports, owner = requests(pod), tuple(ports_of(spec)), pod.controlled_by()
    tolerations = tuple(spec.get("tolerations") or ())
    return Needs(
        pod=pod,
        key=pod.key,
        priority=priority_of(pod, classes),
        patient=is_patient(pod, classes),
        requests=wanted,
        likely=likely(pod),
        ports=ports,
        selector=tuple(Requirement(k, "In", (v,)) for k, v in (spec.get("nodeSelector") or {}).items()),
        nodes=node_terms(on_nodes.get("requiredDuringSchedulingIgnoredDuringExecution")),
        preferred=tuple(
            (p["weight"], node_term(p["preference"]))
            for p in on_nodes.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        ),
        tolerations=tolerations,
        near=attractions(affinity, pod.namespace),
        owner=owner,
        group=group_of(pod),
        claims=tuple(claim_names(pod)),
        shape=repr((owner, wanted, ports, spec.get("nodeSelector"), on_nodes, tolerations)),
    )


def priority_of(pod: Pod, classes: Mapping[str, PriorityClass]) -> int:
    """The rank of the pod: admission may have written the number of its class, else its name says it."""
    if given := pod.spec.get("priority"):
        return int(given)
    found = class_of(pod, classes)
    return found.value if found else SYSTEM_PRIORITIES.get(pod.spec.get("priorityClassName") or "", 0)


def is_patient(pod: Pod, classes: Mapping[str, PriorityClass]) -> bool:
    found = class_of(pod, classes)
    policies = (pod.spec.get("preemptionPolicy"), found.preemption_policy if found else "")
    return "Never" in policies


def class_of(pod: Pod, classes: Mapping[str, PriorityClass]) -> PriorityClass | None:
    if name := pod.spec.get("priorityClassName"):
        return classes.get(name)
    return next((c for c in classes.values() if c.global_default), None)


def ports_of(spec: Mapping[str, Any]) -> Iterator[Port]:
    sidecars = [c for c in spec.get("initContainers") or () if c.get("restartPolicy") == "Always"]
    for container in [*(spec.get("containers") or ()), *sidecars]:
        for port in container.get("ports") or ():
            if number := port.get("hostPort"):
                address = port.get("hostIP") or ""
                yield Port("" if address in EVERYWHERE else address, port.get("protocol") or "TCP", number)


def claim_names(pod: Pod) -> Iterator[str]:
    for volume in pod.spec.get("volumes") or ():
        if claim := volume.get("persistentVolumeClaim"):
            yield str(claim["claimName"])
        elif volume.get("ephemeral"):
            yield f"{pod.name}-{volume['name']}"


def group_of(pod: Pod) -> Key | None:
    """The group the pod must start with, by annotation or by label."""
    for name in GROUP_NAMES:
        if group := pod.metadata.annotations.get(name) or pod.metadata.labels.get(name):
            return Key(pod.namespace, group)
    return None
