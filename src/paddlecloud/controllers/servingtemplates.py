"""What a pod of an endpoint looks like: the template of a Knative revision, from a PaddleService; pure.

A template follows from what is served alone. Its digest is written on it, so that two equal ones are one
revision whatever it is called and whoever asks for it: that is how a canary becomes the default without
a new pod.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..api.knative import AUTOSCALING
from ..api.paddleservice import (
    Autoscaler,
    EndpointSpec,
    EndpointStatus,
    Metric,
    PaddleService,
    PullPolicy,
    ScalingSpec,
)  # fmt: skip
from ..scheduler.quantities import amount
from .hub import store_keys, store_volume
from .servingmodels import PADDLE

SERVER, PADDLE_SERVER = "paddlecloud/serving", "paddlecloud/serving-paddle"
"""The model server with ONNX Runtime alone, and with Paddle Inference, which takes longer to start."""
PORT = 9292
TIMEOUT = 300
DIGEST = "paddlecloud.org/template"
OWNER_LABEL = "PaddleService"
REQUESTS = {"cpu": "200m", "memory": "512Mi"}
LIMITS = {"cpu": "1", "memory": "2Gi"}
Body = dict[str, Any]


def template_of(service: PaddleService, spec: EndpointSpec, pinned: EndpointStatus) -> Body:
    """The template without its name; *pinned* says which version of a model is meant."""
    container, volumes = model_server(spec, pinned) if spec.model else (own_image(spec), [])
    whole = service.spec
    container |= {
        "name": whole.runtime_version or "server",
        "imagePullPolicy": (whole.image_pull_policy or PullPolicy.ALWAYS).value,
        "env": [*container.get("env", ()), *whole.env],
        "resources": measured(resources(whole.resources, defaulted=not spec.model), whole.service),
        "volumeMounts": [*container.get("volumeMounts", ()), *whole.volume_mounts],
    }
    for field, given in (
        ("workingDir", whole.working_dir),
        ("readinessProbe", whole.readiness_probe),
        ("livenessProbe", whole.liveness_probe),
    ):
        if given:
            container[field] = given
    pod: Body = {
        "containers": [container],
        "volumes": [*volumes, *whole.volumes],
        "containerConcurrency": 0 if by_use(whole.service) else whole.service.target or 0,
        "timeoutSeconds": TIMEOUT,
    }
    if whole.image_pull_secrets:
        pod["imagePullSecrets"] = whole.image_pull_secrets
    if whole.node_selector:
        pod["nodeSelector"] = whole.node_selector
    metadata = {"labels": {OWNER_LABEL: service.name}, "annotations": scaling(whole.service)}
    digest = digest_of({"metadata": metadata, "spec": pod})
    return {
        "metadata": {**metadata, "annotations": {**metadata["annotations"], DIGEST: digest}},
        "spec": pod,
    }


def digest_of(template: Body) -> str:
    return hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:40]


def digest_on(template: Body | None) -> str:
    """The digest a template carries; empty for one of somebody else."""
    metadata = (template or {}).get("metadata") or {}
    return str((metadata.get("annotations") or {}).get(DIGEST) or "")


def model_server(spec: EndpointSpec, pinned: EndpointStatus) -> tuple[Body, list[Body]]:
    """Our server: it fetches the pinned version by content, then answers."""
    model, port = spec.model.partition("@")[0], spec.port or PORT
    said = {"store": pinned.storage, "model": model, "version": pinned.model_version, "to": "/model"}
    command = ["python", "-m", "paddlecloud.hubserver", *(f"--{k}={v}" for k, v in said.items()),
               f"--port={port}"]  # fmt: skip
    volumes, mounts = store_volume(pinned.storage, read_only=True)
    container = {
        "image": PADDLE_SERVER if pinned.engine == PADDLE else SERVER,
        "command": command,
        "ports": [{"containerPort": port, "name": "http1", "protocol": "TCP"}],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": port}, "periodSeconds": 1},
        "volumeMounts": [{"name": "model", "mountPath": "/model"}, *mounts],
    }
    if keys := store_keys(pinned.storage):
        container["env"] = keys
    return container, [{"name": "model", "emptyDir": {}}, *volumes]


def own_image(spec: EndpointSpec) -> Body:
    container: Body = {
        "image": f"{spec.container_image}:{spec.tag}",
        "ports": [{"containerPort": spec.port, "name": "http1", "protocol": "TCP"}],
        "readinessProbe": {"tcpSocket": {"port": spec.port}, "periodSeconds": 1},
    }
    if spec.arg:
        container |= {"command": ["/bin/bash", "-c"], "args": [spec.arg]}
    return container


def resources(given: Body, *, defaulted: bool) -> Body:
    """The user's, with what is missing filled in so that no request exceeds its limit."""
    if not defaulted:
        return given
    requests, limits = dict(given.get("requests") or {}), dict(given.get("limits") or {})
    for name in REQUESTS:
        asked, most = requests.get(name), limits.get(name)
        if asked is None:
            requests[name] = REQUESTS[name] if most is None else least(name, REQUESTS[name], most)
        if most is None:
            limits[name] = LIMITS[name] if asked is None else largest(name, LIMITS[name], asked)
    return {**given, "requests": requests, "limits": limits}


def measured(given: Body, scale: ScalingSpec) -> Body:
    """With a request for processors where the part of it that is used decides how many pods there are."""
    if not by_use(scale) or any("cpu" in (given.get(part) or {}) for part in ("requests", "limits")):
        return given
    return {**given, "requests": {**(given.get("requests") or {}), "cpu": REQUESTS["cpu"]}}


def least(name: str, ours: str, theirs: Any) -> Any:
    return ours if value(name, ours) <= value(name, theirs) else theirs


def largest(name: str, ours: str, theirs: Any) -> Any:
    return ours if value(name, ours) >= value(name, theirs) else theirs


def value(name: str, quantity: Any) -> int:
    try:
        return amount(name, quantity)
    except ValueError:
        # The cluster refuses it when the pod is made, and says so better.
        return 0


def scaling(wanted: ScalingSpec) -> dict[str, str]:
    """All nine settings in Knative's own words, also those that are as Knative has them anyway."""
    given = {
        "class": (Autoscaler.HPA if by_use(wanted) else Autoscaler.KPA).value,
        "metric": (wanted.metric or default_metric(wanted)).value,
        "target": str(wanted.target or 100),
        "target-utilization-percentage": wanted.target_utilization or "70",
        "window": wanted.window or "60s",
        "panic-window-percentage": wanted.panic_window or "10",
        "panic-threshold-percentage": wanted.panic_threshold or "200",
        "min-scale": str(wanted.min_scale or 0),
        "max-scale": str(wanted.max_scale or 0),
    }
    return {f"{AUTOSCALING}/{name}": text for name, text in given.items()}


def by_use(wanted: ScalingSpec) -> bool:
    """Whether processors decide, and not requests: Knative's other class alone knows that metric."""
    return (wanted.autoscaler or (Autoscaler.HPA if wanted.metric is Metric.CPU else None)) is Autoscaler.HPA


def default_metric(wanted: ScalingSpec) -> Metric:
    # Knative refuses concurrency for the class that looks at processors.
    return Metric.CPU if wanted.autoscaler is Autoscaler.HPA else Metric.CONCURRENCY
