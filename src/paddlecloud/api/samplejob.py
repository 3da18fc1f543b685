"""SampleJob: one operation on the cached data of a SampleSet: sync, warm up, remove, clear."""

from __future__ import annotations

from enum import StrEnum

from pydantic import ConfigDict, Field

from .meta import Column, Condition, Progress, Resource, Value
from .sampleset import SecretReference


class JobType(StrEnum):
    SYNC = "sync"
    WARMUP = "warmup"
    RMR = "rmr"
    CLEAR = "clear"


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


class WarmupOptions(Value):
    paths: list[str] = Field([], min_length=1)
    """What to load into the cache, relative to the SampleSet; everything when left out."""
    partitions: int | None = Field(None, ge=1)
    """Kept for older manifests: the partitions of the SampleSet count."""
    strategy_name: Strategy = Strategy.SEQUENCE
    """How files are spread over the cache nodes: sequence or random."""
    file: str = ""
    """A file in the SampleSet that lists the files to load."""
    threads: int = Field(0, ge=0)
    """Files at a time."""


class RmrOptions(Value):
    paths: list[str] = Field([], min_length=1)
    """What to delete for good, relative to the SampleSet."""


class ClearOptions(Value):
    paths: list[str] = Field([], min_length=1)
    """Cache folders to empty; all when left out."""


class SampleJobSpec(Value):
    type: JobType | None = None
    """What to do: sync, warmup, rmr (remove data) or clear (empty the cache)."""
    sample_set_ref: SampleSetName | None = None
    """The data set to work on."""
    secret_ref: SecretReference | None = None
    """Credentials of the source of a sync."""
    terminate: bool = False
    """End what the cache nodes are doing first."""
    sync_options: SyncOptions | None = None
    warmup_options: WarmupOptions | None = None
    rmr_options: RmrOptions | None = None
    clear_options: ClearOptions | None = None


class SampleJobStatus(Value):
    phase: SampleJobPhase = SampleJobPhase.NONE
    job_name: str = ""
    """Under which the cache nodes know the operation."""
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
