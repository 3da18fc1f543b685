"""Decides which steps of a pipeline may run now, and what the run has come to; pure.

A step starts when all it needs has succeeded. Its pod is never made twice: a finished pod is listed
again, not rebuilt, and what it handed over (its termination message) is kept in the run's status.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from graphlib import CycleError, TopologicalSorter

from ..api.core import ConfigMap, Pod
from ..api.meta import Condition, Metadata, Progress
from ..api.workflowrun import (
    Graph,
    RunPhase,
    Step,
    StepPhase,
    StepStatus,
    WorkflowRun,
    WorkflowRunStatus,
    graph_of,
)  # fmt: skip
from .conditions import condition, progressing, set_conditions, waiting
from .contract import Controller, Decision, LogQuestion, Note, Question, Ref, Selection, Snapshot

PACKAGE_KEY = "graph.json"
RUN_LABEL, STEP_LABEL = "workflows.paddlepaddle.org/run", "workflows.paddlepaddle.org/step"
PLACEHOLDER = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")


def reconcile(run: WorkflowRun, seen: Snapshot) -> Decision:
    pods = seen.owned(Pod)
    if run.status.phase.final:
        return Decision(run.status, tuple(pods.values()))
    graph, wait = package_of(run, seen)
    if graph is None:
        conditions = set_conditions(run.status.conditions, [wait] if wait else [], seen.now)
        return Decision(run.status.but(conditions=conditions), tuple(pods.values()))
    nodes = nodes_of(run, graph, pods, seen)
    phase = phase_of(nodes)
    starting = [s for s in graph.steps if may_start(s, nodes)] if not failed(nodes) else []
    inputs = {s.name: inputs_of(s, run, graph, nodes) for s in starting}
    wanted = tuple(make_pod(run, s, inputs[s.name]) for s in starting if pod_name(run, s.name) not in pods)
    status = WorkflowRunStatus(
        phase=phase,
        nodes=nodes,
        start_time=run.status.start_time or seen.now,
        completion_time=seen.now if phase.final else None,
        progress=progress_of(nodes),
        conditions=set_conditions(run.status.conditions, conditions_of(phase, nodes), seen.now),
    )
    return Decision(status, (*pods.values(), *wanted), notes=notes(status))


def asks(run: WorkflowRun, seen: Snapshot) -> tuple[Question, ...]:
    """The last words of steps that failed and are not told yet."""
    return tuple(
        LogQuestion(p.namespace, p.name)
        for p in seen.owned(Pod).values()
        if p.phase == "Failed" and not known(run, p).phase.final
    )


def related(run: WorkflowRun) -> tuple[Ref | Selection, ...]:
    return (Ref(ConfigMap, run.namespace, run.spec.pipeline.package),)


CONTROLLER = Controller(
    "workflowrun", WorkflowRun, reconcile, owns=(Pod,), reads=(ConfigMap,), related=related, asks=asks
)


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
    names = [s.name for s in graph.steps]
    if twice := [n for n in names if names.count(n) > 1]:
        return f"two steps are called {twice[0]}"
    for step in graph.steps:
        if unknown := step.needs() - set(names):
            return f"step {step.name} needs step {min(unknown)}, which does not exist"
    try:
        TopologicalSorter({s.name: sorted(s.needs()) for s in graph.steps}).prepare()
    except CycleError as error:
        return f"its steps wait for each other: {' → '.join(error.args[1])}"
    return ""


def nodes_of(run: WorkflowRun, graph: Graph, pods: dict[str, Pod], seen: Snapshot) -> dict[str, StepStatus]:
    """What is known of every step; a final step stays final, whatever becomes of its pod."""
    nodes: dict[str, StepStatus] = {}
    for step in graph.steps:
        old = run.status.nodes.get(step.name, StepStatus())
        pod = pods.get(pod_name(run, step.name))
        if old.phase.final:
            nodes[step.name] = old
        elif pod is not None:
            nodes[step.name] = seen_step(old, pod, seen)
        else:
            nodes[step.name] = unseen_step(old, seen)
    if failed(nodes):
        for name, node in nodes.items():
            if node.phase is StepPhase.WAITING:
                nodes[name] = node.but(phase=StepPhase.SKIPPED, message="a step it needs did not succeed")
    return nodes


def seen_step(old: StepStatus, pod: Pod, seen: Snapshot) -> StepStatus:
    began = old.started_at or moment(pod.status.get("startTime")) or seen.now
    inputs = {
        e["name"].removeprefix("INPUT_"): e.get("value", "")
        for c in pod.spec.get("containers") or ()
        for e in c.get("env") or ()
        if e["name"].startswith("INPUT_")
    }
    step = old.but(phase=StepPhase.RUNNING, pod=pod.name, started_at=began, inputs=inputs)
    ended = terminated(pod)
    if pod.phase == "Succeeded":
        finished = moment(ended.get("finishedAt")) or seen.now
        return step.but(phase=StepPhase.SUCCEEDED, finished_at=finished, outputs=outputs_of(ended))
    if pod.phase == "Failed":
        said = str(seen.answers.get(LogQuestion(pod.namespace, pod.name)) or "").rstrip().splitlines()[-8:]
        message = "\n".join(said) or f"exit code {ended.get('exitCode')}"
        return step.but(phase=StepPhase.FAILED, finished_at=seen.now, message=message)
    return step


def unseen_step(old: StepStatus, seen: Snapshot) -> StepStatus:
    """A step whose pod is not there: not started yet, or its pod was taken away and will not come back."""
    if old.phase is not StepPhase.RUNNING:
        return old
    return old.but(phase=StepPhase.FAILED, finished_at=seen.now, message=f"pod {old.pod} was deleted")


def terminated(pod: Pod) -> dict[str, object]:
    for state in pod.status.get("containerStatuses") or ():
        if ended := (state.get("state") or {}).get("terminated"):
            return dict(ended)
    return {}


def outputs_of(ended: dict[str, object]) -> dict[str, str]:
    try:
        body = json.loads(str(ended.get("message") or "{}"))
    except ValueError:
        return {}
    given = body.get("outputs") if isinstance(body, dict) else None
    return {str(k): str(v) for k, v in given.items()} if isinstance(given, dict) else {}


def may_start(step: Step, nodes: dict[str, StepStatus]) -> bool:
    if nodes[step.name].phase is not StepPhase.WAITING:
        return False
    return all(nodes[n].phase is StepPhase.SUCCEEDED for n in step.needs())


def inputs_of(step: Step, run: WorkflowRun, graph: Graph, nodes: dict[str, StepStatus]) -> dict[str, str]:
    parameters = {**graph.parameters, **run.spec.parameters}
    texts = {}
    for name, binding in step.inputs.items():
        if binding.output is not None:
            source, _, output = binding.output.partition(".")
            texts[name] = nodes[source].outputs.get(output, "")
        elif binding.parameter is not None:
            texts[name] = parameters.get(binding.parameter, "")
        else:
            texts[name] = binding.value or ""
    return texts


def phase_of(nodes: dict[str, StepStatus]) -> RunPhase:
    if failed(nodes) and not any(n.phase is StepPhase.RUNNING for n in nodes.values()):
        return RunPhase.FAILED
    if all(n.phase is StepPhase.SUCCEEDED for n in nodes.values()):
        return RunPhase.SUCCEEDED
    return (
        RunPhase.RUNNING
        if any(n.phase is not StepPhase.WAITING for n in nodes.values())
        else RunPhase.PENDING
    )


def failed(nodes: dict[str, StepStatus]) -> bool:
    return any(n.phase is StepPhase.FAILED for n in nodes.values())


def progress_of(nodes: dict[str, StepStatus]) -> Progress:
    done = sum(1 for n in nodes.values() if n.phase.final)
    return Progress(done=done, total=len(nodes), unit="steps")


def conditions_of(phase: RunPhase, nodes: dict[str, StepStatus]) -> list[Condition]:
    if phase is RunPhase.FAILED:
        name, node = next((k, n) for k, n in nodes.items() if n.phase is StepPhase.FAILED)
        why = f"step {name} failed: {node.message}"
        return [
            condition("Succeeded", False, "StepFailed", why),
            condition("Progressing", False, "Failed", why),
        ]
    if phase is RunPhase.SUCCEEDED:
        return [condition("Succeeded", True, "Succeeded"), progressing("Succeeded")]
    running = ", ".join(k for k, n in nodes.items() if n.phase is StepPhase.RUNNING)
    return [progressing(phase.value, f"running: {running}" if running else "")]


def pod_name(run: WorkflowRun, step: str) -> str:
    return f"{run.name}-{step}"


def make_pod(run: WorkflowRun, step: Step, inputs: dict[str, str]) -> Pod:
    container = {
        "name": "main",
        "image": step.image,
        "command": [PLACEHOLDER.sub(lambda m: inputs.get(m[1], ""), part) for part in step.command],
        "env": [
            {"name": "WORKFLOW_RUN", "value": run.name},
            *({"name": f"INPUT_{key}", "value": value} for key, value in inputs.items()),
        ],
    }
    labels = {RUN_LABEL: run.name, STEP_LABEL: step.name}
    return Pod(
        metadata=Metadata(name=pod_name(run, step.name), namespace=run.namespace, labels=labels),
        spec={"restartPolicy": "Never", "containers": [container], "terminationGracePeriodSeconds": 5},
    )


def known(run: WorkflowRun, pod: Pod) -> StepStatus:
    return run.status.nodes.get(pod.metadata.labels.get(STEP_LABEL, ""), StepStatus())


def moment(text: object) -> datetime | None:
    return datetime.fromisoformat(str(text)) if text else None


def notes(status: WorkflowRunStatus) -> tuple[Note, ...]:
    if status.phase is RunPhase.SUCCEEDED:
        return (Note("Normal", "Succeeded", "every step succeeded"),)
    if status.phase is RunPhase.FAILED:
        message = next((c.message for c in status.conditions if c.type == "Succeeded"), "")
        return (Note("Warning", "Failed", message[:1000]),)
    return ()
