"""Views of the built-in kinds our controllers read and make: identity typed, the rest as it came.

Only what decisions ask for has a name here; everything else stays in the dictionaries and survives.
"""

from __future__ import annotations

from typing import Any

from .meta import Resource


class Pod(Resource):
    api_version, plural, short_names = "v1", "pods", ("po",)
    immutable = True

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}

    @property
    def phase(self) -> str:
        return str(self.status.get("phase") or "Pending")

    @property
    def ip(self) -> str:
        return str(self.status.get("podIP") or "")

    @property
    def node(self) -> str:
        return str(self.spec.get("nodeName") or "")

    def condition(self, kind: str) -> bool:
        return any(
            c.get("type") == kind and c.get("status") == "True" for c in self.status.get("conditions") or ()
        )

    @property
    def ready(self) -> bool:
        return self.condition("Ready") and self.metadata.deletion_timestamp is None

    @property
    def finished(self) -> bool:
        return self.phase in ("Succeeded", "Failed")


class ConfigMap(Resource):
    api_version, plural, short_names = "v1", "configmaps", ("cm",)
    has_status = False

    data: dict[str, str] = {}
    binary_data: dict[str, str] = {}


class Secret(Resource):
    api_version, plural = "v1", "secrets"
    has_status, holds_data = False, True

    type: str = "Opaque"
    data: dict[str, str] = {}


WAKES = "paddlecloud.org/wakes"
"""On a Service of an embedded cluster: the Deployment that a call wakes while nobody stands behind it."""


class Service(Resource):
    api_version, plural, short_names = "v1", "services", ("svc",)

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class PersistentVolumeClaim(Resource):
    api_version, plural, short_names = "v1", "persistentvolumeclaims", ("pvc",)
    holds_data, immutable = True, True

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}

    @property
    def bound(self) -> bool:
        return self.status.get("phase") == "Bound"


class PersistentVolume(Resource):
    api_version, plural, short_names, namespaced = "v1", "persistentvolumes", ("pv",), False
    holds_data, immutable = True, True

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class Namespace(Resource):
    api_version, plural, short_names, namespaced = "v1", "namespaces", ("ns",), False
    holds_data = True

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class Node(Resource):
    api_version, plural, short_names, namespaced = "v1", "nodes", ("no",), False
    holds_data = True

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class CSIDriver(Resource):
    """That the driver of its name is installed; what it is like nobody here asks."""

    api_version, plural, namespaced = "storage.k8s.io/v1", "csidrivers", False
    has_status, holds_data = False, True


class Event(Resource):
    api_version, plural, short_names = "v1", "events", ("ev",)
    has_status = False

    involved_object: dict[str, Any] = {}
    reason: str = ""
    message: str = ""
    type: str = "Normal"
    count: int = 1
    source: dict[str, Any] = {}
    first_timestamp: str | None = None
    last_timestamp: str | None = None


class ServiceAccount(Resource):
    api_version, plural, short_names = "v1", "serviceaccounts", ("sa",)
    has_status, holds_data = False, True


class StatefulSet(Resource):
    api_version, plural, short_names = "apps/v1", "statefulsets", ("sts",)

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}
