"""CronJob: a Job for every moment of a schedule, as far as its rules allow; pure.

What was started is read from the Jobs themselves, which carry the moment they stand for in name and
annotation: killed between the Job and the status, no moment is started twice and none is lost.
"""

from __future__ import annotations

import copy
from datetime import datetime, timedelta
from typing import Any

from ...api.batch import CronJob, Job
from ...api.meta import Metadata
from ...controllers.contract import Controller, Decision, Deed, Note, Snapshot
from ...controllers.schedule import MANY, Missed, Schedule, after, missed, parse
from ...errors import Invalid
from .stamps import moment, stamp
from .telling import note_of

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
RFC1123Z = "%a, %d %b %Y %H:%M:%S %z"


def reconcile(cron: CronJob, seen: Snapshot) -> Decision:
    jobs = [j for j in seen.owned(Job).values()]
    status = status_of(cron, jobs)
    kept = [j for j in jobs if j.uid not in beyond_history(cron, jobs)]
    notes = finished_notes(cron, jobs)
    try:
        schedule = parse(str(cron.spec.get("schedule", "")), str(cron.spec.get("timeZone") or ""))
    except Invalid as error:
        said = f"unparseable schedule: {cron.spec.get('schedule')} : {error.message}"
        unread = Note("Warning", "UnparseableSchedule", said)
        return Decision(status, tuple(kept), notes=notes, asides=(unread,))
    if cron.spec.get("suspend"):
        return Decision(status, tuple(kept), notes=notes)
    due = missed(schedule, earliest(cron, status, seen.now), seen.now)
    later = after(schedule, seen.now)
    wait = (later - seen.now).total_seconds() if later else None
    started, going, more = start(cron, jobs, due, schedule, seen.now)
    gone = {j.uid for j in going}
    children = (*(j for j in kept if j.uid not in gone), *started)
    return Decision(status, children, notes=notes, asides=more, check_again=wait)


def status_of(cron: CronJob, jobs: list[Job]) -> dict[str, Any]:
    active = sorted((j for j in jobs if not j.finished), key=lambda j: j.name)
    # Said once, with the version of its beginning: a Job that moves on is no news here.
    told = {a.get("uid"): a for a in cron.status.get("active") or ()}
    started = [m for j in jobs if (m := moment(j.metadata.annotations.get(SCHEDULED)))]
    done = [m for j in jobs if j.holds("Complete") and (m := moment(j.status.get("completionTime")))]
    times = {"lastScheduleTime": started, "lastSuccessfulTime": done}
    latest = {
        f: max([*found, *filter(None, [moment(cron.status.get(f))])], default=None)
        for f, found in times.items()
    }
    status = {field: stamp(when) for field, when in latest.items() if when}
    return {**status, **({"active": [told.get(j.uid) or reference(j) for j in active]} if active else {})}


def reference(job: Job) -> dict[str, Any]:
    return {**job.reference(), "resourceVersion": job.metadata.resource_version}


def finished_notes(cron: CronJob, jobs: list[Job]) -> tuple[Note, ...]:
    """Jobs that the stored status still has as active and that have ended."""
    known = {a.get("uid") for a in cron.status.get("active") or ()}
    ended = [j for j in jobs if j.uid in known and j.finished]
    said = [(j.name, "Complete" if j.holds("Complete") else "Failed") for j in ended]
    there = {j.uid for j in jobs}
    lost = [a.get("name") for a in cron.status.get("active") or () if a.get("uid") not in there]
    return (
        *(Note("Normal", "SawCompletedJob", f"Saw completed job: {n}, condition: {c}") for n, c in said),
        *(Note("Normal", "MissingJob", f"Active job went missing: {name}") for name in lost),
    )


def earliest(cron: CronJob, status: dict[str, Any], now: datetime) -> datetime:
    """Moments after this one may be started."""
    since = moment(status.get("lastScheduleTime")) or cron.metadata.creation_timestamp or now
    limit = cron.spec.get("startingDeadlineSeconds")
    return since if limit is None else max(since, now - timedelta(seconds=int(limit)))


def start(
    cron: CronJob, jobs: list[Job], due: Missed, schedule: Schedule, now: datetime
) -> tuple[tuple[Job, ...], tuple[Job, ...], tuple[Note, ...]]:
    """The Job to be made, the Jobs that go for it, and what is to be said."""
    notes: tuple[Note, ...] = ()
    if due.count > MANY:
        said = (
            "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
        )
        notes = (Note("Warning", "TooManyMissedTimes", said),)
    if due.last is None:
        return (), (), ()
    limit = cron.spec.get("startingDeadlineSeconds")
    if limit is not None and due.last + timedelta(seconds=int(limit)) < now:
        said = f"Missed scheduled time to start a job: {due.last.strftime(RFC1123Z)}"
        return (), (), (*notes, Note("Warning", "MissSchedule", said))
    made = make_job(cron, due.last, schedule)
    if any(j.name == made.name for j in jobs):
        return (), (), ()
    active = tuple(j for j in jobs if not j.finished)
    policy = cron.spec.get("concurrencyPolicy", "Allow")
    if active and policy == "Forbid":
        said = "Not starting job because prior execution is running and concurrency policy is Forbid"
        return (), (), (*notes, Note("Normal", "JobAlreadyActive", said))
    return (made,), active if policy == "Replace" else (), notes


def make_job(cron: CronJob, when: datetime, schedule: Schedule) -> Job:
    template = copy.deepcopy(cron.spec.get("jobTemplate") or {})
    given = template.get("metadata") or {}
    local = when.astimezone(schedule.zone) if schedule.zone else when
    mark = local.isoformat().replace("+00:00", "Z")
    metadata = Metadata(
        name=f"{cron.name}-{int(when.timestamp()) // 60}",
        namespace=cron.namespace,
        labels=given.get("labels") or {},
        annotations={**(given.get("annotations") or {}), SCHEDULED: mark},
    )
    return Job(metadata=metadata, spec=template.get("spec") or {})


def beyond_history(cron: CronJob, jobs: list[Job]) -> set[str]:
    """The oldest finished Jobs that are more than should be remembered."""
    gone: set[str] = set()
    for kind, field, usual in (
        ("Complete", "successfulJobsHistoryLimit", 3),
        ("Failed", "failedJobsHistoryLimit", 1),
    ):
        limit = cron.spec.get(field)
        ended = sorted(
            (j for j in jobs if j.holds(kind)), key=lambda j: (str(j.status.get("startTime")), j.name)
        )
        gone |= {j.uid for j in ended[: max(0, len(ended) - int(usual if limit is None else limit))]}
    return gone


def tell(deed: Deed) -> Note | None:
    return note_of(deed, "job", "Error creating job")


CONTROLLER = Controller(
    "cronjob", CronJob, reconcile, owns=(Job,), tells=tell, component="cronjob-controller"
)
