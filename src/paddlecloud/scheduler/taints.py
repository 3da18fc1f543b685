"""Taints and tolerations: who may begin on a node, who rather not, and who must leave it when; pure.

A condition of a node counts as the taint Kubernetes makes of it, whether or not somebody has written
that taint already: a pod never begins on a node that says it is not ready.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from ..api.core import Node, Pod

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
FORBIDS = ("NoSchedule", "NoExecute")
PRESSURES = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}


class Taint(NamedTuple):
    key: str
    value: str
    effect: str
    since: str = ""

    def __str__(self) -> str:
        return f"{{{self.key}: {self.value}}}"


def taints_of(node: Node) -> tuple[Taint, ...]:
    """The taints written on a node, then those its conditions stand for."""
    written = [
        Taint(t["key"], t.get("value") or "", t["effect"], t.get("timeAdded") or "")
        for t in node.spec.get("taints") or ()
    ]
    known = {(t.key, t.effect) for t in written}
    implied = [Taint(key, "", "NoSchedule") for key in implied_keys(node)]
    return (*written, *(t for t in implied if (t.key, t.effect) not in known))


def implied_keys(node: Node) -> Iterator[str]:
    conditions = {c.get("type"): c.get("status") for c in node.status.get("conditions") or ()}
    ready = conditions.get("Ready")
    if ready == "Unknown":
        yield UNREACHABLE
    elif ready != "True":
        yield NOT_READY
    for condition, key in PRESSURES.items():
        if conditions.get(condition) == "True":
            yield key


def tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.effect:
        return False
    if toleration.get("key") and toleration["key"] != taint.key:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return (toleration.get("value") or "") == taint.value


Tolerations = tuple[Mapping[str, Any], ...]


def untolerated(taints: Iterable[Taint], tolerations: Tolerations) -> Taint | None:
    """The first taint that keeps the pod from the node."""
    for taint in taints:
        if taint.effect in FORBIDS and not any(tolerates(t, taint) for t in tolerations):
            return taint
    return None


def disliked(taints: Iterable[Taint], tolerations: Tolerations) -> int:
    """How many taints say: rather not."""
    soft = (t for t in taints if t.effect == "PreferNoSchedule")
    gentle = [t for t in tolerations if t.get("effect") in (None, "", "PreferNoSchedule")]
    return sum(not any(tolerates(t, taint) for t in gentle) for taint in soft)


def leaves_at(pod: Pod, node: Node, now: datetime) -> datetime | None:
    """When the pod must leave its node for the taints it does not tolerate for ever; None: it stays.

    A taint without a date counts from *now*; whoever asks again later asks with the date it was given.
    """
    tolerations: Tolerations = tuple(pod.spec.get("tolerations") or ())
    ends: list[datetime] = []
    for taint in taints_of(node):
        if taint.effect != "NoExecute":
            continue
        tolerating = [t for t in tolerations if tolerates(t, taint)]
        if not tolerating:
            return now
        limits = [s for t in tolerating if (s := t.get("tolerationSeconds")) is not None]
        if limits:
            since = datetime.fromisoformat(taint.since) if taint.since else now
            ends.append(since + timedelta(seconds=max(0, min(limits))))
    return min(ends, default=None)
