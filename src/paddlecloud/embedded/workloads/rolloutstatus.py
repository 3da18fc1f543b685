"""What a Deployment reports: counts, and the conditions Available, Progressing, ReplicaFailure; pure.

`kubectl rollout status` and `kubectl wait` read these words.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from ...api.apps import Deployment
from .rollout import Fleet, bounds
from .stamps import condition, counted, moment, stamp, without

Body = dict[str, Any]
NEVER = 2**31 - 1
COMPLETE, TIMED_OUT, PAUSED = "NewReplicaSetAvailable", "ProgressDeadlineExceeded", "DeploymentPaused"


def status_of(fleet: Fleet, news: Body | None, now: datetime) -> Body:
    """The status as the sets report; *news* is a Progressing condition that is known from elsewhere."""
    deployment = fleet.deployment
    status = counts(fleet)
    said = deployment.status.get("conditions") or []
    said = with_condition(said, availability(fleet, status), now)
    if news is not None:
        said = with_condition(said, news, now)
    if not has_deadline(deployment):
        said = without(said, "Progressing")
    elif not deployment.spec.get("paused"):
        said = progress(fleet, status, said, now)
    said = without(said, "ReplicaFailure") + failures(fleet)
    return counted({**status, "conditions": said})


def counts(fleet: Fleet) -> Body:
    deployment = fleet.deployment

    def reported(field: str) -> int:
        return sum(s.counted(field) for s in fleet.all)

    available = reported("availableReplicas")
    return {
        "observedGeneration": deployment.metadata.generation,
        "replicas": reported("replicas"),
        "updatedReplicas": fleet.current.counted("replicas") if fleet.current else 0,
        "readyReplicas": reported("readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, sum(s.replicas for s in fleet.all) - available),
        "collisionCount": deployment.status.get("collisionCount"),
    }


def availability(fleet: Fleet, status: Body) -> Body:
    deployment = fleet.deployment
    if status["availableReplicas"] >= deployment.replicas - bounds(deployment).unavailable:
        words = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        words = ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    return told("Available", *words)


def progress(fleet: Fleet, status: Body, said: list[Body], now: datetime) -> list[Body]:
    """How the roll-out does: done, moving, or standing still for too long."""
    deployment = fleet.deployment
    current = condition(said, "Progressing")
    # One set alone, and it is up: this is no roll-out, whatever its pods do now.
    if current and current["reason"] == COMPLETE and status["replicas"] == status["updatedReplicas"]:
        return said
    what = f'ReplicaSet "{fleet.current.name}"' if fleet.current else f'Deployment "{deployment.name}"'
    if complete(deployment, status):
        news = told("Progressing", "True", COMPLETE, f"{what} has successfully progressed.")
        return with_condition(said, news, now)
    if moved(deployment.status, status):
        news = told("Progressing", "True", "ReplicaSetUpdated", f"{what} is progressing.")
        # Said again with the same reason it still counts: the deadline runs from here.
        since = current["lastTransitionTime"] if current and current["status"] == "True" else stamp(now)
        fresh = {**news, "lastUpdateTime": stamp(now), "lastTransitionTime": since}
        return [*without(said, "Progressing"), fresh]
    if current and overdue(deployment, current, now):
        news = told("Progressing", "False", TIMED_OUT, f"{what} has timed out progressing.")
        return with_condition(said, news, now)
    return said


def complete(deployment: Deployment, status: Body) -> bool:
    fields = ("updatedReplicas", "replicas", "availableReplicas")
    return all(int(status.get(f) or 0) == deployment.replicas for f in fields) and (
        int(status.get("observedGeneration") or 0) >= deployment.metadata.generation
    )


def moved(before: Body, after: Body) -> bool:
    def old_pods(status: Body) -> int:
        return int(status.get("replicas") or 0) - int(status.get("updatedReplicas") or 0)

    more = ("updatedReplicas", "readyReplicas", "availableReplicas")
    return old_pods(after) < old_pods(before) or any(after[f] > int(before.get(f) or 0) for f in more)


def overdue(deployment: Deployment, current: Body, now: datetime) -> bool:
    return current["reason"] == TIMED_OUT or (
        current["reason"] != COMPLETE
        and (left := time_left(deployment, current, now)) is not None
        and left < 0
    )


def time_left(deployment: Deployment, current: Body, now: datetime) -> float | None:
    """Seconds until a roll-out that stands still has failed."""
    since = moment(current.get("lastUpdateTime"))
    if since is None:
        return None
    deadline = timedelta(seconds=int(deployment.spec["progressDeadlineSeconds"]))
    return (since + deadline - now).total_seconds()


def next_look(deployment: Deployment, status: Body, now: datetime) -> float | None:
    current = condition(status.get("conditions") or (), "Progressing")
    if not has_deadline(deployment) or current is None or complete(deployment, status):
        return None
    if current["reason"] in (TIMED_OUT, PAUSED, COMPLETE):
        return None
    left = time_left(deployment, current, now)
    return None if left is None else max(left, 0) + 1


def pausing(deployment: Deployment) -> Body | None:
    """The news that a Deployment was paused or goes on."""
    current = condition(deployment.status.get("conditions") or (), "Progressing")
    reason = current["reason"] if current else ""
    if not has_deadline(deployment) or reason == TIMED_OUT:
        return None
    if deployment.spec.get("paused") and reason != PAUSED:
        return told("Progressing", "Unknown", PAUSED, "Deployment is paused")
    if not deployment.spec.get("paused") and reason == PAUSED:
        return told("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed")
    return None


def failures(fleet: Fleet) -> list[Body]:
    """What the current set, or else another, could not do."""
    for group in ((fleet.current,) if fleet.current else ()) + fleet.old:
        if found := condition(group.status.get("conditions") or (), "ReplicaFailure"):
            return [{**found, "lastUpdateTime": found.get("lastTransitionTime")}]
    return []


def has_deadline(deployment: Deployment) -> bool:
    return deployment.spec.get("progressDeadlineSeconds") not in (None, NEVER)


def told(kind: str, status: str, reason: str, message: str) -> Body:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def with_condition(said: list[Body], news: Body, now: datetime) -> list[Body]:
    """Nothing changes while status and reason are the same."""
    old = condition(said, news["type"])
    if old and (old["status"], old["reason"]) == (news["status"], news["reason"]):
        return said
    since = old["lastTransitionTime"] if old and old["status"] == news["status"] else stamp(now)
    return [
        *without(said, news["type"]),
        {**news, "lastUpdateTime": stamp(now), "lastTransitionTime": since},
    ]
