"""Decides which steps of a pipeline may run now, and what the run has come to; pure.

A step starts when all it needs has ended well. Its pod is never made twice: a finished pod is listed
again, not rebuilt, and what it handed over (its last message) is kept in the run's status. A further
attempt is a pod of another name, so that whoever dies between two writes goes on where he was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..api.core import ConfigMap, Pod
from ..api.meta import Condition, Progress
from ..api.workflowgraph import Graph
from ..api.workflowrun import (
    RunPhase,
    StepPhase,
    StepRecords,
    StepStatus,
    WorkflowRun,
    WorkflowRunStatus,
)
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
)
from .workflowpackages import PACKAGE_KEY, known_parameters, package_of, problem_of
from .workflowpods import NODE_ANNOTATION, RUN_LABEL, STEP_LABEL, launcher, make_pod, needs_of, pod_name
from .workflowrecords import gathered
from .workflowrecords import kept as kept_records
from .workflowretries import begun_again
from .workflowsight import Sight
from .workflowvalues import NoValue, text_of
from .workflowwalk import Call, Walk, told

WALKED = "walked"
MANY, A_STEP, LONGEST_REST = 10, 0.005, 1.0
"""From how many steps at once their ends are seen together, and how many seconds each of them adds."""
ID_LABEL = "workflows.paddlepaddle.org/id"
"""By which the pipelines service knows a run; a run somebody made by hand has its uid."""
__all__ = [
    "CONTROLLER", "NODE_ANNOTATION", "PACKAGE_KEY", "RUN_LABEL", "STEP_LABEL",
    "known_parameters", "problem_of", "reconcile",
]  # fmt: skip


def reconcile(run: WorkflowRun, seen: Snapshot) -> Decision:
    pods = seen.owned(Pod)
    records = tuple(seen.owned(StepRecords).values())
    again = run.spec.retries > run.status.retries
    if run.status.phase.final and not again:
        return Decision(run.status, (*pods.values(), *records))
    graph, wait = package_of(run, seen)
    if graph is None:
        conditions = set_conditions(run.status.conditions, [wait] if wait else [], seen.now)
        return Decision(run.status.but(conditions=conditions), (*pods.values(), *records))
    known = seen.worked.pop(WALKED, None)
    if known is None or not known.stands(seen):
        known = Walked(resumed(gathered(run, records), graph))
    whole = known.run
    if run.spec.stop or overdue(whole, graph, seen.now):
        decision = ended_early(whole, seen, pods)
    else:
        decision = gone_on(known, graph, seen, pods)
    assert isinstance(decision.status, WorkflowRunStatus)
    laid = kept_records(run, decision.status, records)
    return replace(
        decision,
        status=laid.status,
        children=(*decision.children, *laid.children),
        changes=(*decision.changes, *laid.changes),
        notes=notes(laid.status),
        counts_only=laid.patient,
    )


def resumed(run: WorkflowRun, graph: Graph) -> WorkflowRun:
    """The run as it goes on, if somebody asked for that after its end."""
    again = run.spec.retries > run.status.retries
    return run.but(status=begun_again(run, graph)) if again else run


@dataclass
class Walked:
    """A run with all its steps, and what a walk through them found, once there was one."""

    run: WorkflowRun
    found: tuple[Sight, Walk, StepPhase] | None = None
    heard: bool = False
    """Whether last words were asked for: what they were is told of the steps that said them."""

    def stands(self, seen: Snapshot) -> bool:
        """Whether a walk before the answers came is what one with them would be."""
        sight = self.found[0] if self.found else None
        return sight is not None and not self.heard and (not sight.entries or sight.answered(seen))

    def walk(self, graph: Graph, seen: Snapshot) -> tuple[Sight, Walk, StepPhase]:
        if self.found is None:
            run, sight = self.run, Sight(self.run, seen, seen.owned(Pod))
            parameters = {k: v for k, v in graph.parameters.items() if v is not None} | run.spec.parameters
            walk = Walk(graph, run.status.nodes, sight.look, facts_of(run, parameters), sight.still)
            self.found = sight, walk, walk.whole(parameters)
        return self.found


def gone_on(known: Walked, graph: Graph, seen: Snapshot, pods: dict[str, Pod]) -> Decision:
    run = known.run
    sight, walk, ended = known.walk(graph, seen)
    phase = run_phase(ended, walk.nodes)
    calls = limited(sight.calls, graph.limit, walk.nodes)
    wanted, needs = [], needs_of(run, calls, seen.all(ConfigMap))
    for call in calls:
        try:
            wanted.append(make_pod(run, call, sight.attempts[call.path]))
        except NoValue as error:
            walk.nodes[call.path] = walk.nodes[call.path].but(
                phase=StepPhase.FAILED, message=str(error), finished_at=seen.now
            )
            phase = RunPhase.RUNNING
    nodes = walk.nodes
    if run.spec.retries:
        nodes = {path: told(node, round=run.spec.retries) for path, node in nodes.items()}
    status = WorkflowRunStatus(
        phase=phase,
        nodes=nodes,
        start_time=run.status.start_time or seen.now,
        completion_time=seen.now if phase.final else None,
        progress=progress_of(nodes),
        conditions=set_conditions(run.status.conditions, conditions_of(phase, nodes), seen.now),
        retries=run.status.retries,
    )
    soonest = [s for s in (sight.soonest, seconds_left(status, graph, seen.now)) if s is not None]
    soonest += [0.0] if sight.unanswered else []
    return Decision(
        status,
        (*pods.values(), *wanted),
        needs=needs,
        # What is told of a step comes last: who dies before finds it again from the pod.
        afterwards=tuple(sight.keep),
        changes=tuple(sight.corrections),
        check_again=min(soonest) if soonest and not phase.final else None,
        unhurried=unhurried(nodes),
    )


def unhurried(nodes: Mapping[str, StepStatus]) -> float:
    """How long the ends of steps may wait to be seen, because no other step waits for them.

    A look goes through all steps: the more of them run, the more ends one look is to see.
    """
    if any(n.phase is StepPhase.WAITING for n in nodes.values()):
        return 0.0
    running = sum(1 for n in nodes.values() if n.phase is StepPhase.RUNNING and not n.group)
    return min(A_STEP * running, LONGEST_REST) if running >= MANY else 0.0


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
    return Decision(status, tuple(p for p in pods.values() if p.finished))


def overdue(run: WorkflowRun, graph: Graph, now: datetime) -> bool:
    left = seconds_left(run.status, graph, now)
    return left is not None and left <= 0


def seconds_left(status: WorkflowRunStatus, graph: Graph, now: datetime) -> float | None:
    if graph.seconds is None or status.start_time is None:
        return None
    return graph.seconds - (now - status.start_time).total_seconds()


def asks(run: WorkflowRun, seen: Snapshot) -> tuple[Question, ...]:
    """The last words of steps that failed and are not told yet, and what the cache has for those to start."""
    again = run.spec.retries > run.status.retries
    if run.status.phase.final and not again:
        return ()
    run = gathered(run, seen.owned(StepRecords).values())
    graph, _ = package_of(run, seen)
    if graph is None or run.spec.stop:
        return last_words(run, seen)
    if not graph.asks_cache:
        return last_words(run, seen)
    known = seen.worked[WALKED] = Walked(resumed(run, graph))
    sight, _, _ = known.walk(graph, seen)
    words = last_words(known.run, seen)
    known.heard = bool(words)
    return (*words, *sight.entries)


def last_words(run: WorkflowRun, seen: Snapshot) -> tuple[Question, ...]:
    failed = [p for p in seen.owned(Pod).values() if p.phase == "Failed"]
    if not failed:
        return ()
    told = {n.pod for n in run.status.nodes.values() if n.phase.final}
    told |= {pod_name(run, path, a) for path, n in run.status.nodes.items() for a in range(n.attempt)}
    return tuple(LogQuestion(p.namespace, p.name) for p in failed if p.name not in told)


def related(run: WorkflowRun) -> tuple[Ref | Selection, ...]:
    if run.status.phase.final and run.spec.retries == run.status.retries:
        return ()
    return (
        Ref(ConfigMap, run.namespace, run.spec.pipeline.package),
        Ref(ConfigMap, run.namespace, launcher().name),
        Selection(ConfigMap, run.namespace, ((RUN_LABEL, run.name),)),
    )


CONTROLLER = Controller(
    "workflowrun",
    WorkflowRun,
    reconcile,
    owns=(Pod, StepRecords),
    reads=(ConfigMap,),
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
