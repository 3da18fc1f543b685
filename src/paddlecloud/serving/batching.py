"""When to send which waiting requests to the engine together.

Pure: the queue, the time and the rule are arguments. Requests keep their order among those they could be
computed with; the oldest is never passed over and never held longer than the bound.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Rule:
    most_rows: int = 32
    """In one batch; a request with more goes alone. 1 turns batching off."""
    longest_hold: float = 0.0
    """Seconds that the oldest may wait for company while the engine is idle."""


QUICK = 0.0003
"""Seconds that may be computed on the event loop: handing them to a thread and back would cost as much."""
REMEMBERED = 8


def quick(recent: Sequence[float]) -> bool:
    """Whether work like the *recent* is done at once: all of it was short, but for one that was disturbed."""
    return len(recent) == REMEMBERED and sorted(recent)[-2] < QUICK


class Waiting(NamedTuple):
    kind: Hashable
    """Only requests of one kind (types and shapes without the batch) go together."""
    rows: int
    arrived: float


class Send(NamedTuple):
    positions: list[int]
    """In the queue, the oldest first."""


class Hold(NamedTuple):
    until: float


def decide(queue: Sequence[Waiting], now: float, rule: Rule) -> Send | Hold:
    """What to do with a queue that is not empty, now that the engine is free."""
    oldest = queue[0]
    taken, rows = [0], oldest.rows
    full = rows >= rule.most_rows
    for position, waiting in enumerate(queue[1:], 1):
        if full:
            break
        if waiting.kind != oldest.kind:
            continue
        if rows + waiting.rows > rule.most_rows:
            # A later, smaller one would fit, but it may not overtake this one.
            full = True
            break
        taken.append(position)
        rows += waiting.rows
        full = rows == rule.most_rows
    latest = oldest.arrived + rule.longest_hold
    return Send(taken) if full or now >= latest else Hold(latest)
