"""When a pod ended, by the best witness there is, and how long to wait after failures; pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from ...api.core import Pod
from .stamps import condition, moment

FIRST, LONGEST = 10.0, 600.0
NEVER = datetime.min.replace(tzinfo=UTC)


def ended_at(pod: Pod) -> datetime:
    """Its containers know; else the readiness it lost, the deletion, the creation."""
    states = [
        (s.get("state") or {}).get("terminated") or {} for s in pod.status.get("containerStatuses") or ()
    ]
    times = [moment(s.get("finishedAt")) for s in states]
    if times and all(times):
        return max(t for t in times if t)
    ready = condition(pod.status.get("conditions") or (), "Ready")
    if ready and ready.get("status") == "False" and (lost := moment(ready.get("lastTransitionTime"))):
        return lost
    if deletion := pod.metadata.deletion_timestamp:
        grace = (pod.metadata.model_extra or {}).get("deletionGracePeriodSeconds") or 0
        return deletion - timedelta(seconds=int(grace))
    return pod.metadata.creation_timestamp or NEVER


def pause(failures: int, last: datetime, now: datetime) -> float:
    """Seconds until the next attempt: 10, 20, 40, … at most 600 after the last of so many failures."""
    if failures <= 0:
        return 0
    wait = min(LONGEST, FIRST * (1 << min(failures - 1, 10)))
    return max(0.0, wait - (now - last).total_seconds())


def pause_after(failed: Iterable[Pod], succeeded: Iterable[Pod], now: datetime) -> float:
    """The same, where a success makes all failures before it forgotten."""
    since = max(map(ended_at, succeeded), default=NEVER)
    times = [t for t in map(ended_at, failed) if t > since]
    return pause(len(times), max(times), now) if times else 0
