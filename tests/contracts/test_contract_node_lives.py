"""The life of a pod: phases, restarts, exit codes and reasons, in the words of a kubelet."""

from __future__ import annotations

from functools import partial

import pytest
from tests.contracts import node_cases
from tests.contracts.node_cases import Body, agrees
from tests.contracts.node_pods import NodePods

CASES = node_cases.read("node_lives.yaml")
EVENTS = {
    "succeeds": [
        ("Normal", "Created", "Created container: main"),
        ("Normal", "Started", "Started container main"),
    ],
    "crashes-again-and-again": [
        ("Warning", "BackOff", "Back-off restarting failed container main in pod *_*(*)"),
    ],
    "has-no-such-image": [
        ("Warning", "ErrImageNeverPull", '*"localhost/absent:1" is not present with pull policy of Never*'),
        ("Warning", "Failed", "Error: ErrImageNeverPull"),
    ],
    "has-an-image-nobody-can-pull": [
        ("Normal", "BackOff", 'Back-off pulling image "localhost/absent:1"'),
        ("Warning", "Failed", "Error: ErrImagePull"),
        ("Warning", "Failed", 'Failed to pull image "localhost/absent:1": *'),
    ],
    "needs-a-config-map-that-is-not-there": [
        ("Warning", "Failed", 'Error: configmap "absent" not found*'),
    ],
    "takes-too-long": [
        ("Normal", "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"),
    ],
    "never-becomes-ready": [("Warning", "Unhealthy", "Readiness probe failed: *")],
    "is-found-dead": [("Warning", "Unhealthy", "Liveness probe failed: unwell*")],
    "is-found-dead-and-restarted": [
        ("Normal", "Killing", "Container main failed liveness probe, will be restarted"),
    ],
    "cannot-be-welcomed": [("Warning", "FailedPostStartHook", "PostStartHook failed*")],
}


@pytest.fixture(scope="module")
def living(pods: NodePods) -> NodePods:
    pods.make_all(CASES)
    return pods


@pytest.mark.parametrize("name", CASES)
def test_a_pod_that(name: str, living: NodePods) -> None:
    case = CASES[name]
    status = living.wait(name, case["until"])

    said = node_cases.summary(status)
    differing: Body = {
        key: (text, said.get(key)) for key, text in case["status"].items() if not agrees(said.get(key), text)
    }
    assert not differing, "(wanted, found)"
    assert not node_cases.lacks(status)


@pytest.mark.parametrize("name", EVENTS)
def test_what_is_told_of_a_pod_that(name: str, living: NodePods) -> None:
    living.wait(name, CASES[name]["until"])

    for event in EVENTS[name]:
        living.until(partial(was_told, living, name, event), str(event), name)


def was_told(pods: NodePods, name: str, wanted: tuple[str, str, str]) -> bool:
    """Whether there is an event of this type, reason and message."""
    return any(found[:2] == wanted[:2] and agrees(found[2], wanted[2]) for found in pods.objects.events(name))
