"""How many pods a revision should have: Knative's arithmetic on what was measured; pure.

The stable window averages, the panic window notices bursts: while it panics, a revision only grows. Nothing
is scaled to zero before a whole window without a request has been seen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..api.knative import AUTOSCALING

HPA = f"hpa.{AUTOSCALING}"
UP_RATE, DOWN_RATE = 1000.0, 2.0
DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Knobs:
    """The settings of a revision, as its annotations have them."""

    by_requests: bool = True
    """Whether requests decide; else what the pods use does, and the number is no affair of this module."""
    rps: bool = False
    target: float = 100.0
    """Requests at a time, or a second, for one pod, of which `utilization` is aimed at."""
    utilization: float = 0.7
    window: float = 60.0
    panic_part: float = 0.1
    panic_threshold: float = 2.0
    least: int = 0
    most: int = 0
    """0: any number."""

    @property
    def aim(self) -> float:
        return max(0.01, self.target * self.utilization)

    @property
    def panic_window(self) -> float:
        return max(1.0, self.window * self.panic_part)


@dataclass(frozen=True)
class Measured:
    stable: float
    panic: float
    """Requests (at a time or a second) in all pods together, averaged over either window."""
    ready: int
    seen_for: float
    """Seconds for which it was looked at without a gap while it had pods."""
    reachable: bool = True
    """Whether anybody can send it requests; else it need not keep its smallest number."""


@dataclass(frozen=True)
class State:
    """What is remembered from one look to the next."""

    panicking_since: float | None = None
    most: int = 0


@dataclass(frozen=True)
class Verdict:
    pods: int
    state: State


def begun(knobs: Knobs, pods: int, now: float) -> State:
    """Of a revision that was there before the first look: it does not shrink before a window was seen."""
    return State(now, pods) if pods > 1 and knobs.by_requests else State()


def decide(knobs: Knobs, seen: Measured, state: State, now: float) -> Verdict:
    ready = max(1, seen.ready)
    highest = math.ceil(UP_RATE * ready)
    lowest = math.floor(ready / DOWN_RATE) if seen.reachable else 0
    stable = min(max(math.ceil(seen.stable / knobs.aim), lowest), highest)
    burst = math.ceil(seen.panic / knobs.aim)
    panic = min(max(burst, lowest), highest)
    since = state.panicking_since
    if burst / ready >= knobs.panic_threshold:
        since = now
    elif since is not None and now - since > knobs.window:
        since = None
    if since is None:
        wanted, after = stable, State()
    else:
        wanted = max(stable, panic, state.most)
        after = State(since, wanted)
    if wanted == 0 and seen.ready and seen.seen_for < knobs.window:
        wanted = 1
    return Verdict(bounded(wanted, knobs, seen.reachable), after)


def bounded(wanted: int, knobs: Knobs, reachable: bool) -> int:
    least = knobs.least if reachable else 0
    return max(least, min(wanted, knobs.most) if knobs.most else wanted)


def knobs_of(annotations: Mapping[str, str], limit: int = 0) -> Knobs:
    """The settings in *annotations*; what makes no sense there is as if it were not said.

    *limit*: the most requests at a time that a pod takes, which no target exceeds.
    """

    def number(name: str, otherwise: float) -> float:
        try:
            value = float(annotations.get(f"{AUTOSCALING}/{name}", ""))
        except ValueError:
            return otherwise
        return value if math.isfinite(value) and value >= 0 else otherwise

    usual = Knobs()
    metric = annotations.get(f"{AUTOSCALING}/metric", "concurrency")
    target = number("target", 0.0)
    if not target:
        target = 200.0 if metric == "rps" else float(limit or usual.target)
    elif limit and metric == "concurrency":
        target = min(target, float(limit))
    return Knobs(
        by_requests=annotations.get(f"{AUTOSCALING}/class") != HPA,
        rps=metric == "rps",
        target=target,
        utilization=number("target-utilization-percentage", 70.0) / 100,
        window=seconds(annotations.get(f"{AUTOSCALING}/window", ""), usual.window),
        panic_part=number("panic-window-percentage", 10.0) / 100,
        panic_threshold=number("panic-threshold-percentage", 200.0) / 100,
        least=int(number("min-scale", 0)),
        most=int(number("max-scale", 0)),
    )


def seconds(text: str, otherwise: float) -> float:
    """A duration as Go writes it, between what Knative allows: 6 seconds and an hour."""
    parts = DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return otherwise
    return min(3600.0, max(6.0, sum(float(number) * UNITS[unit] for number, unit in parts)))
