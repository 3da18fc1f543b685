"""PaddleJob: one distributed training job, in PS, Collective or Single mode."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from .meta import Column, Condition, Progress, Resource, Rule, Scale, Value, ruled
from .template import Opaque, PodTemplate

MOST_PODS = 10_000  # of one role: a slip of the finger must not fill a cluster

RESTS = "(has(self.suspend) && self.suspend) || (has(oldSelf.suspend) && oldSelf.suspend)"


def kept(path: str, *, unless: str = "false") -> Rule:
    """A field that pods were made from: it changes only while there are none."""
    parent = path.rpartition(".")[0]
    there = f"has(self.{parent}) && has(oldSelf.{parent})" if parent else "true"
    same = f"has(self.{path}) == has(oldSelf.{path}) && (!has(self.{path}) || self.{path} == oldSelf.{path})"
    return Rule(
        f"{RESTS} || {unless} || !({there}) || ({same})",
        f"{path} cannot change while the job has pods: set suspend to true first, or make a new job",
        "FieldValueForbidden",
    )


class Mode(StrEnum):
    PS = "PS"
    COLLECTIVE = "Collective"
    SINGLE = "Single"


class Phase(StrEnum):
    PENDING = "Pending"
    STARTING = "Starting"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    COMPLETED = "Completed"
    FAILED = "Failed"

    @property
    def final(self) -> bool:
        return self in (Phase.COMPLETED, Phase.FAILED)


class CleanPodPolicy(StrEnum):
    ALWAYS = "Always"
    NEVER = "Never"
    ON_FAILURE = "OnFailure"
    ON_COMPLETION = "OnCompletion"


class Intranet(StrEnum):
    POD_IP = "PodIP"
    SERVICE = "Service"
    HOST = "Host"


class Role(Value):
    """One group of identical pods: `ps`, `worker` or `heter`."""

    replicas: int = Field(ge=0, le=MOST_PODS)
    """How many pods."""
    requests: int | None = Field(None, ge=0)
    """Smallest number of pods of an elastic job."""
    limits: int | None = Field(None, ge=0)
    """Largest number of pods of an elastic job."""
    template: PodTemplate


class SampleSetRef(Value):
    name: str
    """The SampleSet; its claim of the same name is mounted."""
    namespace: str = ""
    """Must be the namespace of the job: a claim cannot be mounted from elsewhere."""
    mount_path: str
    """Where the data appears in every pod of the job."""


class SchedulingPolicy(Value):
    """How a gang scheduler (Volcano) treats the job."""

    min_available: int | None = Field(None, ge=0)
    """Pods that must fit before any starts; all of them by default."""
    queue: str = ""
    priority_class: str = ""
    min_resources: Opaque = {}


class PaddleJobSpec(Value):
    model_config = ruled(
        Rule(
            "has(self.ps) || has(self.worker) || has(self.heter)", "a job needs a role: worker, ps or heter"
        ),
        Rule("!has(self.ps) || has(self.worker)", "parameter servers need workers: add worker"),
        Rule("!has(self.ps) || self.ps.replicas > 0", "ps needs replicas: give it some, or leave it out"),
        Rule("!has(self.elastic) || has(self.worker)", "an elastic job needs workers: add worker"),
        Rule(
            "!has(self.elasticLauncher) || !self.elasticLauncher || has(self.elastic)",
            "elasticLauncher is a way of being elastic: set elastic too",
        ),
        Rule(
            "!has(self.elasticLauncher) || !self.elasticLauncher || !(has(self.ps) || has(self.heter))",
            "the elastic launcher knows workers only: leave out ps and heter, or elasticLauncher",
        ),
        Rule(
            f"{RESTS} || has(self.worker) == has(oldSelf.worker)",
            "worker cannot come or go while the job has pods: set suspend to true first, or make a new job",
            "FieldValueForbidden",
        ),
        Rule(
            "!has(self.elastic) || !has(self.worker) || !has(self.worker.requests) "
            "|| self.worker.replicas >= self.worker.requests",
            "worker.replicas is less than worker.requests, the least an elastic job works with",
        ),
        Rule(
            "!has(self.elastic) || !has(self.worker) || !has(self.worker.limits) "
            "|| self.worker.replicas <= self.worker.limits",
            "worker.replicas is more than worker.limits, the most an elastic job may have",
        ),
        kept("ps"),
        kept("heter"),
        kept("worker.template"),
        kept("worker.replicas", unless="has(self.elastic)"),
        kept("elastic"),
        kept("elasticLauncher"),
        kept("intranet"),
        kept("withGloo"),
        kept("sampleSetRef"),
        kept("schedulingPolicy"),
    )

    # No schema default: the server would fill it in, and the synonym could never be heard.
    clean_pod_policy: CleanPodPolicy | None = None
    """Which pods are removed when the job ends: Always, Never, OnFailure or OnCompletion (the default)."""
    clean_policy: CleanPodPolicy | None = None
    """Deprecated: write cleanPodPolicy."""
    intranet: Intranet = Intranet.POD_IP
    """How the pods address each other: PodIP, Service or Host."""
    with_gloo: int | None = Field(None, ge=0, le=2)
    """Gloo in PS mode: 0 off, 1 workers only, 2 workers and servers."""
    sample_set_ref: SampleSetRef | None = None
    """The data set of the job: mounted in every pod, workers placed where it is cached."""
    scheduling_policy: SchedulingPolicy | None = None
    """For gang scheduling: queue, priority, how many pods must fit together."""
    ps: Role | None = None
    """Parameter servers; makes this a PS job."""
    worker: Role | None = None
    """Workers: the pods that train."""
    heter: Role | None = None
    """Heterogeneous workers of a PS job."""
    elastic: int | None = None
    """Set to make the number of workers changeable while the job runs, within worker.requests and limits."""
    elastic_launcher: bool = False
    """Whether the workers of an elastic job run Paddle's own elastic launcher, paddle.distributed.launch: the
    job gets an etcd, and the launcher itself sees to workers that come and go."""
    backoff_limit: int | None = Field(None, ge=0)
    """How often the job may begin again after a fault; by default 3 times, but a program that ends with an
    error of its own within a minute is not tried again."""
    suspend: bool = False
    """While true the job has no pods; false lets it begin, again if it had begun."""
    active_deadline_seconds: int | None = Field(None, ge=1)
    """Seconds after which a job that has not ended fails, from its creation or its last resumption."""
    ttl_seconds_after_finished: int | None = Field(None, ge=0)
    """Seconds after its end until the job deletes itself with all that is left of it."""

    def roles(self) -> dict[str, Role]:
        """The roles present, in the order in which they start."""
        named = (("ps", self.ps), ("worker", self.worker), ("heter", self.heter))
        return {name: role for name, role in named if role}

    @property
    def policy(self) -> CleanPodPolicy:
        """The synonym counts only where the right name was not used."""
        return self.clean_pod_policy or self.clean_policy or CleanPodPolicy.ON_COMPLETION


class RoleStatus(Value):
    pending: int = 0
    starting: int = 0
    running: int = 0
    failed: int = 0
    succeeded: int = 0
    unknown: int = 0
    replicas: int = 0
    """Pods that are there."""
    ready: str = ""
    """Running of wanted, as `kubectl get` prints it: 2/2."""
    refs: list[dict[str, Any]] = []
    """The pods."""


class PaddleJobStatus(Value):
    phase: Phase = Phase.PENDING
    mode: Mode | None = None
    ps: RoleStatus | None = None
    worker: RoleStatus | None = None
    heter: RoleStatus | None = None
    start_time: datetime | None = None
    completion_time: datetime | None = None
    observed_generation: int = 0
    progress: Progress | None = None
    port: int = 0
    """The first of the ports that the job holds on its nodes, with intranet Host."""
    restarts: int = 0
    """How often the job, or a pod of it, began again after a fault."""
    last_restart_time: datetime | None = None
    attempt: int = 0
    """Pods of an earlier one are replaced: all of them began again, after a fault or with another number."""
    replaced: list[str] = []
    """The uids of failed pods that are replaced one by one."""
    selector: str = ""
    """Of the workers, for who scales them."""
    conditions: list[Condition] = []


class PaddleJob(Resource):
    """A distributed training job of PaddlePaddle: parameter servers, collective workers or one process."""

    model_config = ruled(
        Rule(
            "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$')",
            "a job is called by at most 50 small letters, digits and dashes: its pods are called after it",
        ),
        Rule(
            "!has(self.spec.intranet) || self.spec.intranet != 'Service' "
            "|| self.metadata.name.matches('^[a-z]')",
            "with intranet Service the name of a job begins with a letter: its Services are called after it",
        ),
        Rule(
            "!has(self.spec.elasticLauncher) || !self.spec.elasticLauncher "
            "|| self.metadata.name.matches('^[a-z]')",
            "with elasticLauncher the name of a job begins with a letter: its Service is called after it",
        ),
        Rule(
            "!has(oldSelf.status) || !has(oldSelf.status.phase) "
            "|| !(oldSelf.status.phase in ['Completed', 'Failed']) "
            "|| !has(self.spec.worker) || !has(oldSelf.spec.worker) "
            "|| self.spec.worker.replicas == oldSelf.spec.worker.replicas",
            "the job has ended and cannot be scaled: make a new one",
            "FieldValueForbidden",
        ),
    )

    api_version, plural, short_names = "batch.paddlepaddle.org/v1", "paddlejobs", ("pdj",)
    scale = Scale(".spec.worker.replicas", ".status.worker.replicas", ".status.selector")
    categories = ("all", "paddle")
    columns = (
        Column("Status", ".status.phase"),
        Column("Mode", ".status.mode"),
        Column("PS", ".status.ps.ready"),
        Column("Worker", ".status.worker.ready"),
        Column("Age", ".metadata.creationTimestamp", "date"),
        Column("Done", ".status.progress.done", "number", wide=True),
        Column("Total", ".status.progress.total", "number", wide=True),
        Column("Loss", ".status.progress.metrics.loss", "number", wide=True),
    )

    spec: PaddleJobSpec
    status: PaddleJobStatus = PaddleJobStatus()
