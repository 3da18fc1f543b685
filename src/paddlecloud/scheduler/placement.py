"""Which pod goes to which node, and why a pod goes nowhere; pure.

    place(waiting pods, nodes, placed pods) -> placements, in order of the pods' age

A node fits when it is ready and open, carries the pod's labels, and has room for what the pod asks for
beside what is there. Of those that fit, the emptiest one is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..api.core import Node, Pod
from ..api.meta import Key
from .quantities import number

Resources = dict[str, float]
SCHEDULER = "default-scheduler"


class Placement(NamedTuple):
    pod: Key
    uid: str
    node: str
    """Empty: nowhere."""
    reason: str = ""


@dataclass
class Room:
    """What is left on a node."""

    node: Node
    free: Resources = field(default_factory=dict)

    def take(self, wanted: Resources) -> None:
        for name, value in wanted.items():
            self.free[name] = self.free.get(name, 0.0) - value


def place(waiting: Iterable[Pod], nodes: Iterable[Node], placed: Iterable[Pod]) -> list[Placement]:
    rooms = {n.name: Room(n, allocatable(n)) for n in nodes}
    for pod in placed:
        if pod.node in rooms and not pod.finished and not unreadable(pod):
            rooms[pod.node].take(requests(pod))
    found = []
    for pod in sorted(waiting, key=age):
        if problem := unreadable(pod):
            # One such pod must not keep the others from their nodes.
            found.append(Placement(pod.key, pod.uid, "", f"it asks for what cannot be read: {problem}"))
            continue
        placement = choose(pod, list(rooms.values()))
        if placement.node:
            rooms[placement.node].take(requests(pod))
        found.append(placement)
    return found


def choose(pod: Pod, rooms: list[Room]) -> Placement:
    problems = {room.node.name: why_not(pod, room) for room in rooms}
    fitting = [r for r in rooms if not problems[r.node.name]]
    if fitting:
        best = max(fitting, key=lambda r: (r.free.get("cpu", 0.0), r.free.get("memory", 0.0), r.node.name))
        return Placement(pod.key, pod.uid, best.node.name)
    return Placement(pod.key, pod.uid, "", explain(problems))


def why_not(pod: Pod, room: Room) -> str:
    spec, labels = room.node.spec, room.node.metadata.labels
    if spec.get("unschedulable"):
        return "is cordoned"
    ready = any(
        c["type"] == "Ready" and c["status"] == "True" for c in room.node.status.get("conditions") or ()
    )
    if not ready:
        return "is not ready"
    for key, value in (pod.spec.get("nodeSelector") or {}).items():
        if labels.get(key) != value:
            return f"lacks the label {key}={value}"
    for name, value in requests(pod).items():
        free = max(0.0, room.free.get(name, 0.0))
        if value > free:
            return f"has too little {name} (asked {value:g}, free {free:g})"
    return ""


def explain(problems: dict[str, str]) -> str:
    """In kubectl's form, so that people find what they know: 0/3 nodes are available: …"""
    if not problems:
        return "0/0 nodes are available: there is no node"
    counted = Counter(problems.values())
    reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(counted.items()))
    return f"0/{len(problems)} nodes are available: {reasons}"


def requests(pod: Pod) -> Resources:
    """What the containers ask for together; the largest init container counts where it asks for more."""
    total: Resources = {"pods": 1.0}
    for container in pod.spec.get("containers") or ():
        for name, value in asked(container).items():
            total[name] = total.get(name, 0.0) + value
    for container in pod.spec.get("initContainers") or ():
        for name, value in asked(container).items():
            total[name] = max(total.get(name, 0.0), value)
    return total


def asked(container: dict[str, Any]) -> Resources:
    resources = container.get("resources") or {}
    # A limit without a request is a request.
    given = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: number(value) for name, value in given.items()}


def unreadable(pod: Pod) -> str:
    """What is wrong with the quantities of a pod, or an empty text."""
    try:
        requests(pod)
    except ValueError as error:
        return str(error)
    return ""


def allocatable(node: Node) -> Resources:
    return {name: number(value) for name, value in (node.status.get("allocatable") or {}).items()}


def age(pod: Pod) -> tuple[str, Key]:
    return str(pod.metadata.creation_timestamp or ""), pod.key
