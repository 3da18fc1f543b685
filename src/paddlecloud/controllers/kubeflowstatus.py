"""What is told of a PaddleJob of Kubeflow, from the job of ours that does its work; pure.

The last condition is the state that `kubectl get` prints. All follows from our job as it is now, so that it
does not matter which of its states were seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from ..api.kubeflow import (
    JobCondition,
    KubeflowPaddleJob,
    KubeflowPaddleJobStatus,
    ReplicaStatus,
    ReplicaStatuses,
)
from ..api.meta import Condition
from ..api.paddlejob import PaddleJob, Phase
from .joblimits import SUSPENDED

CREATED, FAILED = "Created", "Failed"


def status_from(
    job: KubeflowPaddleJob, ours: PaddleJob, trouble: str, now: datetime
) -> KubeflowPaddleJobStatus:
    """How far the job is; *trouble*: why an edit of it is not carried out."""
    told = [created(job, ours, trouble), *states(job, ours)]
    start, end = ours.status.start_time, ours.status.completion_time
    return KubeflowPaddleJobStatus(
        conditions=dated(job.status.conditions, told, now),
        replica_statuses=counted(job, ours),
        **({"start_time": start} if start else {}),
        **({"completion_time": end} if end else {}),
    )


def not_begun(
    job: KubeflowPaddleJob, conditions: Iterable[JobCondition], now: datetime
) -> KubeflowPaddleJobStatus:
    """Of a job that none of ours stands for yet, or can."""
    return KubeflowPaddleJobStatus(conditions=dated(job.status.conditions, conditions, now))


def created(job: KubeflowPaddleJob, ours: PaddleJob | None, trouble: str = "") -> JobCondition:
    """It is there; where it waits for something, that is said."""
    wait = next((c for c in conditions_of(ours, "Progressing") if c.status == "False"), None)
    final = ours is not None and ours.status.phase.final
    waits = wait.message if wait and not final else ""
    message = trouble or waits or f"PaddleJob {job.name} is created."
    return said(CREATED, "PaddleJobCreated", message)


def states(job: KubeflowPaddleJob, ours: PaddleJob) -> Iterator[JobCondition]:
    """What comes after Created."""
    for rest in conditions_of(ours, SUSPENDED):
        reason = "PaddleJobSuspended" if rest.status == "True" else "PaddleJobResumed"
        yield said(SUSPENDED, reason, status=rest.status)
    phase = ours.status.phase
    if phase is Phase.RUNNING:
        yield said("Running", "PaddleJobRunning", f"PaddleJob {job.name} is running.")
    elif phase is Phase.RESTARTING:
        why = next((c.message for c in conditions_of(ours, "Progressing")), "")
        yield said("Restarting", "PaddleJobRestarting", why)
    elif phase.final:
        if ours.status.start_time:
            yield said("Running", "PaddleJobRunning", f"PaddleJob {job.name} has ended.", status="False")
        if phase is Phase.COMPLETED:
            yield said("Succeeded", "PaddleJobSucceeded", f"PaddleJob {job.name} successfully completed.")
        else:
            why = next((c.message for c in conditions_of(ours, FAILED)), "")
            yield said(FAILED, "PaddleJobFailed", why)


def conditions_of(ours: PaddleJob | None, kind: str) -> Iterator[Condition]:
    return (c for c in (ours.status.conditions if ours else ()) if c.type == kind)


def said(kind: str, reason: str, message: str = "", *, status: str = "True") -> JobCondition:
    return JobCondition(type=kind, status=status, reason=reason, message=message)


def counted(job: KubeflowPaddleJob, ours: PaddleJob) -> ReplicaStatuses:
    """All pods are workers of ours, which does not say whose they are: they are told in one place."""
    seen = ours.status.worker
    counts = ReplicaStatus(
        active=seen.running if seen else 0,
        succeeded=seen.succeeded if seen else 0,
        failed=seen.failed if seen else 0,
        selector=ours.status.selector,
    )
    name = "worker" if job.spec.paddle_replica_specs.worker else "master"
    return ReplicaStatuses(**{name: counts})


def dated(before: Iterable[JobCondition], told: Iterable[JobCondition], now: datetime) -> list[JobCondition]:
    """With the times at which their words, and their status, last changed."""
    old = {c.type: c for c in before}
    return [with_times(old.get(c.type), c, now) for c in told]


def with_times(old: JobCondition | None, new: JobCondition, now: datetime) -> JobCondition:
    turned = old.last_transition_time if old and old.status == new.status else None
    same = old and (old.status, old.reason, old.message) == (new.status, new.reason, new.message)
    updated = old.last_update_time if old and same else None
    return new.but(last_transition_time=turned or now, last_update_time=updated or now)
