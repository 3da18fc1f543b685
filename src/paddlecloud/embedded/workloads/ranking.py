"""Which pods of a ReplicaSet go first when there are too many; pure.

First what serves least: without a node, pending, not ready, cheap to delete, crowded on its node, young.
Ages are compared by their order of magnitude, so that of pods of about one age not always the newest go.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from ...api.core import Pod
from .podstate import ready, ready_since, restarts

COST = "controller.kubernetes.io/pod-deletion-cost"
PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def least_needed(pods: Iterable[Pod], number: int, now: datetime) -> list[Pod]:
    """The *number* of pods that are missed least."""
    found = list(pods)
    crowd = Counter(p.node for p in found)
    return sorted(found, key=lambda p: worth(p, crowd[p.node], now))[:number]


def worth(pod: Pod, neighbours: int, now: datetime) -> tuple[Any, ...]:
    is_ready = ready(pod)
    return (
        bool(pod.node),
        PHASES.get(pod.phase, 0),
        is_ready,
        cost(pod),
        -neighbours,
        magnitude(ready_since(pod), now) if is_ready else 0,
        -restarts(pod),
        magnitude(pod.metadata.creation_timestamp, now),
        pod.uid,
    )


def magnitude(since: datetime | None, now: datetime) -> int:
    """How old, in powers of two; what has no date counts as new."""
    age = (now - since).total_seconds() if since else 0
    return math.floor(math.log2(age)) if age >= 1 else 0


def cost(pod: Pod) -> int:
    said = pod.metadata.annotations.get(COST, "0")
    return int(said) if said.lstrip("-").isdecimal() else 0
