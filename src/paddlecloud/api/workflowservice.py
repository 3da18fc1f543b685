"""What the pipelines service keeps beside runs: experiments, pipelines, versions, schedules, the cache."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from .meta import Column, Condition, Resource, Value
from .workflowrun import WORKFLOWS, PipelineRef, WorkflowRunSpec

AGE = Column("Age", ".metadata.creationTimestamp", "date")


class ExperimentSpec(Value):
    display_name: str = ""
    description: str = ""
    archived: bool = False


class Experiment(Resource):
    """A group of runs."""

    api_version, plural = WORKFLOWS, "experiments"
    categories = ("paddle",)
    columns = (Column("Name", ".spec.displayName"), AGE)
    has_status, holds_data = False, True

    spec: ExperimentSpec = ExperimentSpec()


class PipelineSpec(Value):
    display_name: str = ""
    description: str = ""
    default_version: str = ""
    """The version a run is of that names none; empty: the newest."""


class Pipeline(Resource):
    """A pipeline that was uploaded; its packages are its versions."""

    api_version, plural = WORKFLOWS, "pipelines"
    categories = ("paddle",)
    columns = (Column("Name", ".spec.displayName"), AGE)
    has_status, holds_data = False, True

    spec: PipelineSpec = PipelineSpec()


class PipelineVersionSpec(Value):
    pipeline: str
    """Name of the Pipeline."""
    display_name: str = ""
    description: str = ""
    package: PipelineRef
    generation: str = "v2"


class PipelineVersion(Resource):
    """One package of a pipeline; it does not change."""

    api_version, plural = WORKFLOWS, "pipelineversions"
    categories = ("paddle",)
    columns = (Column("Pipeline", ".spec.pipeline"), Column("Name", ".spec.displayName"), AGE)
    has_status, holds_data, immutable = False, True, True

    spec: PipelineVersionSpec


class RecurringRunSpec(Value):
    display_name: str = ""
    description: str = ""
    enabled: bool = True
    run: WorkflowRunSpec
    """The spec of the runs it makes."""
    cron: str = ""
    """Six fields, seconds first; or a word such as @daily. Times are of UTC."""
    interval_seconds: int = Field(0, ge=0)
    """Instead of cron: a run so long after the one before."""
    start_time: datetime | None = None
    """Moments after it count; without it those after its making."""
    end_time: datetime | None = None
    max_concurrency: int = Field(1, ge=1)
    """So many of its runs may be under way; a moment that comes meanwhile waits."""
    no_catchup: bool = False
    """Of moments that were missed only the last one is made up for."""
    max_history: int | None = Field(None, ge=1)
    """So many of its runs that have ended are kept, the newest; without it all."""


class RecurringRunStatus(Value):
    last_trigger_time: datetime | None = None
    """The newest moment that a run was made for."""
    active: list[str] = []
    """Its runs that have not ended."""
    conditions: list[Condition] = []


class RecurringRun(Resource):
    """Runs of one pipeline at times of a schedule."""

    api_version, plural = WORKFLOWS, "recurringruns"
    categories = ("paddle",)
    columns = (
        Column("Name", ".spec.displayName"),
        Column("Cron", ".spec.cron"),
        Column("Enabled", ".spec.enabled", "boolean"),
        Column("Last", ".status.lastTriggerTime", "date"),
        AGE,
    )

    spec: RecurringRunSpec
    status: RecurringRunStatus = RecurringRunStatus()


class StepCacheSpec(Value):
    outputs: dict[str, Any] = {}
    artifacts: dict[str, Any] = {}
    run: str = ""
    step: str = ""
    within_seconds: float | None = None
    """How long it may be used, as the step that left it said."""


class StepCache(Resource):
    """What a step handed over, under the digest of all it was made of and given."""

    api_version, plural = WORKFLOWS, "stepcaches"
    columns = (Column("Run", ".spec.run"), Column("Step", ".spec.step"), AGE)
    has_status, immutable = False, True

    spec: StepCacheSpec = StepCacheSpec()
