"""The model hub: models, immutable versions, and a ledger of who moved which alias when."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from .meta import Column, Condition, Progress, Resource, Rule, Value, ruled
from .sampleset import SecretReference

HUB = "hub.paddlepaddle.org/v1alpha1"


class ModelSpec(Value):
    description: str = ""


class ModelStatus(Value):
    aliases: dict[str, str] = {}
    """Alias to version name; derived from the ledger."""
    latest_version: str = ""
    """The newest version that is Ready."""
    versions: int = 0


class Model(Resource):
    """A named model: the sum of its versions and of the aliases that point to them."""

    api_version, plural = HUB, "models"
    categories = ("all", "paddle")
    columns = (
        Column("Latest", ".status.latestVersion"),
        Column("Versions", ".status.versions", "integer"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    )

    spec: ModelSpec = ModelSpec()
    status: ModelStatus = ModelStatus()


class ModelPhase(StrEnum):
    PENDING = "Pending"
    UPLOADING = "Uploading"
    READY = "Ready"
    FAILED = "Failed"

    @property
    def final(self) -> bool:
        return self in (ModelPhase.READY, ModelPhase.FAILED)


class ModelSource(Value):
    pvc: str = ""
    """Claim that holds the files."""
    path: str = ""
    """Folder in the claim."""
    uri: str = ""
    """Or: what a client brought into the store beforehand, as push:sha256:DIGEST of its list of files."""
    secret_ref: SecretReference | None = None


class Lineage(Value):
    sample_set: str = ""
    sample_set_revision: str = ""
    paddle_job: str = ""
    workflow_run: str = ""
    code: str = ""
    """Digest of the training code."""


class ModelVersionSpec(Value):
    model_config = ruled(Rule("self == oldSelf", "a model version never changes: make a new one"))

    model: str = Field(min_length=1)
    """Name of the Model."""
    version: str = ""
    """Free text for people: v1, 2024-06-candidate, …"""
    source: ModelSource
    """Where the files are taken from."""
    format: str = "paddle"
    """paddle (inference model), onnx, serving (Paddle Serving's layout) or checkpoint (weights only)."""
    lineage: Lineage = Lineage()
    metrics: dict[str, float] = {}


class StoredFile(Value):
    path: str
    size: int
    sha256: str


class TensorSpec(Value):
    name: str
    dtype: str = ""
    shape: list[int] = []
    """-1 where any size goes."""


class Signature(Value):
    inputs: list[TensorSpec] = []
    outputs: list[TensorSpec] = []


class Conversion(Value):
    format: str
    exact: bool = False
    """Outputs matched the Paddle engine on sample inputs, within the tolerance."""
    max_difference: float | None = None
    tolerance: float | None = None
    message: str = ""
    files: list[StoredFile] = []
    """Of a conversion that was asked for later; those made with the version are among its own files."""


class ModelVersionStatus(Value):
    model_config = ruled(
        Rule(
            "!has(oldSelf.phase) || oldSelf.phase != 'Ready' || (has(self.phase) && self.phase == 'Ready'"
            " && has(self.files) && has(oldSelf.files) && self.files == oldSelf.files"
            " && has(self.storage) && self.storage == oldSelf.storage)",
            "a model version that is Ready keeps its files: push a new one",
        )
    )

    phase: ModelPhase = ModelPhase.PENDING
    storage: str = ""
    """URI under which the files are kept, by content."""
    files: list[StoredFile] = []
    size: int = 0
    signature: Signature | None = None
    conversions: list[Conversion] = []
    ready_time: datetime | None = None
    progress: Progress | None = None
    conditions: list[Condition] = []


class ModelVersion(Resource):
    """One version of a model: files by content, signature, lineage; immutable once Ready."""

    api_version, plural, short_names = HUB, "modelversions", ("mv",)
    categories, holds_data = ("all", "paddle"), True
    columns = (
        Column("Model", ".spec.model"),
        Column("Phase", ".status.phase"),
        Column("Size", ".status.size", "integer"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    )

    spec: ModelVersionSpec
    status: ModelVersionStatus = ModelVersionStatus()


class AliasChangeSpec(Value):
    model_config = ruled(Rule("self == oldSelf", "a line of the ledger never changes: add a new one"))

    model: str = Field(min_length=1)
    alias: str = Field(min_length=1)
    from_: str = Field("", alias="from")
    """The version it pointed to before; empty for a new alias."""
    to: str = Field(min_length=1)
    """The version it points to now."""
    by: str = ""
    """Who moved it, as the API knows the client."""
    why: str = ""


class AliasChange(Resource):
    """One line of the alias ledger, named `<model>-<alias>-<n>`: the only way an alias moves."""

    api_version, plural = HUB, "aliaschanges"
    categories, holds_data, immutable, has_status = ("paddle",), True, True, False
    columns = (
        Column("Model", ".spec.model"),
        Column("Alias", ".spec.alias"),
        Column("From", ".spec.from"),
        Column("To", ".spec.to"),
        Column("By", ".spec.by"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    )

    spec: AliasChangeSpec
