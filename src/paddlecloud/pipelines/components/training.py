"""Training: makes a PaddleJob on a data set and a shared volume, and waits until it has ended."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any

from ...api.core import PersistentVolumeClaim
from ...api.meta import Key, Metadata
from ...api.paddlejob import PaddleJob, PaddleJobSpec, Phase, Role, SampleSetRef
from ...errors import AlreadyExists, Failed
from ...sdk.client import Client
from ...sdk.waiting import wait_for
from ..component import Component, Inputs, program

DATA, TASK = "/mnt/dataset", "/mnt/task-center"
COMPONENT = Component(
    "training",
    "Train: make a PaddleJob and wait until it has ended.",
    inputs={
        "namespace": "kubeflow",
        "action": "apply",
        "arguments": "",
        "dataset": "",
        "worker_replicas": "1",
        "gpu_per_node": "0",
        "clean_pod_policy": "OnCompletion",
        "timeout": "86400",
    },
    required=("name", "image", "pvc_name"),
    outputs=("name", "model_path", "metrics"),
)


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    key = Key(inputs["namespace"], inputs["name"])
    if inputs["action"] == "delete":
        client.delete(PaddleJob, key)
        return {"name": key.name}
    make_claim(client, Key(key.namespace, inputs["pvc_name"]))
    client.apply(make_job(key, inputs))
    job = wait_for(client, PaddleJob, key, lambda j: j.status.phase.final, float(inputs["timeout"]), say)
    if job.status.phase is Phase.FAILED:
        why = next((c.message for c in job.status.conditions if c.type == "Failed"), "no reason was given")
        raise Failed(f"PaddleJob {key} failed: {why}")
    metrics = job.status.progress.metrics if job.status.progress else {}
    return {"name": key.name, "model_path": f"{key.name}/inference", "metrics": json.dumps(metrics)}


def make_claim(client: Client, key: Key) -> None:
    """The shared volume of the pipeline; a volume that is there is used as it is."""
    claim = PersistentVolumeClaim(
        metadata=Metadata(name=key.name, namespace=key.namespace),
        spec={
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "task-center",
            "resources": {"requests": {"storage": "10Gi"}},
        },
    )
    try:
        client.create(claim)
    except AlreadyExists:
        return


def make_job(key: Key, inputs: Inputs) -> PaddleJob:
    command = [
        "python", "train.py", "--data", DATA, "--output", f"{TASK}/{key.name}/inference",
        *shlex.split(inputs["arguments"]),
    ]  # fmt: skip
    container: dict[str, Any] = {
        "name": "paddle",
        "image": inputs["image"],
        "command": command,
        "volumeMounts": [{"name": "task-center", "mountPath": TASK}],
    }
    if int(inputs["gpu_per_node"]):
        container["resources"] = {"limits": {"nvidia.com/gpu": int(inputs["gpu_per_node"])}}
    claim = {"name": "task-center", "persistentVolumeClaim": {"claimName": inputs["pvc_name"]}}
    template = {"spec": {"containers": [container], "volumes": [claim]}}
    spec: dict[str, Any] = {
        "clean_pod_policy": inputs["clean_pod_policy"],
        "worker": Role(replicas=int(inputs["worker_replicas"]), template=template),
    }
    if inputs["dataset"]:
        spec["sample_set_ref"] = SampleSetRef(name=inputs["dataset"], mount_path=DATA)
    return PaddleJob(metadata=Metadata(name=key.name, namespace=key.namespace), spec=PaddleJobSpec(**spec))


def say(job: PaddleJob) -> None:
    progress = job.status.progress
    far = f" {progress.done:g}/{progress.total:g} {progress.unit}" if progress and progress.total else ""
    print(f"paddlejob {job.name}: {job.status.phase.value}{far}", flush=True)


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))
