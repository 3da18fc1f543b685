"""ReplicaSet: so many pods of one template, whichever they are; pure."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import Any

from ...api.apps import ReplicaSet
from ...api.core import Pod
from ...controllers.contract import Controller, Decision, Deed, Note, Ref, Selection, Snapshot
from . import podstate
from .claiming import claim, orphans
from .naming import free_names
from .podmaking import generated, pod_of
from .ranking import least_needed
from .selecting import takes
from .stamps import condition, counted, stamp, without
from .telling import note_of

FIRST = 16
"""Pods made at the first look; later as many as there are already. What is refused is refused a few times."""


def reconcile(group: ReplicaSet, seen: Snapshot) -> Decision:
    found = claim(group, group.spec.get("selector") or {}, seen, Pod, podstate.active)
    pods = [p for p in found.mine if podstate.active(p)]
    surplus = len(pods) - group.replicas
    doomed: set[str] = set()
    made: tuple[Pod, ...] = ()
    if surplus > 0:
        doomed = {p.uid for p in least_needed(pods, surplus, seen.now)}
    elif surplus < 0:
        most = 1 if seen.refused else max(FIRST, len(pods))
        made = new_pods(group, seen, min(-surplus, most))
    kept = (p for p in (*found.owned, *found.released) if p.uid not in doomed)
    return Decision(
        status_of(group, pods, seen),
        (*kept, *made),
        changes=found.changes,
        # What was made is seen in a moment, and counted together with the generation.
        counts_only=bool(made) and not seen.refused,
        check_again=next_available(group, pods, seen.now),
    )


def new_pods(group: ReplicaSet, seen: Snapshot, number: int) -> tuple[Pod, ...]:
    names = free_names(f"{group.name}-", group, seen.owned(Pod).keys())
    template = group.spec.get("template") or {}
    return tuple(generated(pod_of(template, group, name), group) for name in islice(names, number))


def status_of(group: ReplicaSet, pods: list[Pod], seen: Snapshot) -> dict[str, Any]:
    labels = ((group.spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    min_ready = int(group.spec.get("minReadySeconds") or 0)
    status = {
        "replicas": len(pods),
        "fullyLabeledReplicas": sum(takes({"matchLabels": labels}, p.metadata.labels) for p in pods),
        "readyReplicas": sum(map(podstate.ready, pods)),
        "availableReplicas": sum(podstate.available(p, min_ready, seen.now) for p in pods),
        "observedGeneration": group.metadata.generation,
        "conditions": conditions(group, seen),
    }
    return counted(status, always=("replicas",))


def conditions(group: ReplicaSet, seen: Snapshot) -> list[dict[str, Any]]:
    old = group.status.get("conditions") or []
    others = without(old, "ReplicaFailure")
    if not seen.refused:
        return others
    said = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": seen.refused[0]}
    return [*others, condition(old, "ReplicaFailure") or {**said, "lastTransitionTime": stamp(seen.now)}]


def next_available(group: ReplicaSet, pods: list[Pod], now: datetime) -> float | None:
    min_ready = int(group.spec.get("minReadySeconds") or 0)
    waits = (podstate.available_in(p, min_ready, now) for p in pods if podstate.ready(p))
    return min((w for w in waits if w), default=None)


def related(group: ReplicaSet) -> tuple[Ref | Selection, ...]:
    return (orphans(group, Pod, group.spec.get("selector") or {}),)


def tell(deed: Deed) -> Note | None:
    return note_of(deed, "pod:", "Error creating")


CONTROLLER = Controller(
    "replicaset",
    ReplicaSet,
    reconcile,
    owns=(Pod,),
    reads=(Pod,),
    related=related,
    tells=tell,
    component="replicaset-controller",
)
