"""WorkflowRun: one run of a pipeline; the graph it runs is in `workflowgraph`."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from .meta import Column, Condition, Progress, Resource, Value
from .workflowgraph import Binding as Binding
from .workflowgraph import Graph as Graph
from .workflowgraph import Step as Step
from .workflowgraph import graph_of as graph_of

WORKFLOWS = "workflows.paddlepaddle.org/v1alpha1"


class PipelineRef(Value):
    name: str
    digest: str
    """Digest of the package; it is kept in the ConfigMap `<name>-<first 12 of digest>`."""

    @property
    def package(self) -> str:
        return f"{self.name}-{self.digest[:12]}"


class WorkflowRunSpec(Value):
    pipeline: PipelineRef
    parameters: dict[str, Any] = {}
    experiment: str = ""
    generation: str = "v2"
    """v1 or v2: which of the two generations of Kubeflow Pipelines wrote the package."""
    display_name: str = ""
    description: str = ""
    pipeline_version: str = ""
    """The PipelineVersion it is a run of, if it was uploaded."""
    recurring_run: str = ""
    service_account: str = ""
    """Whose name the pods of the steps act under."""
    stop: bool = False
    """End it now: what runs is stopped, what waits is not begun."""
    retries: int = 0
    """How often what failed was asked to be tried again after the run had ended."""
    retry_from: str = ""
    """With the last of these also this step and all that came after it."""
    archived: bool = False


class StepPhase(StrEnum):
    WAITING = "Waiting"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    SKIPPED = "Skipped"
    """Its condition did not hold."""
    OMITTED = "Omitted"
    """A step it needs did not succeed."""

    final: bool

    # Asked of every step a dozen times a look: known, not worked out.
    def __init__(self, word: str) -> None:
        self.final = word not in ("Waiting", "Running")


class StepStatus(Value):
    phase: StepPhase = StepPhase.WAITING
    pod: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    # Made anew instead of copied: most steps of a status that is read have none of these.
    inputs: dict[str, Any] = Field(default_factory=dict)
    outputs: dict[str, Any] = Field(default_factory=dict)
    artifacts: dict[str, Any] = Field(default_factory=dict)
    """What it handed over as files: name to place and metadata."""
    cached: bool = False
    message: str = ""
    attempt: int = 0
    """How often it was tried before."""
    first_attempt: int = 0
    """The first of these that counts against the limit: a run that is tried again begins anew."""
    not_before: datetime | None = None
    anew: bool = False
    """Somebody asked for it to be done again: the cache does not answer for it."""
    display: str = ""
    step: str = ""
    """Its name in the graph it is in."""
    group: bool = False
    """A graph, not a pod."""
    cache_key: str = ""
    round: int = 0
    """The last retry of the run that it was made ready for."""


class RunPhase(StrEnum):
    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    CANCELED = "Canceled"

    @property
    def final(self) -> bool:
        return self not in (RunPhase.PENDING, RunPhase.RUNNING)


class WorkflowRunStatus(Value):
    phase: RunPhase = RunPhase.PENDING
    nodes: dict[str, StepStatus] = {}
    """The steps by their paths; of a run with many they are in its StepRecords instead."""
    records: int = 0
    """How many StepRecords the run has."""
    start_time: datetime | None = None
    completion_time: datetime | None = None
    progress: Progress | None = None
    conditions: list[Condition] = []
    retries: int = 0
    """How many of the retries asked for were begun."""


class StepRecordsSpec(Value):
    nodes: dict[str, StepStatus] = {}


class StepRecords(Resource):
    """Some of the steps of a run that has too many, or too large ones, for its status."""

    api_version, plural = WORKFLOWS, "steprecords"
    columns = (Column("Age", ".metadata.creationTimestamp", "date"),)
    has_status = False

    spec: StepRecordsSpec = StepRecordsSpec()


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
