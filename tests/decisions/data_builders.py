"""A data set whose runtimes answer, for the tables."""

from __future__ import annotations

from typing import Any

from tests.decisions.builders import a_data_set

from paddlecloud.api.sampleset import SampleSet

SYNCED: dict[str, Any] = {
    "phase": "Synced",
    "totalSize": 2048,
    "totalFiles": 2,
    "cachedSize": 2048,
    "diskSize": 10,
    "diskUsed": 5,
}


def the_set(**more: Any) -> SampleSet:
    partitions = [
        {"name": f"digits-runtime-{i}", "node": f"node-{i}"} for i in range(more.get("partitions", 1))
    ]
    status = {"engine": "local", "cacheStatus": {"partitions": partitions}} | more.pop("status", {})
    return a_data_set("Ready", status=status, **more)
