"""What the simulated node says of a pod, stage by stage."""

from __future__ import annotations

from typing import Any

import pytest
from tests.properties.pod_lives import End, Sight, next_status

from paddlecloud.api.core import Pod
from paddlecloud.controllers.startorder import GATE, START

SIGHT = Sight("10.0.0.1", "2024-01-01T00:00:00Z")


def a_pod(phase: str = "", ip: str = "", *, gate: bool = False, started: bool = False) -> Pod:
    spec: dict[str, Any] = {"containers": [{"name": "main", "image": "i"}]}
    if gate:
        spec["initContainers"] = [{"name": "first"}, {"name": GATE}]
    metadata = {"name": "p", "annotations": {START: "worker"} if started else {}}
    return Pod.read({"metadata": metadata, "spec": spec, "status": {"phase": phase, "podIP": ip}})


@pytest.mark.parametrize(
    "pod, end, says",
    [
        (a_pod(), None, "Pending"),
        (a_pod("Pending", "10.0.0.1"), None, "Running"),
        (a_pod("Pending", "10.0.0.1", gate=True), None, None),
        (a_pod("Pending", "10.0.0.1", gate=True, started=True), None, "Running"),
        (a_pod("Running", "10.0.0.1"), None, None),
        (a_pod("Running", "10.0.0.1"), End(), "Succeeded"),
        (a_pod("Running", "10.0.0.1"), End(3), "Failed"),
        (a_pod("Pending", "10.0.0.1", gate=True), End(), None),
        (a_pod("Succeeded", "10.0.0.1"), End(1), None),
    ],
)
def test_a_pod_goes_on_to_its_next_stage(pod: Pod, end: End | None, says: str | None) -> None:
    status = next_status(pod, Sight(SIGHT.address, SIGHT.now, end))
    assert (status and status["phase"]) == says


def test_a_pod_that_is_placed_gets_its_address_and_comes_to_its_gate() -> None:
    status = next_status(a_pod(gate=True), SIGHT)
    assert status is not None
    assert status["podIP"] == "10.0.0.1"
    assert [list(s["state"]) for s in status["initContainerStatuses"]] == [["terminated"], ["running"]]


def test_a_container_that_fails_tells_how() -> None:
    status = next_status(
        a_pod("Running", "10.0.0.1"), Sight("", SIGHT.now, End(137, "OOMKilled", "out of memory"))
    )
    assert status is not None
    [container] = status["containerStatuses"]
    ended = container["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"], ended["message"]) == (137, "OOMKilled", "out of memory")
