"""Artifacts of a run in the object store: their keys, what is sent, and what is told of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cache.sources_of_others import KEYS, s3
from tests.decisions.builders import a_run

from paddlecloud.api.workflowgraph import Graph
from paddlecloud.api.workflowrun import StepPhase, StepStatus, WorkflowRunStatus
from paddlecloud.errors import PaddleCloudError
from paddlecloud.models.bucketstore import Bucket, BucketStore
from paddlecloud.models.opening import ACCESS, SECRET
from paddlecloud.pipelines.artifacts import PUBLISHED, address, artifacts_of, publishing
from paddlecloud.pipelines.publishing import publish

PLACE = "/var/run/workflow/artifacts/run-uid/make-1/data"
NODE = StepStatus(
    phase=StepPhase.SUCCEEDED,
    artifacts={
        "data": {"uri": PLACE, "type": "system.Dataset", "metadata": {"rows": 3}, "files": True},
        "score": {"uri": "/nowhere", "type": "system.Metrics", "metadata": {"auc": 0.9}},
    },
)
RUN = a_run(Graph.model_validate({"name": "g", "steps": []})).but(
    status=WorkflowRunStatus(nodes={"loop(1)/make": NODE})
)


def test_an_artifact_is_told_where_it_is_to_be_had() -> None:
    data, score = artifacts_of(RUN)
    marked = RUN.but(
        metadata=RUN.metadata.but(annotations={PUBLISHED: "minio://mlpipeline/v2/artifacts/g/run"})
    )

    assert address(RUN, data) == PLACE
    assert address(marked, data) == "minio://mlpipeline/v2/artifacts/g/run/loop(1)/make/data"
    assert address(marked, score) == "/nowhere"


def test_the_keys_are_variables_of_the_job_that_publishes() -> None:
    [container] = publishing(RUN, list(artifacts_of(RUN))).spec["template"]["spec"]["containers"]

    assert {e["valueFrom"]["secretKeyRef"]["name"] for e in container["env"]} == {"model-store"}
    orders = [json.loads(word) for word in container["command"][3:]]
    assert {"file": PLACE, "key": "v2/artifacts/g/run/loop(1)/make/data"} in orders
    assert "v2/artifacts/g/run/loop(1)/make/metadata.json" in [order["key"] for order in orders]


def test_files_folders_and_what_is_known_of_them_are_laid_into_the_store(tmp_path: Path) -> None:
    for name in ("buckets", "data/more"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data" / "more" / "b").write_text("b")
    (tmp_path / "data" / "a").write_text("a")
    order = [
        {"file": str(tmp_path / "data"), "key": "v2/r/s(1)/data"},
        {"file": str(tmp_path / "data" / "a"), "key": "v2/r/t/one"},
        {"text": "{}", "key": "v2/r/t/metadata.json"},
    ]
    environ = {ACCESS: KEYS.access, SECRET: KEYS.secret}
    with s3(tmp_path, tmp_path / "buckets") as host:
        publish(order, f"http://{host}", environ)
        publish(order, f"http://{host}", environ)
        store = BucketStore(Bucket(f"http://{host}", "mlpipeline", "", "us-east-1"), KEYS)
        keys = sorted(item.key for item in store.items("v2/"))
        wrong = pytest.raises(PaddleCloudError, match="cannot be read")
        with wrong:
            publish([{"file": str(tmp_path / "gone"), "key": "v2/x"}], f"http://{host}", environ)

    assert keys == ["v2/r/s(1)/data/a", "v2/r/s(1)/data/more/b", "v2/r/t/metadata.json", "v2/r/t/one"]
