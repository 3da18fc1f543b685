"""Plays a graph to its end without a cluster: every pod that is made ends as the play says."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.decisions.builders import NOW, a_package, a_pod, a_run, seen

from paddlecloud.api.core import Pod
from paddlecloud.api.workflowgraph import Graph
from paddlecloud.api.workflowrun import WorkflowRun, WorkflowRunStatus
from paddlecloud.controllers.contract import ObjectQuestion, Question, Snapshot, Update
from paddlecloud.controllers.workflowpods import NODE_ANNOTATION
from paddlecloud.controllers.workflowrun import CONTROLLER, reconcile
from paddlecloud.pipelines.reading import read_package

PACKAGES = Path(__file__).parent / "packages"
End = Callable[[str, Pod], dict[str, Any] | None]
"""The outputs of the pod of a path, or None for one that fails."""


class Play:
    """A run and all that was made for it."""

    def __init__(self, graph: Graph, end: End, **parameters: Any) -> None:
        self.graph, self.end = graph, end
        self.run: WorkflowRun = a_run(graph)
        spec = self.run.spec.but(parameters=parameters)
        self.run = self.run.but(spec=spec)
        self.pods: dict[str, Pod] = {}
        self.ended: dict[str, Pod] = {}
        self.made: dict[str, Pod] = {}
        self.changes: list[Update] = []
        self.most_at_once = 0
        self.related: list[Any] = [a_package(graph)]
        self.now = NOW

    def look(self) -> None:
        self.now += timedelta(seconds=5)
        everything = (*self.ended.values(), *self.pods.values())
        decision = reconcile(self.run, self.sight(*everything))
        assert isinstance(decision.status, WorkflowRunStatus)
        self.run = self.run.but(status=decision.status)
        self.related += [n for n in (*decision.needs, *decision.afterwards) if n not in self.related]
        kept = {c.name: c for c in decision.children if isinstance(c, Pod)}
        new = {n: p for n, p in kept.items() if n not in self.pods and n not in self.ended}
        assert not set(new) & set(self.ended)
        self.made |= new
        self.changes += decision.changes
        self.pods = {n: p for n, p in self.pods.items() if n in kept} | new

    def sight(self, *children: Pod) -> Snapshot:
        """What is there, with what is remembered of earlier steps where that is asked."""
        first = seen(self.run, *children, related=self.related, now=self.now)
        remembered = {o.name: o for o in self.related}
        questions = CONTROLLER.asks(self.run, first)
        answers: dict[Question, Any] = {
            q: remembered.get(q.name) for q in questions if isinstance(q, ObjectQuestion)
        }
        return replace(first, answers=answers)

    def finish(self) -> None:
        """All pods that run end now."""
        self.most_at_once = max(self.most_at_once, len(self.pods))
        for name, pod in self.pods.items():
            outputs = self.end(pod.metadata.annotations[NODE_ANNOTATION], pod)
            message = json.dumps({"outputs": outputs}) if outputs is not None else ""
            state = {"terminated": {"exitCode": int(outputs is None), "message": message}}
            status = {"containerStatuses": [{"state": state}]}
            self.ended[name] = a_pod(name, "Failed" if outputs is None else "Succeeded", status=status)
        self.pods = {}

    def to_the_end(self) -> WorkflowRunStatus:
        for _ in range(60):
            self.look()
            if self.run.status.phase.final:
                return self.run.status
            self.finish()
        raise AssertionError(f"the run does not end: {self.run.status}")

    def phases(self) -> dict[str, str]:
        return {path: node.phase.value for path, node in self.run.status.nodes.items()}


def graph_of_package(name: str) -> Graph:
    return read_package((PACKAGES / f"{name}.yaml").read_bytes(), name).graph


def command_of(pod: Pod) -> list[str]:
    """What the launcher of a step is to run."""
    return list(pod.spec["containers"][0]["command"][3:])


def executor_input(pod: Pod) -> dict[str, Any]:
    command = command_of(pod)
    body: dict[str, Any] = json.loads(command[command.index("--executor_input") + 1])
    return body
