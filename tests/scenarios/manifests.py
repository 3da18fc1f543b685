"""Manifests as short as a test wants them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

CORE = "paddlecloud/core"
Body = dict[str, Any]


def pod(name: str, script: str, **more: Any) -> Body:
    """A pod with one container `main` that runs a shell script; *container* adds to that container."""
    metadata = {"name": name, **more.pop("metadata", {})}
    spec = {"restartPolicy": "Never", "containers": [shell(script, **more.pop("container", {}))], **more}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def shell(script: str, **more: Any) -> Body:
    return {"name": "main", "image": CORE, "command": ["sh", "-c", script], **more}


def job(name: str, script: str = "true", *, image: str = CORE, workers: int = 1, **spec: Any) -> Body:
    template = {"spec": {"restartPolicy": "Never", "containers": [shell(script, image=image)]}}
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": name},
        "spec": {"worker": {"replicas": workers, "template": template}, **spec},
    }


def sample_set(name: str, folder: Path) -> Body:
    return {
        "apiVersion": "batch.paddlepaddle.org/v1alpha1",
        "kind": "SampleSet",
        "metadata": {"name": name},
        "spec": {"partitions": 1, "source": {"uri": folder.as_uri()}},
    }


def web_service(name: str, labels: dict[str, str], ports: Sequence[Body]) -> Body:
    spec = {"selector": labels, "ports": list(ports)}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def in_namespace(namespace: str, body: Body) -> Body:
    return {**body, "metadata": {**body["metadata"], "namespace": namespace}}
