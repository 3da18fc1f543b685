"""Which of the nodes that fit is the best one; pure.

Emptier nodes are better, above all those with fewer pods of the same owner; what the pod prefers, and what
taints and other pods would rather have, weighs as much as in kube-scheduler. Every part is 0 to 100 times
its weight.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .board import Board, Room
from .needs import Needs
from .neighbours import Tally
from .selectors import Labels
from .taints import disliked

FULL = 100.0
TAINTS, NODES, PODS, SPREAD = 3.0, 2.0, 2.0, 2.0


def lasting_score(needs: Needs, room: Room) -> float:
    """How good the node is whoever stands on it."""
    score = TAINTS * FULL / (1 + disliked(room.taints, needs.tolerations))
    if needs.preferred:
        node = room.node
        total = sum(weight for weight, _ in needs.preferred)
        held = sum(w for w, term in needs.preferred if term.holds(node.name, node.metadata.labels))
        score += NODES * FULL * held / total
    return score


def room_score(needs: Needs, room: Room) -> float:
    """How much of the node would be left, the mean of cpu and memory, and how few of its owner are there."""
    score = 0.0
    for position, name in enumerate(("cpu", "memory")):
        if capacity := room.capacity.get(name, 0):
            left = capacity - room.likely[position] - needs.likely[position]
            if left > 0:
                score += FULL / 2 * left / capacity
    if needs.owner:
        score += SPREAD * FULL / (1 + room.owners.get(needs.owner, 0))
    return score


class Liking(NamedTuple):
    """What the pods around add to a node's score, before it is made 0 to 100."""

    weighed: tuple[tuple[str, Tally, int], ...]

    def of(self, labels: Labels) -> int:
        return sum(
            weight * tally.get(labels[topology], 0)
            for topology, tally, weight in self.weighed
            if topology in labels
        )


def liking_of(needs: Needs, board: Board) -> Liking | None:
    """None: no pod minds where this one goes, and it does not either."""
    pod, around = needs.pod.metadata, board.neighbours
    own = [(term.topology, around.count(term), weight) for term, weight in needs.near.preferred]
    others = [(topology, tally, 1) for topology, tally in around.wishes(pod.namespace, pod.labels)]
    return Liking((*own, *others)) if own or others else None


def with_liking(scores: dict[str, float], liking: Liking, rooms: Iterable[Room]) -> dict[str, float]:
    raw = {r.node.name: liking.of(r.node.metadata.labels) for r in rooms if r.node.name in scores}
    low, high = min(raw.values()), max(raw.values())
    if low == high:
        return scores
    return {name: s + PODS * FULL * (raw[name] - low) / (high - low) for name, s in scores.items()}
