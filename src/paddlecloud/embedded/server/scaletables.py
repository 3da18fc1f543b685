"""What `kubectl get --subresource=scale` prints; pure."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from .ages import Ago, age
from .tables import column, partial

COLUMNS = [
    column("Name"), column("Desired", "integer"), column("Available", "integer"), column("Age"),
]  # fmt: skip


def table(scale: dict[str, Any], include: str, now: datetime) -> dict[str, Any]:
    metadata = scale["metadata"]
    ago = age(metadata.get("creationTimestamp"))
    shown = ago.text(now.timestamp()) if isinstance(ago, Ago) else ago
    wanted, actual = scale["spec"].get("replicas", 0), scale["status"]["replicas"]
    row: dict[str, Any] = {"cells": [metadata["name"], wanted, actual, shown]}
    if include != "None":
        row["object"] = scale if include == "Object" else partial(scale)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": metadata["resourceVersion"]},
        "columnDefinitions": COLUMNS,
        "rows": [row],
    }
