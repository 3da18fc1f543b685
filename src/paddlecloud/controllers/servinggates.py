"""How a release goes from step to step, and when it goes back; pure.

A step is judged by what the canary did in it: soon when that is bad enough, at its end when it is good. A
release that ended stays ended until another canary, or the same once more, is tried. Where nobody counts
requests, a gate waits.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

import orjson

from ..api.knative import Revision
from ..api.paddlerelease import Gate, ReleasePhase, ReleaseSpec, ReleaseStatus, Tallied

TALLY = "paddlecloud.org/tally"
"""Annotation of a revision, written by the gateway."""
LIMITS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000,
          10000, 30000)  # fmt: skip
"""Milliseconds up to which an answer counts for a place of `Tallied.times`; the last place has the rest."""
WHOLE = 100


@dataclass(frozen=True)
class Trial:
    """The canary of a service as it is now."""

    revision: str
    """Empty while it does not answer yet."""
    tally: Tallied | None = None
    trouble: str = ""
    """Why it cannot answer any more."""


def place_of(milliseconds: float) -> int:
    """The place of `Tallied.times` in which an answer counts."""
    return bisect_left(LIMITS, milliseconds)


def tally_of(revision: Revision | None) -> Tallied | None:
    """What the gateway last told of a revision; None: nothing."""
    text = revision.metadata.annotations.get(TALLY, "") if revision else ""
    try:
        return Tallied.model_validate(orjson.loads(text)) if text else None
    except ValueError:
        return None


def course(
    release: ReleaseSpec | None, state: ReleaseStatus | None, trial: Trial, now: datetime
) -> ReleaseStatus | None:
    """Where the release is after a look at its canary; None: there is no release."""
    if release is None or not release.steps or not trial.revision:
        return None
    tally = trial.tally or Tallied()
    if state is None or (state.canary, state.attempt) != (trial.revision, release.attempt):
        begun = ReleaseStatus(canary=trial.revision, percent=release.steps[0], since=now, before=tally)
        return begun.but(attempt=release.attempt) if release.attempt else begun
    if state.phase.final:
        return state
    step = min(state.step, len(release.steps) - 1)
    if state.percent != release.steps[step]:
        # The steps were edited meanwhile: a share that nobody asks for any more may never count enough.
        return state.but(step=step, percent=release.steps[step], since=now, before=tally)
    seen = since(tally, state.before)
    bad = trial.trouble or (breach(release.gate, seen) if enough(release, seen) else "")
    if bad:
        return state.but(phase=ReleasePhase.ROLLED_BACK, percent=0, since=now, reason=bad)
    if (now - state.since).total_seconds() < release.step_seconds:
        return state
    if gated(release.gate) and not enough(release, seen):
        return state
    after = {"since": now, "before": tally, "reason": told(seen)}
    if state.step + 1 < len(release.steps):
        return state.but(step=state.step + 1, percent=release.steps[state.step + 1], **after)
    return state.but(phase=ReleasePhase.DONE, percent=WHOLE, **after)


def look_again(release: ReleaseSpec | None, state: ReleaseStatus | None, now: datetime) -> float | None:
    """Seconds until time alone may end the step; requests that count wake the controller themselves."""
    if release is None or state is None or state.phase.final:
        return None
    left = release.step_seconds - (now - state.since).total_seconds()
    return left if left > 0 else None


def gated(gate: Gate) -> bool:
    return any(
        limit is not None for limit in (gate.error_percent, gate.p99_milliseconds, gate.difference_percent)
    )


def enough(release: ReleaseSpec, seen: Tallied) -> bool:
    """Whether the step can be judged; a gate on differences needs requests that were compared."""
    compared = release.gate.difference_percent is None or seen.compared >= min(release.min_requests, COMPARED)
    return seen.requests >= release.min_requests and compared


COMPARED = 10
"""Mirrored requests are few: so many of them say enough."""


def since(now: Tallied, before: Tallied) -> Tallied:
    """What was counted after *before*; a gateway that started again counts from nothing."""
    if now.requests < before.requests:
        return now
    old = [*before.times, *[0] * (len(now.times) - len(before.times))]
    return Tallied(
        requests=now.requests - before.requests,
        errors=now.errors - before.errors,
        times=[new - gone for new, gone in zip(now.times, old, strict=False)],
        compared=now.compared - before.compared,
        different=now.different - before.different,
    )


def breach(gate: Gate, seen: Tallied) -> str:
    """What of the gate does not hold, in a sentence; empty: all holds."""
    errors, slow = part(seen.errors, seen.requests), slowest(seen.times)
    if gate.error_percent is not None and errors > gate.error_percent:
        limit = gate.error_percent
        return f"{seen.errors} of {seen.requests} requests failed ({errors:.3g} %; at most {limit:g} %)"
    if gate.p99_milliseconds is not None and slow > gate.p99_milliseconds:
        limit = gate.p99_milliseconds
        return f"the slowest of 100 of {seen.requests} requests took {slow:.4g} ms (at most {limit:g} ms)"
    others = part(seen.different, seen.compared)
    if gate.difference_percent is not None and others > gate.difference_percent:
        limit = gate.difference_percent
        return (
            f"{seen.different} of {seen.compared} mirrored requests were answered otherwise than by the "
            f"default ({others:.3g} %; at most {limit:g} %)"
        )
    return ""


def told(seen: Tallied) -> str:
    failed, slow = part(seen.errors, seen.requests), slowest(seen.times)
    words = f"{seen.requests} requests, {failed:.3g} % failed, p99 {slow:.4g} ms"
    return f"{words}, {seen.different} of {seen.compared} compared differ" if seen.compared else words


def part(some: int, every: int) -> float:
    return 100 * some / every if every else 0.0


def slowest(times: list[int], share: float = 0.99) -> float:
    """The milliseconds within which that share of answers came, evenly spread between two limits."""
    goal = share * sum(times)
    if not goal:
        return 0.0
    bounds = (0, *LIMITS)
    for place, (here, reached) in enumerate(zip(times, accumulate(times), strict=True)):
        if reached >= goal and here:
            if place >= len(LIMITS):
                return float("inf")
            low, high = bounds[place], bounds[place + 1]
            return low + (high - low) * (goal - (reached - here)) / here
    return float("inf")
