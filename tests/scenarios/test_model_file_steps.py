"""The components that work on files as steps of a run: a model on a volume is converted, and uploaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.pipelines.environment import HERE, run
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.embedded.identity import known

pytestmark = pytest.mark.long
MODEL = HERE.parent / "serving" / "weighted"


def test_a_model_on_a_volume_is_converted_and_uploaded(cluster: PdcHome, tmp_path: Path) -> None:
    identity = known(cluster.home)
    assert identity is not None
    cluster.ok("pipeline", "components", str(tmp_path / "yaml"))
    program = HERE / "programs" / "second_archive.py"
    done = run(2, program, identity.pipelines, str(tmp_path / "yaml"), str(MODEL), home=tmp_path)
    runs = json.loads(cluster.ok("get", "wfr", "-n", "kubeflow", "-o", "json"))["items"]
    [made] = [r for r in runs if r["spec"].get("displayName") == "archive"]
    nodes = made["status"]["nodes"]

    assert "state SUCCEEDED" in done.stdout, (done.stdout, done.stderr[-2000:], nodes)
    assert nodes["converter"]["outputs"]["model_file"] == "/mnt/task-center/weighted.tar.gz"
    url = nodes["uploader"]["outputs"]["url"]
    assert url.endswith("/model-center/weighted/latest/weighted.tar.gz")
    logs = cluster.ok("pipeline", "logs", made["metadata"]["name"], "uploader")
    assert f"is at {url} now" in logs
    names = nodes["look"]["outputs"]["names"].split()
    assert {"weighted/server/model.pdiparams", "weighted/client/serving_client_conf.prototxt"} <= set(names)
