"""A SampleJob with a schedule: a SampleJob for every moment, as far as its rules allow; pure.

What was begun is read from the jobs themselves, which carry their moment in their names: killed between a
job and the status, no moment is begun twice.
"""

from __future__ import annotations

from datetime import UTC, datetime

from ..api.meta import Condition, Metadata
from ..api.samplejob import (
    ConcurrencyPolicy,
    SampleJob,
    SampleJobPhase,
    SampleJobSpec,
    SampleJobStatus,
)
from ..errors import Invalid
from .conditions import condition, progressing, set_conditions, waiting
from .contract import Decision, Note, Snapshot
from .schedule import after, missed, parse

LONGEST_NAME = 52
"""Of a job with a schedule: the moment comes after it."""
OF_SCHEDULE = ("schedule", "time_zone", "suspend", "concurrency_policy", "successful_jobs_history_limit",
               "failed_jobs_history_limit")  # fmt: skip


def on_schedule(job: SampleJob, seen: Snapshot) -> Decision:
    jobs = sorted(seen.owned(SampleJob).values(), key=moment_of)
    told = status_of(job, jobs, seen, [])
    before = (job.status.last_schedule_time, job.status.last_successful_time)
    # The jobs are the only witnesses of what was begun: they go when it is written down.
    kept = remembered(job, jobs) if before == (told.last_schedule_time, told.last_successful_time) else jobs
    try:
        schedule = parse(job.spec.schedule, job.spec.time_zone)
    except Invalid as error:
        why = f"schedule {job.spec.schedule!r}: {error.message}"
        status = status_of(job, jobs, seen, [condition("Ready", False, "UnparseableSchedule", why)])
        return Decision(status, tuple(kept), asides=(Note("Warning", "UnparseableSchedule", why),))
    if job.spec.suspend:
        rests = waiting("Suspended", "nothing is begun; set spec.suspend to false to go on")
        return Decision(status_of(job, jobs, seen, [rests]), tuple(kept))
    last = max([moment_of(j) for j in jobs], default=None)
    since = max(
        filter(None, (last, job.status.last_schedule_time, job.metadata.creation_timestamp)), default=seen.now
    )
    due, later = missed(schedule, since, seen.now).last, after(schedule, seen.now)
    status = status_of(job, jobs, seen, [progressing("Scheduled")])
    wait = (later - seen.now).total_seconds() if later else None
    active = [j for j in jobs if not j.status.phase.final]
    policy = job.spec.concurrency_policy or ConcurrencyPolicy.ALLOW
    if due is None:
        return Decision(status, tuple(kept), check_again=wait)
    if active and policy is ConcurrencyPolicy.FORBID:
        why = f"{active[0].name} has not ended, and concurrencyPolicy is Forbid"
        return Decision(
            status, tuple(kept), asides=(Note("Normal", "JobAlreadyActive", why),), check_again=wait
        )
    if policy is ConcurrencyPolicy.REPLACE:
        kept = [j for j in kept if j.status.phase.final]
    return Decision(status, (*kept, make_job(job, due)), check_again=wait)


def make_job(job: SampleJob, when: datetime) -> SampleJob:
    said = {
        k: v for k, v in job.spec.__dict__.items() if k in job.spec.model_fields_set and k not in OF_SCHEDULE
    }
    metadata = Metadata(
        name=f"{job.name[:LONGEST_NAME]}-{int(when.timestamp()) // 60}",
        namespace=job.namespace,
        labels=job.metadata.labels,
    )
    return SampleJob(metadata=metadata, spec=SampleJobSpec(**said))


def moment_of(job: SampleJob) -> datetime:
    """The moment that a job stands for; of one that carries none the beginning of time."""
    number = job.name.rpartition("-")[2]
    return datetime.fromtimestamp(int(number) * 60 if number.isdecimal() else 0, UTC)


def remembered(job: SampleJob, jobs: list[SampleJob]) -> list[SampleJob]:
    """All that have not ended, and of the others the latest."""
    spec, gone = job.spec, set()
    for phase, given, usual in (
        (SampleJobPhase.SUCCEEDED, spec.successful_jobs_history_limit, 3),
        (SampleJobPhase.FAILED, spec.failed_jobs_history_limit, 1),
    ):
        limit = usual if given is None else given
        ends = [j.name for j in jobs if j.status.phase is phase]
        gone |= set(ends[: max(0, len(ends) - limit)])
    return [j for j in jobs if j.name not in gone]


def status_of(
    job: SampleJob, jobs: list[SampleJob], seen: Snapshot, current: list[Condition]
) -> SampleJobStatus:
    begun = [moment_of(j) for j in jobs]
    good = [j.status.completion_time for j in jobs if j.status.phase is SampleJobPhase.SUCCEEDED]
    return SampleJobStatus(
        active=[j.name for j in jobs if not j.status.phase.final],
        last_schedule_time=max(filter(None, (*begun, job.status.last_schedule_time)), default=None),
        last_successful_time=max(filter(None, (*good, job.status.last_successful_time)), default=None),
        observed_generation=job.metadata.generation,
        conditions=set_conditions(job.status.conditions, current, seen.now),
    )
