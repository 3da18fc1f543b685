"""PaddleService: a model, or an image, answering requests."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from .meta import Column, Condition, Resource, Rule, Value, ruled
from .template import Opaque


class Autoscaler(StrEnum):
    KPA = "kpa.autoscaling.knative.dev"
    HPA = "hpa.autoscaling.knative.dev"


class Metric(StrEnum):
    CONCURRENCY = "concurrency"
    RPS = "rps"
    CPU = "cpu"


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
    autoscaler: Autoscaler | None = None
    metric: Metric | None = None
    window: str = ""
    panic_window: str = ""
    panic_threshold: str = ""
    min_scale: int | None = Field(None, ge=0)
    max_scale: int | None = Field(None, ge=0)
    target: int | None = Field(None, ge=0)
    target_utilization: str = ""


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
    service: ScalingSpec = ScalingSpec()
    """How the endpoints scale."""
    working_dir: str = ""
    volume_mounts: list[Opaque] = []
    volumes: list[Opaque] = []


class EndpointStatus(Value):
    name: str = ""
    """The revision."""
    model: str = ""
    """The reference that was resolved."""
    model_version: str = ""
    """The version that `model` was resolved to, and stays on."""
    storage: str = ""
    """Where the files of that version are."""


class PaddleServiceStatus(Value):
    url: str = ""
    replicas: int = 0
    default: EndpointStatus | None = None
    canary: EndpointStatus | None = None
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
