"""SampleSet: a data set, where it comes from, and how it is cached near the training."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from .forecast import Forecast
from .meta import Column, Condition, Progress, Resource, Rule, Value, ruled
from .template import Opaque


class SampleSetPhase(StrEnum):
    NONE = ""
    BOUND = "Bound"
    MOUNT = "Mount"
    SYNCING = "Syncing"
    SYNC_FAILED = "SyncFailed"
    PARTIAL_READY = "PartialReady"
    READY = "Ready"


class Driver(StrEnum):
    AUTO = "auto"
    JUICEFS = "juicefs"
    LOCAL = "local"


class SecretReference(Value):
    name: str = ""
    namespace: str = ""


class Source(Value):
    uri: str = Field("", min_length=10)
    """Where the data is: bos://bucket/prefix, s3://…, http(s)://…, file:///path, pvc://claim/folder."""
    secret_ref: SecretReference | None = None
    """Credentials of the source."""


class Csi(Value):
    driver: Driver = Driver.AUTO
    """The cache engine: juicefs, local (plain folders), or auto."""
    juice_fs_mount_options: Opaque = Field({}, alias="juiceFSMountOptions")
    """Options of the JuiceFS mount."""


class MediumType(StrEnum):
    MEM = "MEM"
    SSD = "SSD"
    HDD = "HDD"


class CacheLevel(Value):
    medium_type: MediumType | None = None
    path: str = Field("", min_length=1)
    """Folder on the node; several separated by `:`."""
    cache_size: int | None = Field(None, ge=0)
    """MiB, for all paths of the level together."""


class Cache(Value):
    levels: list[CacheLevel] = Field([], min_length=1)
    """Storage tiers, fastest first."""


class SampleSetSpec(Value):
    partitions: int = Field(1, ge=1)
    """Cache nodes: one partition a node."""
    source: Source | None = None
    """Where the samples come from; cannot change once synced."""
    secret_ref: SecretReference | None = None
    """Secret of the cache engine's file system."""
    no_sync: bool = False
    """The data is in the engine already: skip Syncing."""
    csi: Csi = Csi()
    cache: Cache | None = None
    node_affinity: Opaque = {}
    """Placement of the cache runtimes."""
    tolerations: list[Opaque] = []
    """Tolerations of the cache runtimes."""


class PartitionStatus(Value):
    """What the runtime of one partition says it holds."""

    name: str = ""
    """The pod of the runtime."""
    node: str = ""
    phase: str = ""
    """Idle, Syncing, Verifying, Synced, Cleared or Failed; empty while the runtime does not answer."""
    total_size: str = ""
    total_files: str = ""
    cached_size: str = ""
    disk_size: str = ""
    disk_used: str = ""
    disk_avail: str = ""
    revision: str = ""
    """What this runtime holds: partitions that differ in it hold different data."""
    message: str = ""


class CacheStatus(Value):
    total_size: str = ""
    total_files: str = ""
    cached_size: str = ""
    disk_size: str = ""
    disk_used: str = ""
    disk_avail: str = ""
    disk_usage_rate: str = ""
    error_massage: str = ""
    """Spelled as older clients read it."""
    partitions: list[PartitionStatus] = []
    """One by one, in order."""


class RuntimeStatus(Value):
    spec_replicas: int = 0
    ready_replicas: int = 0
    runtime_ready: str = ""


class JobsName(Value):
    sync_job_name: str = ""
    """Under which the runtimes know the copy from the source."""


class SampleSetStatus(Value):
    phase: SampleSetPhase = SampleSetPhase.NONE
    engine: str = ""
    """What keeps the data: juicefs or local; chosen once."""
    jobs_name: JobsName | None = None
    last_sync_time: datetime | None = None
    """When the last copy from the source was asked for."""
    cache_status: CacheStatus | None = None
    runtime_status: RuntimeStatus | None = None
    revision: str = ""
    """Digest of names, sizes and contents of the files: what a model says it was trained on."""
    forecast: Forecast | None = None
    """The newest that was made."""
    observed_generation: int = 0
    progress: Progress | None = None
    conditions: list[Condition] = []


class SampleSet(Resource):
    """A data set: fetched from its source, verified, and cached on the nodes that train on it."""

    model_config = ruled(
        Rule(
            "!has(oldSelf.spec.source) || !has(oldSelf.spec.source.uri) || (has(self.spec.source) && "
            "has(self.spec.source.uri) && self.spec.source.uri == oldSelf.spec.source.uri) || "
            "(has(oldSelf.status) && has(oldSelf.status.phase) && oldSelf.status.phase == 'SyncFailed')",
            "the source of a data set changes only after a failed sync: make a new SampleSet",
        ),
        Rule(
            "self.metadata.name.matches('^[a-z]([-a-z0-9]{0,45}[a-z0-9])?$')",
            "a data set is called by at most 47 small letters, digits and dashes, a letter first: "
            "its Service is called after it",
        ),
        Rule(
            "!has(oldSelf.spec.csi) || !has(oldSelf.spec.csi.driver) || !has(oldSelf.status) || "
            "!has(oldSelf.status.engine) || (has(self.spec.csi) && has(self.spec.csi.driver) && "
            "self.spec.csi.driver in [oldSelf.spec.csi.driver, oldSelf.status.engine])",
            "the engine of a data set does not change: make a new SampleSet",
        ),
    )

    api_version, plural = "batch.paddlepaddle.org/v1alpha1", "samplesets"
    categories = ("all", "paddle")
    columns = (
        Column("TOTAL SIZE", ".status.cacheStatus.totalSize"),
        Column("CACHED SIZE", ".status.cacheStatus.cachedSize"),
        Column("AVAIL SPACE", ".status.cacheStatus.diskAvail"),
        Column("Runtime", ".status.runtimeStatus.runtimeReady"),
        Column("PHASE", ".status.phase"),
        Column("AGE", ".metadata.creationTimestamp", "date"),
    )

    spec: SampleSetSpec
    status: SampleSetStatus = SampleSetStatus()
