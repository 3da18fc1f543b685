"""A run with more steps than its status holds, as every client sees it; on a cluster that is up."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.controllers.workflowrecords import MOST
from paddlecloud.embedded.identity import known

pytestmark = pytest.mark.long
STEPS = MOST + 5


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> str:
    tasks = {f"say-{n}": {"componentRef": {"name": "say"}} for n in range(STEPS)}
    body = {
        "components": {"say": {"executorLabel": "say"}},
        "deploymentSpec": {"executors": {"say": {"container": {"image": "busybox", "command": ["true"]}}}},
        "pipelineInfo": {"name": "long"},
        "root": {"dag": {"tasks": tasks}},
        "schemaVersion": "2.1.0",
    }
    file = tmp_path_factory.mktemp("long") / "long.json"
    file.write_text(json.dumps(body))
    return str(file)


def asked(cluster: PdcHome, path: str) -> Any:
    identity = known(cluster.home)
    assert identity is not None
    with urllib.request.urlopen(f"{identity.pipelines}/apis/{path}", timeout=30) as answer:
        return json.load(answer)


def test_every_client_sees_all_steps(cluster: PdcHome, package: str) -> None:
    cluster.ok("pipeline", "run", package, "--name", "long")

    shown = cluster.ok("pipeline", "show", "long").splitlines()
    assert len([line for line in shown if "say-" in line]) == STEPS
    told = json.loads(cluster.ok("get", "wfr", "long", "-n", "kubeflow", "-o", "json"))["status"]
    assert (told["nodes"], told["records"], told["progress"]["done"]) == ({}, 2, STEPS)
    second = asked(cluster, "v2beta1/runs/long")["run_details"]["task_details"]
    assert {t["state"] for t in second} == {"SUCCEEDED"} and len(second) == STEPS
    first = json.loads(asked(cluster, "v1beta1/runs/long")["pipeline_runtime"]["workflow_manifest"])
    assert len([n for n in first["status"]["nodes"].values() if n["type"] == "Pod"]) == STEPS


def test_a_name_that_cannot_be_leaves_nothing(cluster: PdcHome, tmp_path: Path) -> None:
    file = tmp_path / "unnamed.json"
    file.write_text(json.dumps({"name": "unnamed", "steps": []}))
    done = cluster.pdc("pipeline", "run", str(file), "--name", "Bad_Name")

    assert done.code != 0 and "'Bad_Name' cannot be the name of a run" in done.text
    assert "unnamed" not in cluster.ok("get", "configmaps", "-n", "kubeflow")
