"""How far a PaddleJob is and what kind of job it is, from its pods and its spec; pure."""

from __future__ import annotations

from collections import Counter

from ..api.core import Pod
from ..api.paddlejob import Mode, PaddleJob, Phase
from .jobpods import role_of
from .startorder import START, at_gate


def phase_of(job: PaddleJob, pods: dict[str, Pod]) -> Phase:
    """The phase that the pods which count show, faults apart; a final phase stays final."""
    if job.status.phase.final:
        return job.status.phase
    roles = job.spec.roles()
    counts = {role: Counter(counter_of(p) for p in pods.values() if role_of(p) == role) for role in roles}
    deciding = deciding_role(job)
    if roles and counts[deciding]["succeeded"] >= needed(job, deciding, pods) > 0:
        return Phase.COMPLETED
    if pods and all(
        counts[r]["running"] + counts[r]["succeeded"] >= max(1, needed(job, r, pods))
        for r, group in roles.items() if group.replicas
    ):  # fmt: skip
        return Phase.RUNNING
    # A worker that ends before its neighbours does not take the job back to the start.
    if job.status.phase is Phase.RUNNING and any(c["succeeded"] for c in counts.values()):
        return Phase.RUNNING
    if any(c["running"] or c["starting"] for c in counts.values()):
        return Phase.STARTING
    return Phase.RESTARTING if job.status.phase is Phase.RESTARTING else Phase.PENDING


def needed(job: PaddleJob, role: str, pods: dict[str, Pod]) -> int:
    """How many of a role make the job: all, or those that an elastic job went on with."""
    if job.spec.elastic is None:
        return job.spec.roles()[role].replicas
    return sum(START in p.metadata.annotations for p in pods.values() if role_of(p) == role)


def counter_of(pod: Pod) -> str:
    match pod.phase:
        case "Failed":
            return "failed"
        case "Succeeded":
            return "succeeded"
        case "Running":
            return "running" if pod.condition("ContainersReady") or all_running(pod) else "starting"
        case "Pending":
            return "starting" if at_gate(pod) else "pending"
    return "unknown"


def all_running(pod: Pod) -> bool:
    states = pod.status.get("containerStatuses") or ()
    return bool(states) and all("running" in (s.get("state") or {}) for s in states)


def deciding_role(job: PaddleJob) -> str:
    """Parameter servers serve until they are stopped: the workers decide success."""
    return next((role for role in ("worker", "ps", "heter") if role in job.spec.roles()), "worker")


def mode_of(job: PaddleJob) -> Mode:
    if job.spec.ps:
        return Mode.PS
    worker = job.spec.worker
    many = worker is not None and (worker.replicas > 1 or gpus_of(worker.template) > 1)
    return Mode.COLLECTIVE if many or job.spec.elastic is not None else Mode.SINGLE


def gpus_of(template: dict[str, object]) -> int:
    spec = template.get("spec")
    containers = spec.get("containers") or () if isinstance(spec, dict) else ()
    limits = [(c.get("resources") or {}).get("limits") or {} for c in containers]
    given = [str(limit.get("nvidia.com/gpu", 0)) for limit in limits]
    return sum(int(count) for count in given if count.isdecimal())
