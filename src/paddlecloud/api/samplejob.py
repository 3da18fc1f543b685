"""SampleJob: one operation on the cached data of a SampleSet: sync, warm up, remove, clear, forecast."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import ConfigDict, Field

from .forecast import Forecast, Outcome
from .meta import Column, Condition, Progress, Resource, Rule, Value, ruled
from .sampleset import SecretReference


class JobType(StrEnum):
    SYNC = "sync"
    WARMUP = "warmup"
    RMR = "rmr"
    CLEAR = "clear"
    FORECAST = "forecast"


class SampleJobPhase(StrEnum):
    NONE = ""
    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"

    @property
    def final(self) -> bool:
        return self in (SampleJobPhase.SUCCEEDED, SampleJobPhase.FAILED)


class Strategy(StrEnum):
    RANDOM = "random"
    SEQUENCE = "sequence"


class ConcurrencyPolicy(StrEnum):
    ALLOW = "Allow"
    FORBID = "Forbid"
    REPLACE = "Replace"


class SampleSetName(Value):
    name: str = ""
    """The SampleSet, in the namespace of the job."""


def dashed(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


class SyncOptions(Value):
    """Options of the copy, named as the tool behind it names them."""

    model_config = ConfigDict(alias_generator=dashed)

    source: str = ""
    """Where to read from; the source of the SampleSet when empty."""
    destination: str = ""
    """Folder in the SampleSet; its root when empty."""
    start: str = ""
    """First key to copy."""
    end: str = ""
    """Last key to copy."""
    threads: int = Field(0, ge=0)
    """Copies at a time."""
    http_port: int = Field(0, ge=0, le=65535)
    """Port on which the copy reports its state."""
    update: bool = False
    """Overwrite what is older than its source."""
    force_update: bool = False
    """Overwrite always."""
    perms: bool = False
    """Keep permissions."""
    dirs: bool = False
    """Copy folders too."""
    dry: bool = False
    """Copy nothing, only tell."""
    delete_src: bool = False
    """Delete at the source what was copied."""
    delete_dst: bool = False
    """Delete at the destination what the source does not have."""
    exclude: str = ""
    """Expression for keys to leave out."""
    include: str = ""
    """Expression for keys to copy after all."""
    manager: str = ""
    """Address of the manager of a copy by several workers."""
    worker: str = ""
    """Hosts of the workers, separated by commas."""
    bwlimit: int = Field(0, ge=0)
    """Megabits a second; 0 for no limit."""
    no_https: bool = False
    """Speak plain HTTP to the source."""


class Ahead(Value):
    """Whose epochs a warm-up runs ahead of."""

    job: str = Field("", min_length=1)
    """The PaddleJob, in the namespace of the job."""
    first_epoch: int | None = Field(None, ge=0)
    """The number by which that job calls its first epoch; 1 when left out."""


class WarmupOptions(Value):
    paths: list[str] = Field([], min_length=1)
    """What to load into the cache, relative to the SampleSet; everything when left out."""
    partitions: int | None = Field(None, ge=1)
    """Kept for older manifests: the partitions of the SampleSet count."""
    strategy_name: Strategy = Strategy.SEQUENCE
    """Which node loads a file: as Paddle's samplers read, shuffled (random) or not (sequence)."""
    batch_size: int | None = Field(None, ge=1)
    """Of the training: who reads a file depends on it."""
    epoch: int | None = Field(None, ge=0)
    """Of the training, for which `random` shuffles."""
    file: str = ""
    """A file in the SampleSet that lists the files to load."""
    file_list: list[str] = Field([], min_length=1)
    """The files in the order in which the training numbers them; sorted by name when left out."""
    threads: int = Field(0, ge=0)
    """Files at a time."""
    bwlimit: int = Field(0, ge=0)
    """Megabits a second; 0 for no limit."""
    ahead: Ahead | None = None
    """Go on while a job trains: when it is in an epoch, load the files of the next."""


class ForecastOptions(Value):
    job: str = ""
    """The PaddleJob that will read the data; one reader a partition when left out."""
    readers: int | None = Field(None, ge=1, le=64)
    """Processes of each worker that read; 2 when left out."""
    seconds: int | None = Field(None, ge=1, le=60)
    """How long to measure; 6 when left out."""
    compute_milliseconds: float | None = Field(None, ge=0)
    """What the training computes for each file; 0 when left out."""
    threads: int = Field(0, ge=0)
    """Files at a time, as in the warm-up that is forecast."""


class RmrOptions(Value):
    paths: list[str] = Field([], min_length=1)
    """What to delete for good, relative to the SampleSet."""


class ClearOptions(Value):
    paths: list[str] = Field([], min_length=1)
    """Cache folders to empty; all when left out."""


class SampleJobSpec(Value):
    model_config = ruled(
        Rule("has(self.type)", "say what to do: type is sync, warmup, rmr, clear or forecast"),
        Rule(
            "has(self.sampleSetRef) && has(self.sampleSetRef.name) && self.sampleSetRef.name != ''",
            "say on which data: sampleSetRef.name",
        ),
        Rule(
            "!has(self.type) || self.type != 'rmr' || (has(self.rmrOptions) && has(self.rmrOptions.paths))",
            "say what to remove: rmrOptions.paths",
        ),
        Rule(
            "has(self.schedule) || !(has(self.timeZone) || has(self.concurrencyPolicy) || "
            "has(self.successfulJobsHistoryLimit) || has(self.failedJobsHistoryLimit))",
            "timeZone, concurrencyPolicy and history limits need a schedule",
        ),
    )

    type: JobType | None = None
    """What to do: sync, warmup, rmr (remove data), clear (empty the cache) or forecast (measure)."""
    sample_set_ref: SampleSetName | None = None
    """The data set to work on."""
    secret_ref: SecretReference | None = None
    """Credentials of the source of a sync."""
    terminate: bool = False
    """End what the cache nodes are doing first."""
    schedule: str = ""
    """When to do it again and again, as in a crontab: five fields, or @hourly, @daily, …"""
    time_zone: str = ""
    """Of the schedule, such as Asia/Shanghai; UTC when empty."""
    suspend: bool = False
    """Begin nothing until this is false again."""
    concurrency_policy: ConcurrencyPolicy | None = None
    """What happens when it is time and the one before has not ended: Allow, Forbid or Replace."""
    successful_jobs_history_limit: int | None = Field(None, ge=0)
    """How many that succeeded are kept; 3 when left out."""
    failed_jobs_history_limit: int | None = Field(None, ge=0)
    """How many that failed are kept; 1 when left out."""
    sync_options: SyncOptions | None = None
    warmup_options: WarmupOptions | None = None
    rmr_options: RmrOptions | None = None
    clear_options: ClearOptions | None = None
    forecast_options: ForecastOptions | None = None


class SampleJobStatus(Value):
    phase: SampleJobPhase = SampleJobPhase.NONE
    job_name: str = ""
    """Under which the cache nodes know the operation."""
    last_schedule_time: datetime | None = None
    """When a schedule last began a job."""
    last_successful_time: datetime | None = None
    """When a job of a schedule last succeeded."""
    active: list[str] = []
    """The jobs of a schedule that have not ended."""
    completion_time: datetime | None = None
    outcome: Outcome | None = None
    """What was done, when it has ended well."""
    forecast: Forecast | None = None
    observed_generation: int = 0
    progress: Progress | None = None
    conditions: list[Condition] = []


class SampleJob(Resource):
    """One operation on the data of a SampleSet: copy it, load it into the cache, remove it."""

    api_version, plural = "batch.paddlepaddle.org/v1alpha1", "samplejobs"
    categories = ("paddle",)
    columns = (
        Column("PHASE", ".status.phase"),
        Column("AGE", ".metadata.creationTimestamp", "date", wide=True),
    )

    spec: SampleJobSpec = SampleJobSpec()
    status: SampleJobStatus = SampleJobStatus()
