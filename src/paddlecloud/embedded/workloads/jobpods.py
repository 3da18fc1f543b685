"""Which pods a Job makes and which it takes away while it works; pure.

A pod that is to go loses its finalizer first and is deleted at the next look, so that nobody takes it
for a failure; an active pod without the finalizer is therefore always on its way out.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from ...api.batch import Job
from ...api.core import Pod
from .jobcounting import TRACKING, Crew, Tally, delayed_pods, tracked
from .jobindexes import FAILURES, IGNORED, INDEX, attempts_of, index_of, number
from .jobpolicy import verdict
from .naming import free_names
from .podmaking import generated, pod_of
from .podtimes import ended_at, pause, pause_after
from .ranking import least_needed

ENV = "JOB_COMPLETION_INDEX"
MOST = 500
FIRST = 16


@dataclass(frozen=True)
class Staffing:
    doomed: tuple[Pod, ...] = ()
    made: tuple[Pod, ...] = ()
    again: float | None = None
    """Seconds until a pod may be made that must wait after failures."""


def staff(crew: Crew, tally: Tally, refused: bool, now: datetime) -> Staffing:
    wanted = wanted_pods(crew, tally)
    doomed = surplus(crew, wanted, now)
    gone = {p.uid for p in doomed}
    staying = [p for p in crew.active if p.uid not in gone]
    leaving = len(crew.terminating) + len(doomed) if crew.patient else 0
    missing = wanted - leaving - len(staying)
    if missing <= 0 or crew.job.spec.get("suspend"):
        return Staffing(doomed)
    missing = min(missing, 1 if refused else max(FIRST, len(staying)), MOST)
    if crew.job.indexed:
        made, again = by_index(crew, tally, staying, missing, now)
        return Staffing(doomed, made, again)
    if wait := resting(crew, now):
        return Staffing(doomed, again=wait)
    return Staffing(doomed, alike(crew, missing))


def wanted_pods(crew: Crew, tally: Tally) -> int:
    if crew.job.spec.get("suspend"):
        return 0
    parallelism = int(crew.job.spec.get("parallelism", 1))
    if crew.completions is None:
        # Once one pod has succeeded, the others finish and nobody new begins.
        return min(len(crew.active), parallelism) if tally.all_succeeded else parallelism
    return max(0, min(parallelism, crew.completions - tally.all_succeeded))


def surplus(crew: Crew, wanted: int, now: datetime) -> tuple[Pod, ...]:
    """Who goes: those on their way out, of an index twice or not wanted, then the least needed."""
    doomed = [p for p in crew.active if not tracked(p)]
    left = [p for p in crew.active if tracked(p)]
    if crew.job.indexed:
        best: dict[int | None, Pod] = {}
        for pod in reversed(least_needed(left, len(left), now)):
            best.setdefault(index_of(pod) if crew.valid(pod) else None, pod)
        best.pop(None, None)
        kept = {p.uid for p in best.values()}
        doomed += [p for p in left if p.uid not in kept]
        left = [p for p in left if p.uid in kept]
    return (*doomed, *least_needed(left, max(0, len(left) - wanted), now))


def resting(crew: Crew, now: datetime) -> float:
    failed = [p for p in crew.pods if crew.failed(p)]
    return pause_after(failed, (p for p in crew.pods if p.phase == "Succeeded"), now)


def alike(crew: Crew, number: int) -> tuple[Pod, ...]:
    job = crew.job
    names = free_names(f"{job.name}-", job, {p.name for p in crew.pods})
    template = marked(job.spec.get("template") or {})
    return tuple(generated(pod_of(template, job, name), job) for name in islice(names, number))


def by_index(
    crew: Crew, tally: Tally, staying: Iterable[Pod], number: int, now: datetime
) -> tuple[tuple[Pod, ...], float | None]:
    """Pods for the first indexes that are open; each may have a pause of its own after failures."""
    if crew.per_index is None and (wait := resting(crew, now)):
        return (), wait
    before = delayed_pods(crew)
    pauses = {i: pause(attempts_of(p) + 1, ended_at(p), now) for i, p in before.items()}
    indexes = list(islice(open_indexes(crew, tally, staying), number))
    due = [i for i in indexes if not pauses.get(i)]
    waits = [pauses[i] for i in indexes if pauses.get(i)]
    return tuple(indexed(crew, i, before.get(i)) for i in due), min(waits, default=None)


def open_indexes(crew: Crew, tally: Tally, staying: Iterable[Pod]) -> Iterator[int]:
    taken = {*tally.done, *tally.lost, *(index_of(p) for p in staying)}
    if crew.patient:
        taken |= {index_of(p) for p in crew.terminating}
    return (i for i in range(crew.completions or 0) if i not in taken)


def indexed(crew: Crew, index: int, before: Pod | None) -> Pod:
    """The pod of an index; it knows the number by annotation, label, environment and host name."""
    job = crew.job
    template = marked(job.spec.get("template") or {})
    metadata, spec = template["metadata"], template.setdefault("spec", {})
    metadata["labels"] = {**(metadata.get("labels") or {}), INDEX: str(index)}
    metadata["annotations"] = {
        **(metadata.get("annotations") or {}),
        INDEX: str(index),
        **(failure_counts(job, before) if crew.per_index is not None else {}),
    }
    spec["hostname"] = f"{job.name}-{index}"
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        env = container.get("env") or []
        if all(e.get("name") != ENV for e in env):
            source = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
            container["env"] = [*env, {"name": ENV, "valueFrom": source}]
    prefix = f"{job.name}-{index}-"
    name = next(free_names(prefix, job, {p.name for p in crew.pods}))
    return generated(pod_of(template, job, name), job, prefix)


def failure_counts(job: Job, before: Pod | None) -> dict[str, str]:
    """What the index has behind it: failures that count, and those that were forgiven."""
    if before is None:
        return {FAILURES: "0"}
    counted, forgiven = number(before, FAILURES), number(before, IGNORED)
    if verdict(job, before).counts:
        counted += 1
    else:
        forgiven += 1
    return {FAILURES: str(counted), **({IGNORED: str(forgiven)} if forgiven else {})}


def marked(template: dict[str, Any]) -> dict[str, Any]:
    """The template with the finalizer that keeps a pod until it was counted."""
    body = copy.deepcopy(template)
    metadata = body.setdefault("metadata", {})
    metadata["finalizers"] = list(dict.fromkeys([*(metadata.get("finalizers") or ()), TRACKING]))
    return body
