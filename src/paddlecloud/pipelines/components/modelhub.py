"""ModelHub: turns exported files into a new version of a model and moves an alias to it."""

from __future__ import annotations

import json
import os
import sys

from ...api.meta import Key
from ...api.model import Lineage, ModelPhase, ModelSource, ModelVersion
from ...errors import AlreadyExists, Failed
from ...sdk.client import Client
from ...sdk.hub import About, add_version, changes, move_alias
from ...sdk.waiting import wait_for
from ..actions import checked, remove
from ..component import Component, Inputs, program

COMPONENT = Component(
    "modelhub",
    "Store exported files as a new version of a model.",
    inputs={
        "name": "",
        "namespace": "kubeflow",
        "action": "apply",
        "endpoint": "http://minio-service.kubeflow:9000",
        "model_version": "latest",
        "path": "",
        "dataset": "",
        "dataset_revision": "",
        "job": "",
        "metrics": "{}",
        "timeout": "1800",
    },
    required=("model_name", "pvc_name"),
    outputs=("version", "model", "files"),
    types={"timeout": "Integer"},
)
OTHERS = 5
"""Runs that may move the same alias meanwhile."""
EXPORTED = "inference"
"""Where a training leaves what it exported, on the volume of the pipeline."""


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    model = Key(inputs["namespace"], inputs["model_name"])
    if checked(inputs["action"]) == "delete":
        return forget(client, model, inputs["model_version"])
    run = os.environ.get("WORKFLOW_RUN", "")
    version = add_version(
        client,
        model,
        ModelSource(pvc=inputs["pvc_name"], path=inputs["path"] or EXPORTED),
        About(
            lineage=Lineage(
                sample_set=inputs["dataset"],
                sample_set_revision=inputs["dataset_revision"],
                paddle_job=inputs["job"],
                workflow_run=run,
            ),
            metrics=json.loads(inputs["metrics"] or "{}"),
        ),
    )
    timeout = float(inputs["timeout"])
    stored = wait_for(client, ModelVersion, version.key, lambda v: v.status.phase.final, timeout, say)
    if stored.status.phase is ModelPhase.FAILED:
        why = next((c.message for c in stored.status.conditions if c.message), "no reason was given")
        raise Failed(f"ModelVersion {version.key} could not be stored: {why}")
    point(client, model, inputs["model_version"], version.name, f"run {run}" if run else "pushed")
    return {"version": version.name, "model": model.name, "files": str(len(stored.status.files))}


def point(client: Client, model: Key, alias: str, version: str, why: str) -> None:
    """Move the alias; of two runs that end at the same moment one comes after the other."""
    for _ in range(OTHERS):
        try:
            move_alias(client, model, alias, version, why=why)
            return
        except AlreadyExists as error:
            print(f"{error.message}; it is moved again", flush=True)
    move_alias(client, model, alias, version, why=why)


def forget(client: Client, model: Key, alias: str) -> dict[str, str]:
    """Delete the version an alias stands for."""
    moves = changes(client, model, alias)
    if not moves:
        print(f"model {model} has no version {alias}", flush=True)
        return {"model": model.name}
    remove(client, ModelVersion, Key(model.namespace, moves[-1].spec.to))
    return {"model": model.name, "version": moves[-1].spec.to}


def say(version: ModelVersion) -> None:
    print(f"modelversion {version.name}: {version.status.phase.value}", flush=True)


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))
