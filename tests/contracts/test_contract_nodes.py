"""What becomes of a node: tainted as its conditions say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

pytestmark = pytest.mark.needs_controllers
NODES = "/api/v1/nodes"
PREFIX = "node.kubernetes.io"
NEW = {"key": f"{PREFIX}/not-ready", "effect": "NoSchedule"}


@pytest.fixture
def node(rest: Rest, namespace: str) -> Iterator[str]:
    """The path of a node of which nothing is known."""
    rest.post(NODES, {"metadata": {"name": namespace}}).expect(201)
    yield f"{NODES}/{namespace}"
    rest.delete(f"{NODES}/{namespace}")


def says(rest: Rest, node: str, *conditions: tuple[str, str]) -> None:
    """What a kubelet would say of its node now."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    said = [
        {
            "type": kind,
            "status": status,
            "reason": "Test",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        for kind, status in conditions
    ]
    rest.merge(f"{node}/status", {"status": {"conditions": said}}).expect(200)


@contextmanager
def well(rest: Rest, node: str) -> Iterator[None]:
    """A node that is ready: where none is, nobody is driven away."""
    rest.post(NODES, {"metadata": {"name": node.rpartition("/")[2]}}).expect(201)
    try:
        says(rest, node, ("Ready", "True"))
        until(lambda: not taints(rest, node), what="a node that is well")
        yield
    finally:
        rest.delete(node)


def taints(rest: Rest, node: str) -> set[tuple[str, str]]:
    found = rest.get(node).expect(200)["spec"].get("taints") or ()
    return {(t["key"].removeprefix(f"{PREFIX}/"), t["effect"]) for t in found}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([], [NEW]),
        ([NEW], [NEW]),
        ([{**NEW, "effect": "NoExecute"}], [{**NEW, "effect": "NoExecute"}, NEW]),
        ([{"key": "a", "effect": "NoSchedule"}], [{"key": "a", "effect": "NoSchedule"}, NEW]),
    ],
    ids=["none", "the same", "another effect", "another key"],
)
def test_nothing_is_placed_on_a_new_node_before_somebody_has_looked(
    rest: Rest, given: list[dict[str, str]], found: list[dict[str, str]]
) -> None:
    body = {"metadata": {"name": "tried"}, "spec": {"taints": given}}
    assert rest.post(NODES, body, dryRun="All").expect(201)["spec"]["taints"] == found


def test_a_node_that_has_said_nothing_is_given_time(rest: Rest, node: str) -> None:
    until(lambda: not taints(rest, node), what="the end of the first taint")


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([("Ready", "True")], set()),
        ([("Ready", "False")], {("not-ready", "NoSchedule"), ("not-ready", "NoExecute")}),
        ([("Ready", "Unknown")], {("unreachable", "NoSchedule"), ("unreachable", "NoExecute")}),
        ([("Ready", "True"), ("MemoryPressure", "True")], {("memory-pressure", "NoSchedule")}),
        ([("Ready", "True"), ("DiskPressure", "True")], {("disk-pressure", "NoSchedule")}),
        ([("Ready", "True"), ("PIDPressure", "True")], {("pid-pressure", "NoSchedule")}),
        ([("Ready", "True"), ("NetworkUnavailable", "True")], {("network-unavailable", "NoSchedule")}),
        ([("Ready", "True"), ("MemoryPressure", "Unknown"), ("DiskPressure", "False")], set()),
        ([("Ready", "True"), ("Own", "True")], set()),
    ],
)
def test_the_taints_of_a_node_follow_its_conditions(
    rest: Rest, node: str, conditions: list[tuple[str, str]], expected: set[tuple[str, str]]
) -> None:
    until(lambda: not taints(rest, node), what="the end of the first taint")
    with well(rest, f"{node}-well"):
        says(rest, node, *conditions)
        # kube-controller-manager drives pods from one node in ten seconds at most.
        until(lambda: taints(rest, node) == expected, what=f"{expected}", limit=40)
        if expected:
            says(rest, node, ("Ready", "True"))
            until(lambda: not taints(rest, node), what="a node that is well again")


def test_a_cordoned_node_is_tainted_until_it_is_not(rest: Rest, node: str) -> None:
    says(rest, node, ("Ready", "True"))
    rest.merge(node, {"spec": {"unschedulable": True}}).expect(200)
    until(lambda: taints(rest, node) == {("unschedulable", "NoSchedule")}, what="the taint")
    rest.merge(node, {"spec": {"unschedulable": None}}).expect(200)
    until(lambda: not taints(rest, node), what="the end of the taint")
