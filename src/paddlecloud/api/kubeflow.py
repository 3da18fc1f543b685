"""PaddleJob as Kubeflow's training operator defines it: accepted, and turned into one of ours.

The fields, their names and their values are Kubeflow's, so that a manifest written for it is taken as it is;
what of it cannot be done here is said in the status, not in the schema.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from .meta import Column, Condition, Resource, Rule, Scale, Value, ruled
from .paddlejob import MOST_PODS
from .template import Opaque, PodTemplate

AT_REST = "(has({0}.runPolicy) && has({0}.runPolicy.suspend) && {0}.runPolicy.suspend)"
RESTS = f"{AT_REST.format('self')} || {AT_REST.format('oldSelf')}"


def kept(parent: str, name: str, *, unless: str = "false") -> Rule:
    """A field that pods were made from: it changes only while there are none."""
    path = f"{parent}.{name}"
    there = f"has(self.{parent}) && has(oldSelf.{parent})"
    same = f"has(self.{path}) == has(oldSelf.{path}) && (!has(self.{path}) || self.{path} == oldSelf.{path})"
    return Rule(
        f"{RESTS} || {unless} || !({there}) || ({same})",
        f"{path} cannot change while the job has pods: set runPolicy.suspend to true first, "
        "or make a new job",
        "FieldValueForbidden",
    )


ROLES, RUN, ELASTIC = "{0}.paddleReplicaSpecs", "{0}.runPolicy", "{0}.elasticPolicy"
WORKERS = f"{ROLES}.Worker.replicas"
LEAST, MOST = f"{ELASTIC}.minReplicas", f"{ELASTIC}.maxReplicas"
UNSUPPORTED = {
    "templates": (
        # Two places in a schema are two types to CEL, however alike they are.
        f"has({ROLES}.Master) && has({ROLES}.Worker) "
        f"&& dyn({ROLES}.Master.template) != dyn({ROLES}.Worker.template)",
        "the templates of Master and Worker differ, and workers have one: make them equal",
    ),
    "restartPolicies": (
        f"has({ROLES}.Master) && has({ROLES}.Worker) "
        f"&& {ROLES}.Master.restartPolicy != {ROLES}.Worker.restartPolicy",
        "the restartPolicy of Master and Worker differ: make them equal",
    ),
    "restartPolicy": (
        f"(has({ROLES}.Master) && {ROLES}.Master.restartPolicy in ['Always', 'ExitCode']) "
        f"|| (has({ROLES}.Worker) && {ROLES}.Worker.restartPolicy in ['Always', 'ExitCode'])",
        "restartPolicy Always or ExitCode is not supported: write OnFailure or Never",
    ),
    "cleanPodPolicy": (
        f"has({RUN}) && has({RUN}.cleanPodPolicy) && {RUN}.cleanPodPolicy == 'Running'",
        "runPolicy.cleanPodPolicy Running is not supported: write All or None",
    ),
    "scheduleTimeoutSeconds": (
        f"has({RUN}) && has({RUN}.schedulingPolicy) && has({RUN}.schedulingPolicy.scheduleTimeoutSeconds)",
        "runPolicy.schedulingPolicy.scheduleTimeoutSeconds is not supported: leave it out, or set "
        "runPolicy.activeDeadlineSeconds",
    ),
    "elasticWorker": (
        f"has({ELASTIC}) && !has({ROLES}.Worker)",
        "elasticPolicy needs workers: add Worker",
    ),
    "elasticSizes": (
        f"has({ELASTIC}) && has({ROLES}.Worker) "
        f"&& ({WORKERS} < (has({LEAST}) ? {LEAST} : has({MOST}) ? {MOST} : {WORKERS}) "
        f"|| {WORKERS} > (has({MOST}) ? {MOST} : has({LEAST}) ? {LEAST} : {WORKERS}))",
        "Worker.replicas is not between elasticPolicy.minReplicas and maxReplicas: change one of them",
    ),
    "metrics": (
        f"has({ELASTIC}) && has({ELASTIC}.metrics) && size({ELASTIC}.metrics) > 0",
        "elasticPolicy.metrics is not supported: leave it out, and scale the job itself",
    ),
    "restarts": (
        f"has({ELASTIC}) && has({ELASTIC}.maxRestarts) && has({RUN}) && has({RUN}.backoffLimit) "
        f"&& {ELASTIC}.maxRestarts != {RUN}.backoffLimit",
        "elasticPolicy.maxRestarts and runPolicy.backoffLimit differ: give one of them",
    ),
}
"""What is taken because Kubeflow takes it, but not done: when that is so, in CEL, and the sentence."""


def not_asked_for_later(when: str, sentence: str) -> Rule:
    """What cannot be done is told of a new job in its status; a job that has begun cannot become so."""
    return Rule(f"!({when.format('self')}) || ({when.format('oldSelf')})", sentence)


class RestartPolicy(StrEnum):
    ALWAYS = "Always"
    ON_FAILURE = "OnFailure"
    NEVER = "Never"
    EXIT_CODE = "ExitCode"


class KubeflowCleanPodPolicy(StrEnum):
    ALL = "All"
    RUNNING = "Running"
    NONE = "None"


class ReplicaSpec(Value):
    """One group of identical pods."""

    replicas: int = Field(1, ge=0, le=MOST_PODS)
    """How many pods."""
    restart_policy: RestartPolicy = RestartPolicy.ON_FAILURE
    """OnFailure: the job begins again when a pod fails; Never: it has failed then; no others."""
    template: PodTemplate


class ReplicaSpecs(Value):
    model_config = ruled(
        Rule("has(self.Master) || has(self.Worker)", "a job needs replicas: add Worker, or Master")
    )

    master: ReplicaSpec | None = Field(None, alias="Master")
    """Workers with the first ranks; of the same template as Worker."""
    worker: ReplicaSpec | None = Field(None, alias="Worker")
    """The pods that train."""


class KubeflowSchedulingPolicy(Value):
    min_available: int | None = Field(None, ge=0)
    """Pods that must fit before any starts; all of them by default."""
    queue: str = ""
    priority_class: str = ""
    min_resources: Opaque = {}
    schedule_timeout_seconds: int | None = None
    """Not supported."""


class RunPolicy(Value):
    clean_pod_policy: KubeflowCleanPodPolicy | None = None
    """Which pods are removed when the job ends: All, or None (the default). Running is not supported."""
    ttl_seconds_after_finished: int | None = Field(None, ge=0)
    """Seconds after its end until the job deletes itself with all that is left of it."""
    active_deadline_seconds: int | None = Field(None, ge=1)
    """Seconds after which a job that has not ended fails."""
    backoff_limit: int | None = Field(None, ge=0)
    """How often the job may begin again after a fault; as often as need be if nothing is said."""
    scheduling_policy: KubeflowSchedulingPolicy | None = None
    """For gang scheduling: queue, priority, how many pods must fit together."""
    suspend: bool = False
    """While true the job has no pods."""


class ElasticPolicy(Value):
    min_replicas: int | None = Field(None, ge=0)
    """Smallest number of workers."""
    max_replicas: int | None = Field(None, ge=0)
    """Largest number of workers."""
    max_restarts: int | None = Field(None, ge=0)
    """How often the job may begin again after a fault."""
    metrics: list[Opaque] = []
    """Not supported."""


class KubeflowPaddleJobSpec(Value):
    model_config = ruled(
        kept("paddleReplicaSpecs", "Master"),
        kept("paddleReplicaSpecs.Worker", "template"),
        kept("paddleReplicaSpecs.Worker", "restartPolicy"),
        kept("paddleReplicaSpecs.Worker", "replicas", unless="has(self.elasticPolicy)"),
        kept("runPolicy", "schedulingPolicy"),
        Rule(
            f"{RESTS} || has(self.elasticPolicy) == has(oldSelf.elasticPolicy)",
            "elasticPolicy cannot come or go while the job has pods: set runPolicy.suspend to true first, "
            "or make a new job",
            "FieldValueForbidden",
        ),
        *(not_asked_for_later(when, sentence) for when, sentence in UNSUPPORTED.values()),
    )

    paddle_replica_specs: ReplicaSpecs
    run_policy: RunPolicy = RunPolicy()
    elastic_policy: ElasticPolicy | None = None
    """Set to make the number of workers changeable while the job runs."""


class JobCondition(Condition):
    last_update_time: datetime | None = None


class ReplicaStatus(Value):
    active: int = 0
    """Pods that run."""
    succeeded: int = 0
    failed: int = 0
    selector: str = ""
    """Of the pods."""


class ReplicaStatuses(Value):
    master: ReplicaStatus | None = Field(None, alias="Master")
    """All pods, of a job that has nothing but Master."""
    worker: ReplicaStatus | None = Field(None, alias="Worker")
    """All pods, those of Master included."""


class KubeflowPaddleJobStatus(Value):
    conditions: list[JobCondition] = []
    """The last one tells how far the job is: Created, Suspended, Running, Restarting, Succeeded or Failed."""
    replica_statuses: ReplicaStatuses | None = None
    start_time: datetime | None = None
    completion_time: datetime | None = None


class KubeflowPaddleJob(Resource):
    """A PaddleJob of Kubeflow: Collective training, done by a PaddleJob of the same name."""

    api_version, kind, plural = "kubeflow.org/v1", "PaddleJob", "paddlejobs"
    scale = Scale(
        ".spec.paddleReplicaSpecs.Worker.replicas",
        ".status.replicaStatuses.Worker.active",
        ".status.replicaStatuses.Worker.selector",
    )
    columns = (
        Column("State", ".status.conditions[-1:].type"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    )

    spec: KubeflowPaddleJobSpec
    status: KubeflowPaddleJobStatus = KubeflowPaddleJobStatus()
