"""The object store of an embedded cluster: S3 at `minio-service.kubeflow:9000`, as in the documents.

A Deployment of the JuiceFS gateway, asleep until somebody calls its Service (`node/network/waking`). Its keys
are made once, with the cluster, and lie in the Secret `model-store` beside it; who keeps models there copies
it to the namespaces that may.
"""

from __future__ import annotations

import base64
import secrets
import shlex
from typing import Any

from ...api.apps import Deployment
from ...api.core import WAKES, Secret, Service
from ...api.meta import Metadata, Resource
from ...settings import Home

NAMESPACE, NAME, SERVICE, KEYS, PORT = "kubeflow", "minio", "minio-service", "model-store", 9000
IMAGE = "paddlecloud/data"
LABELS = {"app": NAME}


def parts(home: Home) -> tuple[Resource, ...]:
    """What is made once; whoever has a store of their own changes or deletes it."""
    where: dict[str, Any] = {"namespace": NAMESPACE, "labels": LABELS}
    return (
        Secret(metadata=Metadata(name=KEYS, **where), data=fresh_keys()),
        Deployment(
            metadata=Metadata(name=NAME, **where),
            spec={
                "replicas": 0,
                "selector": {"matchLabels": LABELS},
                # Two at once would write to one file of metadata.
                "strategy": {"type": "Recreate"},
                "template": {"metadata": {"labels": LABELS}, "spec": pod_spec(str(home.objects / "s3"))},
            },
        ),
        Service(
            metadata=Metadata(name=SERVICE, annotations={WAKES: NAME}, **where),
            spec={"selector": LABELS, "ports": [{"name": "http", "port": PORT, "targetPort": PORT}]},
        ),
    )


def fresh_keys() -> dict[str, str]:
    made = {"access-key": secrets.token_hex(10), "secret-key": secrets.token_hex(20)}
    return {name: base64.b64encode(value.encode()).decode() for name, value in made.items()}


def pod_spec(folder: str) -> dict[str, Any]:
    metadata = shlex.quote(f"sqlite3://{folder}/meta.db")
    objects = shlex.quote(f"{folder}/objects/")
    script = (
        f"juicefs format --storage file --bucket {objects} --trash-days 0 {metadata} model-store && "
        f'exec juicefs gateway --no-banner {metadata} "$POD_IP:{PORT}" --multi-buckets --keep-etag '
        '--object-meta --cache-dir "$HOME/cache" --cache-size 64 --metrics 127.0.0.1:0 --no-usage-report'
    )
    variables = {"MINIO_ROOT_USER": "access-key", "MINIO_ROOT_PASSWORD": "secret-key"}
    return {
        "containers": [
            {
                "name": NAME,
                "image": IMAGE,
                "command": ["sh", "-c", script],
                "env": [
                    {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                    *(
                        {"name": name, "valueFrom": {"secretKeyRef": {"name": KEYS, "key": key}}}
                        for name, key in variables.items()
                    ),
                ],
                "ports": [{"containerPort": PORT}],
                "readinessProbe": {"tcpSocket": {"port": PORT}, "periodSeconds": 1},
                "volumeMounts": [{"name": "store", "mountPath": folder}],
            }
        ],
        "volumes": [{"name": "store", "hostPath": {"path": folder, "type": "DirectoryOrCreate"}}],
    }
