"""The life of a pod as one decision: from its spec and what was seen, what to do next.

Pure and level-triggered: the same sight gives the same answer, and an answer that was carried out changes
the sight.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...api.core import Pod
from . import roles
from .attempts import Attempt, State
from .roles import Container as Container
from .roles import is_sidecar, policy
from .sight import Sight, has_begun, is_done, is_leaving, is_running, is_up, last, rested
from .stopping import Stopping, deadline_in, ending, stopping

FIRST_PAUSE = 10.0
LONGEST_PAUSE = 300.0
LONG_RUN = 600.0
"""Seconds; a run of this length clears the record of quick ends before it."""


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
    stop: Stopping = field(default_factory=Stopping)
    remove: bool = False
    prepare: bool = False
    check_again: float | None = None
    """Seconds until time itself changes the answer."""


def next_step(pod: Pod, seen: Sight) -> Step:
    over = is_over(pod, seen)
    stop = stopping(pod, seen, over)
    if is_leaving(seen) and not any(is_running(seen, name) for name in roles.names(pod)):
        return Step(remove=True)
    if over or is_leaving(seen):
        return Step(stop=stop, check_again=stop.check_again)
    wanted = [*startable(pod, seen), *arriving(pod, seen)]
    waits = {name: due_in(seen, name) for name in wanted}
    ripe = [name for name, wait in waits.items() if wait <= 0 and image_of(pod, name) not in seen.lacking]
    dates = [stop.check_again, deadline_in(pod, seen), *(wait for wait in waits.values() if wait > 0)]
    return Step(
        start=tuple(following(name, last(seen, name)) for name in ripe) if seen.prepared else (),
        stop=stop,
        prepare=bool(wanted) and not seen.prepared,
        check_again=min((date for date in dates if date is not None), default=None),
    )


def image_of(pod: Pod, name: str) -> str:
    return str(roles.named(pod, name).get("image") or "")


def is_over(pod: Pod, seen: Sight) -> bool:
    """Whether nothing of the pod is to be started again, though something may still run."""
    if pod.finished or ending(pod, seen) is not None:
        return True
    if policy(pod) == "Never" and any(failed_first(c, last(seen, c["name"])) for c in roles.first(pod)):
        return True
    return all(ended_for_good(pod, last(seen, c["name"])) for c in roles.mains(pod))


def failed_first(container: Container, attempt: Attempt | None) -> bool:
    failed = attempt is not None and attempt.state.over and attempt.exit_code != 0
    return failed and not is_sidecar(container)


def ended_for_good(pod: Pod, attempt: Attempt | None) -> bool:
    return attempt is not None and attempt.state.over and not restarts(pod, attempt)


def startable(pod: Pod, seen: Sight) -> list[str]:
    """The containers that should run and do not.

    Init containers one after the other; a sidecar lets the next one begin once it is up, and comes back
    whenever it ends. Then all others at once.
    """
    wanted = []
    passed = turns_passed(pod, seen)
    for place, container in enumerate(roles.first(pod)):
        name, attempt = container["name"], last(seen, container["name"])
        waiting = not has_begun(attempt) or (attempt is not None and attempt.state.over)
        if is_sidecar(container):
            wanted += [name] if waiting else []
            if place >= passed and not is_up(container, attempt):
                return wanted
        elif place >= passed and not is_done(attempt):
            # An init container is only ever restarted because it failed.
            return [*wanted, name] if waiting else wanted
    return [*wanted, *(c["name"] for c in roles.mains(pod) if should_start(pod, last(seen, c["name"])))]


def arriving(pod: Pod, seen: Sight) -> list[str]:
    """The visitors that have not been there yet: they wait for nobody, and come once."""
    return [c["name"] for c in roles.visitors(pod) if not has_begun(last(seen, c["name"]))]


def turns_passed(pod: Pod, seen: Sight) -> int:
    """How many init containers have had their turn: all those before one that has begun."""
    order = [container["name"] for container in roles.first(pod)]
    if any(has_begun(last(seen, container["name"])) for container in roles.mains(pod)):
        return len(order)
    return max((place for place, name in enumerate(order) if has_begun(last(seen, name))), default=0)


def should_start(pod: Pod, attempt: Attempt | None) -> bool:
    return attempt is None or not has_begun(attempt) or (attempt.state.over and restarts(pod, attempt))


def restarts(pod: Pod, attempt: Attempt) -> bool:
    """Whether the restart policy brings a container back that ended like this."""
    failed = attempt.exit_code != 0 or bool(attempt.notes.condemned)
    return policy(pod) == "Always" or (policy(pod) == "OnFailure" and failed)


def comes_back(pod: Pod, container: Container, attempt: Attempt) -> bool:
    """The same for any container of the pod."""
    if roles.is_visitor(pod, container["name"]):
        return False
    if not roles.is_first(pod, container["name"]):
        return restarts(pod, attempt)
    return is_sidecar(container) or (attempt.exit_code != 0 and policy(pod) != "Never")


def due_in(seen: Sight, name: str) -> float:
    """Seconds until the next run may begin; not positive: now."""
    attempt = last(seen, name)
    if attempt is None or not attempt.state.over:
        return 0.0
    return pause_after(attempt) - rested(seen, name)


def pause_after(attempt: Attempt) -> float:
    """The first end costs nothing; from the second on the pause doubles with every quick end."""
    quick_ends = crashes_with(attempt)
    if quick_ends < 2:
        return 0.0
    return min(FIRST_PAUSE * 2.0 ** (quick_ends - 2), LONGEST_PAUSE)


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
