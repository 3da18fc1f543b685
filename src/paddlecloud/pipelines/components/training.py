"""Training: makes a PaddleJob on a data set and a shared volume, and waits until it has ended."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any

from ...api.apps import Deployment
from ...api.batch import Job
from ...api.core import Service
from ...api.meta import Key, Metadata
from ...api.paddlejob import PaddleJob, PaddleJobSpec, Phase, Role, SampleSetRef
from ...errors import Failed, WrongUse
from ...sdk.client import Client
from ...sdk.waiting import wait_for
from ..actions import carry_out, checked, remove
from ..claims import make_claim
from ..component import Component, Inputs, program, yes
from ..curves import Curves, curves
from ..jobs import run_to_end
from ..suitecommands import (
    CENTER,
    TASK,
    check_project,
    export_command,
    exported,
    fetch_command,
    train_command,
)

DATA = "/mnt/dataset"
CURVES = f"{TASK}/models/vdl"
LIVE = ("--cache-timeout=5",)
"""VisualDL tells for twenty seconds what it has read once, in which a small training comes far."""
COMPONENT = Component(
    "training",
    "Train: make a PaddleJob and wait until it has ended.",
    inputs={
        "namespace": "kubeflow",
        "action": "apply",
        "project": "",
        "config_path": "",
        "config_changes": "",
        "pretrain_model": "",
        "train_label": "",
        "test_label": "",
        "use_visualdl": "False",
        "save_inference": "True",
        "need_convert": "True",
        "arguments": "",
        "dataset": "",
        "folder": "",
        "worker_replicas": "1",
        "ps_replicas": "0",
        "gpu_per_node": "0",
        "clean_pod_policy": "OnCompletion",
        "timeout": "86400",
    },
    required=("name", "image", "pvc_name"),
    outputs=("name", "model_path", "metrics"),
    types={
        "worker_replicas": "Integer",
        "ps_replicas": "Integer",
        "gpu_per_node": "Integer",
        "timeout": "Integer",
        "use_visualdl": "Boolean",
        "save_inference": "Boolean",
        "need_convert": "Boolean",
    },
)


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    key = Key(inputs["namespace"], inputs["name"])
    if checked(inputs["action"]) == "delete":
        return taken_away(client, key)
    check_project(inputs)
    check_folder(inputs)
    make_claim(client, Key(key.namespace, inputs["pvc_name"]))
    if inputs["action"] == "apply":
        forget_failure(client, key)
    carry_out(client, inputs["action"], make_job(key, inputs))
    if yes(inputs["use_visualdl"]):
        show_curves(client, key, inputs)
    job = wait_for(client, PaddleJob, key, lambda j: j.status.phase.final, float(inputs["timeout"]), say)
    if job.status.phase is Phase.FAILED:
        why = next((c.message for c in job.status.conditions if c.type == "Failed"), "no reason was given")
        raise Failed(f"PaddleJob {key} failed: {why}")
    if inputs["project"] and yes(inputs["save_inference"]):
        export(client, key, inputs)
    metrics = job.status.progress.metrics if job.status.progress else {}
    path = exported(inputs) if inputs["project"] else f"{key.name}/inference"
    return {"name": key.name, "model_path": within(inputs, path), "metrics": json.dumps(metrics)}


def taken_away(client: Client, key: Key) -> dict[str, str]:
    remove(client, PaddleJob, key)
    for kind in (Deployment, Service):
        remove(client, kind, curves_key(key))
    return {"name": key.name}


def forget_failure(client: Client, key: Key) -> None:
    """A job that failed under this name would stand for the one that is asked for now."""
    there = client.find(PaddleJob, *key)
    if there is not None and there.status.phase is Phase.FAILED:
        remove(client, PaddleJob, key)


def show_curves(client: Client, key: Key, inputs: Inputs) -> None:
    where = curves_key(key)
    records = f"{TASK}/{within(inputs, 'models/vdl/')}"
    for part in curves(where, Curves(inputs["pvc_name"], TASK, records, flags=LIVE)):
        client.apply(part)
    print(f"curves: kubectl port-forward svc/{where.name} -n {where.namespace} 8040:8040", flush=True)


def curves_key(key: Key) -> Key:
    return Key(key.namespace, f"{key.name}-visualdl")


def export(client: Client, key: Key, inputs: Inputs) -> None:
    """The trained weights as an inference model, by the suite's own program."""
    job_key = Key(key.namespace, f"{key.name}-inference-convert")
    pod = {"restartPolicy": "Never", **pod_of(inputs, export_command(inputs), "save-inference")}
    if inputs["dataset"]:
        # Some suites keep what they know of the data, the names of its classes say, with the model.
        pod["volumes"].append({"name": "data", "persistentVolumeClaim": {"claimName": inputs["dataset"]}})
        mount = {"name": "data", "mountPath": data_folder(inputs), "readOnly": True}
        pod["containers"][0]["volumeMounts"].append(mount)
    job = Job(
        metadata=Metadata(name=job_key.name, namespace=job_key.namespace),
        spec={"backoffLimit": 0, "template": {"spec": pod}},
    )
    run_to_end(client, job, float(inputs["timeout"]), "the model could not be exported")
    if yes(inputs["need_convert"]):
        print("the hub converts the model to the formats of serving when it takes it in", flush=True)


def make_job(key: Key, inputs: Inputs) -> PaddleJob:
    template = {"spec": pod_of(inputs, command_of(key, inputs), "paddle")}
    if fetch := fetch_command(inputs["pretrain_model"]):
        first = {**template["spec"]["containers"][0], "name": "pretrain-model", "command": fetch}
        template["spec"]["initContainers"] = [{k: v for k, v in first.items() if k != "resources"}]
    spec: dict[str, Any] = {
        "clean_pod_policy": inputs["clean_pod_policy"],
        "worker": Role(replicas=int(inputs["worker_replicas"]), template=template),
    }
    if servers := int(inputs["ps_replicas"]):
        spec |= {"ps": Role(replicas=servers, template=template), "with_gloo": 1}
    if inputs["dataset"]:
        spec["sample_set_ref"] = SampleSetRef(name=inputs["dataset"], mount_path=data_folder(inputs))
    return PaddleJob(metadata=Metadata(name=key.name, namespace=key.namespace), spec=PaddleJobSpec(**spec))


def command_of(key: Key, inputs: Inputs) -> list[str]:
    if inputs["project"]:
        return train_command(inputs)
    curves = ["--curves", f"{CURVES}/{key.name}"] if yes(inputs["use_visualdl"]) else []
    return [
        "python", "train.py", "--data", DATA, "--output", f"{TASK}/{key.name}/inference", *curves,
        *shlex.split(inputs["arguments"]),
    ]  # fmt: skip


def data_folder(inputs: Inputs) -> str:
    return f"{CENTER}/{inputs['dataset']}" if inputs["project"] else DATA


def pod_of(inputs: Inputs, command: list[str], name: str) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": name,
        "image": inputs["image"],
        "command": command,
        "volumeMounts": [
            {"name": "task-center", "mountPath": TASK, **part_of(inputs)},
            {"name": "dshm", "mountPath": "/dev/shm"},
        ],
    }
    if int(inputs["gpu_per_node"]):
        container["resources"] = {"limits": {"nvidia.com/gpu": int(inputs["gpu_per_node"])}}
    volumes = [
        {"name": "task-center", "persistentVolumeClaim": {"claimName": inputs["pvc_name"]}},
        {"name": "dshm", "emptyDir": {"medium": "Memory"}},
    ]
    return {"containers": [container], "volumes": volumes}


def check_folder(inputs: Inputs) -> None:
    folder = inputs["folder"]
    if ".." in folder.split("/"):
        raise WrongUse(f"folder {folder!r} is no folder of the volume", next_step="folder=runs/first")


def part_of(inputs: Inputs) -> dict[str, str]:
    """What of the volume the training sees: a folder of its own, so that others may train beside it."""
    return {"subPath": inputs["folder"].strip("/")} if inputs["folder"] else {}


def within(inputs: Inputs, path: str) -> str:
    """A path as the whole volume has it."""
    return f"{inputs['folder'].strip('/')}/{path}" if inputs["folder"] else path


def say(job: PaddleJob) -> None:
    progress = job.status.progress
    far = f" {progress.done:.0f}/{progress.total:.0f} {progress.unit}" if progress and progress.total else ""
    print(f"paddlejob {job.name}: {job.status.phase.value}{far}", flush=True)


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))
