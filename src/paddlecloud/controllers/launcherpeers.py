"""Workers that run Paddle's own elastic launcher: who may join, and who ended without having trained; pure.

The launcher lets its processes begin again when a peer comes or goes, so pods come and go without an attempt.
But it ends with 0 when it waited for peers in vain: a worker counts as done only where enough others ran
beside it and its launcher did not say that it gave up. So too few workers are never taken for success.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

from ..api.core import Pod
from ..api.paddlejob import PaddleJob
from .attempts import fingerprint, mark_of
from .contract import LogQuestion, Snapshot
from .elasticstore import store_of
from .faults import Fault, find_fault
from .jobprogress import log_of
from .launchervariables import least

GAVE_UP = re.compile(r"^LAUNCH WARNING .*\bpeer not ready Job: ", re.MULTILINE)
ASKED = 16  # logs of one look: those who give up do so alike


def joining(job: PaddleJob, pods: dict[str, Pod]) -> dict[str, Pod]:
    """The workers that take part; none while they are too few, or when the end is near for some."""
    present = {name: pod for name, pod in pods.items() if pod.ip and not pod.finished}
    ending = any(pod.phase == "Succeeded" for pod in pods.values())
    return present if len(present) >= least(job) and not ending else {}


def fault_of(job: PaddleJob, pods: dict[str, Pod], seen: Snapshot) -> Fault | None:
    """What went wrong, as any job has it, with what is known of launchers where they are at work."""
    found = find_fault(job, pods, seen.now)
    if not job.spec.elastic_launcher:
        return found
    if found is None or found.culprit is None:
        return found or forgotten(job, pods, seen)
    # One that comes back when others are at their end finds nobody.
    late = any(pod.phase == "Succeeded" for pod in pods.values())
    # A launcher may end with a peer that went: the program is to blame only where it is seen not to be that.
    heard = seen.answers.get(log_of(found.culprit)) is not None
    blamed = found.own and heard and not says_so(found.culprit, seen)
    return replace(found, whole=found.whole or late, own=blamed)


def forgotten(job: PaddleJob, pods: dict[str, Pod], seen: Snapshot) -> Fault | None:
    """The fault of an etcd that came back and does not know the workers that began with it."""
    store = store_of(job, seen.owned(Pod))
    known = {mark.peers for pod in pods.values() if (mark := mark_of(pod)) and mark.peers}
    if store is None or known <= {fingerprint([store])}:
        return None
    return Fault(None, f"pod {store.name} came back without what it knew", own=False, whole=True)


def ended_without_peers(job: PaddleJob, pods: dict[str, Pod], seen: Snapshot) -> Fault | None:
    """The fault of workers that ended with 0 without having trained; None where enough did."""
    if not job.spec.elastic_launcher:
        return None
    begun = [pod for pod in pods.values() if mark_of(pod)]
    done = [pod for pod in begun if pod.phase == "Succeeded"]
    alone = tuple(pod for pod in done if gave_up(job, pod, begun, seen))
    if len(done) - len(alone) >= least(job):
        return None
    everybody = len(done) == len(begun)
    if not alone and not (everybody and done):
        return None
    culprit = (alone or tuple(done))[0]
    words = f"pod {culprit.name} ended, but its launcher had not found {least(job)} workers to train with"
    return Fault(culprit, words, own=False, whole=everybody, pods=alone)


def gave_up(job: PaddleJob, pod: Pod, begun: list[Pod], seen: Snapshot) -> bool:
    """Whether a worker that ended with 0 did so for want of peers: it says so, or they were not there."""
    beside = sum(ran_together(pod, other) for other in begun if other is not pod)
    return 1 + beside < least(job) or says_so(pod, seen)


def says_so(pod: Pod, seen: Snapshot) -> bool:
    """Whether the last thing its launcher did was to wait for peers in vain."""
    said = seen.answers.get(log_of(pod))
    return isinstance(said, str) and GAVE_UP.search(said) is not None


def ended_logs(job: PaddleJob, pods: dict[str, Pod]) -> tuple[LogQuestion, ...]:
    """What has to be read to know whether those who ended had trained."""
    if not job.spec.elastic_launcher:
        return ()
    return tuple(log_of(pod) for pod in pods.values() if pod.phase == "Succeeded")[:ASKED]


def ran_together(pod: Pod, other: Pod) -> bool:
    """Whether both ran at some moment, as far as their containers tell of times."""
    if other.phase not in ("Running", "Succeeded", "Failed"):
        return False
    (began, ended), (other_began, other_ended) = run_of(pod), run_of(other)
    after = began is not None and other_ended is not None and other_ended < began
    before = ended is not None and other_began is not None and ended < other_began
    return not after and not before


def run_of(pod: Pod) -> tuple[datetime | None, datetime | None]:
    """When the first container of a pod began and ended."""
    status: dict[str, Any] = next(iter(pod.status.get("containerStatuses") or ()), {})
    state = status.get("state") or {}
    told = state.get("terminated") or state.get("running") or {}
    began, ended = told.get("startedAt"), told.get("finishedAt")
    return (
        datetime.fromisoformat(began) if began else None,
        datetime.fromisoformat(ended) if ended else None,
    )
