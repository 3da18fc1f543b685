"""Servers of Paddle models are forked from a process that has Paddle, and are containers like any other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome, fresh_home, proc_file

from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Key
from paddlecloud.sdk.waiting import wait_for

WEIGHTED = Path(__file__).parent.parent / "serving" / "weighted"


@pytest.fixture(scope="module")
def home() -> Iterator[PdcHome]:
    with fresh_home() as home:
        home.ok("up", "--detach")
        yield home


def a_server(name: str, *more: str) -> dict[str, Any]:
    command = [
        "python",
        "-m",
        "paddlecloud.serving.server",
        "--model",
        "weighted=/weighted",
        "--port",
        "9292",
    ]
    container = {
        "name": "server",
        "image": "paddlecloud/serving-paddle",
        "command": [*command, *more],
        "env": [{"name": "SAID", "value": name}],
        "volumeMounts": [{"name": "weighted", "mountPath": "/weighted"}],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 9292}, "periodSeconds": 1},
        "resources": {"limits": {"memory": "1Gi"}},
    }
    spec = {
        "containers": [container],
        "restartPolicy": "Never",
        "volumes": [{"name": "weighted", "hostPath": {"path": str(WEIGHTED)}}],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def parents(home: PdcHome) -> list[int]:
    locks = home.home.run.glob("warm-*.lock")
    return [int(lock.read_text()) for lock in locks]


def test_the_first_brings_the_parent_and_all_are_its_forks(home: PdcHome) -> None:
    assert parents(home) == [], "a platform without such servers has no such process"
    home.apply(a_server("one"), a_server("two"))
    with home.client() as client:
        for name in ("one", "two"):
            wait_for(client, Pod, Key("default", name), lambda pod: pod.ready, 120)

    [parent] = parents(home)
    assert b"zygote import main" in proc_file(parent, "cmdline")
    assert "ready: weighted" in home.ok("logs", "pod/two")
    runs = home.home.root.glob("nodes/*/pods/*/containers/*/0/state.json")
    forks = [json.loads(run.read_text())["pid"] for run in runs]
    assert all(b"warm-" in proc_file(pid, "cmdline") for pid in forks) and len(forks) == 2
    said = home.ok("exec", "one", "--", "python", "-c", "import os; print(os.environ['SAID'], os.getcwd())")
    assert said.split() == ["one", "/workspace"] or said.split()[0] == "one"


def test_one_that_fails_ends_with_its_words_and_its_code(home: PdcHome) -> None:
    home.apply(a_server("broken", "--model", "other=/nowhere"))
    with home.client() as client:
        pod = wait_for(client, Pod, Key("default", "broken"), lambda pod: pod.phase == "Failed", 120)

    [state] = pod.status["containerStatuses"]
    assert state["state"]["terminated"]["exitCode"] == 1
    assert "no Paddle inference model in /nowhere" in home.ok("logs", "pod/broken")


def test_down_ends_the_parent_too(home: PdcHome) -> None:
    [parent] = parents(home)
    home.ok("down")

    home.wait_until_empty()
    until(lambda: not proc_file(parent, "cmdline"), what="the end of the parent")
