"""Artifacts that leave a run by the object store and come into another; on a cluster that is up."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.kubernetes.waiting import until
from tests.pipelines.playing import PACKAGES
from tests.scenarios.pdc_home import PdcHome

pytestmark = pytest.mark.long
STORED = "minio://mlpipeline/v2/artifacts/with-artifacts/giving/write/data"


def run(cluster: PdcHome, name: str) -> Any:
    return json.loads(cluster.ok("get", "wfr", name, "-n", "kubeflow", "-o", "json"))


def test_what_one_run_published_another_imports(cluster: PdcHome) -> None:
    cluster.ok("pipeline", "run", str(PACKAGES / "second-artifacts.yaml"), "--name", "giving")
    before = cluster.ok("pipeline", "artifacts", "giving")
    after = cluster.ok("pipeline", "artifacts", "giving", "--publish")
    imports = str(PACKAGES / "second-imports.yaml")
    cluster.ok("pipeline", "run", imports, "--name", "taking", "--set", f"place={STORED}")

    assert "/var/run/workflow/artifacts/giving-" in before and STORED in after
    assert run(cluster, "taking")["status"]["nodes"]["read"]["outputs"] == {"Output": "hello 7"}
    cluster.ok("delete", "wfr", "giving", "-n", "kubeflow")
    until(
        lambda: "giving" not in cluster.ok("get", "stepcaches", "-n", "kubeflow"),
        what="the end of what the cache had of the run",
    )


def test_a_key_in_an_address_is_told_nowhere(cluster: PdcHome) -> None:
    place = "http://me:hush-hush@127.0.0.1:9/words.txt?signature=hush-hush"
    imports = str(PACKAGES / "second-imports.yaml")
    done = cluster.pdc("pipeline", "run", imports, "--name", "shy", "--set", f"place={place}")
    events = cluster.ok("get", "events", "-n", "kubeflow", "-o", "json")

    assert done.code != 0 and "http://127.0.0.1:9/words.txt cannot be reached" in done.text
    for told in (done.text, events, json.dumps(run(cluster, "shy")["status"])):
        assert "hush-hush" not in told
    assert "hush-hush" not in cluster.ok("pipeline", "logs", "shy", "importer-2")
