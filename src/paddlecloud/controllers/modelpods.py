"""The pods that bring the files of a model version into the store, and what they are called; pure.

    fetch (what a client pushed) → convert (a Paddle model, to ONNX) → upload, verify, report

A source is a folder of a claim, or what a client pushed into the store beforehand.
"""

from __future__ import annotations

from typing import Any

from ..api.core import ConfigMap, Pod
from ..api.meta import Metadata
from ..api.model import ModelVersion
from .hub import store_keys, store_volume

CONVERTER, UPLOADER = "paddlecloud/paddle", "paddlecloud/core"
LABEL = "hub.paddlepaddle.org/version"
CONTAINERS = ("fetch", "convert", "upload")
"""In the order they run."""
PUSHED = "push:sha256:"
REPORT = "manifest.json"
"""The key of a report, which is a ConfigMap."""


def pod_name(version: ModelVersion) -> str:
    return f"{version.name}-upload"


def report_name(version: ModelVersion) -> str:
    return f"{version.name}-manifest"


def report_of(version: ModelVersion) -> ConfigMap:
    """Made empty by us, so that it is ours; the uploader fills it in."""
    return ConfigMap(
        metadata=Metadata(
            name=report_name(version), namespace=version.namespace, labels={LABEL: version.name}
        )
    )


def make_pod(version: ModelVersion, store: str) -> Pod:
    pushed = version.spec.source.uri.removeprefix(PUSHED)
    source = "/source" if pushed else f"/source/{version.spec.source.path.strip('/')}".rstrip("/")
    claim = {"persistentVolumeClaim": {"claimName": version.spec.source.pvc}}
    volumes, mounts = store_volume(store, read_only=False)
    shared = [{"name": "source", "mountPath": "/source"}, {"name": "converted", "mountPath": "/converted"}]
    reaching = {"volumeMounts": [*shared, *mounts]} | ({"env": keys} if (keys := store_keys(store)) else {})
    converts = version.spec.format == "paddle"
    fetch = {
        "name": "fetch",
        "image": UPLOADER,
        "command": ["python", "-m", "paddlecloud.models.fetch", "--store", store, "--pushed", pushed,
                    "--to", source],
        **reaching,
    }  # fmt: skip
    convert = {
        "name": "convert",
        "image": CONVERTER,
        "command": ["python", "convert.py", "--model", source, "--output", "/converted"],
        "volumeMounts": shared,
    }
    upload = {
        "name": "upload",
        "image": UPLOADER,
        "command": [
            "python", "-m", "paddlecloud.pipelines.components.upload", "--source", source,
            "--store", store, "--model", version.spec.model, "--version", version.name,
            "--report", f"configmap:{version.namespace}/{report_name(version)}",
            *(("--converted", "/converted") if converts else ()),
        ],
        **reaching,
    }  # fmt: skip
    before: list[dict[str, Any]] = [*([fetch] if pushed else []), *([convert] if converts else [])]
    return Pod(
        metadata=Metadata(name=pod_name(version), namespace=version.namespace, labels={LABEL: version.name}),
        spec={
            "restartPolicy": "Never",
            "initContainers": before,
            "containers": [upload],
            "volumes": [
                {"name": "source", **({"emptyDir": {}} if pushed else claim)},
                {"name": "converted", "emptyDir": {}},
                *volumes,
            ],
        },
    )
