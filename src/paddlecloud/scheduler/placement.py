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
from ..api.scheduling import PodGroup, PriorityClass, Queue
from .board import Board
from .claims import Choice, Storage
from .groups import Gang, gangs
from .needs import Needs, group_of, needs_of
from .queues import Shares, in_turn
from .search import Found, Search
from .selectors import Labels
from .words import GATED

SCHEDULERS = ("default-scheduler", "volcano")
"""Names of schedulers whose pods are ours, beside all pods of groups, whoever they ask for."""


@dataclass(frozen=True)
class World:
    """What is around nodes and pods."""

    storage: Storage = field(default_factory=Storage)
    groups: Mapping[Key, PodGroup] = field(default_factory=dict)
    queues: Mapping[str, Queue] = field(default_factory=dict)
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
        and (pod.spec.get("schedulerName", SCHEDULERS[0]) in SCHEDULERS or group_of(pod) is not None)
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
    shares = Shares(world.queues, world.groups, board.taken, board.rooms.values())
    found = gangs(sorted(readable, key=turn), world.groups, board.started, world.priorities)
    for gang in in_turn(found, shares):
        placements += together(gang, search, shares)
    return placements


def together(gang: Gang, search: Search, shares: Shares) -> list[Placement]:
    """Place all of them that find a node, unless they are too few to begin."""
    if problem := gang.obstacle or not_now(gang, shares):
        return [waits(needs, Found(message=problem)) for needs in gang.members]
    poor = gang.obstacle_in(search.board.rooms.values())
    found = [(needs, settle(needs, gang, search, shares)) for needs in gang.members]
    if gang.can_begin(needs for needs, f in found if f.node) and not poor:
        return [
            Placement(needs.key, needs.pod.uid, f.node, f.claims) if f.node else waits(needs, f)
            for needs, f in found
        ]
    failed = sum(not f.node for _, f in found)
    problem = gang.too_few(failed) if failed else poor
    for needs, f in found:
        if f.node:
            search.unsettle(needs, f)
            if gang.group:
                shares.give_back(gang.group.spec.queue, needs.requests)
    return [waits(needs, Found(message=problem) if f.node else f) for needs, f in found]


def not_now(gang: Gang, shares: Shares) -> str:
    """What keeps a gang from beginning wherever there is room."""
    if gang.group is None:
        return ""
    return gang.missing() or ("" if gang.started else shares.closed(gang.group.spec.queue))


def settle(needs: Needs, gang: Gang, search: Search, shares: Shares) -> Found:
    """A node for one of the gang, within what its queue may take."""
    if gang.group is None:
        return search.settle(needs)
    queue = gang.group.spec.queue
    if excess := shares.excess(queue, f"pod {needs.key.name}", needs.requests):
        return Found(message=excess)
    found = search.settle(needs)
    if found.node:
        shares.take(queue, needs.requests)
    return found


def waits(needs: Needs, found: Found) -> Placement:
    reasons = {name: misfit.reasons for name, misfit in found.misfits.items()}
    return Placement(needs.key, needs.pod.uid, "", (), "Unschedulable", found.message, reasons)


def turn(needs: Needs) -> tuple[int, str, Key]:
    return -needs.priority, str(needs.pod.metadata.creation_timestamp or ""), needs.key
