"""The pods of a PaddleJob: names, labels, environment, data; pure.

The names and variables are those of the Go operator, so that an image built for it runs unchanged.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from ..api.core import Pod
from ..api.meta import Metadata
from ..api.paddlejob import Intranet, PaddleJob
from .startorder import add_gate

NAME, ROLE = "paddle-res-name", "paddle-res-type"
ROLE_ANNOTATION = "paddle-resource"
TRAINING_ROLES = {"ps": "PSERVER", "worker": "TRAINER", "heter": "HETER"}


def pod_name(job: PaddleJob, role: str, index: int) -> str:
    return f"{job.name}-{role}-{index}"


def pod_names(job: PaddleJob) -> Iterator[str]:
    """Of all pods the job should have, in the order in which they start."""
    for role, group in job.spec.roles().items():
        yield from (pod_name(job, role, index) for index in range(group.replicas))


def make_pod(job: PaddleJob, role: str, index: int) -> Pod:
    template = copy.deepcopy(job.spec.roles()[role].template)
    name = pod_name(job, role, index)
    given = template.get("metadata") or {}
    metadata = Metadata(
        name=name,
        namespace=job.namespace,
        labels={**(given.get("labels") or {}), NAME: name, ROLE: role},
        annotations={**(given.get("annotations") or {}), ROLE_ANNOTATION: role},
    )
    spec: dict[str, Any] = template.get("spec") or {}
    spec["restartPolicy"] = restart_policy(job, role, spec.get("restartPolicy"))
    spec["hostname"] = spec["subdomain"] = name
    if job.spec.intranet is Intranet.HOST:
        spec["hostNetwork"] = True
        # Names of the cluster are still to be found.
        spec.setdefault("dnsPolicy", "ClusterFirstWithHostNet")
    # The schema demands containers; objects from before it must not stop the controller.
    for container in spec.get("containers") or ():
        # Later entries win: what the operator says is said last.
        container["env"] = [*(container.get("env") or ()), *environment(job, role, index, name)]
        source = {"configMapRef": {"name": job.name}}
        container["envFrom"] = [*(container.get("envFrom") or ()), source]
    mount_data(job, spec)
    add_gate(spec)
    return Pod(metadata=metadata, spec=spec)


def restart_policy(job: PaddleJob, role: str, given: str | None) -> str:
    """What the template says; by default a pod that ended has ended."""
    if job.spec.elastic is not None:
        return "OnFailure"
    by_name = job.spec.intranet is Intranet.SERVICE and role == "worker"
    return given or ("OnFailure" if by_name else "Never")


def environment(job: PaddleJob, role: str, index: int, name: str) -> list[dict[str, Any]]:
    own: dict[str, Any] = {"name": "POD_IP", "value": name}
    if job.spec.intranet is not Intranet.SERVICE:
        own = {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    return [
        own,
        {"name": "PADDLE_TRAINER_ID", "value": str(index)},
        {"name": "TRAINING_ROLE", "value": TRAINING_ROLES[role]},
        {"name": "PADDLE_TRAINING_ROLE", "value": TRAINING_ROLES[role]},
    ]


def mount_data(job: PaddleJob, spec: dict[str, Any]) -> None:
    ref = job.spec.sample_set_ref
    if ref is None:
        return
    claim = {"name": ref.name, "persistentVolumeClaim": {"claimName": ref.name}}
    spec["volumes"] = [*(spec.get("volumes") or ()), claim]
    for container in spec.get("containers") or ():
        mount = {"name": ref.name, "mountPath": ref.mount_path}
        container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]
