"""Our controllers, unchanged, on a real Kubernetes; there is no node, so the test says what pods do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.objects import core, jobs, paddle_job
from tests.kubernetes.processes import running
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until
from tests.servers import Server

pytestmark = pytest.mark.kubernetes


@pytest.fixture(scope="module")
def controllers(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("controllers")
    arguments = ["-m", "paddlecloud.cli.main", "--kubeconfig", str(server.kubeconfig)]
    arguments += ["controllers", "--lease-namespace", "default", "--address", "127.0.0.1", "--port", "0"]
    with running(Path(sys.executable), arguments, folder):
        yield


def pods_of(rest: Rest, namespace: str) -> dict[str, Any]:
    items = rest.get(core(namespace, "pods")).expect(200)["items"]
    return {p["metadata"]["name"]: p for p in items}


def say(rest: Rest, namespace: str, pod: str, phase: str, ip: str) -> None:
    """What a node would say of its pod."""
    running_now = {"name": "paddle", "image": "x", "imageID": "", "ready": True, "restartCount": 0}
    status = {
        "phase": phase,
        "podIP": ip,
        "podIPs": [{"ip": ip}],
        "conditions": [{"type": "ContainersReady", "status": "True"}, {"type": "Ready", "status": "True"}],
        "containerStatuses": [running_now],
    }
    rest.merge(f"{core(namespace, 'pods', pod)}/status", {"status": status}).expect(200)


@pytest.mark.usefixtures("controllers")
def test_a_paddlejob_runs_its_course(rest: Rest, namespace: str) -> None:
    job = paddle_job(name="train")
    job["spec"]["cleanPodPolicy"] = "Always"
    job["spec"]["worker"]["replicas"] = 2
    rest.post(jobs(namespace), job).expect(201)
    names = ["train-worker-0", "train-worker-1"]
    until(lambda: sorted(pods_of(rest, namespace)) == names, what="a pod a worker")

    for i, name in enumerate(names):
        say(rest, namespace, name, "Running", f"10.0.0.{i + 1}")
    path = f"{jobs(namespace)}/train"
    until(lambda: phase(rest, path) == "Running", what="Running")
    data = rest.get(core(namespace, "configmaps", "train")).expect(200)["data"]
    assert data["PADDLE_TRAINERS"] == "10.0.0.1,10.0.0.2"
    status = rest.get(path).expect(200)["status"]
    assert (status["mode"], status["worker"]["ready"]) == ("Collective", "2/2")

    for i, name in enumerate(names):
        say(rest, namespace, name, "Succeeded", f"10.0.0.{i + 1}")
    until(lambda: phase(rest, path) == "Completed", what="Completed")
    until(lambda: all(going(p) for p in pods_of(rest, namespace).values()), what="pods cleaned up")


def phase(rest: Rest, path: str) -> str:
    return str((rest.get(path).expect(200).get("status") or {}).get("phase") or "")


def going(pod: dict[str, Any]) -> bool:
    return "deletionTimestamp" in pod["metadata"]
