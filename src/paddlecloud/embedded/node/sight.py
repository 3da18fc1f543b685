"""What a decision about a pod looks at besides its spec: the runs of its containers, and what was heard.

Two clocks: `now` is the time of day, for what people read; `steady` never jumps and measures every wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .attempts import Attempt, State
from .obstacles import Obstacle
from .roles import Container, hook


@dataclass(frozen=True)
class Stop:
    """How far the stopping of one run is; times by the steady clock."""

    number: int
    """Of the run."""
    since: float
    hooked: bool = False
    """Its preStop hook is over, or it has none."""
    asked: float | None = None
    """When it got its signal."""


@dataclass(frozen=True)
class Ending:
    """Why the node ends a pod for good."""

    reason: str
    message: str


@dataclass(frozen=True)
class Sight:
    now: float
    attempts: Mapping[str, Sequence[Attempt]] = field(default_factory=dict)
    """The runs of every container, oldest first."""
    ready: Mapping[str, bool] = field(default_factory=dict)
    """What the readiness probe of a container last said; no entry: not yet."""
    prepared: bool = False
    """Volumes and environments are there."""
    obstacle: Obstacle | None = None
    """What keeps the pod from being prepared."""
    obstacles: Mapping[str, Obstacle] = field(default_factory=dict)
    """What keeps single containers from being started."""
    lacking: Mapping[str, Obstacle] = field(default_factory=dict)
    """Images that are not there yet, and why."""
    progress: str = ""
    """What the preparation is doing."""
    steady: float = 0.0
    rested: Mapping[str, float] = field(default_factory=dict)
    """Seconds since the newest run of a container ended; no entry: by the time of day."""
    stops: Mapping[str, Stop] = field(default_factory=dict)
    leave_by: float | None = None
    """When patience with a pod that is to go ends, by the steady clock; None: it may stay."""
    gone: bool = False
    """The pod has left the API."""
    refused: Ending | None = None
    """Why this node does not take the pod at all."""
    evicted: Ending | None = None
    """Why it keeps the pod no longer."""


def last(seen: Sight, name: str) -> Attempt | None:
    attempts = seen.attempts.get(name) or ()
    return attempts[-1] if attempts else None


def is_running(seen: Sight, name: str) -> bool:
    attempt = last(seen, name)
    return attempt is not None and attempt.state == State.RUNNING


def has_begun(attempt: Attempt | None) -> bool:
    return attempt is not None and attempt.state != State.PREPARED


def is_done(attempt: Attempt | None) -> bool:
    return attempt is not None and attempt.state.over and attempt.exit_code == 0


def is_up(container: Container, attempt: Attempt | None) -> bool:
    """Whether a container has started in the sense of its startup probe and its postStart hook."""
    if attempt is None or attempt.state != State.RUNNING:
        return False
    return is_hooked(container, attempt) and (not container.get("startupProbe") or attempt.notes.started)


def is_hooked(container: Container, attempt: Attempt) -> bool:
    return hook(container, "postStart") is None or attempt.notes.hooked


def stop_of(seen: Sight, name: str) -> Stop | None:
    """How far the stopping of the newest run is; None: it has not begun."""
    attempt, stop = last(seen, name), seen.stops.get(name)
    return stop if attempt is not None and stop is not None and stop.number == attempt.number else None


def is_leaving(seen: Sight) -> bool:
    return seen.leave_by is not None


def rested(seen: Sight, name: str) -> float:
    """Seconds since the newest run ended."""
    attempt = last(seen, name)
    assert attempt is not None
    return seen.rested.get(name, max(0.0, seen.now - attempt.finished_at))
