"""The status of a pod from what was seen of its containers: phase, conditions, container states.

Pure. Times of transitions are carried over from the published status while nothing changed, so a settled
pod gives the same status again and costs no write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ...api.core import Pod
from .attempts import Attempt, State
from .lifecycle import Container, Sight, due_at, last, policy, restarts

Wire = dict[str, Any]


@dataclass(frozen=True)
class Addresses:
    pod: str
    host: str


def status_of(pod: Pod, seen: Sight, addresses: Addresses) -> Wire:
    """The whole status to publish; conditions of others stay."""
    init = [container_status(pod, c, seen, init=True) for c in pod.spec.get("initContainers") or ()]
    main = [container_status(pod, c, seen, init=False) for c in pod.spec["containers"]]
    initialized = all(done(s) for s in init)
    phase = pod.phase if pod.finished else phase_of(pod, init, main)
    status: Wire = {
        "phase": phase,
        "conditions": conditions(pod, seen.now, phase, initialized, main),
        "containerStatuses": main,
        "startTime": pod.status.get("startTime") or timestamp(seen.now),
        "qosClass": quality(pod),
        "hostIP": addresses.host,
        "hostIPs": [{"ip": addresses.host}],
        "podIP": addresses.pod,
        "podIPs": [{"ip": addresses.pod}],
    }
    if init:
        status["initContainerStatuses"] = init
    return status


def container_status(pod: Pod, container: Container, seen: Sight, *, init: bool) -> Wire:
    name = container["name"]
    attempts = [a for a in seen.attempts.get(name) or () if a.state != State.PREPARED]
    newest = attempts[-1] if attempts else None
    state = container_state(pod, container, seen, init=init)
    running = "running" in state
    ready = done({"state": state}) if init else running and is_ready(container, seen)
    result: Wire = {
        "name": name,
        "image": container.get("image", ""),
        "imageID": "",
        "ready": ready,
        "started": running,
        "restartCount": newest.number if newest else 0,
        "state": state,
        "lastState": {},
    }
    if newest:
        result["containerID"] = container_id(pod, name, newest)
    ended = [a for a in attempts if a.state.over]
    # A run that is over and waits for the next one is the last state, too.
    before = ended[:-1] if "terminated" in state else ended
    if before:
        result["lastState"] = {"terminated": terminated(pod, name, before[-1])}
    return result


def container_state(pod: Pod, container: Container, seen: Sight, *, init: bool) -> Wire:
    attempt = last(seen, container["name"])
    if attempt is None or attempt.state == State.PREPARED:
        return {"waiting": waiting_to_start(pod, container, seen, init=init)}
    if attempt.state == State.RUNNING:
        return {"running": {"startedAt": timestamp(attempt.started_at)}}
    again = attempt.exit_code != 0 and policy(pod) != "Never" if init else restarts(pod, attempt)
    leaving = pod.finished or pod.metadata.deletion_timestamp is not None or seen.gone_since is not None
    if not again or leaving:
        return {"terminated": terminated(pod, container["name"], attempt)}
    return {"waiting": waiting_to_restart(pod, container["name"], seen, attempt)}


def waiting_to_start(pod: Pod, container: Container, seen: Sight, *, init: bool) -> Wire:
    obstacle = seen.obstacles.get(container["name"]) or seen.obstacle
    if obstacle:
        return {"reason": obstacle.reason, "message": str(obstacle)}
    if not init and not all(is_done(last(seen, c["name"])) for c in pod.spec.get("initContainers") or ()):
        return {"reason": "PodInitializing"}
    return {"reason": "ContainerCreating"} | ({"message": seen.progress} if seen.progress else {})


def waiting_to_restart(pod: Pod, name: str, seen: Sight, attempt: Attempt) -> Wire:
    obstacle = seen.obstacles.get(name) or seen.obstacle
    if obstacle:
        return {"reason": obstacle.reason, "message": str(obstacle)}
    pause = due_at(attempt) - attempt.finished_at
    how = f"killed by signal {attempt.signal}" if attempt.signal else f"exit code {attempt.exit_code}"
    message = f"back-off {pause:.0f}s restarting failed container={name} pod={pod.name}: {how}"
    return {"reason": "CrashLoopBackOff", "message": message}


def terminated(pod: Pod, name: str, attempt: Attempt) -> Wire:
    if attempt.state == State.VANISHED:
        reason = "ContainerStatusUnknown"
    else:
        reason = "Completed" if attempt.exit_code == 0 else "Error"
    result: Wire = {
        "exitCode": attempt.exit_code,
        "reason": reason,
        "startedAt": timestamp(attempt.started_at),
        "finishedAt": timestamp(attempt.finished_at),
        "containerID": container_id(pod, name, attempt),
    }
    if attempt.signal:
        result["signal"] = attempt.signal
    if attempt.message:
        result["message"] = attempt.message
    return result


def phase_of(pod: Pod, init: list[Wire], main: list[Wire]) -> str:
    if any(ended(s) and not done(s) for s in init):
        # An init container that failed and comes back is waiting, not terminated.
        return "Failed"
    if not all(done(s) for s in init) or any(never_started(s) for s in main):
        return "Pending"
    if all(ended(s) for s in main):
        if pod.metadata.deletion_timestamp is not None and policy(pod) == "Always":
            return "Running"
        return "Succeeded" if all(done(s) for s in main) else "Failed"
    return "Running"


def conditions(pod: Pod, now: float, phase: str, initialized: bool, main: list[Wire]) -> list[Wire]:
    over = phase in ("Succeeded", "Failed")
    unready = [s["name"] for s in main if not s["ready"]]
    if over:
        reason, message = ("PodCompleted" if phase == "Succeeded" else "PodFailed"), ""
    else:
        reason, message = "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]"
    not_initialized = ("ContainersNotInitialized", "init containers have not completed")
    ours = {
        "PodScheduled": condition("PodScheduled", True),
        "Initialized": condition("Initialized", initialized or phase == "Succeeded", *not_initialized),
        "ContainersReady": condition("ContainersReady", not unready and not over, reason, message),
        "Ready": condition("Ready", not unready and not over, reason, message),
    }
    before = {c["type"]: c for c in pod.status.get("conditions") or ()}
    return [
        *(with_time(c, before.get(kind), now) for kind, c in ours.items()),
        *(c for kind, c in before.items() if kind not in ours),
    ]


def condition(kind: str, holds: bool, reason: str = "", message: str = "") -> Wire:
    result: Wire = {"type": kind, "status": "True" if holds else "False"}
    if not holds and reason:
        result["reason"] = reason
    if not holds and message:
        result["message"] = message
    return result


def with_time(new: Wire, old: Mapping[str, Any] | None, now: float) -> Wire:
    same = old is not None and old.get("status") == new["status"] and old.get("lastTransitionTime")
    return new | {"lastTransitionTime": same or timestamp(now)}


def is_ready(container: Container, seen: Sight) -> bool:
    """Without a probe a container is ready while it runs; with one, once the probe said so."""
    return not container.get("readinessProbe") or seen.ready.get(container["name"], False)


def is_done(attempt: Attempt | None) -> bool:
    return attempt is not None and attempt.state.over and attempt.exit_code == 0


def ended(status: Wire) -> bool:
    return "terminated" in status["state"]


def done(status: Wire) -> bool:
    return ended(status) and status["state"]["terminated"]["exitCode"] == 0


def never_started(status: Wire) -> bool:
    return "waiting" in status["state"] and not status["lastState"]


def quality(pod: Pod) -> str:
    """BestEffort without resources, Guaranteed when every container limits both and asks for as much."""
    resources = [c.get("resources") or {} for c in pod.spec["containers"]]
    if not any(r.get("requests") or r.get("limits") for r in resources):
        return "BestEffort"
    guaranteed = all(
        (limit := (r.get("limits") or {}).get(kind)) and (r.get("requests") or {}).get(kind, limit) == limit
        for r in resources
        for kind in ("cpu", "memory")
    )
    return "Guaranteed" if guaranteed else "Burstable"


def container_id(pod: Pod, name: str, attempt: Attempt) -> str:
    return f"paddlecloud://{pod.uid}/{name}/{attempt.number}"


def timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
