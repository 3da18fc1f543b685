"""How many pods what was measured asks for: the arithmetic of HorizontalPodAutoscalers; pure.

Pods that start, and pods nobody has measured, are taken for what would change least: as idle where more
pods are asked for, as busy where fewer are. Within a tenth of the target nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from ...api.core import Pod
from ...scheduler.quantities import exact
from ...scheduler.resources import asked
from .stamps import condition, moment

TOLERANCE = Fraction(1, 10)
BEGINNING = timedelta(minutes=5)
"""So long a pod's processor is believed only if all of it was measured while it was ready."""
NEVER_READY = timedelta(seconds=30)
Body = dict[str, Any]
Usage = Mapping[str, Body]
"""`PodMetrics` by the names of their pods."""


class Unmeasured(Exception):
    """Nothing can be said by a metric; the reason in one word, then what is missing."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason, self.message = reason, message


@dataclass(frozen=True)
class Asked:
    """What one metric asks for."""

    pods: int
    current: Body
    """As `status.currentMetrics` shows it."""
    name: str
    """In the words of kube-controller-manager."""


def pods_asked(metric: Body, current: int, pods: Iterable[Pod], usage: Usage, now: datetime) -> Asked:
    """What *metric* asks for where *current* pods are wanted; raises `Unmeasured`."""
    kind = metric["type"]
    if kind not in ("Resource", "ContainerResource"):
        name = ((metric.get(kind[:1].lower() + kind[1:]) or {}).get("metric") or {}).get("name", "")
        raise Unmeasured(f"FailedGet{kind}Metric",
                         f"unable to get metric {name}: nobody measures it in this cluster")  # fmt: skip
    field = kind[:1].lower() + kind[1:]
    source, reason = metric[field], f"FailedGet{kind}Metric"
    resource, container, target = source["name"], source.get("container") or "", source["target"]
    there = [p for p in pods if p.metadata.deletion_timestamp is None and p.phase != "Failed"]
    used = {
        p.name: amount for p in there if (amount := use(usage.get(p.name), resource, container)) is not None
    }
    starting = {p.name for p in there if starts(p, resource, usage.get(p.name), now)}
    unknown = {p.name for p in there if p.name not in used and p.name not in starting}
    counted = {name: amount for name, amount in used.items() if name not in starting}
    if not counted:
        raise Unmeasured(reason, f"no metrics of ready pods are known for resource {resource}")
    percent = target.get("averageUtilization")
    if percent is not None:
        needs = {p.name: need(p, resource, container, reason) for p in there}
        wish = Fraction(percent, 100)
        load = Load(counted, needs, wish, busy=max(Fraction(1), wish))
    else:
        wish = exact(str(target["averageValue"]))
        load = Load(counted, {p.name: Fraction(1) for p in there}, wish, busy=wish)
    ratio, wanted = load.ratio(), load.pods(current, starting, unknown)
    average = sum(counted.values(), Fraction(0)) / len(counted)
    shown: Body = {"averageValue": written(resource, average)}
    if percent is not None:
        shown["averageUtilization"] = int(ratio * wish * 100)
    part = {"name": resource, **({"container": container} if container else {}), "current": shown}
    about = "container resource" if container else "resource"
    how = "utilization (percentage of request)" if percent is not None else ""
    name = f"{resource} {about} {how}".rstrip()
    return Asked(wanted, {"type": kind, field: part}, name)


@dataclass(frozen=True)
class Load:
    """What pods use, and what they should."""

    used: Mapping[str, Fraction]
    needs: Mapping[str, Fraction]
    """What each asks for; 1 where the wish is an amount itself."""
    wish: Fraction
    """Of what is asked for."""
    busy: Fraction
    """The same of a pod that is taken for one that works to the full."""

    def ratio(self) -> Fraction:
        """What is used to what is wished for; all pods together, as their requests may differ."""
        whole = sum((self.needs[name] for name in self.used), Fraction(0)) * self.wish
        return sum(self.used.values(), Fraction(0)) / whole if whole else Fraction(0)

    def pods(self, current: int, starting: set[str], unknown: set[str]) -> int:
        """How many pods it asks for, with those of which nothing is known, or only their start."""
        ratio = self.ratio()
        grows = ratio > 1
        if not unknown and not (starting and grows):
            return current if abs(1 - ratio) <= TOLERANCE else math.ceil(ratio * len(self.used))
        believed = dict(self.used)
        believed |= {name: Fraction(0) if grows else self.needs[name] * self.busy for name in unknown}
        if grows:
            believed |= {name: Fraction(0) for name in starting}
        again = replace(self, used=believed).ratio()
        if abs(1 - again) <= TOLERANCE or (again > 1) != grows:
            return current
        wanted = math.ceil(again * len(believed))
        # What is only believed turns nothing round.
        return current if (wanted < current) == grows and wanted != current else wanted


def use(measured: Body | None, resource: str, container: str) -> Fraction | None:
    if measured is None:
        return None
    parts = [c["usage"] for c in measured["containers"] if not container or c["name"] == container]
    return sum((exact(part[resource]) for part in parts), Fraction(0)) if parts else None


def need(pod: Pod, resource: str, container: str, reason: str) -> Fraction:
    found = Fraction(0)
    for one in pod.spec.get("containers") or ():
        if container and one["name"] != container:
            continue
        if resource not in asked(one):
            raise Unmeasured(
                reason, f"missing request for {resource} in container {one['name']} of Pod {pod.name}"
            )
        given = one["resources"]
        found += exact(str(((given.get("limits") or {}) | (given.get("requests") or {}))[resource]))
    return found


def starts(pod: Pod, resource: str, measured: Body | None, now: datetime) -> bool:
    """Whether what is measured of it would be of its start."""
    if pod.phase == "Pending":
        return True
    if resource != "cpu" or measured is None:
        return False
    ready = condition(pod.status.get("conditions") or (), "Ready")
    began = moment(pod.status.get("startTime"))
    since = moment(ready.get("lastTransitionTime")) if ready else None
    if ready is None or began is None or since is None:
        return True
    if began + BEGINNING > now:
        window = timedelta(seconds=float(measured["window"].removesuffix("s")))
        return ready["status"] == "False" or (moment(measured["timestamp"]) or now) < since + window
    return ready["status"] == "False" and began + NEVER_READY > since


def written(resource: str, amount: Fraction) -> str:
    return f"{math.ceil(amount * 1000)}m" if resource == "cpu" else str(math.ceil(amount))
