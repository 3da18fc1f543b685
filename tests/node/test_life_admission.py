"""What a node refuses though it was bound to it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.node.pod_yard import NODE, Yard

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node.admission import Ledger, requested
from paddlecloud.embedded.node.sight import Ending

CAPACITY = {"cpu": "2", "memory": "1Gi", "pods": "3"}


def asking(
    name: str = "p", *, init: list[dict[str, Any]] | None = None, phase: str = "", **requests: str
) -> Pod:
    spec = {
        "containers": [{"name": "c", "resources": {"requests": requests}}],
        "initContainers": init or [],
    }
    return Pod.read({"metadata": {"name": name, "uid": name}, "spec": spec, "status": {"phase": phase}})


def first(cpu: str, **more: str) -> dict[str, Any]:
    return {"name": f"i{cpu}", "resources": {"requests": {"cpu": cpu}}, **more}


def on_port(name: str, port: int, protocol: str = "TCP") -> Pod:
    ports = [{"containerPort": 80, "hostPort": port, "protocol": protocol}]
    spec = {"containers": [{"name": "c", "ports": ports}]}
    return Pod.read({"metadata": {"name": name, "uid": name}, "spec": spec})


def refusal(pod: Pod, others: list[Pod]) -> Ending | None:
    ledger = Ledger(CAPACITY)
    for other in others:
        ledger.take(other)
    return ledger.refusal(pod)


@pytest.mark.parametrize(
    "pod, others, reason",
    [
        (asking(cpu="2"), [], ""),
        (asking(cpu="2001m"), [], "OutOfcpu"),
        (asking(cpu="1"), [asking("a", cpu="1")], ""),
        (asking(cpu="1"), [asking("a", cpu="1001m")], "OutOfcpu"),
        (asking(cpu="1"), [asking("a", cpu="2", phase="Succeeded")], ""),
        (asking(cpu="1"), [asking("a", cpu="2"), asking("a", cpu="1")], ""),
        (asking(cpu="1"), [asking("a", cpu="2"), asking("a", cpu="2", phase="Failed")], ""),
        (asking(memory="2Gi"), [], "OutOfmemory"),
        (asking(thing="5"), [], ""),
        (asking(), [asking("a", cpu="3")], ""),
        (asking(), [asking("a"), asking("b"), asking("c")], "OutOfpods"),
        (on_port("p", 80), [on_port("a", 80)], "NodePorts"),
        (on_port("p", 80), [on_port("a", 80, "UDP")], ""),
        (on_port("p", 80), [on_port("a", 81)], ""),
    ],
)
def test_what_is_refused(pod: Pod, others: list[Pod], reason: str) -> None:
    found = refusal(pod, others)
    assert (found.reason if found else "") == reason


def test_the_numbers_are_told() -> None:
    found = refusal(asking(cpu="1500m"), [asking("a", cpu="1")])
    assert found is not None and found.message == (
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000"
    )


def test_who_leaves_makes_room() -> None:
    ledger = Ledger(CAPACITY)
    for other in (asking("a", cpu="2"), on_port("b", 80)):
        ledger.take(other)
    for uid in ("a", "b", "b", "nobody"):
        ledger.leave(uid)
    assert ledger.refusal(asking(cpu="2")) is None and ledger.refusal(on_port("p", 80)) is None


def test_a_new_pod_costs_the_same_however_many_there_are() -> None:
    def calls(there: int) -> int:
        ledger, count = Ledger({"cpu": "1k", "pods": "1k"}), 0
        for number in range(there):
            ledger.take(asking(f"a{number}", cpu="1m"))

        def called(_: object, event: str, __: object) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(called)
        try:
            ledger.refusal(asking(cpu="1m"))
            ledger.take(asking(cpu="1m"))
        finally:
            sys.setprofile(None)
        return count

    assert calls(2) == calls(200)


@pytest.mark.parametrize(
    "init, milli",
    [
        ([], 1000),
        ([first("500m")], 1000),
        ([first("3")], 3000),
        ([first("500m", restartPolicy="Always")], 1500),
        ([first("500m", restartPolicy="Always"), first("2")], 2500),
        ([first("2"), first("500m", restartPolicy="Always")], 2000),
    ],
)
def test_who_runs_first_counts_alone_and_who_runs_beside_counts_with_all(
    init: list[dict[str, Any]], milli: int
) -> None:
    assert requested(asking(init=init, cpu="1"), "cpu") == milli


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    it = Yard(tmp_path)
    yield it
    await it.close()


async def test_a_refused_pod_fails_without_a_trace_on_the_node(yard: Yard) -> None:
    yard.run("true", container={"resources": {"requests": {"cpu": "3"}}})
    pod = await yard.finished()
    assert (pod.phase, pod.status["reason"], pod.ip) == ("Failed", "OutOfcpu", "")
    assert "OutOfcpu" in yard.reasons()
    assert not (yard.home.pods(NODE) / pod.uid).exists()
    await yard.restart()
    yard.run("true", name="beside")
    await yard.finished("beside")
    assert yard.now().status["reason"] == "OutOfcpu"
