"""Curves that grow, served by VisualDL beside the volume and seen through a port-forward; at any level."""

from __future__ import annotations

import json
import re
import urllib.parse
import urllib.request
from typing import Any

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.pipelines.components.visualdl import COMPONENT, work

pytestmark = pytest.mark.long
MOUNT = "/mnt/task-center/"
WRITES = f"""
import time
from visualdl import LogWriter

with LogWriter("{MOUNT}vdl/training", flush_secs=1) as writer:
    for step in range(600):
        writer.add_scalar("TRAIN/loss", 1 / (step + 1), step)
        time.sleep(0.5)
"""


def objects(name: str) -> list[dict[str, Any]]:
    claim = {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "kubeflow"},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}},
    }  # fmt: skip
    container = {
        "name": "main", "image": "paddlecloud/visualdl", "command": ["python", "-c", WRITES],
        "volumeMounts": [{"name": "volume", "mountPath": MOUNT}],
    }  # fmt: skip
    volume = {"name": "volume", "persistentVolumeClaim": {"claimName": name}}
    pod = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "kubeflow"},
        "spec": {"restartPolicy": "Never", "containers": [container], "volumes": [volume]},
    }  # fmt: skip
    return [claim, pod]


def test_curves_grow_while_they_are_looked_at(cluster: PdcHome, name: str) -> None:
    cluster.apply(*objects(name))
    given = {"name": f"{name}-visualdl", "pvc_name": name, "logdir": f"{MOUNT}vdl"}
    with cluster.client() as client:
        assert work(client, {**COMPONENT.inputs, **given}) == {"name": f"{name}-visualdl"}
    with cluster.running("port-forward", f"svc/{name}-visualdl", "-n", "kubeflow", "0:8040") as way:
        way.until_said("Forwarding from ")
        found = re.search(r"Forwarding from (\S+) -> 8040", way.text())
        assert found

        def asked(what: str, **words: str) -> Any:
            url = f"http://{found[1]}/app/api/{what}?{urllib.parse.urlencode(words)}"
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]

        def points() -> int:
            # With this question VisualDL reads what is new.
            if "scalar" not in asked("component_tabs"):
                return 0
            [run] = asked("runs")
            return len(asked("scalar/list", run=run, tag="TRAIN/loss") or ())

        until(lambda: points() > 0, what="the first points of the curve", limit=120)
        first = points()
        until(lambda: points() > first, what="further points of the curve", limit=60)
    cluster.ok("delete", "pod", name, "-n", "kubeflow")
