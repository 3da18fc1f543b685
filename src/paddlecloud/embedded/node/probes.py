"""Probes: ask a container again and again, and change one's mind only after enough answers.

How answers become a verdict is pure; `asking` asks. An answer that could not be had for reasons of our own
counts neither way. Whoever was never ready is asked in between, too: that brings good news early, and bad
news only when the probe would have asked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .asking import ACTIONS, Answer, Target, ask

QUICK = 1.0
HURRY = 30.0
"""Seconds for which a container that was never ready is asked every second: a slow period delays no start."""
SOONEST = 0.03
PART = 0.1
"""In between it is asked ever less often: a start is seen late by a tenth of what it took, at most."""
EFFORT = 10.0
"""Times what an answer took is the pause before the next: many that start at once take turns."""


@dataclass(frozen=True)
class Probe:
    action: Mapping[str, Any]
    """The httpGet, tcpSocket or exec of the spec, under its name."""
    initial_delay: float
    period: float
    timeout: float
    successes: int
    failures: int
    grace: float | None = None
    """Seconds for a container that this probe ends; None: those of its pod."""


@dataclass(frozen=True)
class Streak:
    """The last answer and how many times in a row it was given."""

    answer: bool | None = None
    length: int = 0


def probe_of(spec: Mapping[str, Any]) -> Probe:
    grace = spec.get("terminationGracePeriodSeconds")
    return Probe(
        action={key: spec[key] for key in ACTIONS if key in spec},
        initial_delay=float(spec.get("initialDelaySeconds") or 0),
        period=float(spec.get("periodSeconds") or 10),
        timeout=float(spec.get("timeoutSeconds") or 1),
        successes=int(spec.get("successThreshold") or 1),
        failures=int(spec.get("failureThreshold") or 3),
        grace=None if grace is None else float(grace),
    )


def extended(before: Streak, answer: bool | None) -> Streak:
    """The streak after one more answer; None is no answer."""
    if answer is None:
        return before
    return Streak(answer, before.length + 1 if answer == before.answer else 1)


def verdict(streak: Streak, probe: Probe) -> bool | None:
    """What the answers amount to; None: too few to change one's mind."""
    if streak.answer is None:
        return None
    enough = probe.successes if streak.answer else probe.failures
    return streak.answer if streak.length >= enough else None


async def watch(
    probe: Probe, target: Target, hurry: bool, tell: Callable[[bool | None, Answer], Awaitable[None]]
) -> None:
    """Ask until cancelled; *tell* hears every verdict with the answer before it.

    *hurry*: until the first success, ask more often than the period says.
    """
    # A container found running has had its delay already.
    await asyncio.sleep(max(0.0, probe.initial_delay - target.age))
    streak, begun = Streak(), time.monotonic()
    due = begun + turn(probe, hurry) if hurry else begun
    while True:
        asked = time.monotonic()
        answer = await ask(probe.action, target, probe.timeout)
        if answer.good or asked >= due:
            streak = extended(streak, answer.good)
            found = verdict(streak, probe)
            hurry = hurry and not found and asked - begun < HURRY
            due = asked + turn(probe, hurry)
            await tell(found, answer)
        left = due - time.monotonic()
        await asyncio.sleep(min(left, between(asked - begun, time.monotonic() - asked)) if hurry else left)


def turn(probe: Probe, hurry: bool) -> float:
    """Seconds from one answer that counts to the next."""
    # Where several successes are wanted, the time between them is part of the wish.
    return min(probe.period, QUICK) if hurry and probe.successes == 1 else probe.period


def between(waited: float, took: float) -> float:
    """Seconds to the next look at a container that was *waited* for, whose last answer *took* so long."""
    return max(SOONEST, waited * PART, took * EFFORT)


def named_ports(container: Mapping[str, Any]) -> dict[str, int]:
    return {p["name"]: int(p["containerPort"]) for p in container.get("ports") or () if p.get("name")}
