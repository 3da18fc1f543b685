"""What went wrong with the pods of a PaddleJob, and whether it may begin again; pure.

Where all pods depend on each other the job begins again as a whole; a worker of parameter servers comes
back alone. A fault is the job's own when its program ended with an error, and was done to it when a pod was
killed, evicted, out of memory or lost: by itself a job is tried again after the latter, and after the former
only once it has shown that it can train.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..api.core import Pod
from ..api.paddlejob import Mode, PaddleJob
from .attempts import fingerprint, mark_of
from .jobphase import mode_of
from .jobpods import pod_names, role_of

RESTARTS = 3
LAUNCHER_RESTARTS = 10  # of Paddle's elastic launcher, which now and then ends with a peer that went
PROVEN = 60.0  # seconds of training after which an error is no longer taken for a mistake in the program
SETTLING = 2.0  # seconds in which peers fail of the same cause: the first of them is told of
FIRST_PAUSE, LONGEST_PAUSE = 10.0, 360.0
SIGNALLED = 128  # exit codes from here on tell of a signal


@dataclass(frozen=True)
class Fault:
    culprit: Pod | None
    """The pod that failed first; None where one is gone."""
    words: str
    own: bool
    whole: bool
    pods: tuple[Pod, ...] = ()
    """Those that failed."""
    settles: float = 0
    """Seconds until it is clear who failed first."""


def find_fault(job: PaddleJob, pods: dict[str, Pod], now: datetime) -> Fault | None:
    """The fault of the present attempt; *pods*: those that count."""
    failed = tuple(p for p in pods.values() if p.phase == "Failed")
    if failed:
        first = min(failed, key=lambda p: (ended_at(p) or datetime.min.replace(tzinfo=UTC), is_own(p)))
        whole = any(not returns_alone(job, role_of(p)) for p in failed)
        return Fault(first, how(first), is_own(first), whole, failed, settles_in(pods, first, now))
    if job.spec.elastic is not None:
        return None  # who is there is decided with the membership
    return lost_peer(job, pods)


def lost_peer(job: PaddleJob, pods: dict[str, Pod]) -> Fault | None:
    """Pods that began with peers who are no longer there."""
    begun = {mark.peers for p in pods.values() if (mark := mark_of(p)) and mark.peers}
    if not begun:
        return None
    wanted = [n for n in pod_names(job) if not returns_alone(job, role_in(n))]
    if gone := [n for n in wanted if n not in pods]:
        return Fault(None, f"pod {gone[0]} has gone", own=False, whole=True)
    if begun == {peers_of(job, pods)}:
        return None
    return Fault(None, "a pod came back that the others do not know", own=False, whole=True)


def peers_of(job: PaddleJob, pods: dict[str, Pod]) -> str:
    """The fingerprint of those that the others depend on."""
    return fingerprint(p for p in pods.values() if not returns_alone(job, role_of(p)))


def role_in(name: str) -> str:
    return name.rsplit("-", 2)[1]


def returns_alone(job: PaddleJob, role: str) -> bool:
    """Workers that only know their servers; gloo and heterogeneous workers tie them to each other.

    And those whose launcher finds others by itself.
    """
    if job.spec.elastic_launcher:
        return role == "worker"
    apart = mode_of(job) is Mode.PS and not job.spec.with_gloo and job.spec.heter is None
    return apart and role == "worker"


def may_restart(job: PaddleJob, fault: Fault, now: datetime) -> bool:
    limit = job.spec.backoff_limit
    if limit is None:
        most = LAUNCHER_RESTARTS if job.spec.elastic_launcher else RESTARTS
        limit = most if not fault.own or proven(job, now) else 0
    return job.status.restarts < limit


def proven(job: PaddleJob, now: datetime) -> bool:
    began = max((t for t in (job.status.start_time, job.status.last_restart_time) if t), default=None)
    return job.status.start_time is not None and began is not None and (now - began).total_seconds() >= PROVEN


def pause_left(job: PaddleJob, now: datetime) -> float:
    """Seconds until pods may be made again: none after the first fault, more after each further one."""
    last, restarts = job.status.last_restart_time, job.status.restarts
    if last is None or restarts < 2:
        return 0
    pause = min(FIRST_PAUSE * 2.0 ** min(restarts - 2, 10), LONGEST_PAUSE)
    return max(0.0, pause - (now - last).total_seconds())


def crashes(job: PaddleJob, pods: dict[str, Pod]) -> str:
    """Words for a job with a pod whose containers were started again in place more often than it allows."""
    limit = job.spec.backoff_limit
    if limit is None:
        if job.spec.elastic is None:
            return ""  # as often as its template asks for
        limit = RESTARTS
    counts = {p.name: sum(int(s.get("restartCount") or 0) for s in containers(p)) for p in pods.values()}
    worst = max(counts, key=lambda name: counts[name], default="")
    if not worst or not counts[worst] or job.status.restarts + counts[worst] <= limit:
        return ""
    return f"pod {worst} was started again {counts[worst]} times"


def is_own(pod: Pod) -> bool:
    """Whether the program itself ended with an error, and nobody did anything to it."""
    if pod.condition("DisruptionTarget"):
        return False
    ended = failure_of(pod)
    if ended.get("reason") == "OOMKilled":
        return False
    if "exitCode" in ended:
        return int(ended["exitCode"]) < SIGNALLED
    return pod.status.get("reason") in (None, "", "DeadlineExceeded")


def how(pod: Pod) -> str:
    ended = failure_of(pod)
    reason = ended.get("reason") if ended.get("reason") not in (None, "Error") else pod.status.get("reason")
    code = f"exit code {ended['exitCode']}" if "exitCode" in ended else ""
    return f"pod {pod.name} failed ({', '.join(str(w) for w in (reason, code) if w) or 'unknown'})"


def failure_of(pod: Pod) -> dict[str, Any]:
    """How the first container that failed ended; empty where none tells."""
    for status in containers(pod):
        ended: dict[str, Any] = (status.get("state") or {}).get("terminated") or {}
        if ended.get("exitCode"):
            return ended
    return {}


def containers(pod: Pod) -> tuple[dict[str, Any], ...]:
    return (
        *(pod.status.get("initContainerStatuses") or ()),
        *(pod.status.get("containerStatuses") or ()),
    )


def ended_at(pod: Pod) -> datetime | None:
    text = failure_of(pod).get("finishedAt")
    return datetime.fromisoformat(text) if text else None


def settles_in(pods: dict[str, Pod], failed: Pod, now: datetime) -> float:
    """Seconds to wait for peers that still run: they may have failed before, and not said so yet."""
    ended = ended_at(failed)
    if ended is None or not any(p.phase == "Running" for p in pods.values()):
        return 0
    return max(0.0, SETTLING - (now - ended).total_seconds())
