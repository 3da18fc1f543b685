"""Paddle's own elastic launcher on a cluster that brings the etcd: workers come, go and train on."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.api.core import Pod, Service
from paddlecloud.api.meta import Key
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.errors import BadRequest, NotFound
from paddlecloud.sdk.client import Client

pytestmark = pytest.mark.long

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "elastic"
# The second one is there, but never asks anybody for peers.
HERMIT = 'case "$HOSTNAME" in *-1) sleep 600;; esac; exec python -m paddle.distributed.launch /nowhere.py'


def waited(
    client: Client, name: str, condition: Callable[[PaddleJob], bool], limit: float = 120
) -> PaddleJob:
    until(lambda: condition(client.get(PaddleJob, "default", name)), what=f"the state of {name}", limit=limit)
    return client.get(PaddleJob, "default", name)


def hermits(name: str) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": "paddlecloud/paddle-elastic",
        "command": ["sh", "-c", HERMIT],
        "env": [{"name": "PADDLE_ELASTIC_TIMEOUT", "value": "3"}],
    }
    pod = {"containers": [container], "terminationGracePeriodSeconds": 1}
    role = {"replicas": 2, "requests": 2, "limits": 2, "template": {"spec": pod}}
    return {
        "apiVersion": "batch.paddlepaddle.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": name},
        "spec": {"elastic": 1, "elasticLauncher": True, "backoffLimit": 0, "worker": role},
    }


@pytest.fixture
def example(cluster: PdcHome) -> PdcHome:
    code = {"train.py": (EXAMPLE / "train.py").read_text()}
    metadata = {"name": "elastic-code"}
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": code})
    cluster.ok("apply", "-f", str(EXAMPLE / "launcher.yaml"))
    return cluster


def test_workers_join_and_go_while_training_goes_on(example: PdcHome) -> None:
    """The example, with real etcd and real Paddle: two workers, then three, one of which is killed."""
    client, key = example.client(), Key("default", "launcher")

    def said(worker: int) -> str:
        try:
            return client.logs("default", f"launcher-worker-{worker}", "paddle")
        except (NotFound, BadRequest):
            return ""  # it has not begun

    def trains(size: int) -> bool:
        """Whether they have begun with so many, and got somewhere; which of them tells is the launcher's."""
        told = re.compile(rf"worker 0 of {size} begins.*? loss ", re.DOTALL)
        return any(told.search(said(worker)) for worker in range(size))

    until(lambda: trains(2), what="training with two", limit=120)
    client.patch(PaddleJob, key, {"spec": {"worker": {"replicas": 3}}})
    until(lambda: trains(3), what="training with three", limit=120)
    client.delete(Pod, Key("default", "launcher-worker-2"))
    done = waited(client, "launcher", lambda j: j.status.phase.final)

    assert done.status.phase == "Completed", done.status.conditions
    assert done.status.attempt == 0, "who came and who went was seen to by the launchers"
    for worker in range(2):
        *_, last = re.findall(r"begins with epoch (\d+) after (\d+) samples", said(worker))
        assert last != ("0", "0"), "they went on from where the others had stopped"
    until(lambda: client.find(Pod, "default", "launcher-etcd") is None, what="the end of etcd")
    assert client.find(Service, "default", "launcher-etcd") is None
    client.delete(PaddleJob, key)


def test_a_launcher_that_finds_too_few_and_ends_with_0_is_no_success(cluster: PdcHome, name: str) -> None:
    cluster.apply(hermits(name))
    client = cluster.client()
    done = waited(client, name, lambda j: j.status.phase.final)

    assert done.status.phase == "Failed"
    message = next(c.message for c in done.status.conditions if c.type == "Failed")
    assert f"pod {name}-worker-0 ended" in message and "peer not ready" in message
    first = client.get(Pod, "default", f"{name}-worker-0")
    assert first.phase == "Succeeded", "by itself it looks like one"
    client.delete(PaddleJob, Key("default", name))
