"""What a PaddleJob of Kubeflow asks for, in the words of ours; pure.

All of it is said or none: a spec with something in it that would be done otherwise here is not translated.
The time a job stays after its end is left out: a job of ours that went by itself would only be made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..api.kubeflow import (
    UNSUPPORTED,
    ElasticPolicy,
    KubeflowCleanPodPolicy,
    KubeflowPaddleJobSpec,
    ReplicaSpec,
    RestartPolicy,
)

Body = dict[str, Any]
CLEANS = {
    None: "Never",  # what Kubeflow does by default
    KubeflowCleanPodPolicy.NONE: "Never",
    KubeflowCleanPodPolicy.ALL: "Always",
}
FOR_EVER = 2**31 - 1
"""The number of restarts that Kubeflow allows who says none."""
FREE = {"cleanPodPolicy", "backoffLimit", "activeDeadlineSeconds", "suspend"}
"""Fields of ours that may change while the job has pods."""
SIZES = {"replicas", "requests", "limits"}


def hindrances(spec: KubeflowPaddleJobSpec) -> list[str]:
    """What of a spec cannot be done here, and what to write instead."""
    return [UNSUPPORTED[name][1] for name in unsupported(spec)]


def unsupported(spec: KubeflowPaddleJobSpec) -> Iterator[str]:
    """As the rules for edits have it, for jobs that are new."""
    roles, policy = spec.paddle_replica_specs, spec.run_policy
    if roles.master and roles.worker:
        if roles.master.template != roles.worker.template:
            yield "templates"
        if roles.master.restart_policy != roles.worker.restart_policy:
            yield "restartPolicies"
    if any(g.restart_policy in (RestartPolicy.ALWAYS, RestartPolicy.EXIT_CODE) for g in groups(spec)):
        yield "restartPolicy"
    if policy.clean_pod_policy is KubeflowCleanPodPolicy.RUNNING:
        yield "cleanPodPolicy"
    gang = policy.scheduling_policy
    if gang and gang.schedule_timeout_seconds is not None:
        yield "scheduleTimeoutSeconds"
    elastic, limit = spec.elastic_policy, policy.backoff_limit
    if elastic is None:
        return
    if roles.worker is None:
        yield "elasticWorker"
    elif not bounds(elastic, roles.worker)[0] <= roles.worker.replicas <= bounds(elastic, roles.worker)[1]:
        yield "elasticSizes"
    if elastic.metrics:
        yield "metrics"
    if None not in (elastic.max_restarts, limit) and elastic.max_restarts != limit:
        yield "restarts"


def bounds(elastic: ElasticPolicy, worker: ReplicaSpec) -> tuple[int, int]:
    """The least and the most; one that is not given is the other, as Kubeflow has it."""
    least, most = elastic.min_replicas, elastic.max_replicas
    if least is None:
        least = most if most is not None else worker.replicas
    return least, most if most is not None else least


def groups(spec: KubeflowPaddleJobSpec) -> list[ReplicaSpec]:
    """The groups of pods in the order of their ranks; the schema demands one."""
    roles = spec.paddle_replica_specs
    return [group for group in (roles.master, roles.worker) if group]


def translated(spec: KubeflowPaddleJobSpec) -> Body:
    """The spec of our job, as it is on the wire."""
    policy = spec.run_policy
    ours: Body = {
        "cleanPodPolicy": CLEANS[policy.clean_pod_policy],
        # What the server would fill in: a field that is there and not wanted is removed.
        "intranet": "PodIP",
        "worker": {
            "replicas": sum(group.replicas for group in groups(spec)),
            "template": groups(spec)[0].template,
            **sizes(spec),
        },
        "backoffLimit": restarts(spec),
    }
    if spec.elastic_policy:
        ours["elastic"] = 1
    if policy.active_deadline_seconds is not None:
        ours["activeDeadlineSeconds"] = policy.active_deadline_seconds
    if policy.scheduling_policy is not None:
        ours["schedulingPolicy"] = policy.scheduling_policy.wire()
    if policy.suspend:
        ours["suspend"] = True
    return ours


def sizes(spec: KubeflowPaddleJobSpec) -> Body:
    """Between how many workers an elastic job has: Kubeflow counts those of Worker, we count all."""
    elastic, worker = spec.elastic_policy, spec.paddle_replica_specs.worker
    if not elastic or not worker:
        return {}
    fixed = sum(group.replicas for group in groups(spec)) - worker.replicas
    least, most = bounds(elastic, worker)
    return {"requests": fixed + least, "limits": fixed + most}


def restarts(spec: KubeflowPaddleJobSpec) -> int:
    if groups(spec)[0].restart_policy is RestartPolicy.NEVER:
        return 0
    elastic = spec.elastic_policy.max_restarts if spec.elastic_policy else None
    given = (n for n in (elastic, spec.run_policy.backoff_limit) if n is not None)
    return next(given, FOR_EVER)


def next_patch(have: Body, want: Body) -> Body:
    """The merge patch that brings our job nearer to *want*; empty where it is that already.

    What pods were made from changes while it rests only: then the first patch lets it rest, the next go on.
    """
    patch = replacing(have, want)
    if have.get("suspend") or want.get("suspend") or not needs_rest(have, patch):
        return patch
    return replacing(have, {**want, "suspend": True})


def needs_rest(have: Body, patch: Body) -> bool:
    touched = patch.keys() - FREE
    if "elastic" in have and set(patch.get("worker") or ()) <= SIZES:
        touched -= {"worker"}
    return bool(touched)


def replacing(have: Body, want: Body) -> Body:
    """The merge patch that makes *have* equal to *want*: what is not wanted goes."""
    patch: Body = dict.fromkeys(have.keys() - want.keys())
    for key, value in want.items():
        there = have.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            if inner := replacing(there, value):
                patch[key] = inner
        elif there != value:
            patch[key] = value
    return patch
