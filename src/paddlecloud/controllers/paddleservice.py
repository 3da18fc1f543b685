"""Decides the Knative Service behind a PaddleService, and tells how it is doing.

`model: name@alias` is resolved once and pinned in the status: a service does not change under its users
because an alias moved, unless it was told to `follow`.
"""

from __future__ import annotations

import shlex
from typing import Any

from ..api.knative import KnativeService
from ..api.meta import Condition, Metadata
from ..api.model import Model, ModelPhase, ModelVersion
from ..api.paddleservice import (
    ElasticPaddleService,
    EndpointSpec,
    EndpointStatus,
    PaddleService,
    PaddleServiceStatus,
)  # fmt: skip
from .conditions import condition, progressing, set_conditions, waiting
from .contract import Controller, Decision, Note, Ref, Selection, Snapshot, difference
from .hub import store_volume
from .model import resolve

SERVER = "paddlecloud/serving"
PORT = 9292
DOMAIN = "example.com"


def reconcile(service: PaddleService, seen: Snapshot) -> Decision:
    default, wait = resolved(service, seen)
    if wait:
        # What answers now goes on answering.
        status = status_of(service, default, waits(wait), seen)
        return Decision(status, tuple(seen.owned(KnativeService).values()), notes=notes(service, status))
    wanted = make_service(service, default)
    status = status_of(service, default, answers(seen.owned(KnativeService).get(service.name), wanted), seen)
    return Decision(status, (wanted,), notes=notes(service, status))


def related(service: PaddleService) -> tuple[Ref | Selection, ...]:
    reference = service.spec.default.model
    if not reference:
        return ()
    name = reference.partition("@")[0]
    return (Ref(Model, service.namespace, name), Selection(ModelVersion, service.namespace))


CONTROLLER = Controller(
    "paddleservice",
    PaddleService,
    reconcile,
    owns=(KnativeService,),
    reads=(Model, ModelVersion),
    related=related,
)
ELASTIC = Controller(
    "elasticpaddleservice",
    ElasticPaddleService,
    reconcile,
    owns=(KnativeService,),
    reads=(Model, ModelVersion),
    related=related,
)


def resolved(service: PaddleService, seen: Snapshot) -> tuple[EndpointStatus, Condition | None]:
    """What the default endpoint serves, and what keeps it from serving."""
    spec, old = service.spec.default, service.status.default or EndpointStatus()
    if not spec.model:
        if spec.container_image and spec.tag and spec.port:
            return EndpointStatus(name=old.name), None
        return old, waiting(
            "Incomplete",
            "spec.default needs either model, or containerImage, tag and port; edit the PaddleService",
        )
    name = spec.model.partition("@")[0]
    model = seen.find(Model, name)
    # A changed reference is a new question; the pin answers only the one it was made for.
    pinned = old.model_version if old.model == spec.model and not spec.follow else ""
    wanted = pinned or resolve(spec.model, model)
    if not wanted:
        return old, waiting(
            "WaitingForModel",
            f"waits for {spec.model}: no such model or alias; push a version or move the alias",
        )
    version = seen.find(ModelVersion, wanted)
    if version is None or version.status.phase is not ModelPhase.READY:
        shown = version.status.phase.value if version else "missing"
        return old, waiting("WaitingForModel", f"waits for ModelVersion {wanted} to be Ready; it is {shown}")
    storage = version.status.storage
    return EndpointStatus(name=old.name, model=spec.model, model_version=wanted, storage=storage), None


def waits(wait: Condition) -> list[Condition]:
    return [condition("Ready", False, wait.reason, wait.message), wait]


def answers(inner: KnativeService | None, wanted: KnativeService) -> list[Condition]:
    """Whether what is wanted now is what answers; an older revision that answers does not count."""
    ready = inner.condition("Ready") if inner else {}
    if inner and ready.get("status") == "True" and up_to_date(inner, wanted):
        return [
            condition("Ready", True, "Serving"),
            condition("DefaultEndpointReady", True, "Serving"),
            progressing("Serving"),
        ]
    why = str(ready.get("message") or "the endpoint is starting")
    reason = str(ready.get("reason") or "Starting")
    return [
        condition("Ready", False, reason, why),
        condition("DefaultEndpointReady", False, reason, why),
        waiting(reason, why) if ready.get("status") == "False" else progressing(reason, why),
    ]


def up_to_date(inner: KnativeService, wanted: KnativeService) -> bool:
    told = int(inner.status.get("observedGeneration") or 0) >= inner.metadata.generation
    return told and not difference(inner, wanted)


def status_of(
    service: PaddleService, default: EndpointStatus, current: list[Condition], seen: Snapshot
) -> PaddleServiceStatus:
    inner = seen.owned(KnativeService).get(service.name)
    revision = str(inner.status.get("latestReadyRevisionName") or "") if inner else ""
    return PaddleServiceStatus(
        url=f"http://{service.name}.{service.namespace}.{DOMAIN}",
        replicas=int(inner.status.get("actualReplicas") or 0) if inner else 0,
        default=default.but(name=revision or default.name),
        observed_generation=service.metadata.generation,
        conditions=set_conditions(service.status.conditions, current, seen.now),
    )


def make_service(service: PaddleService, default: EndpointStatus) -> KnativeService:
    spec = service.spec
    if spec.default.model:
        container, volumes = model_server(spec.default, default)
    else:
        container, volumes = own_image(spec.default), []
    container["name"] = spec.runtime_version or "server"
    container["volumeMounts"] = [*container.get("volumeMounts", ()), *spec.volume_mounts]
    if spec.resources:
        container["resources"] = spec.resources
    if spec.working_dir:
        container["workingDir"] = spec.working_dir
    pod: dict[str, Any] = {"containers": [container], "volumes": [*volumes, *spec.volumes]}
    return KnativeService(
        metadata=Metadata(name=service.name, namespace=service.namespace),
        spec={"template": {"metadata": {"annotations": scaling(service)}, "spec": pod}},
    )


def model_server(spec: EndpointSpec, default: EndpointStatus) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Our server: it fetches the pinned version by content, then answers."""
    model = spec.model.partition("@")[0]
    fetch = ["python", "-m", "paddlecloud.models.fetch", "--store", default.storage, "--model", model,
             "--version", default.model_version, "--to", "/model"]  # fmt: skip
    serve = ["python", "-m", "paddlecloud.serving.server", "--model", "/model", "--name", model,
             "--port", str(spec.port or PORT)]  # fmt: skip
    volumes, mounts = store_volume(default.storage, read_only=True)
    container = {
        "image": SERVER,
        "command": ["sh", "-c", f"{shlex.join(fetch)} && exec {shlex.join(serve)}"],
        "ports": [{"containerPort": spec.port or PORT}],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": spec.port or PORT}, "periodSeconds": 1},
        "volumeMounts": [{"name": "model", "mountPath": "/model"}, *mounts],
    }
    return container, [{"name": "model", "emptyDir": {}}, *volumes]


def own_image(spec: EndpointSpec) -> dict[str, Any]:
    container: dict[str, Any] = {
        "image": f"{spec.container_image}:{spec.tag}",
        "ports": [{"containerPort": spec.port}],
        "readinessProbe": {"tcpSocket": {"port": spec.port}, "periodSeconds": 1},
    }
    if spec.arg:
        container |= {"command": ["/bin/bash", "-c"], "args": [spec.arg]}
    return container


def scaling(service: PaddleService) -> dict[str, str]:
    """Knative's own names for how a service scales."""
    wanted, prefix = service.spec.service, "autoscaling.knative.dev"
    given = {
        "class": wanted.autoscaler and wanted.autoscaler.value,
        "metric": wanted.metric and wanted.metric.value,
        "window": wanted.window,
        "min-scale": wanted.min_scale,
        "max-scale": wanted.max_scale,
        "target": wanted.target,
    }
    return {f"{prefix}/{key}": str(value) for key, value in given.items() if value not in (None, "")}


def notes(service: PaddleService, status: PaddleServiceStatus) -> tuple[Note, ...]:
    def ready(conditions: list[Condition]) -> str:
        return next((c.status for c in conditions if c.type == "Ready"), "")

    if ready(status.conditions) == "True" and ready(service.status.conditions) != "True":
        return (Note("Normal", "Ready", f"answers at {status.url}"),)
    return ()
