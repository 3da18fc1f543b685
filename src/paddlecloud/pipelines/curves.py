"""A server of training curves beside a volume: a Deployment and a Service of one name; pure."""

from __future__ import annotations

from dataclasses import dataclass

from ..api.apps import Deployment
from ..api.core import Service
from ..api.meta import Key, Metadata, Resource

IMAGE, PORT = "paddlecloud/visualdl", 8040


@dataclass(frozen=True)
class Curves:
    pvc_name: str
    mount_path: str
    logdir: str
    port: int = PORT
    flags: tuple[str, ...] = ()
    """Further ones of the program, in its own spelling."""


def curves(key: Key, said: Curves) -> tuple[Resource, ...]:
    labels = {"visualdl": key.name}
    # Without a host the program listens to its own machine only.
    arguments = [
        "--logdir",
        said.logdir,
        "--host",
        "0.0.0.0",
        "--port",
        str(said.port),
        "--disable-telemetry",
        *said.flags,
    ]
    container = {
        "name": "visualdl",
        "image": IMAGE,
        "args": arguments,
        "ports": [{"containerPort": said.port}],
        "volumeMounts": [{"name": "task-center", "mountPath": said.mount_path}],
        "readinessProbe": {
            "httpGet": {"path": "/alive", "port": said.port},
            "periodSeconds": 5,
            "timeoutSeconds": 5,
        },
    }
    claim = {"name": "task-center", "persistentVolumeClaim": {"claimName": said.pvc_name}}
    metadata = Metadata(name=key.name, namespace=key.namespace, labels=labels)
    return (
        Deployment(
            metadata=metadata,
            spec={
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [container], "volumes": [claim]},
                },
            },
        ),
        Service(
            metadata=metadata,
            spec={
                "selector": labels,
                "ports": [{"name": "http", "port": said.port, "targetPort": said.port}],
            },
        ),
    )
