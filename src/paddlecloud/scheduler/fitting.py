"""Whether a pod fits a node, and in kube-scheduler's words why not; pure.

The questions are asked in its order and the first that fails answers for the node: what depends on the
node and its room alone, then the volumes, then the pods around.
"""

from __future__ import annotations

from typing import NamedTuple

from .board import Board, Room
from .needs import Needs
from .neighbours import Tally
from .selectors import Labels, hold
from .taints import UNSCHEDULABLE, Taint, tolerates, untolerated

CORDONED = "node(s) were unschedulable"
NOT_SELECTED = "node(s) didn't match Pod's node affinity/selector"
PORT_TAKEN = "node(s) didn't have free ports for the requested pod ports"
TOO_MANY = "Too many pods"
NO_FRIENDS = "node(s) didn't match pod affinity rules"
FOES = "node(s) didn't match pod anti-affinity rules"
UNWELCOME = "node(s) didn't satisfy existing pods anti-affinity rules"
SINGLE_USER = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
CORDON = Taint(UNSCHEDULABLE, "", "NoSchedule")


class Misfit(NamedTuple):
    reasons: tuple[str, ...]
    final: bool
    """No pod that left the node would change it."""


def node_misfit(needs: Needs, room: Room) -> Misfit | None:
    """What the node and its room have against the pod."""
    return closed(needs, room) or crowded(needs, room)


def closed(needs: Needs, room: Room) -> Misfit | None:
    """What the node has against the pod whoever stands on it."""
    node = room.node
    cordoned = node.spec.get("unschedulable")
    if cordoned and not any(tolerates(t, CORDON) for t in needs.tolerations):
        return Misfit((CORDONED,), True)
    if taint := untolerated(room.taints, needs.tolerations):
        return Misfit((f"node(s) had untolerated taint {taint}",), True)
    if not selected(needs, node.name, node.metadata.labels):
        return Misfit((NOT_SELECTED,), True)
    return None


def crowded(needs: Needs, room: Room) -> Misfit | None:
    """What the pods that are there leave too little of."""
    if needs.ports and any(port.clashes(other) for port in needs.ports for other in room.ports):
        return Misfit((PORT_TAKEN,), False)
    short = lacking(needs, room)
    return Misfit(short, False) if short else None


def selected(needs: Needs, name: str, labels: Labels) -> bool:
    if not hold(needs.selector, labels):
        return False
    return needs.nodes is None or any(term.holds(name, labels) for term in needs.nodes)


def lacking(needs: Needs, room: Room) -> tuple[str, ...]:
    found: tuple[str, ...] = (TOO_MANY,) if room.slots < 1 else ()
    free = room.free
    for name, value in needs.requests.items():
        if value > 0 and value > free.get(name, 0):
            found = (*found, f"Insufficient {name}")
    return found


class Company(NamedTuple):
    """What pod affinity has to say of every place, found out once for a pod."""

    required: tuple[tuple[str, Tally], ...]
    apart: tuple[tuple[str, Tally], ...]
    refused: frozenset[tuple[str, str]]
    first: bool
    """Nobody it wants to be near is anywhere, but it is one of them itself."""

    def misfit(self, labels: Labels) -> Misfit | None:
        if not self._finds_friends(labels):
            return Misfit((NO_FRIENDS,), True)
        if any(tally.get(labels.get(topology, ""), 0) > 0 for topology, tally in self.apart):
            return Misfit((FOES,), False)
        if any(labels.get(key) == value for key, value in self.refused):
            return Misfit((UNWELCOME,), False)
        return None

    def _finds_friends(self, labels: Labels) -> bool:
        if any(topology not in labels for topology, _ in self.required):
            return False
        return self.first or all(tally.get(labels[topology], 0) > 0 for topology, tally in self.required)


def company_of(needs: Needs, board: Board) -> Company | None:
    """None: pod affinity has nothing to say about this pod."""
    pod, around = needs.pod.metadata, board.neighbours
    refused = around.refusals(pod.namespace, pod.labels)
    if not refused and not needs.near.required and not needs.near.apart:
        return None
    required = tuple((term.topology, around.count(term)) for term in needs.near.required)
    alone = bool(required) and not any(tally for _, tally in required)
    own = all(t.holds(pod.namespace, pod.labels, around.namespaces) for t in needs.near.required)
    return Company(
        required,
        tuple((term.topology, around.count(term)) for term in needs.near.apart),
        frozenset(refused),
        first=alone and own,
    )
