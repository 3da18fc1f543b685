"""Pods go where their data is: to the node of their partition, besides what the user asks for; pure."""

from __future__ import annotations

from typing import Any

from ..api.sampleset import SampleSet
from .dataengines import LOCAL
from .dataruntimes import runtime_name
from .partitions import node_label

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
Body = dict[str, Any]


def near_data(spec: Body, data: SampleSet, index: int | None) -> None:
    """Bind a pod's *spec* to the node of partition *index*; others to any node that has the data.

    Beyond the partitions, and without an index, a pod reads JuiceFS from anywhere, but copies it does not.
    """
    if term := place_of(data, index):
        affinity = spec.setdefault("affinity", {})
        chosen = affinity.setdefault("nodeAffinity", {}).setdefault(REQUIRED, {})
        # One term is enough for a node to fit, so what must hold in any case goes into each.
        chosen["nodeSelectorTerms"] = [
            {**given, "matchExpressions": [*(given.get("matchExpressions") or ()), term]}
            for given in chosen.get("nodeSelectorTerms") or [{}]
        ]


def place_of(data: SampleSet, index: int | None) -> Body | None:
    key = node_label(data.namespace, data.name)
    told = data.status.cache_status.partitions if data.status.cache_status else []
    placed = [p.name for p in told if p.node]
    if index is not None and (name := f"{runtime_name(data)}-{index}") in placed:
        return {"key": key, "operator": "In", "values": [name]}
    if placed and data.status.engine == LOCAL:
        return {"key": key, "operator": "Exists"}
    return None
