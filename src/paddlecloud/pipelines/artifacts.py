"""The artifacts of a run: where they lie on its claim, and under which keys the object store has them; pure.

minio://mlpipeline/v2/artifacts/<pipeline>/<run>/<step>/<name>      as Kubeflow Pipelines lays them out
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..api.batch import Job
from ..api.meta import Metadata
from ..api.workflowrun import WorkflowRun
from ..controllers.workflowpods import ARTIFACTS, CLAIM, STORE_KEYS
from ..models.opening import ACCESS, SECRET
from .component import IMAGE

BUCKET = "mlpipeline"
PUBLISHED = "workflows.paddlepaddle.org/published"
"""The annotation of a run whose artifacts are in the object store, too."""
DESCRIPTION = "metadata.json"
"""What is known of the artifacts of a step, beside them."""


class Artifact(NamedTuple):
    step: str
    name: str
    place: str
    """On the claim, or wherever it was imported from."""
    type: str
    metadata: dict[str, Any]
    files: bool

    def key(self, run: WorkflowRun) -> str:
        return f"{folder(run)}/{self.step}/{self.name}"


def artifacts_of(run: WorkflowRun) -> Iterator[Artifact]:
    """Those that steps of the run made, in its order; *run* has all its steps."""
    for path, node in run.status.nodes.items():
        for name, said in node.artifacts.items():
            for one in said if isinstance(said, list) else [said]:
                if "uri" in one:
                    kind, known = one.get("type") or "", one.get("metadata") or {}
                    yield Artifact(path, name, one["uri"], kind, known, bool(one.get("files")))


def folder(run: WorkflowRun) -> str:
    return f"v2/artifacts/{run.spec.pipeline.name}/{run.name}"


def address(run: WorkflowRun, artifact: Artifact) -> str:
    """Where it is to be had: in the store once it was published, else on the claim."""
    there = artifact.files and run.metadata.annotations.get(PUBLISHED)
    return f"{there}/{artifact.step}/{artifact.name}" if there else artifact.place


def publishing(run: WorkflowRun, found: list[Artifact]) -> Job:
    """A Job that lays them into the store; it has the claim and the keys, which nobody else needs."""
    own = [a for a in found if a.files and a.place.startswith(f"{ARTIFACTS}/")]
    steps: dict[str, Any] = {}
    for a in found:
        steps.setdefault(a.step, {})[a.name] = {"type": a.type, "metadata": a.metadata}
    orders = [json.dumps({"file": a.place, "key": a.key(run)}) for a in own]
    for step, said in steps.items():
        orders.append(json.dumps({"text": json.dumps(said), "key": f"{folder(run)}/{step}/{DESCRIPTION}"}))
    keys = {ACCESS: "access-key", SECRET: "secret-key"}
    container = {
        "name": "publish",
        "image": IMAGE,
        "command": ["python3", "-m", "paddlecloud.pipelines.publishing", *orders],
        "env": [
            {"name": variable, "valueFrom": {"secretKeyRef": {"name": STORE_KEYS, "key": key}}}
            for variable, key in keys.items()
        ],
        "volumeMounts": [{"name": CLAIM, "mountPath": ARTIFACTS, "readOnly": True}],
    }
    volume = {"name": CLAIM, "persistentVolumeClaim": {"claimName": CLAIM}}
    pod = {"restartPolicy": "Never", "containers": [container], "volumes": [volume]}
    return Job(
        metadata=Metadata(name=f"{run.name}-publish", namespace=run.namespace),
        spec={"backoffLimit": 0, "template": {"spec": pod}},
    )
