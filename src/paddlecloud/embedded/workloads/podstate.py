"""What a pod is to those who count pods: active, ready, available, and since when; pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from ...api.core import Pod
from .stamps import condition, moment


def active(pod: Pod) -> bool:
    """It runs or is about to; a pod that ended or is being deleted counts for nobody."""
    return not pod.finished and not terminating(pod)


def terminating(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def ready(pod: Pod) -> bool:
    return pod.condition("Ready")


def ready_since(pod: Pod) -> datetime | None:
    found = condition(pod.status.get("conditions") or (), "Ready")
    return moment(found.get("lastTransitionTime")) if found and found.get("status") == "True" else None


def available(pod: Pod, min_ready: int, now: datetime) -> bool:
    """Ready, and for long enough."""
    return ready(pod) and available_in(pod, min_ready, now) == 0


def available_in(pod: Pod, min_ready: int, now: datetime) -> float:
    """Seconds until a ready pod is available."""
    if not min_ready:
        return 0
    since = ready_since(pod)
    return (
        min_ready if since is None else max(0.0, (since + timedelta(seconds=min_ready) - now).total_seconds())
    )


def restarts(pod: Pod) -> int:
    states: list[dict[str, Any]] = pod.status.get("containerStatuses") or []
    return max((int(s.get("restartCount") or 0) for s in states), default=0)
