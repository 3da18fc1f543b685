"""The status of a pod from what was seen of its containers: phase, conditions, addresses.

Pure. Status tells what was seen, never what is about to happen; a final phase stays final and is reached only
when nothing runs any more. Times of transitions are carried over from the published status while nothing
changed, so a settled pod gives the same status again and costs no write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...api.core import Pod
from . import roles
from .containerstatus import Wire, container_status, is_initialized
from .containerstatus import timestamp as timestamp
from .roles import is_sidecar, policy
from .sight import Sight, has_begun, is_leaving, last
from .stopping import ending

FINAL = ("Succeeded", "Failed")


@dataclass(frozen=True)
class Addresses:
    pod: str
    host: str


def status_of(pod: Pod, seen: Sight, addresses: Addresses) -> Wire:
    """The whole status to publish; conditions of others stay."""
    statuses = {c["name"]: container_status(pod, c, seen) for c in roles.every(pod)}
    phase, why = phase_and_reason(pod, seen, statuses)
    status: Wire = {
        "phase": phase,
        **why,
        "conditions": conditions(pod, seen, phase, statuses),
        "containerStatuses": [statuses[c["name"]] for c in roles.mains(pod)],
        "startTime": pod.status.get("startTime") or timestamp(seen.now),
        "qosClass": pod.status.get("qosClass") or quality(pod),
    }
    if first := [statuses[c["name"]] for c in roles.first(pod)]:
        status["initContainerStatuses"] = first
    if visitors := [statuses[c["name"]] for c in roles.visitors(pod)]:
        status["ephemeralContainerStatuses"] = visitors
    if addresses.pod:
        status |= {"podIP": addresses.pod, "podIPs": [{"ip": addresses.pod}]}
        status |= {"hostIP": addresses.host, "hostIPs": [{"ip": addresses.host}]}
    return status


def phase_and_reason(pod: Pod, seen: Sight, statuses: Mapping[str, Wire]) -> tuple[str, Wire]:
    if pod.finished:
        return pod.phase, {}
    running = any("running" in s["state"] for s in statuses.values())
    found = ending(pod, seen)
    if found is not None and not is_leaving(seen) and not running:
        return "Failed", {"reason": found.reason, "message": found.message}
    phase = phase_of(pod, statuses, terminal=is_leaving(seen) and not running)
    # Whoever sees a final phase may take the pod's place at once.
    return (pod.phase, {}) if phase in FINAL and running else (phase, {})


def phase_of(pod: Pod, statuses: Mapping[str, Wire], terminal: bool) -> str:
    """As a kubelet decides it; *terminal*: the pod is to go, nothing is restarted any more."""
    regular = [statuses[c["name"]] for c in roles.first(pod) if not is_sidecar(c)]
    beside = [statuses[c["name"]] for c in roles.sidecars(pod)]
    main = [statuses[c["name"]] for c in roles.mains(pod)]
    if policy(pod) == "Never" and any(ended(s) and not done(s) for s in regular):
        return "Failed"
    begun = any(not never_started(s) for s in main)
    if not all(done(s) for s in regular) or (not begun and not all(s["started"] for s in beside)):
        return "Pending"
    if any(never_started(s) for s in main):
        return "Pending"
    if any("running" in s["state"] for s in (*main, *beside)):
        return "Running"
    if policy(pod) == "Always" and not terminal:
        return "Running"
    if all(done(s) for s in main):
        return "Succeeded"
    return "Failed" if policy(pod) == "Never" or terminal else "Running"


def conditions(pod: Pod, seen: Sight, phase: str, statuses: Mapping[str, Wire]) -> list[Wire]:
    before = {c["type"]: c for c in pod.status.get("conditions") or ()}
    begun = any(has_begun(last(seen, name)) for name in statuses)
    containers = containers_ready(pod, phase, statuses)
    ours = {
        "PodReadyToStartContainers": condition((seen.prepared or begun) and phase not in FINAL),
        "Initialized": initialized(pod, seen, phase),
        "Ready": gated(pod, containers, before),
        "ContainersReady": containers,
        "PodScheduled": condition(True),
    }
    return [
        *(with_time({"type": kind} | c, before.get(kind), seen.now) for kind, c in ours.items()),
        *(c for kind, c in before.items() if kind not in ours),
    ]


def initialized(pod: Pod, seen: Sight, phase: str) -> Wire:
    if phase == "Succeeded":
        return condition(True) | {"reason": "PodCompleted"}
    if any(has_begun(last(seen, c["name"])) for c in roles.mains(pod)):
        return condition(True)
    waiting = [c["name"] for c in roles.first(pod) if not is_initialized(c, last(seen, c["name"]))]
    message = f"containers with incomplete status: [{' '.join(waiting)}]"
    return condition(not waiting, "ContainersNotInitialized", message)


def containers_ready(pod: Pod, phase: str, statuses: Mapping[str, Wire]) -> Wire:
    if phase in FINAL:
        return condition(False, "PodCompleted" if phase == "Succeeded" else "PodFailed")
    counted = [*roles.sidecars(pod), *roles.mains(pod)]
    unready = [c["name"] for c in counted if not statuses[c["name"]]["ready"]]
    message = f"containers with unready status: [{' '.join(unready)}]"
    return condition(not unready, "ContainersNotReady", message)


def gated(pod: Pod, containers: Wire, before: Mapping[str, Mapping[str, Any]]) -> Wire:
    """Ready is what the containers are, and what others say through the pod's readiness gates."""
    if containers["status"] != "True":
        return containers
    complaints = []
    for kind in (gate["conditionType"] for gate in pod.spec.get("readinessGates") or ()):
        found = before.get(kind)
        if found is None:
            complaints.append(f'corresponding condition of pod readiness gate "{kind}" does not exist.')
        elif found.get("status") != "True":
            said = found.get("status")
            complaints.append(f'the status of pod readiness gate "{kind}" is not "True", but {said}')
    return condition(not complaints, "ReadinessGatesNotReady", ", ".join(complaints))


def condition(holds: bool, reason: str = "", message: str = "") -> Wire:
    result: Wire = {"status": "True" if holds else "False"}
    if not holds and reason:
        result["reason"] = reason
    if not holds and message:
        result["message"] = message
    return result


def is_ready(status: Mapping[str, Any]) -> bool:
    """What a status says of the pod as a whole; a node that was silent may find its pods doubted."""
    return any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions") or ())


def with_time(new: Wire, old: Mapping[str, Any] | None, now: float) -> Wire:
    same = old is not None and old.get("status") == new["status"] and old.get("lastTransitionTime")
    return new | {"lastTransitionTime": same or timestamp(now)}


def ended(status: Wire) -> bool:
    return "terminated" in status["state"]


def done(status: Wire) -> bool:
    return ended(status) and status["state"]["terminated"]["exitCode"] == 0


def never_started(status: Wire) -> bool:
    return "waiting" in status["state"] and not status["lastState"]


def quality(pod: Pod) -> str:
    """BestEffort without resources, Guaranteed when every container limits both and asks for as much."""
    resources = [c.get("resources") or {} for c in roles.own(pod)]
    if not any(r.get("requests") or r.get("limits") for r in resources):
        return "BestEffort"
    guaranteed = all(
        (limit := (r.get("limits") or {}).get(kind)) and (r.get("requests") or {}).get(kind, limit) == limit
        for r in resources
        for kind in ("cpu", "memory")
    )
    return "Guaranteed" if guaranteed else "Burstable"
