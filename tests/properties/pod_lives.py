"""What a node says of a pod from its first day to its last; pure.

A pod gets its address, waits in its init containers while it is held, runs, and ends as it is told to.
Each stage follows from the pod as it is, so whoever plays the node may forget everything and go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paddlecloud.api.core import Pod
from paddlecloud.controllers.startorder import GATE, START

Status = dict[str, Any]


@dataclass(frozen=True)
class End:
    """How the containers of a pod end."""

    code: int = 0
    reason: str = ""
    """As a kubelet has it, OOMKilled for one; by default what follows from the code."""
    message: str = ""
    """What the container left in its termination log."""


@dataclass(frozen=True)
class Sight:
    """What a node knows beside the pod itself."""

    address: str
    now: str
    end: End | None = None


def next_status(pod: Pod, sight: Sight) -> Status | None:
    """What the node says next of a pod that is on it; None when all has been said."""
    if pod.finished:
        return None
    if not pod.ip:
        return addressed(pod, sight)
    if pod.phase == "Pending":
        return None if held(pod) else running(pod, sight)
    return ended(pod, sight, sight.end) if sight.end else None


def held(pod: Pod) -> bool:
    """Whether an init container waits for the start that its controller gives."""
    gated = any(c.get("name") == GATE for c in pod.spec.get("initContainers") or ())
    return gated and START not in pod.metadata.annotations


def addressed(pod: Pod, sight: Sight) -> Status:
    waiting = {"waiting": {"reason": "PodInitializing"}}
    names = [c.get("name") for c in inits(pod)]
    # What comes before the gate takes no time.
    current = names.index(GATE) if GATE in names else 0
    done, begun = terminated(End(), sight), {"running": {"startedAt": sight.now}}
    states = [(done, begun, waiting)[(n >= current) + (n > current)] for n in range(len(names))]
    return {
        "phase": "Pending",
        "hostIP": "192.0.2.1",
        "hostIPs": [{"ip": "192.0.2.1"}],
        "podIP": sight.address,
        "podIPs": [{"ip": sight.address}],
        "startTime": sight.now,
        "conditions": conditions(sight, initialized=False, ready=False),
        "initContainerStatuses": [told(c, s) for c, s in zip(inits(pod), states, strict=True)],
        "containerStatuses": [told(c, waiting) for c in containers(pod)],
    }


def running(pod: Pod, sight: Sight) -> Status:
    state = {"running": {"startedAt": sight.now}}
    return {
        "phase": "Running",
        "conditions": conditions(sight, initialized=True, ready=True),
        "initContainerStatuses": [told(c, terminated(End(), sight)) for c in inits(pod)],
        "containerStatuses": [told(c, state, ready=True) for c in containers(pod)],
    }


def ended(pod: Pod, sight: Sight, end: End) -> Status:
    return {
        "phase": "Failed" if end.code else "Succeeded",
        "conditions": conditions(sight, initialized=True, ready=False),
        "containerStatuses": [told(c, terminated(end, sight)) for c in containers(pod)],
    }


def conditions(sight: Sight, *, initialized: bool, ready: bool) -> list[Status]:
    holds = {
        "PodScheduled": True,
        "Initialized": initialized,
        "ContainersReady": ready,
        "Ready": ready,
    }
    return [{"type": t, "status": str(yes), "lastTransitionTime": sight.now} for t, yes in holds.items()]


def terminated(end: End, sight: Sight) -> Status:
    reason = end.reason or ("Error" if end.code else "Completed")
    said = {"message": end.message} if end.message else {}
    times = {"startedAt": sight.now, "finishedAt": sight.now}
    return {"terminated": {"exitCode": end.code, "reason": reason, **times, **said}}


def told(container: Status, state: Status, *, ready: bool = False) -> Status:
    return {
        "name": container["name"],
        "image": container.get("image", ""),
        "imageID": "",
        "ready": ready,
        "restartCount": 0,
        "state": state,
    }


def inits(pod: Pod) -> list[Status]:
    return list(pod.spec.get("initContainers") or ())


def containers(pod: Pod) -> list[Status]:
    return list(pod.spec.get("containers") or ())
