"""Views of the kinds that only placing pods asks for: classes of storage and of priority, groups of pods."""

from __future__ import annotations

from typing import Any

from .meta import Resource


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


class PodGroup(Resource):
    """Pods that start together or not at all, as Volcano knows them."""

    api_version, plural, short_names = "scheduling.volcano.sh/v1beta1", "podgroups", ("pg",)

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}
