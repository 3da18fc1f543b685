"""Which pod goes to which node, and why a pod goes nowhere; pure.

    place(waiting pods, board, world) -> placements, the most important pod first, then the oldest

Of the nodes that fit the best one is taken, of equals the first by name. The board keeps what was placed,
so that the next pod finds the room that is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..api.core import Pod
from ..api.meta import Key
from ..api.scheduling import PodGroup, PriorityClass
from .board import Board
from .claims import Choice, Storage
from .groups import Gang, gangs
from .needs import Needs, needs_of
from .search import Found, Search
from .selectors import Labels
from .words import GATED

SCHEDULERS = ("default-scheduler", "volcano")
"""Names of schedulers whose pods are ours: the usual one, and the one that groups of pods ask for."""


@dataclass(frozen=True)
class World:
    """What is around nodes and pods."""

    storage: Storage = field(default_factory=Storage)
    groups: Mapping[Key, PodGroup] = field(default_factory=dict)
    priorities: Mapping[str, PriorityClass] = field(default_factory=dict)
    namespaces: Mapping[str, Labels] = field(default_factory=dict)


@dataclass(frozen=True)
class Placement:
    pod: Key
    uid: str
    node: str = ""
    """Empty: nowhere."""
    claims: tuple[Choice, ...] = ()
    """Claims that must be bound before the pod is."""
    reason: str = ""
    message: str = ""
    nodes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Why not, for each node."""


def ours(pod: Pod) -> bool:
    """Whether the pod waits for this scheduler."""
    return (
        not pod.node
        and not pod.finished
        and pod.metadata.deletion_timestamp is None
        and pod.spec.get("schedulerName", SCHEDULERS[0]) in SCHEDULERS
    )


def place(waiting: Iterable[Pod], board: Board, world: World) -> list[Placement]:
    """A placement for every pod; afterwards the board holds the pods that got a node."""
    board.begin(world.namespaces)
    placements: list[Placement] = []
    readable: list[Needs] = []
    for pod in waiting:
        if pod.spec.get("schedulingGates"):
            placements.append(Placement(pod.key, pod.uid, reason="SchedulingGated", message=GATED))
            continue
        try:
            readable.append(needs_of(pod, world.priorities))
        except ValueError as error:
            # One such pod must not keep the others from their nodes.
            problem = f"it asks for what cannot be read: {error}"
            placements.append(Placement(pod.key, pod.uid, reason="SchedulerError", message=problem))
    search = Search(board, world.storage)
    for gang in gangs(sorted(readable, key=turn), world.groups, board.started):
        placements += together(gang, search)
    return placements


def together(gang: Gang, search: Search) -> list[Placement]:
    """Place all of them that find a node, unless they are too few to begin."""
    if problem := gang.obstacle or gang.obstacle_in(search.board.rooms.values()):
        return [waits(needs, Found(message=problem)) for needs in gang.members]
    found = [(needs, search.settle(needs)) for needs in gang.members]
    if sum(bool(f.node) for _, f in found) >= gang.lacking:
        return [
            Placement(needs.key, needs.pod.uid, f.node, f.claims) if f.node else waits(needs, f)
            for needs, f in found
        ]
    problem = gang.too_few(sum(not f.node for _, f in found))
    for needs, f in found:
        if f.node:
            search.unsettle(needs, f)
    return [waits(needs, Found(message=problem) if f.node else f) for needs, f in found]


def waits(needs: Needs, found: Found) -> Placement:
    reasons = {name: misfit.reasons for name, misfit in found.misfits.items()}
    return Placement(needs.key, needs.pod.uid, "", (), "Unschedulable", found.message, reasons)


def turn(needs: Needs) -> tuple[int, str, Key]:
    return -needs.priority, str(needs.pod.metadata.creation_timestamp or ""), needs.key
