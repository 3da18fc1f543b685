"""Views of the kinds of `apps/v1` beside StatefulSet: identity typed, the rest as it came."""

from __future__ import annotations

from typing import Any

from .meta import Resource


class Deployment(Resource):
    api_version, plural, short_names = "apps/v1", "deployments", ("deploy",)

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}

    @property
    def replicas(self) -> int:
        return wanted_replicas(self.spec)


class ReplicaSet(Resource):
    api_version, plural, short_names = "apps/v1", "replicasets", ("rs",)

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}

    @property
    def replicas(self) -> int:
        """How many pods it should have; `status` tells how many it has."""
        return wanted_replicas(self.spec)

    def counted(self, field: str) -> int:
        """A number of its status; what is not there is none."""
        return int(self.status.get(field) or 0)


class ControllerRevision(Resource):
    """One template of a StatefulSet as it was at some time."""

    api_version, plural = "apps/v1", "controllerrevisions"
    has_status = False

    data: dict[str, Any] = {}
    revision: int = 0


def wanted_replicas(spec: dict[str, Any]) -> int:
    """`spec.replicas`; what says none means one."""
    wanted = spec.get("replicas")
    return 1 if wanted is None else int(wanted)
