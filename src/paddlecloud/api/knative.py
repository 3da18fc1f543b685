"""The part of Knative Serving that PaddleService speaks, and that the embedded cluster stands in for.

Where Knative refuses an object by its webhook the stand-in does by rules in its schema (`knativerules`); a
cluster with Knative has Knative's own definitions.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema

from .knativerules import PREFIX, SPEC
from .meta import Column, Resource, ruled

SERVING, AUTOSCALING = "serving.knative.dev", "autoscaling.knative.dev"
SERVICE_LABEL, REVISION_LABEL = f"{SERVING}/service", f"{SERVING}/revision"
REVISION_HEADER = "Paddlecloud-Revision"
"""By which our gateway tells whoever asks which revision answered."""
MIRROR = "paddlecloud.org/mirror-percent"
"""Annotation of a Service: what of its default's requests its canary gets as a copy, too."""
DOMAIN = "example.com"
"""Knative's own default, which the requirement documents print."""
READY = '.status.conditions[?(@.type=="Ready")].status'
REASON = '.status.conditions[?(@.type=="Ready")].reason'


class Told(Resource):
    """What tells its state in Knative's conditions."""

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}

    def condition(self, kind: str) -> dict[str, Any]:
        """The condition of that type, or an empty one."""
        return next((c for c in self.status.get("conditions") or () if c.get("type") == kind), {})

    @property
    def ready(self) -> bool:
        return bool(self.condition("Ready").get("status") == "True")


class KnativeService(Told):
    """A served application: its newest template becomes a Revision, its traffic a Route."""

    model_config = ruled(PREFIX)

    api_version, kind, plural = f"{SERVING}/v1", "Service", "services"
    short_names, categories = ("kservice", "ksvc"), ("all", "knative", "serving")
    columns = (
        Column("URL", ".status.url"),
        Column("LatestCreated", ".status.latestCreatedRevisionName"),
        Column("LatestReady", ".status.latestReadyRevisionName"),
        Column("Ready", READY),
        Column("Reason", REASON),
    )

    spec: Annotated[dict[str, Any], WithJsonSchema(SPEC)] = {}


class Revision(Told):
    """One immutable template of a Service, and the pods that run it."""

    api_version, plural = f"{SERVING}/v1", "revisions"
    short_names, categories = ("rev",), ("all", "knative", "serving")
    immutable = True
    columns = (
        Column("Config Name", r".metadata.labels.serving\.knative\.dev/configuration"),
        Column("Generation", r".metadata.labels.serving\.knative\.dev/configurationGeneration"),
        Column("Ready", READY),
        Column("Reason", REASON),
        Column("Actual Replicas", ".status.actualReplicas", "integer"),
        Column("Desired Replicas", ".status.desiredReplicas", "integer"),
    )


class Route(Told):
    """Which revisions of a Service get which share of its requests."""

    api_version, plural = f"{SERVING}/v1", "routes"
    short_names, categories = ("rt",), ("all", "knative", "serving")
    columns = (Column("URL", ".status.url"), Column("Ready", READY), Column("Reason", REASON))
