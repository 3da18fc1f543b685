"""PaddleService: a model, or an image, answering requests."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from .meta import Column, Condition, Resource, Rule, Value, ruled
from .paddlerelease import ReleaseSpec, ReleaseStatus
from .template import Opaque


class Autoscaler(StrEnum):
    KPA = "kpa.autoscaling.knative.dev"
    HPA = "hpa.autoscaling.knative.dev"


class Metric(StrEnum):
    CONCURRENCY = "concurrency"
    RPS = "rps"
    CPU = "cpu"


class PullPolicy(StrEnum):
    ALWAYS = "Always"
    IF_NOT_PRESENT = "IfNotPresent"
    NEVER = "Never"


class EndpointSpec(Value):
    model_config = ruled(
        Rule(
            "(has(self.model) && self.model != '') || "
            "(has(self.containerImage) && has(self.tag) && has(self.port))",
            "an endpoint needs a model, or containerImage, tag and port",
        )
    )

    container_image: str = ""
    """Image without its tag; not needed with `model`."""
    tag: str = ""
    port: int | None = Field(None, ge=1, le=65535)
    """Port the container listens on."""
    arg: str = ""
    """Shell text run in the container."""
    model: str = ""
    """A model of the hub: name, name@alias or name@version; served by our model server."""
    follow: bool = False
    """Roll to the new version when the alias moves."""


class ScalingSpec(Value):
    """How an endpoint scales, in Knative's terms; what is left out is what Knative does by itself."""

    model_config = ruled(
        Rule(
            f"!has(self.metric) || self.metric != '{Metric.CPU}' || !has(self.autoscaler) || "
            f"self.autoscaler == '{Autoscaler.HPA}'",
            f"the metric cpu needs the autoscaler {Autoscaler.HPA}",
        )
    )

    autoscaler: Autoscaler | None = None
    """kpa (requests, may rest at zero) or hpa (processor, never at zero); left out, the one of the metric."""
    metric: Metric | None = None
    window: str = ""
    """The time over which requests are averaged: 60s."""
    panic_window: str = ""
    """The part of the window in which a burst is noticed, in percent: 10."""
    panic_threshold: str = ""
    """What a burst is, in percent of what the pods can take: 200."""
    min_scale: int | None = Field(None, ge=0)
    """0 lets it rest without a pod."""
    max_scale: int | None = Field(None, ge=0)
    """0 sets no limit."""
    target: int | None = Field(None, ge=0)
    """Requests at a time for one pod, or a second with the metric rps, and the most it is given; with the
    metric cpu, the part of its requested processors that a pod is to use, in percent."""
    target_utilization: str = ""
    """The part of the target that is aimed at, in percent: 70."""


class PaddleServiceSpec(Value):
    model_config = ruled(
        Rule(
            "!has(self.canaryTrafficPercent) || has(self.canary)",
            "canaryTrafficPercent is the share of a canary: add canary",
        )
    )

    runtime_version: str = ""
    """Name of the container."""
    resources: Opaque = {}
    default: EndpointSpec
    """The stable endpoint."""
    canary: EndpointSpec | None = None
    """An alternative endpoint that gets a share of the requests."""
    canary_traffic_percent: int | None = Field(None, ge=0, le=100)
    """The canary's share; 50 when a canary is given."""
    release: ReleaseSpec | None = None
    """The shares of the canary in steps, instead of canaryTrafficPercent."""
    service: ScalingSpec = ScalingSpec()
    """How the endpoints scale."""
    working_dir: str = ""
    env: list[Opaque] = []
    """Variables of the container, as in a pod."""
    readiness_probe: Opaque = {}
    """As in a pod; a connection to the port when it is left out."""
    liveness_probe: Opaque = {}
    image_pull_policy: PullPolicy | None = None
    """Always when it is left out."""
    image_pull_secrets: list[Opaque] = []
    node_selector: dict[str, str] = {}
    volume_mounts: list[Opaque] = []
    volumes: list[Opaque] = []


class EndpointStatus(Value):
    name: str = ""
    """The revision that answers; the one that is wanted takes its place when it is ready."""
    model: str = ""
    """The reference that was resolved."""
    model_version: str = ""
    """The version that `model` was resolved to, and stays on."""
    storage: str = ""
    """Where the files of that version are."""
    engine: str = ""
    """What computes them: onnx, or paddle where there is no faithful ONNX model among them."""


class Share(Value):
    """What a revision gets of the requests."""

    revision_name: str
    percent: int
    tag: str = ""


class Release(Value):
    """A default endpoint that answered: what a rollback goes back to."""

    revision: str
    endpoint: Opaque
    """As it was written, a model by its version."""
    at: datetime | None = None


class PaddleServiceStatus(Value):
    url: str = ""
    replicas: int = 0
    default: EndpointStatus | None = None
    canary: EndpointStatus | None = None
    traffic: list[Share] = []
    release: ReleaseStatus | None = None
    """How far the canary is on its way."""
    releases: list[Release] = []
    """The last defaults, the newest last."""
    observed_generation: int = 0
    conditions: list[Condition] = []


class PaddleService(Resource):
    """A model server with a stable address: traffic split, scaling, roll-out."""

    api_version, plural = "serving.paddlepaddle.org/v1", "paddleservices"
    categories = ("all", "paddle")
    columns = (
        Column("URL", ".status.url"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Reason", '.status.conditions[?(@.type=="Ready")].reason'),
        Column("Age", ".metadata.creationTimestamp", "date"),
    )

    spec: PaddleServiceSpec
    status: PaddleServiceStatus = PaddleServiceStatus()


class ElasticPaddleService(PaddleService):
    """A PaddleService under the group name the requirement documents use."""

    api_version, kind = "elasticserving.paddlepaddle.org/v1", "PaddleService"
