"""Probes: ask a container again and again, and change one's mind only after enough answers.

How answers become a verdict is pure; `asking` asks. An answer that could not be had for reasons of our own
counts neither way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .asking import ACTIONS, Answer, Target, ask

QUICK = 1.0
QUICK_ASKS = 30
"""A container that was never ready is asked so often every second: a slow period delays no start."""


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
    streak, asked = Streak(), 0
    while True:
        answer = await ask(probe.action, target, probe.timeout)
        streak, asked = extended(streak, answer.good), asked + 1
        found = verdict(streak, probe)
        hurry = hurry and not found and asked < QUICK_ASKS
        await tell(found, answer)
        await asyncio.sleep(pause(probe, hurry))


def pause(probe: Probe, hurry: bool) -> float:
    # Where several successes are wanted, the time between them is part of the wish.
    return min(probe.period, QUICK) if hurry and probe.successes == 1 else probe.period


def named_ports(container: Mapping[str, Any]) -> dict[str, int]:
    return {p["name"]: int(p["containerPort"]) for p in container.get("ports") or () if p.get("name")}
