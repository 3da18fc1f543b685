"""Conditions and waits, in one shape for every kind; pure.

A wait is `Progressing=False` with a one-word reason and a message that says what is waited for and what
would end it; since when is the condition's transition time.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ..api.meta import Condition


def set_conditions(old: Iterable[Condition], new: Iterable[Condition], now: datetime) -> list[Condition]:
    """The new conditions; one whose status did not change keeps the time of its last transition."""
    before = {c.type: c for c in old}
    kept = []
    for condition in new:
        previous = before.get(condition.type)
        same = previous is not None and previous.status == condition.status
        since = previous.last_transition_time if same and previous else now
        kept.append(condition.but(last_transition_time=since or now))
    return kept


def condition(kind: str, holds: bool | None, reason: str, message: str = "") -> Condition:
    status = {True: "True", False: "False", None: "Unknown"}[holds]
    return Condition(type=kind, status=status, reason=reason, message=message)


def waiting(reason: str, message: str) -> Condition:
    """What is waited for, and what would end it."""
    return condition("Progressing", False, reason, message)


def progressing(reason: str = "Working", message: str = "") -> Condition:
    return condition("Progressing", True, reason, message)
