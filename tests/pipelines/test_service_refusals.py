"""What the service refuses, it refuses in words and before anything is made."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from tests.pipelines.calling import call, everything
from tests.pipelines.playing import PACKAGES
from tests.properties.plays import new_namespace

from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.errors import PaddleCloudError
from paddlecloud.pipelines.service.answering import refused
from paddlecloud.pipelines.service.shelf import Shelf

CHAIN = yaml.safe_load((PACKAGES / "second-chain.yaml").read_text())
OLD_TEXT = json.dumps(yaml.safe_load((PACKAGES / "first-chain.yaml").read_text()))
CYCLE = json.loads(json.dumps(CHAIN))
CYCLE["root"]["dag"]["tasks"]["add"]["dependentTasks"] = ["add-2"]
NEWER = {**CHAIN, "schemaVersion": "3.0.0", "sdkVersion": "kfp-9.1"}
NOBODY = [{"name": "nobody", "value": "1"}]


@pytest.mark.parametrize(
    "path, body, file, sentence",
    [
        ("v2beta1/pipelines/upload", None, b"a: [", "it.yaml is no YAML"),
        ("v1beta1/pipelines/upload", None, b"- 1", "it.yaml holds no pipeline"),
        ("v2beta1/pipelines/upload", None, yaml.safe_dump(CYCLE).encode(), "steps wait for each other"),
        ("v2beta1/runs", {"pipeline_spec": CYCLE}, None, "steps wait for each other"),
        ("v2beta1/runs", {"pipeline_spec": NEWER}, None, "schema 3.0.0 (written by kfp-9.1)"),
        ("v2beta1/runs", {"pipeline_spec": "{"}, None, "is no JSON"),
        ("v2beta1/runs", {"pipeline_spec": CHAIN, "runtime_config": {"parameters": {"nobody": 1}}}, None,
         "has no parameter 'nobody'; it has a"),
        ("v1beta1/runs", {"pipeline_spec": {"workflow_manifest": OLD_TEXT, "parameters": NOBODY}}, None,
         "has no parameter 'nobody'; it has a"),
        ("v2beta1/runs", {"pipeline_spec": CHAIN, "runtime_config": {"parameters": {"a": "many"}}}, None,
         "parameter 'a' of pipeline sum-up is to be a whole number and is 'many'"),
        ("v2beta1/runs", {"pipeline_spec": CHAIN, "experiment_id": "ghost"}, None, "no Experiment ghost"),
        ("v2beta1/runs", {}, None, "there is no Pipeline"),
    ],
)  # fmt: skip
async def test_what_cannot_be_run_is_refused_before_anything_is_made(
    access: Access, path: str, body: Any, file: bytes | None, sentence: str
) -> None:
    async with Client(access) as client:
        shelf = Shelf(client, await new_namespace(client))
        with pytest.raises(PaddleCloudError) as error:
            await call(shelf, "POST", path, body, file=file)
        told = json.loads(refused(error.value).body)  # type: ignore[arg-type]

        assert sentence in told["message"]
        assert await everything(shelf) == []


async def test_a_name_that_is_taken_is_refused_and_two_runs_may_share_one(access: Access) -> None:
    """A run is known by its id; what it is called is the user's affair, as with Kubeflow Pipelines."""
    async with Client(access) as client:
        shelf = Shelf(client, await new_namespace(client))
        file = yaml.safe_dump(CHAIN).encode()
        await call(shelf, "POST", "v2beta1/pipelines/upload", file=file, name="kept")
        made = await everything(shelf)
        with pytest.raises(PaddleCloudError, match="there is a pipeline 'kept' already"):
            await call(shelf, "POST", "v2beta1/pipelines/upload", file=file, name="kept")
        assert await everything(shelf) == made

        runs = [
            await call(shelf, "POST", "v2beta1/runs", {"display_name": "same", "pipeline_spec": CHAIN})
            for _ in range(2)
        ]
        assert len({run["run_id"] for run in runs}) == 2
        assert {run["display_name"] for run in runs} == {"same"}
