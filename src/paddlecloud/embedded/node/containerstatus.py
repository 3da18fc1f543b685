"""The status of one container from its runs: waiting, running or terminated, ready or not.

Pure. The words are those of a kubelet, because clients read them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ...api.core import Pod
from . import roles
from .attempts import Attempt, State
from .lifecycle import comes_back, due_in, is_over, pause_after
from .roles import Container, is_sidecar
from .sight import Sight, is_done, is_leaving, is_up, last

Wire = dict[str, Any]


def container_status(pod: Pod, container: Container, seen: Sight) -> Wire:
    name = container["name"]
    runs = [a for a in seen.attempts.get(name) or () if a.state != State.PREPARED]
    newest = runs[-1] if runs else None
    state = container_state(pod, container, seen)
    up = is_up(container, newest)
    result: Wire = {
        "name": name,
        "image": container.get("image", ""),
        "imageID": newest.image_id if newest else "",
        "ready": is_ready(pod, container, seen, up),
        "started": up,
        "restartCount": newest.number if newest else 0,
        "state": state,
        "lastState": {},
    }
    if newest:
        result["containerID"] = container_id(pod, name, newest)
    over = [a for a in runs if a.state.over]
    # A run that is over and waits for the next one is the last state, too.
    before = over[:-1] if "terminated" in state else over
    if before:
        result["lastState"] = {"terminated": terminated(pod, name, before[-1])}
    return result


def is_ready(pod: Pod, container: Container, seen: Sight, up: bool) -> bool:
    """Whoever runs is ready, unless a probe says otherwise; whoever only comes first is once it is done."""
    name = container["name"]
    if roles.is_visitor(pod, name):
        return False
    if roles.is_first(pod, name) and not is_sidecar(container):
        return is_done(last(seen, name))
    return up and (not container.get("readinessProbe") or seen.ready.get(name, False))


def container_state(pod: Pod, container: Container, seen: Sight) -> Wire:
    name = container["name"]
    attempt = last(seen, name)
    if attempt is None or attempt.state == State.PREPARED:
        before = (seen.attempts.get(name) or ())[:-1]
        if is_over(pod, seen) and before:
            return {"terminated": terminated(pod, name, before[-1])}
        return {"waiting": waiting_to_start(pod, container, seen)}
    if attempt.state == State.RUNNING:
        return {"running": {"startedAt": timestamp(attempt.started_at)}}
    staying = is_leaving(seen) or is_over(pod, seen) or not comes_back(pod, container, attempt)
    obstacle = seen.obstacles.get(name)
    if not staying and obstacle:
        return {"waiting": {"reason": obstacle.reason, "message": str(obstacle)}}
    if staying or due_in(seen, name) <= 0:
        return {"terminated": terminated(pod, name, attempt)}
    message = (
        f"back-off {span(pause_after(attempt))} restarting failed container={name} "
        f"pod={pod.name}_{pod.namespace}({pod.uid})"
    )
    return {"waiting": {"reason": "CrashLoopBackOff", "message": message}}


def waiting_to_start(pod: Pod, container: Container, seen: Sight) -> Wire:
    name = container["name"]
    obstacle = seen.obstacles.get(name) or seen.obstacle
    if obstacle:
        return {"reason": obstacle.reason, "message": str(obstacle)}
    initialized = all(is_initialized(c, last(seen, c["name"])) for c in roles.first(pod))
    has_turn = seen.prepared if roles.is_first(pod, name) else initialized
    lacked = seen.lacking.get(container.get("image") or "")
    if lacked and has_turn:
        return {"reason": lacked.reason, "message": str(lacked)}
    if roles.first(pod):
        return {"reason": "PodInitializing"}
    return {"reason": "ContainerCreating"} | ({"message": seen.progress} if seen.progress else {})


def is_initialized(container: Container, attempt: Attempt | None) -> bool:
    return is_up(container, attempt) if is_sidecar(container) else is_done(attempt)


def terminated(pod: Pod, name: str, attempt: Attempt) -> Wire:
    result: Wire = {
        "exitCode": attempt.exit_code,
        "reason": reason_of(attempt),
        "startedAt": timestamp(attempt.started_at),
        "finishedAt": timestamp(attempt.finished_at),
        "containerID": container_id(pod, name, attempt),
    }
    if attempt.signal:
        result["signal"] = attempt.signal
    if attempt.message:
        result["message"] = attempt.message
    return result


def reason_of(attempt: Attempt) -> str:
    if attempt.state == State.VANISHED:
        return "ContainerStatusUnknown"
    if attempt.out_of_memory:
        return "OOMKilled"
    if attempt.not_started:
        return "StartError"
    return "Completed" if attempt.exit_code == 0 else "Error"


def container_id(pod: Pod, name: str, attempt: Attempt) -> str:
    return f"paddlecloud://{pod.uid}/{name}/{attempt.number}"


def span(seconds: float) -> str:
    """A duration as Go prints it: `10s`, `2m40s`, `5m0s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
