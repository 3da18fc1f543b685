"""Whether a node takes a pod that was bound to it: the last look after the scheduler's, at what is here.

No I/O. Two schedulers, or a person who writes `nodeName`, may have promised the same room twice. A pod that
is refused fails for good, with the reason and the words a kubelet has for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ...api.core import Pod
from . import roles
from .sight import Ending
from .variables import quantity

MILLI = 1000
PREFIX = "Pod was rejected: "
Port = tuple[str, int]
"""Of the machine, with its protocol."""


class Ledger:
    """What the pods of one node ask for together; what *capacity* does not name is not counted.

    A new pod costs the same however many there are: sums are kept, not made.
    """

    def __init__(self, capacity: Mapping[str, str]) -> None:
        self._most = int(quantity(capacity["pods"])) if "pods" in capacity else None
        self._there = {name: units(name, capacity[name]) for name in sorted(capacity.keys() - {"pods"})}
        self._pods: dict[str, tuple[dict[str, int], list[Port]]] = {}
        self._used: Counter[str] = Counter()
        self._ports: Counter[Port] = Counter()

    def take(self, pod: Pod) -> None:
        """The pod is here; one that has finished takes nothing."""
        self.leave(pod.uid)
        if pod.finished:
            return
        wanted, ports = self._wanted(pod), list(host_ports(pod))
        self._pods[pod.uid] = wanted, ports
        self._used.update(wanted)
        self._ports.update(ports)

    def leave(self, uid: str) -> None:
        if (share := self._pods.pop(uid, None)) is not None:
            self._used.subtract(share[0])
            self._ports.subtract(share[1])

    def refusal(self, pod: Pod) -> Ending | None:
        """Why the node does not take *pod*, which is not here yet."""
        count = len(self._pods)
        if self._most is not None and count + 1 > self._most:
            return out_of("pods", 1, count, self._most)
        for resource, wanted in self._wanted(pod).items():
            used, there = self._used[resource], self._there[resource]
            if wanted and wanted + used > there:
                return out_of(resource, wanted, used, there)
        if any(self._ports[port] > 0 for port in host_ports(pod)):
            return Ending("NodePorts", f"{PREFIX}Predicate NodePorts failed")
        return None

    def _wanted(self, pod: Pod) -> dict[str, int]:
        return {resource: requested(pod, resource) for resource in self._there}


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


def host_ports(pod: Pod) -> Iterator[Port]:
    for container in roles.every(pod):
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield str(port.get("protocol") or "TCP"), int(port["hostPort"])
