"""Parts of objects as server-side apply gets them."""

from __future__ import annotations

from typing import Any

NAME = "settings"
GROUP = "batch.paddlepaddle.org/v1"


def service(*ports: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"ports": list(ports), "selector": {"app": "web"}},
    }


def job(name: str = "train", **spec: Any) -> dict[str, Any]:
    """A part of a PaddleJob, to be laid over one that is there."""
    return {"apiVersion": GROUP, "kind": "PaddleJob", "metadata": {"name": name}, "spec": spec}


def deployment(name: str = "web", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def whole_deployment(name: str = "web", image: str = "example/image:1") -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"schedulerName": "nobody", "containers": [{"name": "main", "image": image}]},
    }
    return deployment(name, replicas=0, selector={"matchLabels": {"app": name}}, template=template)


def deployments(namespace: str, name: str = "web") -> str:
    return f"/apis/apps/v1/namespaces/{namespace}/deployments" + (f"/{name}" if name else "")
