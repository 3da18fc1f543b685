"""Samples: has the program of a suite make a small data set on the shared volume, for want of a real one."""

from __future__ import annotations

import shlex
import sys

from ...api.batch import Job
from ...api.meta import Key, Metadata
from ...errors import WrongUse
from ...sdk.client import Client
from ..actions import checked, remove
from ..claims import make_claim
from ..component import Component, Inputs, program
from ..jobs import run_to_end
from ..suitecommands import TASK

COMPONENT = Component(
    "samples",
    "Make a small data set on a volume with the make_data.py of a suite.",
    inputs={
        "namespace": "kubeflow",
        "action": "apply",
        "path": "samples",
        "arguments": "",
        "timeout": "1800",
    },
    required=("name", "image", "pvc_name"),
    outputs=("uri",),
    types={"timeout": "Integer"},
)


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    key = Key(inputs["namespace"], f"{inputs['name']}-samples")
    if checked(inputs["action"]) == "delete":
        remove(client, Job, key)
        return {}
    claim = Key(key.namespace, inputs["pvc_name"])
    job = make_job(key, inputs)
    make_claim(client, claim)
    run_to_end(client, job, float(inputs["timeout"]), "the samples could not be made")
    return {"uri": f"pvc://{claim.name}/{inputs['path'].strip('/')}"}


def make_job(key: Key, inputs: Inputs) -> Job:
    """Raises `WrongUse` for a folder outside the volume."""
    path = inputs["path"].strip("/")
    if not path or ".." in path.split("/"):
        raise WrongUse(f"path {inputs['path']!r} is no folder of the volume", next_step="path=samples/shapes")
    container = {
        "name": "samples",
        "image": inputs["image"],
        "command": ["python", "make_data.py", *shlex.split(inputs["arguments"]), f"{TASK}/{path}"],
        "volumeMounts": [{"name": "task-center", "mountPath": TASK}],
    }
    volume = {"name": "task-center", "persistentVolumeClaim": {"claimName": inputs["pvc_name"]}}
    pod = {"restartPolicy": "Never", "containers": [container], "volumes": [volume]}
    return Job(
        metadata=Metadata(name=key.name, namespace=key.namespace),
        spec={"backoffLimit": 0, "template": {"spec": pod}},
    )


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))
