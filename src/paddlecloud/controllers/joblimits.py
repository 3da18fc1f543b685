"""How long a PaddleJob may take, how long it stays once it has ended, whether it rests; pure."""

from __future__ import annotations

from datetime import datetime

from ..api.meta import Condition
from ..api.paddlejob import PaddleJob
from .conditions import condition

SUSPENDED, EXPIRED = "Suspended", "DeadlineExceeded"


def deadline_in(job: PaddleJob, now: datetime) -> float | None:
    """Seconds until the job has been active for longer than it may; None: it may for ever.

    It counts from its creation, or from the moment it was last resumed: a job that rests is not active.
    """
    allowed, began = job.spec.active_deadline_seconds, active_since(job)
    if allowed is None or began is None:
        return None
    return allowed - (now - began).total_seconds()


def active_since(job: PaddleJob) -> datetime | None:
    if (rested := told_to_rest(job)) is not None:
        return rested.last_transition_time if rested.status == "False" else None
    return job.metadata.creation_timestamp


def told_to_rest(job: PaddleJob) -> Condition | None:
    return next((c for c in job.status.conditions if c.type == SUSPENDED), None)


def rested_since(job: PaddleJob) -> datetime | None:
    told = told_to_rest(job)
    return told.last_transition_time if told and told.status == "True" else None


def rest(job: PaddleJob) -> list[Condition]:
    """What is to be said about resting: nothing, for a job that never did."""
    if job.spec.suspend:
        return [condition(SUSPENDED, True, SUSPENDED, "set spec.suspend to false to go on")]
    return [condition(SUSPENDED, False, "Resumed")] if told_to_rest(job) else []


def leaves_in(job: PaddleJob, now: datetime) -> float | None:
    """Seconds until a job that has ended is deleted; None: it stays."""
    after, ended = job.spec.ttl_seconds_after_finished, job.status.completion_time
    return None if after is None or ended is None else after - (now - ended).total_seconds()


def was_cut_off(job: PaddleJob) -> bool:
    """Whether the job failed because its time was over: what still runs of it must end."""
    return any(c.type == "Failed" and c.reason == EXPIRED for c in job.status.conditions)
