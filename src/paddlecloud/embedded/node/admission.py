"""Whether a node takes a pod that was bound to it: the last look after the scheduler's, at what is here.

Pure. Two schedulers, or a person who writes `nodeName`, may have promised the same room twice. A pod that is
refused fails for good, with the reason and the words a kubelet has for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...api.core import Pod
from . import roles
from .sight import Ending
from .variables import quantity

MILLI = 1000
PREFIX = "Pod was rejected: "


def refusal(pod: Pod, others: Iterable[Pod], capacity: Mapping[str, str]) -> Ending | None:
    """Why the node does not take *pod* beside *others*; what *capacity* does not name is not counted."""
    beside = [other for other in others if other.uid != pod.uid and not other.finished]
    if "pods" in capacity and len(beside) + 1 > quantity(capacity["pods"]):
        return out_of("pods", 1, len(beside), int(quantity(capacity["pods"])))
    for resource in sorted(capacity.keys() - {"pods"}):
        wanted = requested(pod, resource)
        used = sum(requested(other, resource) for other in beside)
        there = units(resource, capacity[resource])
        if wanted and wanted + used > there:
            return out_of(resource, wanted, used, there)
    taken = {port for other in beside for port in host_ports(other)}
    if taken & set(host_ports(pod)):
        return Ending("NodePorts", f"{PREFIX}Predicate NodePorts failed")
    return None


def out_of(resource: str, wanted: int, used: int, there: int) -> Ending:
    numbers = f"requested: {wanted}, used: {used}, capacity: {there}"
    return Ending(f"OutOf{resource}", f"{PREFIX}Node didn't have enough resource: {resource}, {numbers}")


def requested(pod: Pod, resource: str) -> int:
    """What all containers ask for together, or the largest moment before they all run."""
    beside = 0
    most = 0
    for container in roles.first(pod):
        if roles.is_sidecar(container):
            beside += request(container, resource)
            most = max(most, beside)
        else:
            most = max(most, beside + request(container, resource))
    together = beside + sum(request(container, resource) for container in roles.mains(pod))
    return max(most, together) + units(resource, (pod.spec.get("overhead") or {}).get(resource, 0))


def request(container: Mapping[str, Any], resource: str) -> int:
    resources = container.get("resources") or {}
    asked = (resources.get("requests") or {}).get(resource)
    return units(resource, (resources.get("limits") or {}).get(resource, 0) if asked is None else asked)


def units(resource: str, amount: object) -> int:
    """Thousandths of a processor; whole pieces or bytes of anything else."""
    return round(quantity(str(amount)) * (MILLI if resource == "cpu" else 1))


def host_ports(pod: Pod) -> Iterator[tuple[str, int]]:
    for container in roles.every(pod):
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield str(port.get("protocol") or "TCP"), int(port["hostPort"])
