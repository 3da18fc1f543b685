"""The part of Knative Serving that PaddleService speaks, and that the embedded cluster stands in for."""

from __future__ import annotations

from typing import Any

from .meta import Column, Resource

SERVING = "serving.knative.dev"
READY = '.status.conditions[?(@.type=="Ready")].status'
REASON = '.status.conditions[?(@.type=="Ready")].reason'


class KnativeService(Resource):
    """A served application: its newest template becomes a Revision, its traffic a Route."""

    api_version, kind, plural = f"{SERVING}/v1", "Service", "services"
    short_names, categories = ("kservice", "ksvc"), ("all", "knative", "serving")
    columns = (
        Column("URL", ".status.url"),
        Column("LatestCreated", ".status.latestCreatedRevisionName"),
        Column("LatestReady", ".status.latestReadyRevisionName"),
        Column("Ready", READY),
        Column("Reason", REASON),
    )

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}

    def condition(self, kind: str) -> dict[str, Any]:
        """The condition of that type, or an empty one."""
        return next((c for c in self.status.get("conditions") or () if c.get("type") == kind), {})


class Revision(Resource):
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

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}
