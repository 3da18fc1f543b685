"""The PodGroup of a PaddleJob that starts as a whole or not at all, and what the job waits for; pure.

A job asks for that with a `schedulingPolicy`, or by naming Volcano as the scheduler of a role. The group is
called like the job. One of that name that somebody else made is used as it is: never changed, never deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ..api.meta import Condition, Metadata
from ..api.paddlejob import PaddleJob, SchedulingPolicy
from ..api.scheduling import PodGroup, PodGroupCondition, PodGroupSpec
from ..scheduler.quantities import amount, text_of
from .conditions import waiting
from .contract import Snapshot
from .ownership import left_behind

VOLCANO = "volcano"
GROUP_NAME = "scheduling.k8s.io/group-name"
STARTS = ("Inqueue", "Running", "Unknown", "Completed")
"""Phases of a group that hold no pod back: those after Inqueue tell of pods that were there."""
HAND_MADE = 2.0
"""Seconds after a job without a policy in which its group may come from the same manifest."""
LOOK_FOR_ENGINE = 30.0
OF_NO_PODS = re.compile(r"\d+/0 tasks in gang unschedulable")
INSTALL = (
    "helm repo add volcano-sh https://volcano-sh.github.io/helm-charts && "
    "helm install volcano volcano-sh/volcano --namespace volcano-system --create-namespace"
)


def is_gang(job: PaddleJob) -> bool:
    return job.spec.scheduling_policy is not None or VOLCANO in schedulers(job)


def schedulers(job: PaddleJob) -> list[str]:
    """The schedulers that the roles name, in the order of the roles."""
    # Asked before a look, and so also of templates that turn out to have no shape.
    specs = (role.template.get("spec") for role in job.spec.roles().values())
    found = (spec.get("schedulerName") for spec in specs if isinstance(spec, dict))
    return [str(name) for name in found if name]


def scheduler_of(job: PaddleJob, given: str | None) -> str | None:
    """Who places a pod whose template says *given*; those of a gang that say nothing follow the others."""
    if given or not is_gang(job):
        return given
    return next(iter(schedulers(job)), VOLCANO)


def gang_annotations(job: PaddleJob, role: str) -> dict[str, str]:
    """What tells Volcano the group, the task and the queue of a pod."""
    if not is_gang(job):
        return {}
    return {
        GROUP_NAME: job.name,
        "volcano.sh/task-spec": role,
        "volcano.sh/job-name": job.name,
        "volcano.sh/job-version": "0",
        "volcano.sh/queue-name": policy_of(job).queue,
    }


def gang(job: PaddleJob, seen: Snapshot) -> tuple[PodGroup, ...]:
    """The group as a child of the job; none where it needs none, somebody else made it, or nobody can."""
    if not is_gang(job) or PodGroup in seen.missing:
        return ()
    if job.name not in seen.owned(PodGroup):
        there = seen.find(PodGroup, job.name)
        if comes_in(job, seen) or (there is not None and not left_behind(there, job)):
            return ()
    return (make_group(job),)


def make_group(job: PaddleJob) -> PodGroup:
    policy = policy_of(job)
    spec: dict[str, Any] = {"min_member": members(job)}
    if resources := policy.min_resources or sum_of_requests(job, members(job)):
        spec["min_resources"] = resources
    if policy.queue:
        spec["queue"] = policy.queue
    if policy.priority_class:
        spec["priority_class_name"] = policy.priority_class
    return PodGroup(metadata=Metadata(name=job.name, namespace=job.namespace), spec=PodGroupSpec(**spec))


def members(job: PaddleJob) -> int:
    """How many pods must fit before any of them starts."""
    given = policy_of(job).min_available
    if given is not None:
        return given
    # An elastic job works with less, and must not wait for room that it could do without.
    least = (
        {"worker": job.spec.worker.requests or 1} if job.spec.elastic is not None and job.spec.worker else {}
    )
    return sum(least.get(name, role.replicas) for name, role in job.spec.roles().items())


def policy_of(job: PaddleJob) -> SchedulingPolicy:
    return job.spec.scheduling_policy or SchedulingPolicy()


def sum_of_requests(job: PaddleJob, pods: int) -> dict[str, str]:
    """What the first *pods* of the job ask for together; what cannot be read is the server's to refuse."""
    total: dict[str, int] = {}
    left = pods
    for role in job.spec.roles().values():
        for container in (role.template.get("spec") or {}).get("containers") or ():
            for name, value in amounts(container):
                total[name] = total.get(name, 0) + value * min(role.replicas, left)
        left -= min(role.replicas, left)
    return {name: text_of(name, value) for name, value in total.items() if value}


def amounts(container: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    resources = container.get("resources") or {}
    for name, quantity in (resources.get("requests") or resources.get("limits") or {}).items():
        try:
            yield name, amount(name, quantity)
        except ValueError:
            continue


def waits_for_gang(job: PaddleJob, seen: Snapshot) -> Condition | None:
    """Why no pod of the job may be made yet, in the words of its group."""
    if not is_gang(job):
        return None
    if PodGroup in seen.missing:
        return waiting(
            "EngineMissing",
            "the job asks to start as a whole, and this cluster has no PodGroups for that: install Volcano "
            f"({INSTALL}), or remove schedulingPolicy and schedulerName: {VOLCANO} from the job",
        )
    group = seen.owned(PodGroup).get(job.name) or seen.find(PodGroup, job.name)
    if group is None:
        # What it will say once it is made: no news, no write.
        group = make_group(job)
    if left_behind(group, job):
        return waiting("WaitingForGang", f"waits for the PodGroup {job.name} of an earlier job to be gone")
    # Of a group that another scheduler reads nobody tells the phase.
    if group.status.phase in STARTS or set(schedulers(job)) - {VOLCANO}:
        return None
    return waiting("WaitingForGang", f"waits for PodGroup {job.name} to be Inqueue: {hindrance(group)}")


def gang_trouble(job: PaddleJob, seen: Snapshot) -> Condition | None:
    """Why the pods of the gang have no nodes: what its group says of all of them, instead of one by one."""
    if not is_gang(job):
        return None
    group = seen.owned(PodGroup).get(job.name) or seen.find(PodGroup, job.name)
    if group is None or unschedulable(group) is None or group.status.phase == "Running":
        return None
    return waiting("Unschedulable", f"PodGroup {job.name} cannot start: {hindrance(group)}")


def hindrance(group: PodGroup) -> str:
    said = unschedulable(group)
    if said is not None and (said.message or said.reason):
        return said.message or said.reason
    asked = ", ".join(f"{name} {value}" for name, value in sorted(group.spec.min_resources.items()))
    needs = f"; it asks for {asked}" if asked else ""
    return f"the scheduler has not let it into queue {group.spec.queue} yet{needs}"


def unschedulable(group: PodGroup) -> PodGroupCondition | None:
    """What keeps the pods of the group from their nodes now.

    Volcano never takes it back but says later that they are Scheduled, and says it of groups without pods.
    """
    said, after = group.condition("Unschedulable"), group.condition("Scheduled")
    if said is None or OF_NO_PODS.match(said.message):
        return None
    if after is not None and told_at(after) >= told_at(said):
        return None
    return said


def told_at(condition: PodGroupCondition) -> datetime:
    return condition.last_transition_time or datetime.min.replace(tzinfo=UTC)


def look_at_gang_in(job: PaddleJob, seen: Snapshot) -> float | None:
    """Seconds until a look at the group is worth while although nothing told of it."""
    if not is_gang(job):
        return None
    if PodGroup in seen.missing:
        return LOOK_FOR_ENGINE
    return comes_in(job, seen)


def comes_in(job: PaddleJob, seen: Snapshot) -> float | None:
    """Seconds in which a group that a person wrote beside the job may still come; None: it is there, or late.

    `kubectl create` of both in one file must not find the name taken.
    """
    created = job.metadata.creation_timestamp
    if job.spec.scheduling_policy is not None or created is None:
        return None
    if job.name in seen.owned(PodGroup) or seen.find(PodGroup, job.name) is not None:
        return None
    left = HAND_MADE - (seen.now - created).total_seconds()
    return left if left > 0 else None
