"""What every resource has in common: metadata, the wire format, identity.

A resource is a frozen value. What nobody set is not on the wire: a default is the server's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Value(BaseModel):
    """A frozen value: snake_case in Python, camelCase on the wire, its fields documented below them.

    What reads and checks a value is made when the first one comes: many kinds have no objects on a laptop.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, defer_build=True)

    def wire(self) -> dict[str, Any]:
        """Only what was said."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)

    def but(self, **changes: Any) -> Self:
        """The same value with some fields changed."""
        return self.model_copy(update=changes)


class Rule(NamedTuple):
    """A condition in CEL that every cluster checks itself, and the sentence for who breaks it."""

    rule: str
    message: str
    reason: str = "FieldValueInvalid"


def ruled(*rules: Rule) -> ConfigDict:
    """The configuration of a value with rules: they go into its schema, the one place they are written."""
    return ConfigDict(json_schema_extra={"x-kubernetes-validations": [r._asdict() for r in rules]})


class OwnerReference(Value):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class Metadata(Value):
    model_config = ConfigDict(extra="allow")  # managedFields and friends survive a round trip

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    # Made anew instead of copied: every object that is read lacks one or the other of these.
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    finalizers: list[str] = Field(default_factory=list)
    owner_references: list[OwnerReference] = Field(default_factory=list)
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None


class Condition(Value):
    """One aspect of an object's state; `Progressing=False` is how every wait is told."""

    type: str
    status: str
    """True, False or Unknown."""
    reason: str = ""
    """One word."""
    message: str = ""
    """What it waits for, since when, and what would end it."""
    last_transition_time: datetime | None = None
    observed_generation: int = 0


class Progress(Value):
    """How far a piece of work is; the one shape for training, syncing, uploading."""

    done: float = 0
    total: float = 0
    unit: str = ""
    """steps, files, bytes, …"""
    rate: float = 0
    """Units a second."""
    eta_seconds: float | None = None
    metrics: dict[str, float] = {}
    """epoch, loss, accuracy, … as the job itself prints them."""
    message: str = ""
    updated_at: datetime | None = None


class Column(NamedTuple):
    """One column of `kubectl get`."""

    name: str
    path: str
    type: str = "string"
    wide: bool = False


class Scale(NamedTuple):
    """Where the `scale` subresource finds its numbers."""

    wanted: str
    there: str
    selector: str


class Key(NamedTuple):
    """The place of an object in its kind."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Resource(Value):
    """A Kubernetes object; subclasses say where it lives and what kubectl prints."""

    api_version: ClassVar[str]
    kind: ClassVar[str]
    plural: ClassVar[str]
    short_names: ClassVar[tuple[str, ...]] = ()
    categories: ClassVar[tuple[str, ...]] = ()
    namespaced: ClassVar[bool] = True
    columns: ClassVar[tuple[Column, ...]] = ()
    has_status: ClassVar[bool] = True
    scale: ClassVar[Scale | None] = None
    holds_data: ClassVar[bool] = False
    """Never deleted for being left out of a decision: only by an explicit removal with its reason."""
    immutable: ClassVar[bool] = False
    """Never updated once created; a difference in the spec is not repaired."""

    metadata: Metadata = Metadata()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "kind" not in cls.__dict__:
            cls.kind = cls.__name__

    @classmethod
    def group(cls) -> str:
        return cls.api_version.rpartition("/")[0]

    @classmethod
    def version(cls) -> str:
        return cls.api_version.rpartition("/")[2]

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def key(self) -> Key:
        return Key(self.metadata.namespace, self.metadata.name)

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @classmethod
    def read(cls, wire: Mapping[str, Any]) -> Self:
        """The object of a JSON body."""
        return cls.model_validate(wire)

    def wire(self) -> dict[str, Any]:
        return {"apiVersion": self.api_version, "kind": self.kind, **super().wire()}

    def reference(self) -> dict[str, Any]:
        """An ObjectReference, as events and status lists carry it."""
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "name": self.name,
            "namespace": self.namespace,
            "uid": self.uid,
        }

    def controlled_by(self) -> str:
        """The uid of the owner that controls this object, or an empty text."""
        return next((o.uid for o in self.metadata.owner_references if o.controller), "")
