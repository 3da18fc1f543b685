"""Pods of a PaddleJob that have their node and do not begin: what it says of their volumes; pure.

A pod that waits for a ConfigMap, a Secret or a disk shows no reason in its status: only an event tells it. So
that is asked for, once the pod has waited for longer than a healthy one does.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ..api.core import Pod
from .contract import Snapshot, WarningQuestion

FAILED_MOUNT = "FailedMount"
PATIENCE, LOOK_AGAIN = 15.0, 15.0
"""Seconds until a pod that does not begin is asked about, and until it is asked about again."""


def mounts_asked(pods: Iterable[Pod], now: datetime) -> tuple[WarningQuestion, ...]:
    """About the first of them: what holds it up mostly holds up the others."""
    late = (pod for pod in pods if (left := patience_left(pod, now)) is not None and left <= 0)
    return tuple(question(pod) for pod in late)[:1]


def mount_trouble(pods: Iterable[Pod], seen: Snapshot) -> str:
    """A sentence about the pod that cannot have its volumes; empty where nobody says that of one."""
    told = (
        (pod, seen.answers.get(question(pod))) for pod in pods if patience_left(pod, seen.now) is not None
    )
    return next((f"pod {pod.name} cannot start: {words}" for pod, words in told if words), "")


def look_at_mounts_in(pods: Iterable[Pod], now: datetime) -> float | None:
    """Seconds until a look is worth while although nothing told of it."""
    left = min((left for pod in pods if (left := patience_left(pod, now)) is not None), default=None)
    return None if left is None else left if left > 0 else LOOK_AGAIN


def patience_left(pod: Pod, now: datetime) -> float | None:
    """Seconds until a pod that has its node should have begun; None for one that has, or has none."""
    made = pod.metadata.creation_timestamp
    if pod.phase != "Pending" or not pod.node or pod.metadata.deletion_timestamp or made is None:
        return None
    states = [status.get("state") or {} for status in pod.status.get("initContainerStatuses") or ()]
    if any({"running", "terminated"} & state.keys() for state in states):
        return None
    return PATIENCE - (now - made).total_seconds()


def question(pod: Pod) -> WarningQuestion:
    return WarningQuestion(pod.namespace, pod.uid, FAILED_MOUNT)
