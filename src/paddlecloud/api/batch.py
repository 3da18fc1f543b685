"""Views of Job and CronJob: identity typed, the rest as it came."""

from __future__ import annotations

from typing import Any

from .meta import Resource


class Job(Resource):
    api_version, plural = "batch/v1", "jobs"

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}

    def holds(self, condition: str) -> bool:
        return any(
            c.get("type") == condition and c.get("status") == "True"
            for c in self.status.get("conditions") or ()
        )

    @property
    def finished(self) -> bool:
        return self.holds("Complete") or self.holds("Failed")

    @property
    def indexed(self) -> bool:
        return bool(self.spec.get("completionMode") == "Indexed")


class CronJob(Resource):
    api_version, plural, short_names = "batch/v1", "cronjobs", ("cj",)

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}
