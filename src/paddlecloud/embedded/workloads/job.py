"""Job: pods until enough of them have succeeded, or it is clear that they will not; pure.

`jobcounting` counts, `jobpods` says who works, `jobend` how it ends. A finished Job is never begun again.
"""

from __future__ import annotations

from typing import Any

from ...api.batch import Job
from ...api.core import Pod
from ...controllers.contract import Controller, Decision, Ending, Note, Ref, Selection, Snapshot, Update
from . import jobend, podstate
from .claiming import Claim, claim, orphans
from .jobcounting import TRACKING, Crew, Tally, count, target, tracked, untracked, untracking
from .jobindexes import write_indexes
from .jobpods import Staffing, staff
from .replicaset import tell
from .stamps import condition, stamp, without

Body = dict[str, Any]
OURS = ("", None, "kubernetes.io/job-controller")


def reconcile(job: Job, seen: Snapshot) -> Decision:
    found = claim(job, job.spec.get("selector") or {}, seen, Pod, podstate.active)
    if job.spec.get("managedBy") in OURS and not job.finished:
        return working(job, found, seen)
    left = jobend.kept_for(job, seen.now)
    over = left is not None and left <= 0
    free = untracking(p for p in found.owned if tracked(p)) if job.finished else ()
    return Decision(
        dict(job.status),
        (*found.owned, *found.released),
        changes=free,
        ending=Ending("Foreground") if over else None,
        check_again=left if left is not None and left > 0 else None,
    )


def working(job: Job, found: Claim[Pod], seen: Snapshot) -> Decision:
    crew, now = Crew(job, found.mine), seen.now
    bound = target(job)
    failing = bound is not None and bound["type"] == "FailureTarget"
    tally = count(crew, failing)
    bound = bound or jobend.failure(crew, tally, now) or jobend.enough(crew, tally, now)
    work = Staffing() if bound else staff(crew, tally, bool(seen.refused), now)
    if bound is None:
        left = len(crew.active) - len(work.doomed) + len(work.made)
        bound = jobend.completion(crew, tally, left, now)
    end = jobend.final(crew, tally, bound, now) if bound else None
    doomed = {p.uid for p in (crew.active if bound else work.doomed)}
    # What only has become too many must not look like a failure: the mark goes before the pod.
    unmark = () if bound else untracking(p for p in work.doomed if tracked(p))
    kept = {u.observed.uid for u in unmark}
    status, notes = report(crew, tally, bound, end, seen)
    dates = (work.again, jobend.time_left(job, now), jobend.kept_for(job, now))
    return Decision(
        status,
        (*(p for p in (*found.owned, *found.released) if p.uid not in doomed - kept), *work.made),
        notes=notes,
        changes=(*claims(found), *untracked(crew, failing), *unmark),
        check_again=min((d for d in dates if d is not None and d > 0), default=None),
    )


def claims(found: Claim[Pod]) -> tuple[Update, ...]:
    """Adopted pods are to be counted too: they get the mark together with their owner."""
    left = {p.uid for p in found.released}
    return tuple(u if u.observed.uid in left else with_mark(u) for u in found.changes)


def with_mark(update: Update) -> Update:
    marks = list(dict.fromkeys([*update.observed.metadata.finalizers, TRACKING]))
    return Update(update.observed, {"metadata": {**update.patch["metadata"], "finalizers": marks}})


def report(
    crew: Crew, tally: Tally, bound: Body | None, end: Body | None, seen: Snapshot
) -> tuple[Body, tuple[Note, ...]]:
    job, now = crew.job, seen.now
    start = job.status.get("startTime") or (None if job.spec.get("suspend") else stamp(now))
    conditions = list(job.status.get("conditions") or ())
    notes: tuple[Note, ...] = ()
    if bound is None:
        conditions, notes = suspension(job, conditions, seen)
        start = stamp(now) if any(n.reason == "Resumed" for n in notes) else start
    for news in filter(None, (bound, end)):
        if not condition(conditions, news["type"]):
            conditions.append(news)
    status: Body = {
        "startTime": start,
        "active": len(crew.active) or None,
        "ready": sum(map(podstate.ready, crew.active)),
        "terminating": len(crew.terminating),
        "succeeded": tally.succeeded or None,
        "failed": tally.failed or None,
        "uncountedTerminatedPods": waiting(tally),
        "conditions": conditions or None,
        "completedIndexes": write_indexes(tally.done) or None,
        "failedIndexes": write_indexes(tally.lost) if crew.per_index is not None else None,
        "completionTime": stamp(now) if end and end["type"] == "Complete" else None,
    }
    return status, notes + (jobend.farewell(job, end, tally.succeeded) if end else ())


def waiting(tally: Tally) -> Body:
    lists = {"succeeded": list(tally.waiting_succeeded), "failed": list(tally.waiting_failed)}
    return {name: uids for name, uids in lists.items() if uids}


def suspension(job: Job, conditions: list[Body], seen: Snapshot) -> tuple[list[Body], tuple[Note, ...]]:
    """Whether the Job rests by order; said when it begins to, and when it goes on."""
    old = condition(conditions, "Suspended")
    if job.spec.get("suspend"):
        news, note = ("JobSuspended", "Job suspended", "True"), Note("Normal", "Suspended", "Job suspended")
    elif old is not None:
        news, note = ("JobResumed", "Job resumed", "False"), Note("Normal", "Resumed", "Job resumed")
    else:
        return conditions, ()
    if old and (old["status"], old["reason"]) == (news[2], news[0]):
        return conditions, ()
    said = jobend.told("Suspended", news[0], news[1], seen.now, news[2])
    return [*without(conditions, "Suspended"), said], (note,)


def related(job: Job) -> tuple[Ref | Selection, ...]:
    return (orphans(job, Pod, job.spec.get("selector") or {}),)


CONTROLLER = Controller(
    "job",
    Job,
    reconcile,
    owns=(Pod,),
    reads=(Pod,),
    related=related,
    tells=tell,
    component="job-controller",
)
