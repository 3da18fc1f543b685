"""VisualDL: serves the curves that a training writes to the volume of the pipeline."""

from __future__ import annotations

import sys

from ...api.apps import Deployment
from ...api.core import Service
from ...api.meta import Key
from ...sdk.client import Client
from ...sdk.waiting import wait_for
from ..actions import carry_out, checked, remove
from ..component import Component, Inputs, program, yes
from ..curves import Curves, curves

COMPONENT = Component(
    "visualdl",
    "Serve training curves: make a Deployment and a Service of VisualDL.",
    inputs={
        "namespace": "kubeflow",
        "timeout_minutes": "60",
        "action": "apply",
        "mount_path": "/mnt/task-center/",
        "model": "",
        "port": "8040",
        "cache_timeout": "",
        "language": "",
        "public_path": "",
        "api_only": "",
    },
    required=("name", "pvc_name", "logdir"),
    outputs=("name",),
    types={
        "timeout_minutes": "Integer",
        "port": "Integer",
        "cache_timeout": "Integer",
        "api_only": "Boolean",
    },
)
VALUED = ("model", "cache_timeout", "language", "public_path")


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    key = Key(inputs["namespace"], inputs["name"])
    if checked(inputs["action"]) == "delete":
        for kind in (Deployment, Service):
            remove(client, kind, key)
        return {"name": key.name}
    for part in curves(key, said(inputs)):
        carry_out(client, inputs["action"], part)
    wait_for(client, Deployment, key, available, 60 * float(inputs["timeout_minutes"]))
    print(
        f"kubectl port-forward svc/{key.name} -n {key.namespace} {inputs['port']}:{inputs['port']}",
        flush=True,
    )
    return {"name": key.name}


def said(inputs: Inputs) -> Curves:
    flags = [f"--{name.replace('_', '-')}={inputs[name]}" for name in VALUED if inputs[name]]
    flags += ["--api-only"] if yes(inputs["api_only"]) else []
    port = int(inputs["port"])
    return Curves(inputs["pvc_name"], inputs["mount_path"], inputs["logdir"], port, tuple(flags))


def available(deployment: Deployment) -> bool:
    return int(deployment.status.get("availableReplicas") or 0) >= 1


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))
