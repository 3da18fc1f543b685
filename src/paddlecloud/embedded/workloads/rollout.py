"""The arithmetic of a Deployment: how large each of its ReplicaSets may be at the next step; pure.

Invariant of a rolling update: never more pods than `replicas + maxSurge` are asked for, never fewer than
`replicas - maxUnavailable` are available by our own doing. One step a look: growing comes before
shrinking, and each step is decided on what the sets report, not on what was asked of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...api.apps import Deployment, ReplicaSet

DESIRED, MOST = "deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas"
Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Fleet:
    """A Deployment with its sets: *current* has its template, *old* ones had it; oldest first."""

    deployment: Deployment
    current: ReplicaSet | None
    old: tuple[ReplicaSet, ...]

    @property
    def all(self) -> tuple[ReplicaSet, ...]:
        return (*self.old, *((self.current,) if self.current else ()))

    @property
    def active(self) -> tuple[ReplicaSet, ...]:
        return tuple(s for s in self.all if s.replicas > 0)


@dataclass(frozen=True)
class Step:
    sizes: Sizes = field(default_factory=dict)
    """New sizes by name; a set that is not named stays as it is."""
    begin: int | None = None
    """The size of the current set, which is to be made."""
    marked: bool = False
    """All active sets learn the size of the Deployment."""
    tidy: bool = False
    """Sets beyond the history may go."""


@dataclass(frozen=True)
class Bounds:
    surge: int
    unavailable: int


def bounds(deployment: Deployment) -> Bounds:
    """maxSurge rounded up, maxUnavailable rounded down; both none would never move, so one may be missing."""
    if not rolling(deployment):
        return Bounds(0, 0)
    said = (deployment.spec.get("strategy") or {}).get("rollingUpdate") or {}
    surge = share(said.get("maxSurge", 0), deployment.replicas, math.ceil)
    unavailable = share(said.get("maxUnavailable", 0), deployment.replicas, math.floor)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return Bounds(surge, min(unavailable, deployment.replicas))


def share(value: Any, of: int, rounded: Any) -> int:
    """A number, or a percentage of *of*."""
    if isinstance(value, str) and value.endswith("%"):
        # Whole numbers until the end: 0.07 * 100 is not 7.
        return int(rounded(int(value[:-1]) * of / 100))
    return int(value or 0)


def rolling(deployment: Deployment) -> bool:
    return bool((deployment.spec.get("strategy") or {}).get("type", "RollingUpdate") == "RollingUpdate")


def resized(fleet: Fleet) -> bool:
    """Whether the Deployment was scaled since its sets were."""
    wanted = str(fleet.deployment.replicas)
    return any(s.metadata.annotations.get(DESIRED, wanted) != wanted for s in fleet.active)


def rescale(fleet: Fleet) -> Step:
    """The same roll-out at another size: sets grow and shrink in proportion."""
    replicas = fleet.deployment.replicas
    if (one := active_or_latest(fleet)) is not None:
        return Step({one.name: replicas}, marked=one.replicas != replicas)
    if saturated(fleet):
        return Step({s.name: 0 for s in fleet.old}, marked=True)
    if not rolling(fleet.deployment):
        return Step()
    return Step(proportional(fleet), marked=True)


def active_or_latest(fleet: Fleet) -> ReplicaSet | None:
    active = fleet.active
    if len(active) > 1 or not fleet.all:
        return None
    return active[0] if active else fleet.current or fleet.old[-1]


def saturated(fleet: Fleet) -> bool:
    """The current set alone does the whole work."""
    current, replicas = fleet.current, fleet.deployment.replicas
    return (
        current is not None
        and current.replicas == replicas
        and current.metadata.annotations.get(DESIRED) == str(replicas)
        and current.counted("availableReplicas") == replicas
    )


def proportional(fleet: Fleet) -> Sizes:
    deployment = fleet.deployment
    allowed = deployment.replicas + bounds(deployment).surge if deployment.replicas else 0
    to_add = allowed - total(fleet.active)
    order = sorted(fleet.active, key=age, reverse=to_add > 0)
    order.sort(key=lambda s: -s.replicas)
    sizes, added = {}, 0
    for group in order:
        part = fraction(group, deployment, allowed) if to_add else 0
        left = to_add - added
        part = min(part, left) if to_add > 0 else max(part, left)
        sizes[group.name] = group.replicas + part
        added += part
    if order and to_add:
        sizes[order[0].name] = max(0, sizes[order[0].name] + to_add - added)
    return sizes


def fraction(group: ReplicaSet, deployment: Deployment, allowed: int) -> int:
    """By how much a set changes when all of them change in proportion."""
    if deployment.replicas == 0:
        return -group.replicas
    said = group.metadata.annotations.get(MOST, "")
    before = int(said) if said.isdecimal() else 0
    before = before or int(deployment.status.get("replicas") or 0)
    return math.floor(group.replicas * allowed / before + 0.5) - group.replicas if before else 0


def recreate(fleet: Fleet, old_pods_run: bool) -> Step:
    """Everything old ends before anything new begins."""
    if any(s.replicas for s in fleet.old):
        return Step({s.name: 0 for s in fleet.old})
    if old_pods_run or any(s.counted("replicas") for s in fleet.old):
        return Step()
    if fleet.current is None:
        return Step(begin=fleet.deployment.replicas)
    return Step({fleet.current.name: fleet.deployment.replicas}, tidy=True)


def roll(fleet: Fleet) -> Step:
    """One step from the old sets to the current one."""
    replicas, current = fleet.deployment.replicas, fleet.current
    if current is None:
        return Step(begin=grown(fleet, 0))
    if current.replicas > replicas:
        return Step({current.name: replicas})
    if current.replicas < replicas and (size := grown(fleet, current.replicas)) != current.replicas:
        return Step({current.name: size})
    return Step(shrunk(fleet, current) or {}, tidy=True)


def grown(fleet: Fleet, size: int) -> int:
    """The size of the current set, as far as the surge allows."""
    replicas = fleet.deployment.replicas
    room = replicas + bounds(fleet.deployment).surge - total(fleet.all)
    return size + max(0, min(room, replicas - size))


def shrunk(fleet: Fleet, current: ReplicaSet) -> Sizes:
    """Smaller sizes of old sets: pods that do not work go first, then as many as are not needed."""
    least = fleet.deployment.replicas - bounds(fleet.deployment).unavailable
    starting = current.replicas - current.counted("availableReplicas")
    room = total(fleet.all) - least - starting
    if room <= 0:
        return {}
    sizes = {s.name: s.replicas for s in fleet.old}
    for group in fleet.old:
        gone = min(room, max(0, group.replicas - group.counted("availableReplicas")))
        sizes[group.name] -= gone
        room -= gone
    spare = sum(s.counted("availableReplicas") for s in fleet.all) - least
    for group in fleet.old:
        gone = max(0, min(spare, sizes[group.name]))
        sizes[group.name] -= gone
        spare -= gone
    return sizes


def total(groups: Iterable[ReplicaSet]) -> int:
    return sum(s.replicas for s in groups)


def age(group: ReplicaSet) -> tuple[float, str]:
    """Oldest first."""
    created = group.metadata.creation_timestamp
    return created.timestamp() if created else math.inf, group.name
