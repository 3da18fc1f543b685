"""What is seen of the steps of a run: what their pods say, what the cache remembers, which may start; pure.

A pod that exists tells the state of its step; a step without one is started, answered from the cache, or
waits for its next attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ..api.core import ConfigMap, Pod
from ..api.meta import Resource
from ..api.workflowgraph import Step
from ..api.workflowrun import StepPhase, StepStatus, WorkflowRun
from ..api.workflowservice import StepCache
from .contract import LogQuestion, ObjectQuestion, Snapshot, Update, difference
from .workflowcache import cache_key, kept, usable
from .workflowimports import address_of, fetched, fetched_artifacts, imported, told_inputs
from .workflowpods import made_artifacts, pod_name
from .workflowreport import handed, hindrance, moment, recorded, terminated
from .workflowvalues import text_of
from .workflowwalk import Call, told


@dataclass
class Sight:
    """What is seen of the steps that are called, and which of them are to be started."""

    run: WorkflowRun
    seen: Snapshot
    pods: Mapping[str, Pod]
    calls: list[Call] = field(default_factory=list)
    attempts: dict[str, int] = field(default_factory=dict)
    keep: list[Resource] = field(default_factory=list)
    corrections: list[Update] = field(default_factory=list)
    entries: list[ObjectQuestion] = field(default_factory=list)
    """What has to be known of the cache to decide on these steps."""
    unanswered: list[tuple[Call, StepStatus]] = field(default_factory=list)
    """Steps that would start if it was known what the cache has for them."""
    soonest: float | None = None

    def answered(self, seen: Snapshot) -> bool:
        """Go on with what the cache was found to have; whether the walk stands as it is.

        It does unless a step need not run: then others become ready by it.
        """
        if len(self.entries) > len(self.unanswered):
            return False
        self.seen, pending = seen, self.unanswered
        self.unanswered, self.entries = [], []
        return all(self.started(call, node) is node for call, node in pending) and not self.unanswered

    def still(self, path: str, record: StepStatus) -> bool:
        """Whether the pod of a step runs, or waits to, as it did."""
        pod = self.pods.get(record.pod)
        return pod is not None and pod.phase in ("Running", "Pending") and hindrance(pod) == record.message

    def look(self, call: Call, record: StepStatus) -> StepStatus:
        if record.phase.final:
            return record
        node = self.observed(call, record)
        while (again := retried(call.step, node, self.seen.now)) is not None:
            node = self.observed(call, again)
            if node is again:
                break
        if node.phase is StepPhase.SUCCEEDED and (entry := kept(self.run, call, node)):
            self.remember(entry, node)
        if node.phase is StepPhase.WAITING:
            return self.started(call, node)
        return node

    def remember(self, entry: StepCache, node: StepStatus) -> None:
        # Whoever kept the same before is as good.
        self.keep.append(entry)
        if not node.anew:
            return
        there = self.entry(entry.name)
        if there is not None and (patch := difference(there, entry)):
            # It was done again because what is remembered is no good.
            self.corrections.append(Update(there, patch))

    def entry(self, key: str) -> StepCache | None:
        """What is remembered under a key, as far as that was asked."""
        if not key:
            return None
        question = ObjectQuestion(StepCache, self.run.namespace, key)
        self.entries.append(question)
        found = self.seen.answers.get(question)
        return found if isinstance(found, StepCache) else None

    def observed(self, call: Call, record: StepStatus) -> StepStatus:
        """The record with what its pod says; the same record when there is no pod and never was."""
        name = pod_name(self.run, call.path, record.attempt)
        pod = self.pods.get(name)
        if pod is not None:
            return seen_step(self.run, call, record, (pod, self.seen))
        if record.phase is StepPhase.RUNNING:
            message = f"pod {record.pod} was deleted"
            return record.but(phase=StepPhase.FAILED, finished_at=self.seen.now, message=message)
        return record

    def started(self, call: Call, node: StepStatus) -> StepStatus:
        if call.step.form == "importer" and not fetched(address_of(call)):
            return imported(self.run, call, node, self.seen.now)
        remembered = "" if node.anew else cache_key(call)
        entry = self.entry(remembered)
        if remembered and self.entries[-1] not in self.seen.answers:
            # Nobody was asked yet, or it became ready during this walk, by what the cache said of another.
            self.unanswered.append((call, node))
            return node
        if entry is not None and usable(call, entry, self.seen.now):
            now = self.seen.now
            return node.but(
                phase=StepPhase.SUCCEEDED, cached=True, started_at=now, finished_at=now,
                inputs=recorded(told_inputs(call)),
                outputs=entry.spec.outputs, artifacts=entry.spec.artifacts,
                message=f"taken from step {entry.spec.step} of run {entry.spec.run}",
            )  # fmt: skip
        if node.not_before and node.not_before > self.seen.now:
            left = (node.not_before - self.seen.now).total_seconds()
            self.soonest = left if self.soonest is None else min(self.soonest, left)
            return node
        self.calls.append(call)
        self.attempts[call.path] = node.attempt
        return node


def seen_step(run: WorkflowRun, call: Call, old: StepStatus, sight: tuple[Pod, Snapshot]) -> StepStatus:
    pod, seen = sight
    began = old.started_at or moment(pod.status.get("startTime")) or seen.now
    step = told(
        old,
        phase=StepPhase.RUNNING,
        pod=pod.name,
        started_at=began,
        inputs=recorded(told_inputs(call)),
        not_before=None,
        message=hindrance(pod),
    )
    ended = terminated(pod)
    if pod.phase == "Succeeded":
        finished = moment(ended.get("finishedAt")) or seen.now
        outputs, said = handed(ended, {m.name: m for m in seen.all(ConfigMap)})
        if call.step.form == "plain":
            outputs = {name: text_of(value) for name, value in outputs.items()}
        made = made_artifacts(run, call)
        artifacts = {n: {**a, **(said.get(n) or {})} for n, a in made.items()}
        if call.step.form == "importer":
            artifacts = fetched_artifacts(call, made)
        return step.but(
            phase=StepPhase.SUCCEEDED,
            finished_at=finished,
            outputs=recorded(outputs),
            artifacts=recorded(artifacts),
        )
    if pod.phase == "Failed":
        said_last = (
            str(seen.answers.get(LogQuestion(pod.namespace, pod.name)) or "").rstrip().splitlines()[-8:]
        )
        why = str(pod.status.get("message") or "")
        message = "\n".join([why, *said_last] if why else said_last) or f"exit code {ended.get('exitCode')}"
        return step.but(phase=StepPhase.FAILED, finished_at=seen.now, message=message)
    return step


def retried(step: Step, node: StepStatus, now: datetime) -> StepStatus | None:
    """The next attempt of a step that failed, if it has one."""
    used = node.attempt - node.first_attempt
    if node.phase is not StepPhase.FAILED or used >= step.retry.limit:
        return None
    pause = min(step.retry.seconds * step.retry.factor**used, step.retry.longest)
    ended = node.finished_at or now
    return StepStatus(
        attempt=node.attempt + 1,
        first_attempt=node.first_attempt,
        anew=node.anew,
        not_before=ended + timedelta(seconds=pause) if pause else None,
        message=f"attempt {used + 1} failed: {node.message}",
    )
