"""WorkflowRun: one run of a pipeline, and the small graph language it runs.

A pipeline is a graph of steps. Each step is a container; its inputs are texts, given or taken from the
parameters of the run or the outputs of earlier steps. Whatever wrote the pipeline compiles to this.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from enum import StrEnum
from typing import Any

from .meta import Column, Condition, Progress, Resource, Value

WORKFLOWS = "workflows.paddlepaddle.org/v1alpha1"


class Binding(Value):
    """Where the text of an input comes from; exactly one of the three is set."""

    value: str | None = None
    parameter: str | None = None
    """A parameter of the run."""
    output: str | None = None
    """An output of an earlier step, as `step.name`."""


class Step(Value):
    """One container of the graph."""

    name: str
    image: str
    command: list[str]
    """`{{name}}` stands for the input of that name."""
    inputs: dict[str, Binding] = {}
    after: list[str] = []
    """Steps to wait for besides those whose outputs are used."""
    outputs: list[str] = []

    def needs(self) -> set[str]:
        """The names of the steps that must have succeeded before this one starts."""
        used = {b.output.partition(".")[0] for b in self.inputs.values() if b.output}
        return used | set(self.after)


class Graph(Value):
    """A compiled pipeline."""

    name: str
    parameters: dict[str, str] = {}
    """Defaults."""
    steps: list[Step]

    def digest(self) -> str:
        """The identity of the package: same text, same digest."""
        return hashlib.sha256(json.dumps(self.wire(), sort_keys=True).encode()).hexdigest()


class PipelineRef(Value):
    name: str
    digest: str
    """Digest of the package; it is kept in the ConfigMap `<name>-<first 12 of digest>`."""

    @property
    def package(self) -> str:
        return f"{self.name}-{self.digest[:12]}"


class WorkflowRunSpec(Value):
    pipeline: PipelineRef
    parameters: dict[str, str] = {}
    experiment: str = ""
    generation: str = "v2"


class StepPhase(StrEnum):
    WAITING = "Waiting"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    SKIPPED = "Skipped"

    @property
    def final(self) -> bool:
        return self not in (StepPhase.WAITING, StepPhase.RUNNING)


class StepStatus(Value):
    phase: StepPhase = StepPhase.WAITING
    pod: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}
    cached: bool = False
    message: str = ""


class RunPhase(StrEnum):
    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"

    @property
    def final(self) -> bool:
        return self in (RunPhase.SUCCEEDED, RunPhase.FAILED)


class WorkflowRunStatus(Value):
    phase: RunPhase = RunPhase.PENDING
    nodes: dict[str, StepStatus] = {}
    start_time: datetime | None = None
    completion_time: datetime | None = None
    progress: Progress | None = None
    conditions: list[Condition] = []


class WorkflowRun(Resource):
    """One run of a pipeline: the steps, their inputs and outputs, and how far they are."""

    api_version, plural, short_names = WORKFLOWS, "workflowruns", ("wfr",)
    categories = ("all", "paddle")
    columns = (
        Column("Pipeline", ".spec.pipeline.name"),
        Column("Phase", ".status.phase"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    )

    spec: WorkflowRunSpec
    status: WorkflowRunStatus = WorkflowRunStatus()


def graph_of(text: str) -> Graph:
    """The graph kept as JSON in a package."""
    body: Any = json.loads(text)
    return Graph.model_validate(body)
