"""Counts every pod of a Job exactly once, whatever is lost or killed in between; pure.

A pod carries a finalizer until its end has been counted. Its uid is written to `uncountedTerminatedPods`
first; only a look that reads it there removes the finalizer; only a look that finds the finalizer (or the
pod) gone moves it from the list to the number. Each step can be repeated, none can be done twice.
An index that succeeded needs no list: a set does not count twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...api.batch import Job
from ...api.core import Pod
from ...controllers.contract import Update
from .jobindexes import attempts_of, failures_of, index_of, read_indexes
from .jobpolicy import verdict
from .podstate import active, terminating
from .podtimes import ended_at

TRACKING = "batch.kubernetes.io/job-tracking"


@dataclass(frozen=True)
class Crew:
    """A Job and its pods."""

    job: Job
    pods: tuple[Pod, ...]

    @cached_property
    def active(self) -> tuple[Pod, ...]:
        return tuple(p for p in self.pods if active(p))

    @cached_property
    def terminating(self) -> tuple[Pod, ...]:
        return tuple(p for p in self.pods if terminating(p) and not p.finished)

    @property
    def completions(self) -> int | None:
        said = self.job.spec.get("completions")
        return None if said is None else int(said)

    @property
    def patient(self) -> bool:
        """A pod is replaced when it has ended, not already when it is on its way out."""
        return self.job.spec.get("podReplacementPolicy") == "Failed" or bool(
            self.job.spec.get("podFailurePolicy")
        )

    @property
    def per_index(self) -> int | None:
        return self.job.spec.get("backoffLimitPerIndex")

    def failed(self, pod: Pod) -> bool:
        if pod.phase == "Failed":
            return True
        return not self.patient and terminating(pod) and pod.phase != "Succeeded"

    def valid(self, pod: Pod) -> bool:
        """A pod of an index that is wanted; without indexes every pod is."""
        if not self.job.indexed:
            return True
        index = index_of(pod)
        return index is not None and index < (self.completions or 0)


@dataclass(frozen=True)
class Tally:
    """The status as it should be written now."""

    succeeded: int
    failed: int
    waiting_succeeded: tuple[str, ...]
    waiting_failed: tuple[str, ...]
    done: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()
    """Indexes that have succeeded, and that have failed for good."""

    @property
    def all_succeeded(self) -> int:
        return self.succeeded + len(self.waiting_succeeded)

    @property
    def all_failed(self) -> int:
        return self.failed + len(self.waiting_failed)

    @property
    def settled(self) -> bool:
        return not (self.waiting_succeeded or self.waiting_failed)


def tracked(pod: Pod) -> bool:
    return TRACKING in pod.metadata.finalizers


def count(crew: Crew, failing: bool) -> Tally:
    """One step on from what is stored; a Job that is failing counts whoever is left as failed."""
    status = crew.job.status
    waiting = status.get("uncountedTerminatedPods") or {}
    marked = {p.uid for p in crew.pods if tracked(p)}
    good, bad = list(waiting.get("succeeded") or ()), list(waiting.get("failed") or ())
    kept_good, kept_bad = [u for u in good if u in marked], [u for u in bad if u in marked]
    known = {*good, *bad}
    delayed = {p.uid for p in delayed_pods(crew).values()} if not target(crew.job) else set()
    for pod in crew.pods:
        if not tracked(pod) or pod.uid in known or not crew.valid(pod):
            continue
        if pod.phase == "Succeeded":
            kept_good += [] if crew.job.indexed else [pod.uid]
        elif (crew.failed(pod) or failing) and pod.uid not in delayed and verdict(crew.job, pod).counts:
            kept_bad.append(pod.uid)
    done = succeeded_indexes(crew)
    before = int(status.get("succeeded") or 0) + len(good) - len([u for u in good if u in marked])
    return Tally(
        len(done) if crew.job.indexed else before,
        int(status.get("failed") or 0) + len(bad) - len([u for u in bad if u in marked]),
        tuple(kept_good),
        tuple(kept_bad),
        frozenset(done),
        frozenset(failed_indexes(crew)),
    )


def countable(crew: Crew) -> int:
    """Failures that are seen and neither counted nor waiting to be: those of pods kept for their index."""
    known = (crew.job.status.get("uncountedTerminatedPods") or {}).get("failed") or ()
    return sum(
        tracked(p) and p.uid not in known and crew.failed(p) and crew.valid(p) and verdict(crew.job, p).counts
        for p in delayed_pods(crew).values()
    )


def untracked(crew: Crew, failing: bool) -> tuple[Update, ...]:
    """The pods whose end is in the stored status: nothing is lost when they go."""
    waiting = crew.job.status.get("uncountedTerminatedPods") or {}
    known = {*(waiting.get("succeeded") or ()), *(waiting.get("failed") or ())}
    done = read_indexes(str(crew.job.status.get("completedIndexes") or ""), crew.completions or 0)
    ending = target(crew.job) is not None
    delayed = {p.uid for p in delayed_pods(crew).values()} if not ending else set()

    def free(pod: Pod) -> bool:
        if pod.uid in known or pod.uid in delayed:
            return pod.uid in known
        if not crew.valid(pod):
            return pod.finished or terminating(pod)
        if pod.phase == "Succeeded":
            return crew.job.indexed and index_of(pod) in done
        if crew.failed(pod) or (failing and ending):
            return not verdict(crew.job, pod).counts
        return ending and terminating(pod)

    return untracking(p for p in crew.pods if tracked(p) and free(p))


def untracking(pods: Iterable[Pod]) -> tuple[Update, ...]:
    return tuple(
        Update(p, {"metadata": {"finalizers": [f for f in p.metadata.finalizers if f != TRACKING] or None}})
        for p in pods
    )


def target(job: Job) -> dict[str, Any] | None:
    """What the Job is bound to become, once all its pods are gone and counted."""
    for kind in ("SuccessCriteriaMet", "FailureTarget"):
        for condition in job.status.get("conditions") or ():
            if condition.get("type") == kind and condition.get("status") == "True":
                found: dict[str, Any] = condition
                return found
    return None


def succeeded_indexes(crew: Crew) -> set[int]:
    if not crew.job.indexed:
        return set()
    known = read_indexes(str(crew.job.status.get("completedIndexes") or ""), crew.completions or 0)
    ended = (p for p in crew.pods if p.phase == "Succeeded" and tracked(p) and crew.valid(p))
    return known | {index for p in ended if (index := index_of(p)) is not None}


def failed_indexes(crew: Crew) -> set[int]:
    limit = crew.per_index
    if limit is None:
        return set()
    found = read_indexes(str(crew.job.status.get("failedIndexes") or ""), crew.completions or 0)
    # Who is taken away at the end has not failed at its index.
    for pod in crew.pods if target(crew.job) is None else ():
        index = index_of(pod)
        if index is None or not tracked(pod) or not crew.valid(pod) or not crew.failed(pod):
            continue
        judged = verdict(crew.job, pod)
        if judged.action == "FailIndex" or (judged.counts and failures_of(pod) >= limit):
            found.add(index)
    return found


def delayed_pods(crew: Crew) -> dict[int, Pod]:
    """The last failed pod of each index that is to be tried again: its successor inherits its count."""
    if crew.per_index is None:
        return {}
    over = succeeded_indexes(crew) | failed_indexes(crew) | {index_of(p) for p in crew.active}
    found: dict[int, Pod] = {}
    for pod in crew.pods:
        index = index_of(pod)
        if index is None or index in over or not tracked(pod) or not crew.valid(pod) or not crew.failed(pod):
            continue
        rank = (attempts_of(pod), ended_at(pod))
        if index not in found or rank >= (attempts_of(found[index]), ended_at(found[index])):
            found[index] = pod
    return found
