"""How a Job ends: why it is bound to fail or succeed, and when it may say that it has; pure.

First the target (`FailureTarget`, `SuccessCriteriaMet`): nothing new begins, pods that still run are
deleted. The end itself (`Failed`, `Complete`) is told when every pod is gone or ended, and counted.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from ...api.batch import Job
from ...controllers.contract import Note
from .jobcounting import Crew, Tally, countable
from .jobpolicy import success, verdict
from .stamps import moment, stamp

Body = dict[str, Any]
REACHED = ("CompletionsReached", "Reached expected number of succeeded pods")


def failure(crew: Crew, tally: Tally, now: datetime) -> Body | None:
    """Why the Job must fail, if it must."""
    for pod in crew.pods:
        if crew.failed(pod) and (message := verdict(crew.job, pod).message):
            return told("FailureTarget", "PodFailurePolicy", message, now)
    limit = crew.job.spec.get("backoffLimit", 6)
    if tally.all_failed + countable(crew) > limit or restarted_too_often(crew, limit):
        reason, message = "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    elif (left := time_left(crew.job, now)) is not None and left <= 0:
        reason, message = "DeadlineExceeded", "Job was active longer than specified deadline"
    elif crew.per_index is not None and len(tally.lost) > crew.job.spec.get(
        "maxFailedIndexes", len(tally.lost)
    ):
        reason = "MaxFailedIndexesExceeded"
        message = "Job has exceeded the specified maximal number of failed indexes"
    elif tally.lost and len(tally.lost) + len(tally.done) >= (crew.completions or 0):
        reason, message = "FailedIndexes", "Job has failed indexes"
    else:
        return None
    return told("FailureTarget", reason, message, now)


def restarted_too_often(crew: Crew, limit: int) -> bool:
    """Containers that are restarted in place count their failures themselves."""
    if ((crew.job.spec.get("template") or {}).get("spec") or {}).get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(
        int(state.get("restartCount") or 0)
        for pod in crew.pods
        if pod.phase in ("Running", "Pending")
        for field in ("initContainerStatuses", "containerStatuses")
        for state in pod.status.get(field) or ()
    )
    return restarts >= max(1, limit)


def enough(crew: Crew, tally: Tally, now: datetime) -> Body | None:
    """Why what succeeded so far is enough although not everything did."""
    if crew.job.indexed and (message := success(crew.job, tally.done)):
        return told("SuccessCriteriaMet", "SuccessPolicy", message, now)
    return None


def completion(crew: Crew, tally: Tally, active: int, now: datetime) -> Body | None:
    """That all work is done, once nobody works any more."""
    wanted = crew.completions if crew.completions is not None else 1
    if active or tally.all_succeeded < wanted:
        return None
    return told("SuccessCriteriaMet", *REACHED, now)


def final(crew: Crew, tally: Tally, bound: Body, now: datetime) -> Body | None:
    """The end, when nothing is left to wait for."""
    if not tally.settled or crew.active or crew.terminating:
        return None
    kind = "Complete" if bound["type"] == "SuccessCriteriaMet" else "Failed"
    return told(kind, bound.get("reason", ""), bound.get("message", ""), now)


def farewell(job: Job, end: Body, succeeded: int) -> tuple[Note, ...]:
    if end["type"] == "Failed":
        return (Note("Warning", end["reason"], end["message"]),)
    done = Note("Normal", "Completed", "Job completed")
    completions = job.spec.get("completions")
    if completions is not None and succeeded > int(completions):
        many = "Too many succeeded pods running after completion count reached"
        return (Note("Warning", "TooManySucceededPods", many), done)
    return (done,)


def time_left(job: Job, now: datetime) -> float | None:
    """Seconds a Job may go on; None when it may for ever."""
    limit, start = job.spec.get("activeDeadlineSeconds"), moment(job.status.get("startTime"))
    if limit is None or start is None or job.spec.get("suspend"):
        return None
    return (start + timedelta(seconds=int(limit)) - now).total_seconds()


def kept_for(job: Job, now: datetime) -> float | None:
    """Seconds until a finished Job goes; None when it stays."""
    limit = job.spec.get("ttlSecondsAfterFinished")
    ends = (c for c in job.status.get("conditions") or () if c["type"] in ("Complete", "Failed"))
    since = next((moment(c.get("lastTransitionTime")) for c in ends if c["status"] == "True"), None)
    return (
        None
        if limit is None or since is None
        else (since + timedelta(seconds=int(limit)) - now).total_seconds()
    )


def told(kind: str, reason: str, message: str, now: datetime, status: str = "True") -> Body:
    times = {"lastProbeTime": stamp(now), "lastTransitionTime": stamp(now)}
    return {"type": kind, "status": status, **times, "reason": reason, "message": message}
