"""How far each group of pods is, as Volcano tells it; pure.

A group is Pending until its queue lets it in, Inqueue until enough of its pods have nodes, then Running and
in the end Completed; Unknown is one of which a part runs and the rest finds no place. Letting in promises
room in the queue, not on the nodes: where the pods do not fit is said when they are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...api.core import Pod
from ...api.meta import Key
from ...api.scheduling import (
    PodGroup,
    PodGroupCondition,
    PodGroupStatus,
    PriorityClass,
    Queue,
    QueueStatus,
)
from ...scheduler.groups import rank_of
from ...scheduler.quantities import amount, text_of
from ...scheduler.queues import Shares
from ...scheduler.resources import Amounts, add, raise_to, requests
from ...scheduler.words import IN_GANG

UNSCHEDULABLE, SCHEDULED = "Unschedulable", "Scheduled"
READY = "pod group is ready"
HOLDING = ("Inqueue", "Running", "Unknown")


@dataclass(frozen=True)
class Census:
    """The pods of one group, counted."""

    there: int = 0
    placed: int = 0
    """Have a node and have not ended."""
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    taken: tuple[tuple[str, int], ...] = ()
    """What those with a node ask for."""
    complaint: str = ""
    """Why the others have none."""


@dataclass(frozen=True)
class Scene:
    """All groups and queues, as they are at one moment."""

    groups: Mapping[Key, PodGroup]
    members: Mapping[Key, Census]
    queues: Mapping[str, Queue]
    classes: Mapping[str, PriorityClass]


def census(pods: Iterable[Pod]) -> Census:
    pods = sorted((p for p in pods if p.metadata.deletion_timestamp is None), key=lambda p: p.key)
    phases = Counter(p.phase for p in pods)
    placed = [p for p in pods if p.node and not p.finished]
    taken: Amounts = {}
    for pod in placed:
        try:
            add(taken, requests(pod))
        except ValueError:
            continue
    return Census(
        there=len(pods),
        placed=len(placed),
        running=phases["Running"],
        succeeded=phases["Succeeded"],
        failed=phases["Failed"],
        taken=tuple(sorted(taken.items())),
        complaint=complaint(pods),
    )


def complaint(pods: Iterable[Pod]) -> str:
    """What the scheduler says of the group: the words all of its pods got, and the one that fits nowhere."""
    told = [(pod.name, text) for pod in pods if (text := unplaced(pod))]
    gang = next((text for _, text in told if IN_GANG in text), "")
    alone = next(((name, text) for name, text in told if IN_GANG not in text), None)
    if alone is None:
        return gang
    cause = f"pod {alone[0]}: {alone[1].partition(' preemption:')[0]}"
    return f"{gang}; {cause}" if gang else cause


def unplaced(pod: Pod) -> str:
    if pod.node or pod.finished:
        return ""
    said: dict[str, Any] = next(
        (c for c in pod.status.get("conditions") or () if c.get("type") == "PodScheduled"), {}
    )
    return str(said.get("message") or "") if said.get("status") == "False" else ""


def statuses(scene: Scene, now: datetime) -> dict[Key, PodGroupStatus]:
    """What to say of every group; who is let into a queue is decided for all of them, the foremost first."""
    phases = {key: phase_of(group, scene.members.get(key, Census())) for key, group in scene.groups.items()}
    shares = Shares(scene.queues, scene.groups, {})
    for key, phase in phases.items():
        if phase in HOLDING:
            group, pods = scene.groups[key], scene.members.get(key, Census())
            shares.take(group.spec.queue, held(group, pods, phase))
    refusals: dict[Key, str] = {}
    for key in sorted((k for k, phase in phases.items() if phase == "Pending"), key=lambda k: turn(k, scene)):
        group = scene.groups[key]
        wanted = promised(group, scene.members.get(key, Census()))
        queue = group.spec.queue
        refusals[key] = shares.closed(queue) or shares.excess(queue, f"pod group {group.name}", wanted)
        if not refusals[key]:
            phases[key] = "Inqueue"
            shares.take(queue, wanted)
    return {
        key: status_of(group, scene.members.get(key, Census()), phases[key], refusals.get(key, ""), now)
        for key, group in scene.groups.items()
    }


def phase_of(group: PodGroup, pods: Census) -> str:
    """The phase that the pods show; Pending is for the queue to change."""
    before, least = group.status.phase, max(1, group.spec.min_member or 1)
    if not pods.there:
        return before if before in ("Inqueue", "Completed") else "Pending"
    if not pods.placed and pods.succeeded >= least and pods.succeeded + pods.failed == pods.there:
        return "Completed"
    if pods.placed + pods.succeeded >= least:
        return "Running"
    if pods.running:
        return "Unknown"
    return "Inqueue" if before in HOLDING else "Pending"


def held(group: PodGroup, pods: Census, phase: str) -> Amounts:
    """What the group takes of its queue: what its pods have, and before they are there what it was promised.

    One whose pods fit no node holds nothing: others of the queue may go first.
    """
    return promised(group, pods) if phase == "Inqueue" and not pods.complaint else dict(pods.taken)


def promised(group: PodGroup, pods: Census) -> Amounts:
    found = dict(pods.taken)
    for name, quantity in group.spec.min_resources.items():
        try:
            raise_to(found, {name: amount(name, quantity)})
        except ValueError:
            continue
    return found


def turn(key: Key, scene: Scene) -> tuple[int, str, Key]:
    group = scene.groups[key]
    return -(rank_of(group, scene.classes) or 0), str(group.metadata.creation_timestamp or ""), key


def status_of(group: PodGroup, pods: Census, phase: str, refusal: str, now: datetime) -> PodGroupStatus:
    return PodGroupStatus(
        phase=phase,
        conditions=conditions(group, phase, refusal or pods.complaint, now),
        running=pods.running,
        succeeded=pods.succeeded,
        failed=pods.failed,
    )


def conditions(group: PodGroup, phase: str, problem: str, now: datetime) -> list[PodGroupCondition]:
    if phase in ("Running", "Completed"):
        told = PodGroupCondition(type=SCHEDULED, status="True", reason=READY, message=READY)
    elif problem:
        told = PodGroupCondition(
            type=UNSCHEDULABLE, status="True", reason="NotEnoughResources", message=problem
        )
    else:
        return []
    before = group.condition(told.type)
    since = before.last_transition_time if before else now
    return [told.but(last_transition_time=since or now)]


def queue_status(queue: Queue, scene: Scene) -> QueueStatus:
    """How many groups the queue has in each phase, and what their pods ask for."""
    mine = {key: g for key, g in scene.groups.items() if g.spec.queue == queue.name}
    phases = Counter(g.status.phase or "Pending" for g in mine.values())
    taken: Amounts = {}
    for key in mine:
        add(taken, dict(scene.members.get(key, Census()).taken))
    return QueueStatus(
        state=queue.status.state or "Open",
        pending=phases["Pending"],
        inqueue=phases["Inqueue"],
        running=phases["Running"],
        unknown=phases["Unknown"],
        completed=phases["Completed"],
        allocated={name: text_of(name, value) for name, value in sorted(taken.items())},
    )
