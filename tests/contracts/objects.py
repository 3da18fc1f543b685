"""The manifests of the contracts: the least each kind needs, as a client would write it."""

from __future__ import annotations

from typing import Any

NAMESPACES = "/api/v1/namespaces"


def core(namespace: str, plural: str, name: str = "") -> str:
    return f"{NAMESPACES}/{namespace}/{plural}" + (f"/{name}" if name else "")


def jobs(namespace: str, name: str = "") -> str:
    return f"/apis/batch.paddlepaddle.org/v1/namespaces/{namespace}/paddlejobs" + (f"/{name}" if name else "")


def sample_sets(namespace: str, name: str = "") -> str:
    path = f"/apis/batch.paddlepaddle.org/v1alpha1/namespaces/{namespace}/samplesets"
    return path + (f"/{name}" if name else "")


def config_map(name: str = "settings", labels: dict[str, str] | None = None, **data: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "labels": labels} if labels else {"name": name}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def pod(name: str = "sleeper", labels: dict[str, str] | None = None) -> dict[str, Any]:
    # A scheduler nobody runs: the pod stays as it is on every server.
    spec = {"schedulerName": "nobody", "containers": [{"name": "main", "image": "example/image:1"}]}
    metadata: dict[str, Any] = {"name": name, "labels": labels} if labels else {"name": name}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def paddle_job(name: str = "train", **spec: Any) -> dict[str, Any]:
    template = {
        "spec": {"schedulerName": "nobody", "containers": [{"name": "paddle", "image": "example/paddle:1"}]}
    }
    spec = spec or {"worker": {"replicas": 2, "template": template}}
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": name},
        "spec": spec,
    }


def worker(replicas: int = 1, **spec: Any) -> dict[str, Any]:
    """A role; *spec* replaces the one of its pods."""
    containers = [{"name": "paddle", "image": "example/paddle:1"}]
    return {"replicas": replicas, "template": {"spec": spec or {"containers": containers}}}


def sample_set(name: str = "digits", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch.paddlepaddle.org/v1alpha1",
        "kind": "SampleSet",
        "metadata": {"name": name},
        "spec": spec or {"source": {"uri": "file:///data/digits"}},
    }
