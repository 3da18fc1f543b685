"""How containers are stopped: the preStop hook, then a signal, then no more patience.

Pure. The hooks of all containers of a pod that ends begin at once and use up the grace; sidecars get their
signal when the others have ended, the last one first. Whoever was asked has two seconds at least.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ...api.core import Pod
from . import roles
from .roles import Container
from .sight import Ending, Sight, has_begun, is_leaving, is_running, last, stop_of

LEAST_GRACE = 2.0
DEADLINE = Ending("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")


@dataclass(frozen=True)
class Stopping:
    hook: tuple[str, ...] = ()
    """Containers whose preStop hook begins now."""
    ask: tuple[str, ...] = ()
    kill: tuple[str, ...] = ()
    check_again: float | None = None


def stopping(pod: Pod, seen: Sight, over: bool) -> Stopping:
    """What to do about the containers that are to end; *over*: the whole pod has come to its end."""
    hook, ask, kill, waits = [], [], [], list[float]()
    whole = over or is_leaving(seen)
    for name, deadline in wishes(pod, seen, over).items():
        stop, patience = stop_of(seen, name), deadline - seen.steady
        if patience > 0 and waits_for_hook(roles.named(pod, name), seen):
            hook += [name] if stop is None else []
            waits.append(patience)
        elif patience > 0 and whole and not has_turn(pod, seen, name):
            waits.append(patience)
        elif stop is None or stop.asked is None:
            ask.append(name)
            waits.append(max(patience, LEAST_GRACE))
        elif (left := max(deadline, stop.asked + LEAST_GRACE) - seen.steady) > 0:
            waits.append(left)
        else:
            kill.append(name)
    return Stopping(tuple(hook), tuple(ask), tuple(kill), min(waits, default=None))


def wishes(pod: Pod, seen: Sight, over: bool) -> Mapping[str, float]:
    """The running containers that are to end, and until when they may take their time."""
    result = {}
    for name in (name for name in roles.names(pod) if is_running(seen, name)):
        deadlines = []
        attempt, stop = last(seen, name), stop_of(seen, name)
        since = stop.since if stop else seen.steady
        if seen.leave_by is not None:
            deadlines.append(seen.leave_by)
        elif over:
            deadlines.append(since + roles.grace(pod))
        if attempt is not None and attempt.notes.condemned:
            given = attempt.notes.grace
            deadlines.append(since + (roles.grace(pod) if given is None else given))
        if deadlines:
            result[name] = min(deadlines)
    return result


def waits_for_hook(container: Container, seen: Sight) -> bool:
    stop = stop_of(seen, container["name"])
    return roles.hook(container, "preStop") is not None and (stop is None or not stop.hooked)


def has_turn(pod: Pod, seen: Sight, name: str) -> bool:
    """Whether all that are stopped before this container have ended."""
    beside = [container["name"] for container in roles.sidecars(pod)]
    if name not in beside:
        return True
    later = beside[beside.index(name) + 1 :]
    others = [other for other in roles.names(pod) if other not in beside]
    return not any(is_running(seen, other) for other in (*later, *others))


def ending(pod: Pod, seen: Sight) -> Ending | None:
    """Why the node ends a pod that has not ended by itself."""
    if seen.refused is not None and not any(has_begun(last(seen, name)) for name in roles.names(pod)):
        return seen.refused
    if seen.evicted is not None:
        return seen.evicted
    left = deadline_in(pod, seen)
    return DEADLINE if left is not None and left <= 0 else None


def deadline_in(pod: Pod, seen: Sight) -> float | None:
    """Seconds until `activeDeadlineSeconds` are over."""
    allowed, began = pod.spec.get("activeDeadlineSeconds"), pod.status.get("startTime")
    if allowed is None or not began:
        return None
    return datetime.fromisoformat(began).timestamp() + float(allowed) - seen.now
