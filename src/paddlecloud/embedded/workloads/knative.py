"""Knative Serving's Service and Revision, thin: the newest template runs, and answers once it is ready; pure.

The revision that answers stays until the next one is ready: a roll-out takes nothing away.
"""

from __future__ import annotations

import copy
from typing import Any

from ...api.core import Pod
from ...api.knative import SERVING, KnativeService, Revision
from ...api.meta import Metadata
from ...controllers.contract import Controller, Decision, Snapshot

SERVICE, REVISION = f"{SERVING}/service", f"{SERVING}/revision"
CONFIGURATION, GENERATION = f"{SERVING}/configuration", f"{SERVING}/configurationGeneration"
DOMAIN = "example.com"
PORT = 8080  # where a container listens that does not say it


def reconcile_service(service: KnativeService, seen: Snapshot) -> Decision:
    revisions = seen.owned(Revision)
    newest = make_revision(service)
    current = revisions.get(newest.name)
    is_ready = current is not None and ready(current.status)
    serving = newest.name if is_ready else str(service.status.get("latestReadyRevisionName") or "")
    kept = [r for r in revisions.values() if r.name == serving and r.name != newest.name]
    answering = revisions.get(serving)
    url = f"http://{service.name}.{service.namespace}.{DOMAIN}"
    message = "" if is_ready else ready_message(current)
    status = {
        **service.status,
        "observedGeneration": service.metadata.generation,
        "url": url,
        "address": {"url": f"http://{service.name}.{service.namespace}.svc.cluster.local"},
        "latestCreatedRevisionName": newest.name,
        "actualReplicas": int(answering.status.get("actualReplicas") or 0) if answering else 0,
        "conditions": [
            told("ConfigurationsReady", is_ready, message),
            told("Ready", is_ready, message),
            told("RoutesReady", bool(serving), message),
        ],
    }
    if serving:
        status["latestReadyRevisionName"] = serving
        status["traffic"] = [{"revisionName": serving, "percent": 100, "latestRevision": True}]
    return Decision(status, (newest, *kept))


def make_revision(service: KnativeService) -> Revision:
    template = copy.deepcopy(service.spec.get("template") or {})
    given, generation = template.get("metadata") or {}, service.metadata.generation or 1
    name = f"{service.name}-{generation:05d}"
    labels = {
        **(given.get("labels") or {}),
        SERVICE: service.name,
        CONFIGURATION: service.name,
        GENERATION: str(generation),
    }
    metadata = Metadata(
        name=name, namespace=service.namespace, labels=labels, annotations=given.get("annotations") or {}
    )
    return Revision(metadata=metadata, spec=template.get("spec") or {})


def reconcile_revision(revision: Revision, seen: Snapshot) -> Decision:
    pods = seen.owned(Pod)
    wanted = tuple(make_pod(revision, i) for i in range(replicas(revision)))
    up = sum(1 for p in pods.values() if p.ready)
    is_ready = bool(wanted) and up >= len(wanted)
    status = {
        **revision.status,
        "observedGeneration": revision.metadata.generation,
        "actualReplicas": up,
        "desiredReplicas": len(wanted),
        "conditions": [told("Ready", is_ready, "" if is_ready else trouble(pods))],
    }
    return Decision(status, wanted)


def replicas(revision: Revision) -> int:
    """At least one: scaling to zero needs an activator."""
    smallest = revision.metadata.annotations.get("autoscaling.knative.dev/min-scale", "1")
    return max(1, int(smallest) if smallest.isdecimal() else 1)


def make_pod(revision: Revision, index: int) -> Pod:
    service = revision.metadata.labels.get(SERVICE, "")
    spec = copy.deepcopy(revision.spec)
    spec.setdefault("terminationGracePeriodSeconds", 30)
    for container in spec.get("containers") or ():
        container["env"] = [
            *(container.get("env") or ()),
            {"name": "K_SERVICE", "value": service},
            {"name": "K_REVISION", "value": revision.name},
        ]
        for port in (container.get("ports") or ())[:1]:
            container["env"].append({"name": "PORT", "value": str(port.get("containerPort", PORT))})
    labels = {**revision.metadata.labels, REVISION: revision.name}
    metadata = Metadata(
        name=f"{revision.name}-deployment-{index}", namespace=revision.namespace, labels=labels
    )
    return Pod(metadata=metadata, spec=spec)


def trouble(pods: dict[str, Pod]) -> str:
    """Why it is not ready, from the first container that says something."""
    for pod in pods.values():
        for state in (
            *(pod.status.get("initContainerStatuses") or ()),
            *(pod.status.get("containerStatuses") or ()),
        ):
            waits = (state.get("state") or {}).get("waiting") or {}
            if waits.get("reason") not in (None, "ContainerCreating", "PodInitializing"):
                return f"pod {pod.name}: {waits['reason']}: {waits.get('message', '')}"
        scheduled = next((c for c in pod.status.get("conditions") or () if c["type"] == "PodScheduled"), None)
        if scheduled and scheduled["status"] == "False":
            return f"pod {pod.name} has no node: {scheduled.get('message', '')}"
    return "the pods are starting"


def ready(status: dict[str, Any]) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions") or ())


def ready_message(revision: Revision | None) -> str:
    conditions = revision.status.get("conditions") or () if revision else ()
    return next(
        (str(c.get("message") or "") for c in conditions if c["type"] == "Ready"), "the revision is new"
    )


def told(kind: str, holds: bool, message: str) -> dict[str, Any]:
    # Not ready yet is Unknown in Knative's words; only what cannot become ready by itself is False.
    status = "True" if holds else ("False" if ": Err" in message or "no node" in message else "Unknown")
    reason = (
        {}
        if holds
        else {"reason": "RevisionMissing" if "new" in message else "Deploying", "message": message}
    )
    return {"type": kind, "status": status, **reason}


SERVICES = Controller("knative-service", KnativeService, reconcile_service, owns=(Revision,))
REVISIONS = Controller("knative-revision", Revision, reconcile_revision, owns=(Pod,))
