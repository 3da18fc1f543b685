"""Two runs of one template at the same time: two versions of the model, each from a folder of its own."""

from __future__ import annotations

import json

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome

pytestmark = pytest.mark.long
RUNS = ("early", "late")


def test_two_runs_of_a_template_do_not_meet(cluster: PdcHome) -> None:
    for name in RUNS:
        cluster.ok(
            "template", "run", "ranking", "--name", name, "--set", "name=twins", "--set", "serve=no",
            "--no-wait",
        )  # fmt: skip

    def ended() -> bool:
        runs = [json.loads(cluster.ok("get", "wfr", r, "-n", "kubeflow", "-o", "json")) for r in RUNS]
        phases = [run["status"].get("phase") for run in runs]
        assert "Failed" not in phases, [run["status"]["conditions"] for run in runs]
        return phases == ["Succeeded", "Succeeded"]

    until(ended, what="the end of both runs", limit=300)
    versions = json.loads(cluster.ok("get", "modelversions", "-n", "kubeflow", "-o", "json"))["items"]
    twins = [v for v in versions if v["spec"]["model"] == "twins"]
    assert sorted(v["spec"]["source"]["path"].split("/")[:2] for v in twins) == [["runs", r] for r in RUNS]
    assert all(v["status"]["phase"] == "Ready" for v in twins)
