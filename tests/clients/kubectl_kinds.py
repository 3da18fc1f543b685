"""The least of every kind, as a person would write it into a file for kubectl."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.contracts.built_ins import MANIFESTS, Manifest
from tests.contracts.objects import paddle_job, sample_set, worker
from tests.kubernetes.rest import Rest

Body = dict[str, Any]
SERVED = {"default": {"arg": "serve", "containerImage": "example/serving", "port": 8080, "tag": "v1"}}


def ours(group: str, version: str, kind: str, **spec: Any) -> Body:
    return {
        "apiVersion": f"{group}.paddlepaddle.org/{version}",
        "kind": kind,
        "metadata": {"name": "x"},
        "spec": spec,
    }


class Written(NamedTuple):
    resource: str
    """As kubectl names it in a command."""
    body: Body


OURS = {
    "paddlejob": Written("paddlejobs", paddle_job("x")),
    "sampleset": Written("samplesets", sample_set("x")),
    "samplejob": Written(
        "samplejobs", ours("batch", "v1alpha1", "SampleJob", type="sync", sampleSetRef={"name": "x"})
    ),
    "paddleservice": Written(
        "paddleservices.serving.paddlepaddle.org", ours("serving", "v1", "PaddleService", **SERVED)
    ),
    "elastic paddleservice": Written(
        "paddleservices.elasticserving.paddlepaddle.org",
        ours("elasticserving", "v1", "PaddleService", **SERVED),
    ),
    "kubeflow paddlejob": Written(
        "paddlejobs.kubeflow.org",
        {
            "apiVersion": "kubeflow.org/v1",
            "kind": "PaddleJob",
            "metadata": {"name": "x"},
            "spec": {"paddleReplicaSpecs": {"Worker": worker(1) | {"restartPolicy": "Never"}}},
        },
    ),
    "model": Written("models", ours("hub", "v1alpha1", "Model")),
}


def of_built_in(key: str, rest: Rest, namespace: str) -> Written:
    """One of the built-in manifests; what has no namespace is named after that of the test."""
    made: Manifest = MANIFESTS[key]
    root = f"/apis/{made.api_version}" if "/" in made.api_version else f"/api/{made.api_version}"
    resources = rest.get(root).expect(200)["resources"]
    [kind] = [r["kind"] for r in resources if r["name"] == made.plural]
    metadata = {"name": "x" if made.namespaced else namespace, **made.body.get("metadata", {})}
    body = {**made.body, "apiVersion": made.api_version, "kind": kind, "metadata": metadata}
    group, _, version = made.api_version.rpartition("/")
    return Written(f"{made.plural}.{version}.{group}", body)
