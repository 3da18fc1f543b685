"""Knative's Revision: a Deployment of its template, two Services in front, and how well it does; pure.

How many pods there are is the autoscaler's affair (`serving.autoscaling`; of the class `hpa`
`podautoscaling`): here only the first number is said. A revision that was ready once stays so while it
rests without a pod and while its pods come back.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Any

from ...api.apps import Deployment
from ...api.autoscaling import HorizontalPodAutoscaler
from ...api.core import Pod, Service
from ...api.knative import AUTOSCALING, REVISION_LABEL, SERVICE_LABEL, SERVING, Revision
from ...api.meta import Metadata
from ...controllers.contract import Controller, Decision, Ref, Selection, Snapshot
from ...controllers.servinggates import TALLY
from ...serving.scaling import HPA, knobs_of
from .knative import told

UID = f"{SERVING}/revisionUID"
MOST = 2**31 - 1
PORT = 8080  # where a container listens that does not say it
GRACE = 30
"""Seconds for a server to end; Knative gives it the time of a request: minutes, for one that is deaf."""
DRAIN = 3
"""Seconds between the moment a pod gets no more requests and its signal to end."""
FAILING = ("CrashLoopBackOff", "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerError",
           "CreateContainerConfigError", "RunContainerError", "ErrImageNeverPull")  # fmt: skip
OURS = ("containerConcurrency", "timeoutSeconds")
"""What Knative adds to the spec of a pod."""
Body = dict[str, Any]


def reconcile(revision: Revision, seen: Snapshot) -> Decision:
    there = seen.owned(Deployment).get(f"{revision.name}-deployment")
    pods = [p for p in seen.all(Pod) if p.metadata.labels.get(REVISION_LABEL) == revision.name]
    up = sum(p.ready for p in pods)
    wanted = there.replicas if there else first_scale(revision)
    status = {
        "observedGeneration": revision.metadata.generation,
        "actualReplicas": up,
        "desiredReplicas": wanted,
        "conditions": conditions(revision, wanted, up, trouble(pods)),
    }
    children = (make_deployment(revision, wanted), *make_services(revision), *make_autoscaler(revision))
    return Decision(status, children, counts_only=same_but_for_counts(revision.status, status))


def same_but_for_counts(old: Body, new: Body) -> bool:
    """Whether it only rests or wakes, which nobody waits to read: who sends requests looks at the pods."""
    return old != new and but_for_counts(old) == but_for_counts(new)


def but_for_counts(status: Body) -> Body:
    steady = [c for c in status.get("conditions") or () if c["type"] != "Active"]
    return {**status, "conditions": steady, "actualReplicas": 0, "desiredReplicas": 0}


def first_scale(revision: Revision) -> int:
    """At least one pod shows whether a revision works, whatever its smallest number is."""
    notes = revision.metadata.annotations
    return max(1, *(number(notes.get(f"{AUTOSCALING}/{n}", "")) for n in ("initial-scale", "min-scale")))


def number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else 0


def conditions(revision: Revision, wanted: int, up: int, why: tuple[str, str]) -> list[Body]:
    reason, message = why
    if up:
        healthy, resources = told("ContainerHealthy", "True"), told("ResourcesAvailable", "True")
        active = told("Active", "True")
    elif wanted and reason == "Unschedulable":
        healthy = told("ContainerHealthy", "Unknown")
        resources, active = told("ResourcesAvailable", "False", reason, message), told("Active", "Unknown")
    elif wanted and reason:
        healthy = told("ContainerHealthy", "False", reason, message)
        resources, active = told("ResourcesAvailable", "Unknown"), told("Active", "Unknown")
    elif wanted:
        before = "True" if revision.ready else "Unknown"
        words = () if revision.ready else ("Deploying", "the pods are starting")
        healthy, resources = told("ContainerHealthy", before, *words), told("ResourcesAvailable", before)
        active = told("Active", "Unknown", "Queued", "Requests to the target are being buffered as resources "
                      "are provisioned.")  # fmt: skip
    else:
        before = revision.condition("Ready").get("status") or "Unknown"
        healthy, resources = told("ContainerHealthy", before), told("ResourcesAvailable", before)
        active = told("Active", "False", "NoTraffic", "The target is not receiving traffic.")
    order = ("False", "Unknown", "True")
    worst = min((healthy, resources), key=lambda c: order.index(c["status"]))
    return [active, healthy, {**worst, "type": "Ready"}, resources]


def trouble(pods: Iterable[Pod]) -> tuple[str, str]:
    """A reason in one word and what the first pod that has one says, its last words if it ended."""
    for pod in pods:
        for state in (
            *(pod.status.get("initContainerStatuses") or ()),
            *(pod.status.get("containerStatuses") or ()),
        ):
            ended = ended_with(state)
            waits = (state.get("state") or {}).get("waiting") or {}
            if ended and (waits.get("reason") == "CrashLoopBackOff" or state["state"].get("terminated")):
                words = str(ended.get("message") or "").strip() or "it said nothing"
                return f"ExitCode{ended.get('exitCode', 0)}", f"Container failed with: {words}"
            if waits.get("reason") in FAILING:
                return str(waits["reason"]), str(waits.get("message") or waits["reason"])
        placed: Body = next(
            (c for c in pod.status.get("conditions") or () if c["type"] == "PodScheduled"), {}
        )
        if placed.get("status") == "False":
            return "Unschedulable", f"pod {pod.name} has no node: {placed.get('message', '')}"
    return "", ""


def ended_with(state: Body) -> Body:
    """How the container of that status ended last, if it failed."""
    for part in ("state", "lastState"):
        ended: Body = (state.get(part) or {}).get("terminated") or {}
        if ended.get("exitCode"):
            return ended
    return {}


def make_deployment(revision: Revision, replicas: int) -> Deployment:
    labels = labels_of(revision)
    # What is counted of the revision changes all the time, and is no reason for new pods.
    notes = {key: value for key, value in revision.metadata.annotations.items() if key != TALLY}
    template = {"metadata": {"labels": labels, "annotations": notes},
                "spec": pod_spec(revision)}  # fmt: skip
    return Deployment(
        metadata=Metadata(name=f"{revision.name}-deployment", namespace=revision.namespace, labels=labels),
        spec={
            "replicas": replicas,
            "selector": {"matchLabels": {UID: revision.uid}},
            "progressDeadlineSeconds": 600,
            "template": template,
        },
    )


def labels_of(revision: Revision) -> dict[str, str]:
    names = {REVISION_LABEL: revision.name, UID: revision.uid, "app": revision.name}
    return {**revision.metadata.labels, **names}


def pod_spec(revision: Revision) -> Body:
    spec = {k: v for k, v in copy.deepcopy(revision.spec).items() if k not in OURS}
    spec.setdefault("terminationGracePeriodSeconds", GRACE)
    # As Knative has it: with hundreds of services beside it a pod would begin with thousands of variables.
    spec.setdefault("enableServiceLinks", False)
    for container in spec.get("containers") or ():
        port = port_of(container)
        container["env"] = [
            *(container.get("env") or ()),
            {"name": "K_SERVICE", "value": revision.metadata.labels.get(SERVICE_LABEL, "")},
            {"name": "K_REVISION", "value": revision.name},
            {"name": "PORT", "value": str(port)},
        ]
        container.setdefault("terminationMessagePolicy", "FallbackToLogsOnError")
        # Requests on their way find the pod still there.
        container.setdefault("lifecycle", {"preStop": {"sleep": {"seconds": DRAIN}}})
    return spec


def port_of(container: Body) -> int:
    ports = container.get("ports") or [{}]
    return int(ports[0].get("containerPort") or PORT)


def make_services(revision: Revision) -> tuple[Service, ...]:
    """Of the two the private one is what the documents ask for the address of."""
    containers = revision.spec.get("containers") or [{}]
    port = {"name": "http", "port": 80, "targetPort": port_of(containers[0]), "protocol": "TCP"}
    spec = {"type": "ClusterIP", "selector": {UID: revision.uid}, "ports": [port]}
    kinds = {revision.name: "Public", f"{revision.name}-private": "Private"}
    return tuple(
        Service(
            metadata=Metadata(
                name=name,
                namespace=revision.namespace,
                labels={**labels_of(revision), "networking.internal.knative.dev/serviceType": kind},
            ),
            spec=copy.deepcopy(spec),
        )
        for name, kind in kinds.items()
    )


def make_autoscaler(revision: Revision) -> tuple[HorizontalPodAutoscaler, ...]:
    """Of the class `hpa`: an object of Kubernetes' own, which looks at what pods use, as Knative makes it."""
    notes = revision.metadata.annotations
    if notes.get(f"{AUTOSCALING}/class") != HPA:
        return ()
    knobs, metric = knobs_of(notes), notes.get(f"{AUTOSCALING}/metric", "cpu")
    spec: Body = {
        "scaleTargetRef": {"apiVersion": Deployment.api_version, "kind": Deployment.kind,
                           "name": f"{revision.name}-deployment"},
        "minReplicas": max(1, knobs.least),
        "maxReplicas": knobs.most or MOST,
    }  # fmt: skip
    if f"{AUTOSCALING}/target" in notes:
        spec["metrics"] = [aimed(metric, knobs.target)]
    if f"{AUTOSCALING}/window" in notes:
        span = {"stabilizationWindowSeconds": int(knobs.window)}
        spec["behavior"] = {"scaleUp": span, "scaleDown": dict(span)}
    metadata = Metadata(name=revision.name, namespace=revision.namespace, labels=labels_of(revision))
    return (HorizontalPodAutoscaler(metadata=metadata, spec=spec),)


def aimed(metric: str, target: float) -> Body:
    if metric == "cpu":
        aim: Body = {"type": "Utilization", "averageUtilization": math.ceil(target)}
        return {"type": "Resource", "resource": {"name": metric, "target": aim}}
    if metric == "memory":
        aim = {"type": "AverageValue", "averageValue": f"{int(target)}Mi"}
        return {"type": "Resource", "resource": {"name": metric, "target": aim}}
    aim = {"type": "AverageValue", "averageValue": str(int(target))}
    return {"type": "Pods", "pods": {"metric": {"name": metric}, "target": aim}}


def related(revision: Revision) -> tuple[Ref | Selection, ...]:
    return (Selection(Pod, revision.namespace, ((REVISION_LABEL, revision.name),)),)


REVISIONS = Controller(
    "knative-revision",
    Revision,
    reconcile,
    owns=(Deployment, Service, HorizontalPodAutoscaler),
    reads=(Pod,),
    related=related,
)
