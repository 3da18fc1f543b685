"""The kinds that only placing pods asks for: classes of storage and of priority, groups of pods, queues.

Groups and queues are Volcano's: a cluster that has it brings their definitions, and ours are those of the
embedded cluster, with the same fields.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from .meta import Column, Resource, Value
from .template import Opaque

DEFAULT_QUEUE = "default"
INT32: dict[str, Any] = {"format": "int32"}
AN_INT32: dict[str, Any] = {"type": "integer", "format": "int32"}
A_QUANTITY = {
    "x-kubernetes-int-or-string": True,
    "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
}
Quantities = Annotated[
    dict[str, int | str], WithJsonSchema({"type": "object", "additionalProperties": A_QUANTITY})
]
"""Amounts of resources by name, as Kubernetes writes them: 4, "500m", "2Gi"."""


class StorageClass(Resource):
    api_version, plural, short_names, namespaced = "storage.k8s.io/v1", "storageclasses", ("sc",), False
    has_status, holds_data = False, True

    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    reclaim_policy: str = "Delete"
    allowed_topologies: list[dict[str, Any]] = []


class PriorityClass(Resource):
    api_version, plural, short_names = "scheduling.k8s.io/v1", "priorityclasses", ("pc",)
    namespaced, has_status, holds_data = False, False, True

    value: int = 0
    global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"


class PodGroupSpec(Value):
    min_member: int | None = Field(None, json_schema_extra=INT32)
    """How many pods must fit before any of them starts."""
    min_task_member: dict[str, int] = Field({}, json_schema_extra={"additionalProperties": AN_INT32})
    """The same for each task, by its name: the pods whose annotation volcano.sh/task-spec says so."""
    queue: str = DEFAULT_QUEUE
    """Whose room the group takes."""
    priority_class_name: str = ""
    """Groups with a higher class come first."""
    min_resources: Quantities = {}
    """What must be free in the cluster before any pod starts."""
    network_topology: Opaque = {}
    """How near to each other the pods must be; kept, not followed here."""


class PodGroupCondition(Value):
    type: str = ""
    """Unschedulable or Scheduled."""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None
    transition_id: str = Field("", alias="transitionID")


class PodGroupStatus(Value):
    phase: str = ""
    """Pending, Inqueue, Running, Unknown or Completed."""
    conditions: list[PodGroupCondition] = []
    running: int = Field(0, json_schema_extra=INT32)
    succeeded: int = Field(0, json_schema_extra=INT32)
    failed: int = Field(0, json_schema_extra=INT32)


class PodGroup(Resource):
    """Pods that start together or not at all, as Volcano knows them."""

    api_version, plural = "scheduling.volcano.sh/v1beta1", "podgroups"
    short_names = ("pg", "podgroup-v1beta1")
    has_status = False  # Volcano's definition serves no status of its own: it is written with the object
    columns = (
        Column("STATUS", ".status.phase"),
        Column("minMember", ".spec.minMember", "integer"),
        Column("RUNNINGS", ".status.running", "integer"),
        Column("AGE", ".metadata.creationTimestamp", "date"),
        Column("QUEUE", ".spec.queue", wide=True),
    )

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    def condition(self, kind: str) -> PodGroupCondition | None:
        """The condition of that type, if it holds."""
        return next((c for c in self.status.conditions if (c.type, c.status) == (kind, "True")), None)


class QueueSpec(Value):
    weight: int = Field(1, ge=1, le=65535, json_schema_extra=INT32)
    """Its part of the cluster when queues compete, beside the weights of the others."""
    capability: Quantities = {}
    """The most that its groups may take together."""
    reclaimable: bool | None = None
    """Whether other queues may take back what is above its part; kept, nobody is evicted here."""
    deserved: Quantities = {}
    guarantee: Opaque = {}
    affinity: Opaque = {}
    extend_clusters: list[Opaque] = []
    parent: str = ""
    """The queue it is a part of; kept, not followed here."""
    priority: int | None = Field(None, json_schema_extra=INT32)
    type: str = ""


class QueueStatus(Value):
    state: str = ""
    """Open or Closed: a closed queue takes no new groups."""
    pending: int = Field(0, json_schema_extra=INT32)
    inqueue: int = Field(0, json_schema_extra=INT32)
    running: int = Field(0, json_schema_extra=INT32)
    unknown: int = Field(0, json_schema_extra=INT32)
    completed: int = Field(0, json_schema_extra=INT32)
    allocated: Quantities = {}
    """What the pods of its groups ask for."""
    reservation: Opaque = {}


class Queue(Resource):
    """A share of the cluster, for groups of pods that name it."""

    api_version, plural, namespaced = "scheduling.volcano.sh/v1beta1", "queues", False
    short_names = ("q", "queue-v1beta1")
    holds_data = True
    columns = (Column("PARENT", ".spec.parent"),)

    spec: QueueSpec = QueueSpec()
    status: QueueStatus = QueueStatus()
