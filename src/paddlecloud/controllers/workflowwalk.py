"""Goes through a graph with what is known of its steps and says what may start; pure.

Only steps that are pods have a state of their own. What a condition says, how long a list is, what a graph
inside the graph hands over: all that is worked out again at every look, from the same records to the same
answer. A step is known by its path: `loop(3)/branch/train`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..api.workflowgraph import Binding, Graph, Step, SubGraph
from ..api.workflowrun import StepPhase, StepStatus
from .workflowvalues import NoValue, Result, Scope, artifact, holds, items_of, resolve

WAITING, RUNNING, SUCCEEDED = StepPhase.WAITING, StepPhase.RUNNING, StepPhase.SUCCEEDED
UNKNOWN = StepStatus()
WAITS = Result(StepPhase.WAITING)
DEEPEST = 64
"""Graphs within graphs; one that contains itself must end somewhere."""


class Call(NamedTuple):
    """A step with all it is given."""

    path: str
    step: Step
    inputs: dict[str, Any]
    artifacts: dict[str, Any]
    facts: Mapping[str, str]
    extras: Mapping[str, Any] = {}


Look = Callable[[Call, StepStatus], StepStatus]
"""What is known of a step that was called: its record brought up to date, or started (still waiting)."""
Still = Callable[[str, StepStatus], bool]
"""Whether a step that runs goes on as its record says."""


@dataclass
class Walk:
    graph: Graph
    records: Mapping[str, StepStatus]
    look: Look
    facts: Mapping[str, str]
    still: Still = lambda path, record: False
    nodes: dict[str, StepStatus] = field(default_factory=dict)
    """What is known after the walk, by path."""

    def whole(self, parameters: Mapping[str, Any]) -> StepPhase:
        scope = Scope(parameters, {}, {}, self.facts, self.graph.lenient)
        phase = self.steps("", self.graph.top, scope, 0).phase
        if phase.final and self.graph.on_exit is not None:
            status = {"run.status": "Failed" if phase is StepPhase.FAILED else "Succeeded"}
            last = replace(scope, facts={**self.facts, **status})
            ended = self.once("onExit", self.graph.on_exit, last, 0)
            if not ended.phase.final:
                return StepPhase.RUNNING
            if ended.phase is StepPhase.FAILED:
                return StepPhase.FAILED
        return phase

    def steps(self, prefix: str, graph: SubGraph, scope: Scope, depth: int) -> Result:
        """All steps of a graph, each after what it needs."""
        results: dict[str, Result] = {}
        scope = replace(scope, results=results)
        for step in graph.ordered:
            results[step.name] = self.step(prefix + step.name, step, scope, depth)
        return Result(
            phase_of(results.values()),
            handed(graph.outputs, lambda b: resolve(b, scope)),
            handed(graph.artifacts, lambda b: artifact(b, scope)),
        )

    def step(self, path: str, step: Step, scope: Scope, depth: int) -> Result:
        if old := self.old_news(path, step):
            return old
        verdict, why = readiness(step, scope.results, self.graph.after_skipped)
        if verdict is not StepPhase.RUNNING:
            return self.note(path, step, verdict, why)
        try:
            if step.when is not None:
                known = {n: resolve(b, scope) for n, b in step.inputs.items() if of_now(b) and b.item is None}
                if not holds(step.when, scope, known):
                    return self.note(path, step, StepPhase.SKIPPED, "its condition does not hold")
            if step.each is None:
                return self.once(path, step, scope, depth)
            return self.loop(path, step, scope, depth)
        except NoValue as error:
            return self.note(path, step, StepPhase.FAILED, str(error))

    def old_news(self, path: str, step: Step) -> Result | None:
        """What is known of a step that is a pod, if it has succeeded or runs as before: no need to resolve
        what it was given.

        Most steps of a long run have. One that comes whatever happened waits anew when others do.
        """
        record = self.records.get(path)
        # What has no name yet was not written by a walk.
        if record is None or not record.step or step.graph or step.each or step.always:
            return None
        if record.phase is SUCCEEDED or (record.phase is RUNNING and self.still(path, record)):
            self.nodes[path] = record
            return Result(record.phase, record.outputs, record.artifacts)
        return None

    def loop(self, path: str, step: Step, scope: Scope, depth: int) -> Result:
        assert step.each is not None
        items = items_of(resolve(step.each.items, scope))
        results: list[Result] = []
        active = 0
        for index, item in enumerate(items):
            place = f"{path}({index})"
            if step.each.limit and active >= step.each.limit:
                results.append(self.note(place, step, StepPhase.WAITING, "waits for its turn in the loop"))
                continue
            try:
                results.append(self.once(place, step, replace(scope, item=item), depth))
            except NoValue as error:
                results.append(self.note(place, step, StepPhase.FAILED, str(error)))
            active += not results[-1].phase.final
        phase = phase_of(results)
        self.group(path, step, phase)
        outputs, artifacts = self.names(step)
        return Result(
            phase,
            collected(outputs, (r.outputs for r in results)),
            collected(artifacts, (r.artifacts for r in results)),
        )

    def names(self, step: Step) -> tuple[Iterable[str], Iterable[str]]:
        """What a step hands over."""
        if step.graph:
            body = self.graph.graphs[step.graph]
            return body.outputs, body.artifacts
        return step.handed(), step.makes

    def once(self, path: str, step: Step, scope: Scope, depth: int) -> Result:
        inputs = inputs_of(step, scope)
        artifacts = {name: artifact(b, scope) for name, b in step.artifacts.items() if not absent(b, scope)}
        if step.graph:
            return self.inner(path, step, (inputs, artifacts), depth)
        extras = {name: resolve(b, scope, inputs) for name, b in step.extras.items()}
        call = Call(path, step, inputs, artifacts, scope.facts, extras)
        node = self.look(call, self.records.get(path, UNKNOWN))
        self.nodes[path] = told(node, step=step.name, display=step.display or step.name)
        return Result(node.phase, node.outputs, node.artifacts)

    def inner(
        self, path: str, step: Step, given: tuple[dict[str, Any], dict[str, Any]], depth: int
    ) -> Result:
        if depth >= DEEPEST:
            raise NoValue(f"graphs are nested more than {DEEPEST} deep; does {step.graph} ever end?")
        body = self.graph.graphs[step.graph]
        inputs, artifacts = given
        scope = Scope({**body.defaults, **inputs}, artifacts, {}, self.facts)
        result = self.steps(f"{path}/", body, scope, depth + 1)
        self.group(path, step, result.phase)
        return result

    def group(self, path: str, step: Step, phase: StepPhase) -> None:
        record = self.records.get(path, UNKNOWN)
        self.nodes[path] = told(
            record, phase=phase, group=True, step=step.name, display=step.display or step.name, message=""
        )

    def note(self, path: str, step: Step, phase: StepPhase, why: str) -> Result:
        """A step that is not called, and why."""
        record = self.records.get(path, UNKNOWN)
        if record.phase is WAITING and phase is WAITING and record.step and record.message == why:
            # Most of what is left of a long run.
            self.nodes[path] = record
            return WAITS
        grouped = bool(step.graph or step.each)
        self.nodes[path] = told(
            record, phase=phase, message=why, step=step.name, display=step.display or step.name, group=grouped
        )
        return WAITS if phase is StepPhase.WAITING else Result(phase)


def told(record: StepStatus, **changes: Any) -> StepStatus:
    """The record with the changes; itself where they change nothing: most of a thousand do not."""
    same = all(getattr(record, name) == value for name, value in changes.items())
    return record if same else record.but(**changes)


def readiness(step: Step, results: Mapping[str, Result], after_skipped: bool) -> tuple[StepPhase, str]:
    """Running when it may be called, else what it is instead, and why."""
    verdict = RUNNING
    for name in step.needs():
        phase = results.get(name, WAITS).phase
        if phase is not SUCCEEDED:
            verdict = WAITING
            if phase.final:
                break
    else:
        if not step.always:
            # Nearly every step of nearly every look.
            return verdict, ""
    needed = {
        name: results[name].phase if name in results else UNKNOWN.phase for name in sorted(step.needs())
    }
    if step.always:
        open_ones = [name for name, phase in needed.items() if not phase.final]
        return (StepPhase.WAITING, f"waits for {open_ones[0]}") if open_ones else (StepPhase.RUNNING, "")
    for name, phase in needed.items():
        if phase in (StepPhase.FAILED, StepPhase.OMITTED):
            return StepPhase.OMITTED, f"step {name}, which it needs, did not succeed"
        if phase is StepPhase.SKIPPED and not after_skipped:
            return StepPhase.OMITTED, f"step {name}, which it needs, was skipped"
    open_ones = [name for name, phase in needed.items() if not phase.final]
    return (StepPhase.WAITING, "") if open_ones else (StepPhase.RUNNING, "")


def phase_of(results: Iterable[Result]) -> StepPhase:
    phases = [r.phase for r in results]
    if any(not p.final for p in phases):
        begun = any(p is not StepPhase.WAITING for p in phases)
        return StepPhase.RUNNING if begun else StepPhase.WAITING
    return StepPhase.FAILED if StepPhase.FAILED in phases else StepPhase.SUCCEEDED


def inputs_of(step: Step, scope: Scope) -> dict[str, Any]:
    """Those that refer to other inputs of the step come last."""
    inputs: dict[str, Any] = {}
    later = {n: b for n, b in step.inputs.items() if not of_now(b)}
    for name, binding in step.inputs.items():
        if name not in later:
            inputs[name] = resolve(binding, scope)
    for name, binding in later.items():
        inputs[name] = resolve(binding, scope, inputs)
    return inputs


def of_now(binding: Binding) -> bool:
    """Whether it can be resolved without the other inputs of the step and without an item."""
    return "{{input." not in (binding.template or "")


def absent(binding: Binding, scope: Scope) -> bool:
    """An artifact that the graph was not given; whoever needs it says so."""
    return binding.parameter is not None and binding.parameter not in scope.artifacts


def handed(outputs: Mapping[str, list[Binding]], value: Callable[[Binding], Any]) -> dict[str, Any]:
    """What a graph hands over: of each the first that is there."""
    found: dict[str, Any] = {}
    for name, bindings in outputs.items():
        for binding in bindings:
            try:
                found[name] = value(binding)
                break
            except NoValue:
                continue
    return found


def collected(names: Iterable[str], parts: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The outputs of all rounds of a loop, as lists; of no rounds they are empty."""
    lists: dict[str, list[Any]] = {name: [] for name in names}
    for part in parts:
        for name, value in part.items():
            lists.setdefault(name, []).append(value)
    return lists
