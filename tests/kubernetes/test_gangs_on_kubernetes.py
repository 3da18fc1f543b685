"""Jobs that start as a whole, on a real Kubernetes: without Volcano, then with its kinds.

The definition is installed while the controllers run; the test says what Volcano's scheduler would say.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.definitions import DEFINITIONS, condition
from tests.contracts.objects import core, jobs, paddle_job
from tests.kubernetes.processes import running
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until
from tests.servers import Server

from paddlecloud.api.crds import crd
from paddlecloud.api.scheduling import PodGroup

pytestmark = pytest.mark.kubernetes
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/{}/podgroups"
SLOW = 90.0
"""Seconds: whoever was told that a kind is missing looks for it every half a minute."""


@pytest.fixture
def controllers(server: Server, tmp_path: Path) -> Iterator[None]:
    arguments = ["-m", "paddlecloud.cli.main", "--kubeconfig", str(server.kubeconfig)]
    arguments += ["controllers", "--lease-namespace", "default", "--address", "127.0.0.1", "--port", "0"]
    with running(Path(sys.executable), arguments, tmp_path):
        yield


@pytest.mark.usefixtures("controllers")
def test_a_gang_waits_for_volcano_and_then_for_its_place(rest: Rest, namespace: str) -> None:
    job = paddle_job(name="train")
    job["spec"] |= {"schedulingPolicy": {"queue": "night"}, "cleanPodPolicy": "Never"}
    job["spec"]["worker"]["replicas"] = 2
    del job["spec"]["worker"]["template"]["spec"]["schedulerName"]
    rest.post(jobs(namespace), job).expect(201)
    until(lambda: waits(rest, namespace)[0] == "EngineMissing", what="EngineMissing")
    assert "helm install volcano" in waits(rest, namespace)[1]

    definition = crd(PodGroup)
    rest.post(DEFINITIONS, definition).expect(201)
    try:
        condition(rest, definition, "Established")
        group = f"{GROUPS.format(namespace)}/train"
        made = until(lambda: found(rest, group), what="the group", limit=SLOW)
        assert made["spec"] == {"minMember": 2, "queue": "night"}
        until(lambda: waits(rest, namespace)[0] == "WaitingForGang", what="WaitingForGang")
        assert pods_of(rest, namespace) == []

        said = {"type": "Unschedulable", "status": "True", "message": "queue night is full"}
        rest.merge(group, {"status": {"phase": "Pending", "conditions": [said]}}).expect(200)
        until(lambda: "queue night is full" in waits(rest, namespace)[1], what="the words of the group")
        rest.merge(group, {"status": {"phase": "Inqueue", "conditions": []}}).expect(200)
        pods = until(lambda: pods_of(rest, namespace), what="pods")
        assert {p["spec"]["schedulerName"] for p in pods} == {"volcano"}
        marks = pods[0]["metadata"]["annotations"]
        assert marks["scheduling.k8s.io/group-name"] == "train" and marks["volcano.sh/queue-name"] == "night"
        rest.delete(f"{jobs(namespace)}/train").expect(200)
        until(lambda: rest.get(group).status == 404, what="the end of the group")
    finally:
        rest.delete(f"{DEFINITIONS}/{definition['metadata']['name']}")


def found(rest: Rest, path: str) -> Any:
    answer = rest.get(path)
    return answer.body if answer.status == 200 else None


def pods_of(rest: Rest, namespace: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = rest.get(core(namespace, "pods")).expect(200)["items"]
    return items


def waits(rest: Rest, namespace: str) -> tuple[str, str]:
    """The reason of a job that does not go on, and what it says."""
    status = rest.get(f"{jobs(namespace)}/train").expect(200).get("status") or {}
    told: dict[str, Any] = next((c for c in status.get("conditions") or () if c["type"] == "Progressing"), {})
    return ("", "") if told.get("status") != "False" else (told["reason"], told["message"])
