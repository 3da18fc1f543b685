"""The pods of a PaddleJob: names, labels, environment, data; pure.

The names and variables are those of the Go operator, so that an image built for it runs unchanged.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from ..api.core import Pod
from ..api.meta import Metadata
from ..api.paddlejob import Intranet, PaddleJob, PaddleJobSpec
from ..api.sampleset import SampleSet
from .datanodes import near_data
from .gangs import gang_annotations, scheduler_of
from .jobports import own_port
from .launchervariables import launcher_defaults, launcher_variables
from .startorder import RANK, add_gate

NAME, ROLE, JOB = "paddle-res-name", "paddle-res-type", "paddle-job-name"
ROLE_ANNOTATION, MADE_FROM = "paddle-resource", "batch.paddlepaddle.org/made-from"
# A proxy beside a program that has ended would keep its pod running for ever, and Paddle's own protocols pass
# through none. A template that says otherwise is heard.
WITHOUT_PROXY = {"sidecar.istio.io/inject": "false"}
TRAINING_ROLES = {"ps": "PSERVER", "worker": "TRAINER", "heter": "HETER"}


def pod_name(job: PaddleJob, role: str, index: int) -> str:
    return f"{job.name}-{role}-{index}"


class Fingerprints:
    """Those of the job that was asked for last: each of its pods asks several times in one decision."""

    def __init__(self) -> None:
        self._newest: tuple[PaddleJobSpec | None, dict[str, str]] = (None, {})

    def of(self, spec: PaddleJobSpec) -> dict[str, str]:
        # Specs are frozen: the same one has the same fingerprints.
        if self._newest[0] is not spec:
            self._newest = (spec, {role: fingerprint(spec, role) for role in spec.roles()})
        return self._newest[1]


FINGERPRINTS = Fingerprints()


def made_from(job: PaddleJob, role: str) -> str | None:
    """A fingerprint of what the pods of a role are made from; how many there are is no part of it.

    None of a role that the job has not.
    """
    return FINGERPRINTS.of(job.spec).get(role)


def fingerprint(spec: PaddleJobSpec, role: str) -> str:
    parts = (
        spec.roles()[role].template,
        spec.intranet,
        spec.sample_set_ref and spec.sample_set_ref.wire(),
        spec.scheduling_policy and spec.scheduling_policy.wire(),
        spec.elastic is not None,
        spec.elastic_launcher,
    )
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:10]


def role_of(pod: Pod) -> str:
    return pod.metadata.labels.get(ROLE, "")


def index_of(pod: Pod) -> int:
    return int(pod.name.rpartition("-")[2])


def pod_names(job: PaddleJob) -> Iterator[str]:
    """Of all pods the job should have, in the order in which they start."""
    for role, group in job.spec.roles().items():
        yield from (pod_name(job, role, index) for index in range(group.replicas))


def make_pod(job: PaddleJob, role: str, index: int, data: SampleSet | None = None) -> Pod:
    """The pod of a role; with *data*, on a node that has it."""
    template = copy.deepcopy(job.spec.roles()[role].template)
    name = pod_name(job, role, index)
    given = template.get("metadata") or {}
    metadata = Metadata(
        name=name,
        namespace=job.namespace,
        labels={**(given.get("labels") or {}), NAME: name, ROLE: role, JOB: job.name},
        annotations={
            **WITHOUT_PROXY,
            **(given.get("annotations") or {}),
            ROLE_ANNOTATION: role,
            MADE_FROM: FINGERPRINTS.of(job.spec)[role],
            **gang_annotations(job, role),
        },
    )
    spec: dict[str, Any] = template.get("spec") or {}
    spec["restartPolicy"] = restart_policy(job, role, spec.get("restartPolicy"))
    spec["hostname"] = spec["subdomain"] = name
    if scheduler := scheduler_of(job, spec.get("schedulerName")):
        spec["schedulerName"] = scheduler
    if job.spec.intranet is Intranet.HOST:
        spec["hostNetwork"] = True
        # Names of the cluster are still to be found.
        spec.setdefault("dnsPolicy", "ClusterFirstWithHostNet")
        hold_port(spec, own_port(job, role, index))
    # The schema demands containers; objects from before it must not stop the controller.
    for container in spec.get("containers") or ():
        # Later entries win: what the operator says is said last.
        given = [*named(launcher_defaults(job)), *(container.get("env") or ())]
        container["env"] = [*given, *environment(job, role, index, name)]
        if not job.spec.elastic_launcher:
            # The launcher would take the first of these endpoints for its master.
            source = {"configMapRef": {"name": job.name}}
            container["envFrom"] = [*(container.get("envFrom") or ()), source]
    mount_data(job, spec)
    if data is not None:
        near_data(spec, data, index if role == "worker" else None)
    add_gate(spec)
    return Pod(metadata=metadata, spec=spec)


def hold_port(spec: dict[str, Any], port: int) -> None:
    """Ask for a port of the node: no scheduler places two that ask for the same one there."""
    for container in (spec.get("containers") or ())[:1]:
        held = {"name": "paddle", "containerPort": port, "hostPort": port, "protocol": "TCP"}
        container["ports"] = [*(container.get("ports") or ()), held]
        container["env"] = [*(container.get("env") or ()), {"name": "PADDLE_PORT", "value": str(port)}]


def restart_policy(job: PaddleJob, role: str, given: str | None) -> str:
    """What the template says; by default a pod that ended has ended."""
    if job.spec.elastic_launcher:
        return "Never"  # the launcher sees to its processes; when it ends itself, that counts
    if job.spec.elastic is not None:
        return "OnFailure"
    by_name = job.spec.intranet is Intranet.SERVICE and role == "worker"
    return given or ("OnFailure" if by_name else "Never")


def environment(job: PaddleJob, role: str, index: int, name: str) -> list[dict[str, Any]]:
    own: dict[str, Any] = {"name": "POD_IP", "value": name}
    if job.spec.intranet is not Intranet.SERVICE:
        own = {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    rank: dict[str, Any] = {"name": "PADDLE_TRAINER_ID", "value": str(index)}
    if job.spec.elastic is not None:
        # Which of those who take part it is: that is known when it is let go.
        rank = {"name": "PADDLE_TRAINER_ID", "valueFrom": annotation(RANK)}
    return [
        own,
        *((rank,) if not job.spec.elastic_launcher else ()),
        {"name": "TRAINING_ROLE", "value": TRAINING_ROLES[role]},
        {"name": "PADDLE_TRAINING_ROLE", "value": TRAINING_ROLES[role]},
        *elastic_variables(job),
    ]


def elastic_variables(job: PaddleJob) -> list[dict[str, Any]]:
    if job.spec.elastic is None or job.spec.worker is None:
        return []
    if job.spec.elastic_launcher:
        return named(launcher_variables(job))
    return [
        {"name": "PADDLE_ELASTIC_JOB_ID", "value": f"{job.namespace}-{job.name}"},
        {"name": "PADDLE_ELASTIC_NP", "value": str(job.spec.worker.replicas)},
        {"name": "PADDLE_ELASTIC_TIMEOUT", "value": "60"},
    ]


def named(variables: dict[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in variables.items()]


def annotation(name: str) -> dict[str, Any]:
    return {"fieldRef": {"fieldPath": f"metadata.annotations['{name}']"}}


def mount_data(job: PaddleJob, spec: dict[str, Any]) -> None:
    ref = job.spec.sample_set_ref
    if ref is None:
        return
    claim = {"name": ref.name, "persistentVolumeClaim": {"claimName": ref.name}}
    spec["volumes"] = [*(spec.get("volumes") or ()), claim]
    for container in spec.get("containers") or ():
        mount = {"name": ref.name, "mountPath": ref.mount_path}
        container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]
