"""Decides which steps of a pipeline may run now, and what the run has come to; pure.

A step starts when all it needs has ended well. Its pod is never made twice: a finished pod is listed
again, not rebuilt, and what it handed over (its last message) is kept in the run's status. A further
attempt is a pod of another name, so that whoever dies between two writes goes on where he was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ..api.core import ConfigMap, Pod
from ..api.meta import Condition, Progress, Resource
from ..api.workflowgraph import Graph, Step, graph_of
from ..api.workflowrun import RunPhase, StepPhase, StepStatus, WorkflowRun, WorkflowRunStatus
from ..api.workflowservice import StepCache
from .conditions import condition, progressing, set_conditions, waiting
from .contract import (
    Controller,
    Decision,
    LogQuestion,
    Note,
    Question,
    Ref,
    Selection,
    Snapshot,
    Update,
    difference,
)
from .workflowcache import kept, usable
from .workflowimports import imported
from .workflowpods import NODE_ANNOTATION, RUN_LABEL, STEP_LABEL, made_artifacts, make_pod, needs_of, pod_name
from .workflowreport import handed, hindrance, moment, recorded, terminated
from .workflowretries import begun_again
from .workflowvalues import NoValue, text_of
from .workflowwalk import Call, Walk

PACKAGE_KEY = "graph.json"
ID_LABEL = "workflows.paddlepaddle.org/id"
"""By which the pipelines service knows a run; a run somebody made by hand has its uid."""
__all__ = ["CONTROLLER", "NODE_ANNOTATION", "PACKAGE_KEY", "RUN_LABEL", "STEP_LABEL", "reconcile"]


def reconcile(run: WorkflowRun, seen: Snapshot) -> Decision:
    pods = seen.owned(Pod)
    again = run.spec.retries > run.status.retries
    if run.status.phase.final and not again:
        return Decision(run.status, tuple(pods.values()))
    graph, wait = package_of(run, seen)
    if graph is None:
        conditions = set_conditions(run.status.conditions, [wait] if wait else [], seen.now)
        return Decision(run.status.but(conditions=conditions), tuple(pods.values()))
    if again:
        run = run.but(status=begun_again(run, graph))
    if run.spec.stop or overdue(run, graph, seen.now):
        return ended_early(run, seen, pods)
    return gone_on(run, graph, seen, pods)


def gone_on(run: WorkflowRun, graph: Graph, seen: Snapshot, pods: dict[str, Pod]) -> Decision:
    sight = Sight(run, seen, pods)
    parameters = {k: v for k, v in graph.parameters.items() if v is not None} | run.spec.parameters
    walk = Walk(graph, run.status.nodes, sight.look, facts_of(run, parameters))
    phase = run_phase(walk.whole(parameters), walk.nodes)
    calls = limited(sight.calls, graph.limit, walk.nodes)
    wanted, needs = [], list(needs_of(run, calls))
    for call in calls:
        try:
            wanted.append(make_pod(run, call, sight.attempts[call.path]))
        except NoValue as error:
            walk.nodes[call.path] = walk.nodes[call.path].but(
                phase=StepPhase.FAILED, message=str(error), finished_at=seen.now
            )
            phase = RunPhase.RUNNING
    status = WorkflowRunStatus(
        phase=phase,
        nodes=walk.nodes,
        start_time=run.status.start_time or seen.now,
        completion_time=seen.now if phase.final else None,
        progress=progress_of(walk.nodes),
        conditions=set_conditions(run.status.conditions, conditions_of(phase, walk.nodes), seen.now),
        retries=run.status.retries,
    )
    soonest = [s for s in (sight.soonest, seconds_left(status, graph, seen.now)) if s is not None]
    return Decision(
        status,
        (*pods.values(), *wanted),
        notes=notes(status),
        needs=(*needs, *sight.keep),
        changes=tuple(sight.corrections),
        check_again=min(soonest) if soonest and not phase.final else None,
    )


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
    soonest: float | None = None

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
        there = next((e for e in self.seen.all(StepCache) if e.name == entry.name), None)
        if there is None:
            self.keep.append(entry)
        elif node.anew and (patch := difference(there, entry)):
            # It was done again because what is remembered is no good.
            self.corrections.append(Update(there, patch))

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
        if call.step.form == "importer":
            return imported(self.run, call, node, self.seen.now)
        entries = {e.name: e for e in self.seen.all(StepCache)}
        if not node.anew and (entry := usable(call, entries, self.seen.now)):
            now = self.seen.now
            return node.but(
                phase=StepPhase.SUCCEEDED, cached=True, started_at=now, finished_at=now,
                inputs=recorded(call.inputs),
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
    step = old.but(
        phase=StepPhase.RUNNING,
        pod=pod.name,
        started_at=began,
        inputs=recorded(call.inputs),
        not_before=None,
        message=hindrance(pod),
    )
    ended = terminated(pod)
    if pod.phase == "Succeeded":
        finished = moment(ended.get("finishedAt")) or seen.now
        outputs, said = handed(ended, {m.name: m for m in seen.all(ConfigMap)})
        if call.step.form == "plain":
            outputs = {name: text_of(value) for name, value in outputs.items()}
        artifacts = {n: {**a, **(said.get(n) or {})} for n, a in made_artifacts(run, call).items()}
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


def limited(calls: list[Call], limit: int, nodes: Mapping[str, StepStatus]) -> list[Call]:
    if not limit:
        return calls
    running = sum(1 for n in nodes.values() if n.phase is StepPhase.RUNNING and not n.group)
    return calls[: max(0, limit - running)]


def ended_early(run: WorkflowRun, seen: Snapshot, pods: dict[str, Pod]) -> Decision:
    """Stop what runs; what has ended stays as it ended."""
    why = "the run was ended" if run.spec.stop else "the run took longer than it may"
    nodes = {}
    for path, node in run.status.nodes.items():
        if node.phase is StepPhase.RUNNING:
            node = node.but(phase=StepPhase.FAILED, message=why, finished_at=seen.now)
        elif node.phase is StepPhase.WAITING:
            node = node.but(phase=StepPhase.OMITTED, message=why)
        nodes[path] = node
    phase = RunPhase.CANCELED if run.spec.stop else RunPhase.FAILED
    told = [condition("Succeeded", False, "Stopped" if run.spec.stop else "TooLong", why)]
    status = run.status.but(
        phase=phase,
        nodes=nodes,
        start_time=run.status.start_time or seen.now,
        completion_time=seen.now,
        progress=progress_of(nodes),
        conditions=set_conditions(run.status.conditions, told, seen.now),
    )
    return Decision(status, tuple(p for p in pods.values() if p.finished), notes=notes(status))


def overdue(run: WorkflowRun, graph: Graph, now: datetime) -> bool:
    left = seconds_left(run.status, graph, now)
    return left is not None and left <= 0


def seconds_left(status: WorkflowRunStatus, graph: Graph, now: datetime) -> float | None:
    if graph.seconds is None or status.start_time is None:
        return None
    return graph.seconds - (now - status.start_time).total_seconds()


def asks(run: WorkflowRun, seen: Snapshot) -> tuple[Question, ...]:
    """The last words of steps that failed and are not told yet."""
    told = {n.pod for n in run.status.nodes.values() if n.phase.final}
    told |= {pod_name(run, path, a) for path, n in run.status.nodes.items() for a in range(n.attempt)}
    return tuple(
        LogQuestion(p.namespace, p.name)
        for p in seen.owned(Pod).values()
        if p.phase == "Failed" and p.name not in told
    )


def related(run: WorkflowRun) -> tuple[Ref | Selection, ...]:
    if run.status.phase.final and run.spec.retries == run.status.retries:
        return ()
    return (
        Ref(ConfigMap, run.namespace, run.spec.pipeline.package),
        Selection(ConfigMap, run.namespace, ((RUN_LABEL, run.name),)),
        Selection(StepCache, run.namespace),
    )


CONTROLLER = Controller(
    "workflowrun",
    WorkflowRun,
    reconcile,
    owns=(Pod,),
    reads=(ConfigMap, StepCache),
    patches=(StepCache,),
    related=related,
    asks=asks,
)


def facts_of(run: WorkflowRun, parameters: Mapping[str, Any]) -> dict[str, str]:
    created = run.metadata.creation_timestamp
    return {
        "run.name": run.name,
        "run.id": run.metadata.labels.get(ID_LABEL) or run.uid,
        "run.namespace": run.namespace,
        "run.created": created.strftime("%Y-%m-%dT%H:%M:%SZ") if created else "",
        "run.serviceAccountName": run.spec.service_account or "default",
        **{f"run.parameters.{name}": text_of(value) for name, value in parameters.items()},
    }


def package_of(run: WorkflowRun, seen: Snapshot) -> tuple[Graph | None, Condition | None]:
    name = run.spec.pipeline.package
    package = seen.find(ConfigMap, name)
    if package is None or PACKAGE_KEY not in package.data:
        return None, waiting(
            "WaitingForPackage", f"waits for the package in ConfigMap {name}; upload the pipeline"
        )
    try:
        graph = graph_of(package.data[PACKAGE_KEY])
    except ValueError as error:
        return None, waiting("BrokenPackage", f"the package in ConfigMap {name} cannot be read: {error}")
    if problem := problem_of(graph):
        return None, waiting("BrokenPackage", f"the package in ConfigMap {name} makes no sense: {problem}")
    return graph, None


def problem_of(graph: Graph) -> str:
    """What would keep a run of the graph from ever ending."""
    for steps in (graph.steps, *(g.steps for g in graph.graphs.values())):
        if problem := problem_of_steps(steps):
            return problem
    for step in graph.every_step():
        if step.graph and step.graph not in graph.graphs:
            return f"step {step.name} is graph {step.graph}, which does not exist"
    return ""


def problem_of_steps(steps: list[Step]) -> str:
    names = [s.name for s in steps]
    if twice := [n for n in names if names.count(n) > 1]:
        return f"two steps are called {twice[0]}"
    for step in steps:
        if unknown := step.needs() - set(names):
            return f"step {step.name} needs step {min(unknown)}, which does not exist"
    try:
        TopologicalSorter({s.name: sorted(s.needs()) for s in steps}).prepare()
    except CycleError as error:
        return f"its steps wait for each other: {' → '.join(error.args[1])}"
    return ""


def run_phase(phase: StepPhase, nodes: Mapping[str, StepStatus]) -> RunPhase:
    if phase is StepPhase.FAILED:
        return RunPhase.FAILED
    if phase is StepPhase.SUCCEEDED:
        return RunPhase.SUCCEEDED
    begun = any(n.phase is not StepPhase.WAITING for n in nodes.values())
    return RunPhase.RUNNING if begun else RunPhase.PENDING


def progress_of(nodes: Mapping[str, StepStatus]) -> Progress:
    steps = [n for n in nodes.values() if not n.group]
    return Progress(done=sum(1 for n in steps if n.phase.final), total=len(steps), unit="steps")


def conditions_of(phase: RunPhase, nodes: Mapping[str, StepStatus]) -> list[Condition]:
    if phase is RunPhase.FAILED:
        failed = [(k, n) for k, n in nodes.items() if n.phase is StepPhase.FAILED]
        # A graph fails because of a step in it: the step is what the user wants to hear of.
        name, node = next((pair for pair in failed if not pair[1].group), failed[0])
        why = f"step {name} failed: {node.message}"
        return [
            condition("Succeeded", False, "StepFailed", why),
            condition("Progressing", False, "Failed", why),
        ]
    if phase is RunPhase.SUCCEEDED:
        return [condition("Succeeded", True, "Succeeded"), progressing("Succeeded")]
    held = [(k, n.message) for k, n in nodes.items() if n.phase is StepPhase.RUNNING and n.message]
    if held:
        name, why = held[0]
        return [waiting("StepCannotStart", f"step {name}: {why}; it goes on by itself, or end the run")]
    running = ", ".join(k for k, n in nodes.items() if n.phase is StepPhase.RUNNING and not n.group)
    return [progressing(phase.value, f"running: {running}" if running else "")]


def notes(status: WorkflowRunStatus) -> tuple[Note, ...]:
    if status.phase is RunPhase.SUCCEEDED:
        return (Note("Normal", "Succeeded", "every step succeeded"),)
    if status.phase in (RunPhase.FAILED, RunPhase.CANCELED):
        message = next((c.message for c in status.conditions if c.type == "Succeeded"), "")
        return (Note("Warning", status.phase.value, message[:1000]),)
    return ()


def known_parameters(graph: Graph, given: Mapping[str, Any]) -> str:
    """What is wrong with the parameters of a run; empty when nothing is."""
    if unknown := sorted(set(given) - set(graph.parameters)):
        has = ", ".join(sorted(graph.parameters)) or "none"
        return f"pipeline {graph.name} has no parameter {unknown[0]!r}; it has {has}"
    if missing := sorted(n for n, v in graph.parameters.items() if v is None and n not in given):
        return f"pipeline {graph.name} needs parameter {missing[0]!r}, which was not given"
    return ""
