"""How fast an autoscaler may go, and how long it hesitates: `spec.behavior` of its kind; pure.

Of the numbers asked for within a window the least changing one counts: the highest on the way down, the
lowest on the way up. Policies bound what may come or go within their period.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Body = dict[str, Any]
WHOLE = {"type": "Percent", "value": 100, "periodSeconds": 15}
UP: Body = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}, WHOLE],
}
DOWN: Body = {"stabilizationWindowSeconds": 300, "selectPolicy": "Max", "policies": [WHOLE]}
ABOVE = "TooManyReplicas", "the desired replica count is more than the maximum replica count"
BELOW = "TooFewReplicas", "the desired replica count is less than the minimum replica count"
KEPT = 3600.0
"""Seconds after which nothing of the past counts: no window and no period is longer."""


@dataclass(frozen=True)
class Past:
    """What an autoscaler remembers: when it asked for what, and by how much it changed the scale when."""

    asked: tuple[tuple[float, int], ...] = ()
    changes: tuple[tuple[float, int], ...] = ()

    def but(self, now: float, *, asked: int | None = None, change: int = 0) -> Past:
        numbers = tuple(one for one in self.asked if one[0] > now - KEPT)
        steps = tuple(one for one in self.changes if one[0] > now - KEPT)
        if asked is not None:
            numbers = (*numbers, (now, asked))
        return Past(numbers, (*steps, (now, change)) if change else steps)


@dataclass(frozen=True)
class Allowed:
    pods: int
    limited: tuple[str, str] = ("", "")
    """The reason in one word and the sentence, where it is not what was asked for."""
    waits: bool = False
    """Whether a window held it back."""


def allowed(spec: Body, current: int, wanted: int, past: Past, now: float) -> Allowed:
    """The number that may be written now; *past* has *wanted* among what was asked."""
    behavior = spec.get("behavior") or {}
    up, down = {**UP, **(behavior.get("scaleUp") or {})}, {**DOWN, **(behavior.get("scaleDown") or {})}
    steady = settled(current, wanted, past, up, down, now)
    least, most = int(spec.get("minReplicas") or 1), int(spec["maxReplicas"])
    if steady > current:
        rate = risen(up, current, past, now)
        bound, why = min(rate, most), ("ScaleUpLimit", "the desired replica count is increasing faster "
                                       "than the maximum scale rate")  # fmt: skip
        if steady > bound:
            return Allowed(max(bound, current), why if rate < most else ABOVE, steady != wanted)
    elif steady < current:
        rate = fallen(down, current, past, now)
        bound, why = max(rate, least), ("ScaleDownLimit", "the desired replica count is decreasing faster "
                                        "than the maximum scale rate")  # fmt: skip
        if steady < bound:
            return Allowed(min(bound, current), why if rate > least else BELOW, steady != wanted)
    if steady > most:
        return Allowed(most, ABOVE, steady != wanted)
    if steady < least:
        return Allowed(least, BELOW, steady != wanted)
    return Allowed(steady, waits=steady != wanted)


def settled(current: int, wanted: int, past: Past, up: Body, down: Body, now: float) -> int:
    def within(rules: Body) -> Iterable[int]:
        span = int(rules.get("stabilizationWindowSeconds") or 0)
        return (wanted, *(number for at, number in past.asked if at > now - span))

    lowest, highest = min(within(up)), max(within(down))
    return min(max(current, lowest), highest)


def changed(past: Past, seconds: float, now: float, sign: int) -> int:
    return sum(abs(by) for at, by in past.changes if at > now - seconds and by * sign > 0)


def risen(rules: Body, current: int, past: Past, now: float) -> int:
    return furthest(rules, current, past, now, 1)


def fallen(rules: Body, current: int, past: Past, now: float) -> int:
    return furthest(rules, current, past, now, -1)


def furthest(rules: Body, current: int, past: Past, now: float, sign: int) -> int:
    """Where the policies let it go to in the direction of *sign*."""

    def limit(policy: Mapping[str, Any]) -> int:
        span = policy["periodSeconds"]
        began = current - changed(past, span, now, 1) + changed(past, span, now, -1)
        if policy["type"] == "Pods":
            return int(began + sign * policy["value"])
        share = Fraction(100 + sign * policy["value"], 100) * began
        return math.ceil(share) if sign > 0 else math.floor(share)

    choose = rules["selectPolicy"]
    if choose == "Disabled":
        return current
    nearest = choose == "Min"
    return (min if nearest == (sign > 0) else max)(map(limit, rules["policies"]))
