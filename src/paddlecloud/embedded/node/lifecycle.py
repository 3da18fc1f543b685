"""The life of a pod as one decision: from its spec and what was seen, what to do next and what to say.

Pure and level-triggered: the same sight gives the same answer, and an answer that was carried out changes
the sight. Status tells what was seen, never what is about to happen; a final phase stays final.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...api.core import Pod
from .attempts import Attempt, State
from .obstacles import Obstacle

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 300.0
LONG_RUN = 600.0
"""Seconds; a run of this length clears the record of quick ends before it."""
GRACE_OF_THE_GONE = 2.0
"""Seconds for the containers of a pod that was removed from the API without notice."""

Container = Mapping[str, Any]


@dataclass(frozen=True)
class Sight:
    """Everything a decision looks at besides the pod."""

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
    progress: str = ""
    """What the preparation is doing."""
    asked_to_stop: frozenset[str] = frozenset()
    """Containers whose present run got SIGTERM."""
    gone_since: float | None = None
    """When the pod was found to have left the API."""


@dataclass(frozen=True)
class Start:
    container: str
    number: int
    crashes: int
    """Quick ends in a row so far, for the run's record."""


@dataclass(frozen=True)
class Step:
    """What to do now. `remove`: nothing runs any more and nobody wants the pod."""

    start: tuple[Start, ...] = ()
    ask_to_stop: tuple[str, ...] = ()
    kill: tuple[str, ...] = ()
    remove: bool = False
    prepare: bool = False
    check_again: float | None = None
    """Seconds until time itself changes the answer."""


def next_step(pod: Pod, seen: Sight) -> Step:
    deadline = stop_deadline(pod, seen)
    if deadline is not None:
        return stopping(pod, seen, deadline)
    if pod.finished:
        return Step()
    wanted = startable(pod, seen)
    due = [(name, due_at(last(seen, name))) for name in wanted]
    ripe = [name for name, when in due if when <= seen.now]
    later = [when - seen.now for _, when in due if when > seen.now]
    return Step(
        start=tuple(following(name, last(seen, name)) for name in ripe) if seen.prepared else (),
        prepare=bool(wanted) and not seen.prepared,
        check_again=min(later, default=None),
    )


def stop_deadline(pod: Pod, seen: Sight) -> float | None:
    """When patience with the containers of a pod that is to go ends; None: it may stay."""
    if seen.gone_since is not None:
        return seen.gone_since + GRACE_OF_THE_GONE
    # Kubernetes writes the end of the grace period here, not the time of the request.
    asked = pod.metadata.deletion_timestamp
    return None if asked is None else asked.timestamp()


def stopping(pod: Pod, seen: Sight, deadline: float) -> Step:
    running = [name for name in names(pod) if is_running(seen, name)]
    if not running:
        return Step(remove=True)
    if seen.now >= deadline:
        return Step(kill=tuple(running))
    return Step(
        ask_to_stop=tuple(name for name in running if name not in seen.asked_to_stop),
        check_again=deadline - seen.now,
    )


def startable(pod: Pod, seen: Sight) -> list[str]:
    """The containers that should run and do not: the first unfinished init container, else all others."""
    for container in pod.spec.get("initContainers") or ():
        attempt = last(seen, container["name"])
        if attempt is None or attempt.state == State.PREPARED:
            return [container["name"]]
        if not attempt.state.over:
            return []
        if attempt.exit_code != 0:
            return [container["name"]] if policy(pod) != "Never" else []
    return [c["name"] for c in pod.spec["containers"] if should_start(pod, last(seen, c["name"]))]


def should_start(pod: Pod, attempt: Attempt | None) -> bool:
    if attempt is None or attempt.state == State.PREPARED:
        return True
    return attempt.state.over and restarts(pod, attempt)


def restarts(pod: Pod, attempt: Attempt) -> bool:
    """Whether the restart policy brings a container back that ended like this."""
    return policy(pod) == "Always" or (policy(pod) == "OnFailure" and attempt.exit_code != 0)


def due_at(attempt: Attempt | None) -> float:
    """When the next run may begin: at once, or after a pause that doubles with every quick end."""
    if attempt is None or not attempt.state.over:
        return 0.0
    quick_ends = crashes_with(attempt)
    if quick_ends == 0:
        return attempt.finished_at
    return attempt.finished_at + min(FIRST_PAUSE * 2.0 ** (quick_ends - 1), LONGEST_PAUSE)


def crashes_with(attempt: Attempt) -> int:
    long = attempt.finished_at - attempt.started_at >= LONG_RUN
    # Counted no further than the pause grows: a clock that jumps must not make a number without end.
    return 0 if long else min(attempt.crashes + 1, 32)


def following(name: str, attempt: Attempt | None) -> Start:
    if attempt is None:
        return Start(name, 0, 0)
    if attempt.state == State.PREPARED:
        return Start(name, attempt.number, attempt.crashes)
    return Start(name, attempt.number + 1, crashes_with(attempt))


def names(pod: Pod) -> list[str]:
    return [c["name"] for c in (*(pod.spec.get("initContainers") or ()), *pod.spec["containers"])]


def last(seen: Sight, name: str) -> Attempt | None:
    attempts = seen.attempts.get(name) or ()
    return attempts[-1] if attempts else None


def is_running(seen: Sight, name: str) -> bool:
    attempt = last(seen, name)
    return attempt is not None and attempt.state == State.RUNNING


def policy(pod: Pod) -> str:
    return str(pod.spec.get("restartPolicy") or "Always")
