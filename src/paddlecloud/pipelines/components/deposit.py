"""Deposit: has the programs of a suite draw a small data set, with questions to test by, into a bucket."""

from __future__ import annotations

import hashlib
import shlex
import sys
from urllib.parse import quote, urlsplit

from ...api.batch import Job
from ...api.meta import Key, Metadata
from ...controllers import hub
from ...errors import WrongUse
from ...sdk.client import Client
from ..actions import checked, remove
from ..component import IMAGE, Component, Inputs, program
from ..jobs import run_to_end

COMPONENT = Component(
    "deposit",
    "Draw a small data set with the make_data.py of a suite and put it into a bucket.",
    inputs={
        "namespace": "kubeflow",
        "action": "apply",
        "arguments": "",
        "endpoint": "http://minio-service.kubeflow:9000",
        "bucket": "samples",
        "secret": "model-store",
        "timeout": "1800",
    },
    required=("name", "image"),
    outputs=("uri", "questions"),
    types={"timeout": "Integer"},
)
SAMPLES = "/mnt/samples"
DATA, QUESTIONS = "data", "questions.jsonl"


def work(client: Client, inputs: Inputs) -> dict[str, str]:
    key = Key(inputs["namespace"], f"{inputs['name']}-deposit")
    if checked(inputs["action"]) == "delete":
        remove(client, Job, key)
        return {}
    where = place(inputs)
    job = make_job(key, inputs, where)
    run_to_end(client, job, float(inputs["timeout"]), "the data could not be put into the bucket")
    return {"uri": f"{where}/{DATA}/", "questions": address(inputs, where)}


def place(inputs: Inputs) -> str:
    """The folder of the bucket, as data sets name it, one for whatever is drawn. Raises `WrongUse`."""
    endpoint = urlsplit(inputs["endpoint"])
    if endpoint.scheme not in ("http", "https") or not endpoint.netloc:
        raise WrongUse(
            f"endpoint {inputs['endpoint']!r} is no address", next_step="endpoint=http://HOST:PORT"
        )
    drawn = hashlib.sha256(f"{inputs['image']} {inputs['arguments']}".encode()).hexdigest()[:8]
    scheme = "minio" if endpoint.scheme == "http" else "s3"
    return f"{scheme}://{endpoint.netloc}/{inputs['bucket']}/{inputs['name']}-{drawn}"


def address(inputs: Inputs, where: str) -> str:
    """Where the questions are read without keys: there is nothing secret in what was drawn."""
    return f"{inputs['endpoint'].rstrip('/')}{urlsplit(where).path}/{QUESTIONS}"


def make_job(key: Key, inputs: Inputs, where: str) -> Job:
    """One container draws, the other one puts what it finds into the bucket."""
    folder = urlsplit(where).path.strip("/")
    store = f"s3://{folder}?endpoint={quote(inputs['endpoint'], safe='')}"
    mounts = [{"name": "samples", "mountPath": SAMPLES}]
    data, questions = f"{SAMPLES}/{DATA}", f"{SAMPLES}/{QUESTIONS}"
    draw = f"python make_data.py {shlex.join(shlex.split(inputs['arguments']))} {data} && "
    draw += f"python questions.py {data} {questions}"
    keys = [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": inputs["secret"], "key": part}}}
        for name, part in hub.KEYS.items()
    ]
    pod = {
        "restartPolicy": "Never",
        "initContainers": [
            {
                "name": "draw",
                "image": inputs["image"],
                "command": ["sh", "-c", draw],
                "volumeMounts": mounts,
            }
        ],
        "containers": [
            {
                "name": "deposit",
                "image": IMAGE,
                "command": ["python", "-m", "paddlecloud.pipelines.depositing"],
                "args": ["--source", SAMPLES, "--store", store, "--open", QUESTIONS],
                "env": keys,
                "volumeMounts": mounts,
            }
        ],
        "volumes": [{"name": "samples", "emptyDir": {}}],
    }
    return Job(
        metadata=Metadata(name=key.name, namespace=key.namespace),
        spec={"backoffLimit": 0, "template": {"spec": pod}},
    )


if __name__ == "__main__":
    sys.exit(program(COMPONENT, work))
