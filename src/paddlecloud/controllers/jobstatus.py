"""What is told of a PaddleJob: counts, times, progress, conditions, events; pure."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from ..api.core import Pod
from ..api.meta import Condition
from ..api.paddlejob import PaddleJob, PaddleJobStatus, Phase, RoleStatus
from .conditions import condition, progressing, set_conditions, waiting
from .contract import Note, Snapshot
from .faults import Fault
from .gangs import gang_trouble
from .joblimits import rest
from .jobmounts import FAILED_MOUNT, mount_trouble
from .jobphase import counter_of, mode_of
from .jobpods import JOB, ROLE, role_of
from .jobprogress import log_of, progress_of
from .progress import worth_writing
from .shortages import without_node

LAST_LINES = 8


def summarize(job: PaddleJob, pods: dict[str, Pod], phase: Phase, seen: Snapshot) -> PaddleJobStatus:
    """Report on the pods that exist, never on the pods we are about to create."""
    old, now = job.status, seen.now
    roles = {role: role_status(job, role, pods) for role in job.spec.roles()}
    start = old.start_time or (now if phase is Phase.RUNNING or phase.final else None)
    progress = progress_of(job, pods, start, seen)
    if phase == old.phase and not worth_writing(old.progress, progress, now):
        progress = old.progress
    return PaddleJobStatus(
        phase=phase,
        mode=mode_of(job),
        start_time=start,
        completion_time=old.completion_time or (now if phase.final else None),
        observed_generation=job.metadata.generation,
        progress=progress,
        last_restart_time=old.last_restart_time,
        selector=f"{JOB}={job.name},{ROLE}=worker",
        **roles,
        **history(job, seen),
    )


def only_counts_differ(old: PaddleJobStatus, new: Any) -> bool:
    """Whether a status tells nothing new but which pods there are and how many of them run."""
    counts = {"ps": None, "worker": None, "heter": None, "selector": ""}
    return isinstance(new, PaddleJobStatus) and old.but(**counts) == new.but(**counts)


def history(job: PaddleJob, seen: Snapshot) -> dict[str, Any]:
    """What is remembered from look to look; nothing, of most jobs."""
    there = {p.uid for p in seen.owned(Pod).values()}
    remembered: dict[str, Any] = {
        "port": job.status.port,
        "restarts": job.status.restarts,
        "attempt": job.status.attempt,
        "replaced": [uid for uid in job.status.replaced if uid in there],
    }
    return {name: value for name, value in remembered.items() if value}


def role_status(job: PaddleJob, role: str, pods: dict[str, Pod]) -> RoleStatus:
    mine = [p for p in pods.values() if role_of(p) == role]
    counts = Counter(counter_of(p) for p in mine)
    ready = f"{counts['running']}/{job.spec.roles()[role].replicas}"
    return RoleStatus(ready=ready, replicas=len(mine), refs=[p.reference() for p in mine], **counts)


def conditions(
    job: PaddleJob, pods: dict[str, Pod], phase: Phase, wait: Condition | None, seen: Snapshot
) -> list[Condition]:
    if wait:
        current = [wait]
    elif phase is Phase.COMPLETED:
        current = [condition("Completed", True, "Completed"), progressing("Completed")]
    elif seen.refused:
        current = [waiting("FailedCreate", refusal(seen.refused[0]))]
    elif stuck := gang_trouble(job, seen) or stuck_pod(pods):
        current = [stuck]
    elif words := mount_trouble(pods.values(), seen):
        current = [waiting(FAILED_MOUNT, words)]
    else:
        current = [progressing(phase.value)]
    return set_conditions(job.status.conditions, [*current, *rest(job)], seen.now)


def refusal(why: str) -> str:
    """A name that is taken says itself what to do; what is wrong in a template can be corrected at rest."""
    way_out = "; set suspend to true, correct the template, and set suspend to false"
    wrong = "is invalid" in why or "cannot be handled as a Pod" in why
    return why + way_out if wrong else why


def failed(job: PaddleJob, reason: str, why: str, now: datetime) -> list[Condition]:
    told = [condition("Failed", True, reason, why), condition("Progressing", False, reason, why)]
    return set_conditions(job.status.conditions, [*told, *rest(job)], now)


def last_words(fault: Fault, seen: Snapshot) -> str:
    """What went wrong, and the last thing the pod said that failed first."""
    said = seen.answers.get(log_of(fault.culprit)) if fault.culprit else None
    lines = str(said).rstrip().splitlines()[-LAST_LINES:] if said else []
    return "\n".join((f"{fault.words}; its last lines:", *lines)) if lines else fault.words


def stuck_pod(pods: dict[str, Pod]) -> Condition | None:
    """A pod that cannot start holds the job up: its reason is the job's reason."""
    for pod in pods.values():
        scheduled: dict[str, Any] = next(
            (c for c in pod.status.get("conditions") or () if c["type"] == "PodScheduled"), {}
        )
        if scheduled.get("status") == "False":
            why = without_node(pod, str(scheduled.get("message", "")), pods.values())
            return waiting("Unschedulable", why)
        for state in (*pod.status.get("initContainerStatuses", ()), *pod.status.get("containerStatuses", ())):
            reason = ((state.get("state") or {}).get("waiting") or {}).get("reason", "")
            if not reason.startswith(("Err", "Image", "Invalid", "CrashLoop", "CreateContainer")):
                continue
            text = str(state["state"]["waiting"].get("message", ""))
            return waiting(reason, f"pod {pod.name} cannot start: {text}")
    return None


def notes(before: Phase, after: Phase, status: PaddleJobStatus, job: PaddleJob) -> tuple[Note, ...]:
    found = []
    if after is not before:
        if after is Phase.RUNNING:
            found.append(Note("Normal", "Running", "all pods are running"))
        elif after is Phase.COMPLETED:
            found.append(Note("Normal", "Completed", "the workers succeeded"))
    if job.spec.clean_policy and not status.observed_generation > 1:
        found.append(
            Note("Warning", "Deprecated", "spec.cleanPolicy is read as spec.cleanPodPolicy; write that")
        )
    return tuple(found)
