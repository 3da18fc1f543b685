"""Decides which pods a PaddleJob needs and how far it has come.

Everything here is a function of its arguments: no client, no clock, no log. A finished job never gets
its pods back; it only decides whether to keep those that are left.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from ..api.core import ConfigMap, Pod, Service
from ..api.meta import Condition, Progress
from ..api.paddlejob import (
    CleanPodPolicy,
    PaddleJob,
    PaddleJobStatus,
    Phase,
    RoleStatus,
)  # fmt: skip
from ..api.sampleset import SampleSet, SampleSetPhase
from .conditions import condition, progressing, set_conditions, waiting
from .contract import (
    Controller,
    Decision,
    Ending,
    LogQuestion,
    Note,
    Question,
    Ref,
    Selection,
    Snapshot,
    Update,
)  # fmt: skip
from .endpoints import endpoints
from .joblimits import EXPIRED, SUSPENDED, deadline_in, leaves_in, rest, was_cut_off
from .jobphase import counter_of, deciding_role, mode_of, phase_of, role_of
from .jobpods import make_pod, pod_name, pod_names
from .jobservices import services
from .progress import read_log, worth_writing
from .startorder import releases

LOOK_EVERY = 10.0  # seconds between two looks at the log of a running job
CLEANS = {
    Phase.COMPLETED: (CleanPodPolicy.ALWAYS, CleanPodPolicy.ON_COMPLETION),
    Phase.FAILED: (CleanPodPolicy.ALWAYS, CleanPodPolicy.ON_FAILURE),
}


def reconcile(job: PaddleJob, seen: Snapshot) -> Decision:
    pods = pods_of(job, seen)
    before, after = job.status.phase, phase_of(job, pods)
    if before.final:
        return finished(job, seen)
    left = deadline_in(job, seen.now)
    if not after.final and left is not None and left <= 0:
        return cut_off(job, pods, seen)
    if job.spec.suspend and not after.final:
        return resting(job, seen)
    wait = None if after.final or pods else waits_for_data(job, seen)
    status = summarize(job, pods, after, seen)
    status = status.but(conditions=conditions(job, pods, after, wait, seen))
    children: tuple[Pod | ConfigMap | Service, ...]
    changes: tuple[Update, ...] = ()
    if after.final:
        # Nothing goes before the end is written down: the pods are the only witnesses of it.
        children = everything(seen)
    elif wait:
        children = ()
    else:
        found = endpoints(job, pods)
        children = (*services(job), *wanted_pods(job), *found)
        if found and are_written(found[0], seen):
            changes = releases(job, begun(job, pods))
    return Decision(
        status,
        children,
        notes=notes(before, after, status, job),
        check_again=soonest(LOOK_EVERY if after is Phase.RUNNING else None, None if after.final else left),
        changes=changes,
    )


def soonest(*seconds: float | None) -> float | None:
    return min((s for s in seconds if s is not None), default=None)


def cut_off(job: PaddleJob, pods: dict[str, Pod], seen: Snapshot) -> Decision:
    """The time of the job is over: it has failed, and its pods go once that is written down."""
    why = f"the job was active for longer than its activeDeadlineSeconds, {job.spec.active_deadline_seconds}"
    told = [condition("Failed", True, EXPIRED, why), condition("Progressing", False, EXPIRED, why)]
    status = summarize(job, pods, Phase.FAILED, seen)
    status = status.but(conditions=set_conditions(job.status.conditions, [*told, *rest(job)], seen.now))
    return Decision(status, everything(seen), notes=(Note("Warning", "Failed", why),))


def resting(job: PaddleJob, seen: Snapshot) -> Decision:
    """A job that is told to rest has no pods; what it left in its volumes is there when it goes on."""
    wait = waiting("Suspended", "the job rests; set spec.suspend to false to let it go on")
    told = set_conditions(job.status.conditions, [wait, *rest(job)], seen.now)
    status = summarize(job, {}, Phase.PENDING, seen).but(conditions=told, start_time=None)
    changed = not any(c.type == SUSPENDED and c.status == "True" for c in job.status.conditions)
    notes = (Note("Normal", "Suspended", "the job rests"),) if changed else ()
    return Decision(status, (), notes=notes)


def everything(seen: Snapshot) -> tuple[Pod | ConfigMap | Service, ...]:
    return (
        *seen.owned(ConfigMap).values(), *seen.owned(Service).values(), *seen.owned(Pod).values(),
    )  # fmt: skip


def are_written(endpoints: ConfigMap, seen: Snapshot) -> bool:
    """Whether the pods would read the endpoints as they are now."""
    there = seen.owned(ConfigMap).get(endpoints.name)
    return there is not None and there.data == endpoints.data


def begun(job: PaddleJob, pods: dict[str, Pod]) -> dict[str, list[tuple[Pod, bool]]]:
    """The pods of each role, and whether their containers have begun."""
    groups: dict[str, list[tuple[Pod, bool]]] = {role: [] for role in job.spec.roles()}
    for pod in pods.values():
        groups[role_of(pod)].append((pod, counter_of(pod) in ("running", "succeeded")))
    return groups


def finished(job: PaddleJob, seen: Snapshot) -> Decision:
    """What was seen at the end stays told; pods are kept or cleaned up, never made."""
    cleaned = job.spec.policy in CLEANS[job.status.phase]
    left = tuple(seen.owned(ConfigMap).values()) if cleaned else everything(seen)
    if was_cut_off(job):
        left = tuple(child for child in left if not isinstance(child, Pod) or child.finished)
    status = job.status.but(observed_generation=job.metadata.generation)
    stays = leaves_in(job, seen.now)
    if stays is not None and stays <= 0:
        return Decision(status, left, ending=Ending())
    return Decision(status, left, check_again=stays)


def asks(job: PaddleJob, seen: Snapshot) -> tuple[Question, ...]:
    """The log of the pod that tells how far the job is, or why it ended."""
    pods = pods_of(job, seen)
    phase = phase_of(job, pods)
    if job.status.phase.final:
        return ()
    if phase is Phase.FAILED:
        return tuple(log_of(p) for p in pods.values() if p.phase == "Failed")[:1]
    first = pods.get(pod_name(job, deciding_role(job), 0))
    if first and (first.phase == "Running" or phase is Phase.COMPLETED):
        return (log_of(first),)
    return ()


def related(job: PaddleJob) -> tuple[Ref | Selection, ...]:
    ref = job.spec.sample_set_ref
    return (Ref(SampleSet, job.namespace, ref.name),) if ref else ()


CONTROLLER = Controller(
    "paddlejob",
    PaddleJob,
    reconcile,
    owns=(Pod, ConfigMap, Service),
    reads=(SampleSet,),
    related=related,
    asks=asks,
)


def pods_of(job: PaddleJob, seen: Snapshot) -> dict[str, Pod]:
    """The pods of the job as it is now, in the order of its roles; what a larger job left is going."""
    there = seen.owned(Pod)
    return {name: there[name] for name in pod_names(job) if name in there}


def log_of(pod: Pod) -> LogQuestion:
    containers = pod.spec.get("containers") or [{}]
    return LogQuestion(pod.namespace, pod.name, containers[0].get("name", ""))


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
        **roles,
    )


def progress_of(
    job: PaddleJob, pods: dict[str, Pod], start: datetime | None, seen: Snapshot
) -> Progress | None:
    first = pods.get(pod_name(job, deciding_role(job), 0))
    text = seen.answers.get(log_of(first)) if first else None
    if not isinstance(text, str):
        return job.status.progress
    return read_log(text, job.status.progress, start, seen.now)


def role_status(job: PaddleJob, role: str, pods: dict[str, Pod]) -> RoleStatus:
    mine = [p for p in pods.values() if role_of(p) == role]
    counts = Counter(counter_of(p) for p in mine)
    ready = f"{counts['running']}/{job.spec.roles()[role].replicas}"
    return RoleStatus(ready=ready, refs=[p.reference() for p in mine], **counts)


def wanted_pods(job: PaddleJob) -> tuple[Pod, ...]:
    return tuple(
        make_pod(job, role, index)
        for role, group in job.spec.roles().items()
        for index in range(group.replicas)
    )


def waits_for_data(job: PaddleJob, seen: Snapshot) -> Condition | None:
    ref = job.spec.sample_set_ref
    if ref is None:
        return None
    if ref.namespace and ref.namespace != job.namespace:
        return waiting(
            "WrongNamespace",
            f"sampleSetRef names namespace {ref.namespace}, but data can only be mounted from the job's own "
            f"namespace {job.namespace}; create the SampleSet there",
        )
    data = seen.find(SampleSet, ref.name)
    if data is None:
        return waiting(
            "WaitingForData",
            f"waits for SampleSet {ref.name}, which does not exist; create it to start the job",
        )
    if data.status.phase is not SampleSetPhase.READY:
        shown = data.status.phase.value or "new"
        return waiting(
            "WaitingForData",
            f"waits for SampleSet {ref.name} to be Ready; it is {shown} (pdc why sampleset/{ref.name})",
        )
    return None


def conditions(
    job: PaddleJob, pods: dict[str, Pod], phase: Phase, wait: Condition | None, seen: Snapshot
) -> list[Condition]:
    if wait:
        current = [wait]
    elif phase is Phase.FAILED:
        why = failure(pods, seen)
        current = [
            condition("Failed", True, "PodFailed", why),
            condition("Progressing", False, "Failed", why),
        ]
    elif phase is Phase.COMPLETED:
        current = [condition("Completed", True, "Completed"), progressing("Completed")]
    elif stuck := stuck_pod(pods):
        current = [stuck]
    else:
        current = [progressing(phase.value)]
    return set_conditions(job.status.conditions, [*current, *rest(job)], seen.now)


def failure(pods: dict[str, Pod], seen: Snapshot) -> str:
    """Which pod failed, how, and the last thing it said."""
    failed = next(p for p in pods.values() if p.phase == "Failed")
    ended: dict[str, Any] = next(
        (
            s["state"]["terminated"]
            for s in (
                *failed.status.get("initContainerStatuses", ()),
                *failed.status.get("containerStatuses", ()),
            )
            if "terminated" in (s.get("state") or {}) and s["state"]["terminated"].get("exitCode")
        ),
        {},
    )
    how = (
        f"exit code {ended['exitCode']}" if "exitCode" in ended else failed.status.get("reason") or "unknown"
    )
    said = seen.answers.get(log_of(failed))
    lines = str(said).rstrip().splitlines()[-8:] if said else []
    tail = "\n".join(("; its last lines:", *lines)) if lines else ""
    return f"pod {failed.name} failed ({how}){tail}"


def stuck_pod(pods: dict[str, Pod]) -> Condition | None:
    """A pod that cannot start holds the job up: its reason is the job's reason."""
    for pod in pods.values():
        scheduled: dict[str, Any] = next(
            (c for c in pod.status.get("conditions") or () if c["type"] == "PodScheduled"), {}
        )
        if scheduled.get("status") == "False":
            return waiting("Unschedulable", f"pod {pod.name} has no node: {scheduled.get('message', '')}")
        for state in (*pod.status.get("initContainerStatuses", ()), *pod.status.get("containerStatuses", ())):
            reason = ((state.get("state") or {}).get("waiting") or {}).get("reason", "")
            if not reason.startswith(("Err", "Image", "CrashLoop", "CreateContainer")):
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
        elif after is Phase.FAILED:
            message = next((c.message for c in status.conditions if c.type == "Failed"), "")
            found.append(Note("Warning", "Failed", message[:1000]))
    if job.spec.clean_policy and not status.observed_generation > 1:
        found.append(
            Note("Warning", "Deprecated", "spec.cleanPolicy is read as spec.cleanPodPolicy; write that")
        )
    return tuple(found)
