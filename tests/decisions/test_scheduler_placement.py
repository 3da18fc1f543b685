"""Which pod goes to which node, and what one that goes nowhere is told."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import NOW, a_node, a_pod

from paddlecloud.api.core import Node, Pod
from paddlecloud.api.meta import Key, OwnerReference
from paddlecloud.api.scheduling import PodGroup, PriorityClass
from paddlecloud.scheduler.board import Board, board_of
from paddlecloud.scheduler.placement import Placement, World, ours, place

GPU: dict[str, Any] = {"nvidia.com/gpu": 1}
NOBODY = "No preemption victims found for incoming pod"
USELESS = "Preemption is not helpful for scheduling"
HOST = "kubernetes.io/hostname"


def asking(name: str, node: str = "", *, metadata: Any = None, more: Any = None, **wanted: Any) -> Pod:
    """A pod that asks for *wanted*; *more* goes into its spec."""
    spec: dict[str, Any] = {"containers": [{"name": "main", "resources": {"requests": wanted}}]}
    pod = a_pod(name, "Pending", spec=spec | (more or {}) | ({"nodeName": node} if node else {}))
    return pod.but(metadata=pod.metadata.but(**(metadata or {})))


def places(
    waiting: list[Pod], nodes: list[Node], there: list[Pod] | None = None, **world: Any
) -> dict[str, str]:
    """The node of each pod, or its message."""
    found = place(waiting, board_of(nodes, there or []), World(**world))
    return {p.pod.name: p.node or p.message for p in found}


def one(pod: Pod, *nodes: Node) -> Placement:
    [found] = place([pod], board_of(nodes), World())
    return found


def host(name: str, **more: Any) -> Node:
    labels = {HOST: name, **more.pop("labels", {})}
    return a_node(name, labels=labels, **more)


def tainted(node: Node, *taints: str) -> Node:
    """`key=value:Effect`"""
    said = []
    for text in taints:
        pair, _, effect = text.partition(":")
        key, _, value = pair.partition("=")
        said.append({"key": key, "value": value, "effect": effect})
    return node.but(spec={"taints": said})


@pytest.mark.parametrize(
    "pod, node, result",
    [
        (asking("p"), a_node(), ""),
        (asking("p", cpu="2"), a_node(cpu="2"), ""),
        (asking("p", cpu="2500m"), a_node(cpu="2"), f"1 Insufficient cpu|1 {NOBODY}"),
        (asking("p", **GPU), a_node(), f"1 Insufficient nvidia.com/gpu|1 {NOBODY}"),
        (asking("p"), a_node(pods="0"), f"1 Too many pods|1 {NOBODY}"),
        (asking("p"), a_node(ready=False),
         f"1 node(s) had untolerated taint {{node.kubernetes.io/not-ready: }}|1 {USELESS}"),
        (asking("p"), a_node().but(spec={"unschedulable": True}),
         f"1 node(s) were unschedulable|1 {USELESS}"),
        (asking("p"), tainted(a_node(), "gpu=v100:NoSchedule"),
         f"1 node(s) had untolerated taint {{gpu: v100}}|1 {USELESS}"),
        (asking("p"), tainted(a_node(), "gpu=v100:PreferNoSchedule"), ""),
        (asking("p", more={"tolerations": [{"key": "gpu", "operator": "Exists"}]}),
         tainted(a_node(), "gpu=v100:NoExecute"), ""),
        (asking("p", more={"nodeSelector": {"disk": "ssd"}}), a_node(),
         f"1 node(s) didn't match Pod's node affinity/selector|1 {USELESS}"),
        (asking("p", more={"nodeSelector": {"disk": "ssd"}}), a_node(labels={"disk": "ssd"}), ""),
        (asking("p", cpu="lots"), a_node(), "?"),
    ],
)  # fmt: skip
def test_a_node_must_fit_and_a_misfit_is_explained(pod: Pod, node: Node, result: str) -> None:
    found = one(pod, node)
    if not result:
        assert found.node == "node-0"
    elif result == "?":
        assert (found.reason, found.message) == (
            "SchedulerError", "it asks for what cannot be read: 'lots' is no quantity",
        )  # fmt: skip
    else:
        trouble, futile = result.split("|")
        start = "0/1 nodes are available: "
        assert found.message == f"{start}{trouble}. preemption: {start}{futile}."
        assert found.reason == "Unschedulable"


def test_each_node_has_its_reasons_as_data() -> None:
    found = one(asking("p", cpu="9", memory="9Gi"), a_node("a", ready=False), a_node("b"))

    assert found.nodes == {
        "a": ("node(s) had untolerated taint {node.kubernetes.io/not-ready: }",),
        "b": ("Insufficient cpu", "Insufficient memory"),
    }


def test_without_nodes_that_is_the_reason() -> None:
    assert one(asking("p")).message == "no nodes available to schedule pods"


def test_the_emptiest_node_is_taken_and_filled() -> None:
    nodes = [a_node("a", cpu="2"), a_node("b", cpu="3")]
    found = places([asking(f"p{i}", cpu="2") for i in range(3)], nodes)

    assert (found["p0"], found["p1"]) == ("b", "a")
    assert found["p2"].startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_of_equal_nodes_the_first_by_name_is_taken() -> None:
    assert places([asking("p")], [a_node("c"), a_node("a"), a_node("b")]) == {"p": "a"}


def test_pods_of_one_owner_are_spread_even_over_fuller_nodes() -> None:
    owner = {"owner_references": [OwnerReference(uid="set", controller=True)]}
    pods = [asking(f"p{i}", cpu="10m", metadata=owner) for i in range(3)]
    full = [asking(f"old-{node}", node, cpu="1") for node in "ac"]
    found = places(pods, [a_node("a"), a_node("b"), a_node("c")], full)

    assert set(found.values()) == {"a", "b", "c"}
    assert set(
        places([asking(f"p{i}", cpu="10m") for i in range(3)], [a_node("a"), a_node("b")], full).values()
    ) == {"b"}


def test_a_node_takes_so_many_pods_and_no_more() -> None:
    found = places([asking("p"), asking("q")], [a_node(pods="1")])

    assert (found["p"], "1 Too many pods." in found["q"]) == ("node-0", True)


@pytest.mark.parametrize(
    "there, result",
    [
        (asking("old", "node-0", cpu="2"), "0/1"),
        (asking("old", "node-0", cpu="2").but(status={"phase": "Succeeded"}), "node-0"),
        (asking("old", "elsewhere", cpu="2"), "node-0"),
        (asking("old", "node-0", cpu="lots"), "node-0"),
    ],
)
def test_what_is_there_takes_room_until_it_has_ended(there: Pod, result: str) -> None:
    assert places([asking("p", cpu="2")], [a_node()], [there])["p"].startswith(result)


def born(minutes: int) -> dict[str, Any]:
    return {"creation_timestamp": NOW + timedelta(minutes=minutes)}


@pytest.mark.parametrize(
    "first, second, winner",
    [
        (asking("a", cpu="2", metadata=born(2)), asking("b", cpu="2", metadata=born(1)), "b"),
        (asking("a", cpu="2", metadata=born(1)),
         asking("b", cpu="2", metadata=born(2), more={"priority": 7}), "b"),
        (asking("a", cpu="2", metadata=born(1)),
         asking("b", cpu="2", metadata=born(2), more={"priorityClassName": "high", "priority": 0}), "b"),
        (asking("a", cpu="2", metadata=born(1), more={"priority": 9}),
         asking("b", cpu="2", metadata=born(2), more={"priorityClassName": "system-node-critical"}), "b"),
    ],
)  # fmt: skip
def test_the_most_important_pod_comes_first_then_the_oldest(first: Pod, second: Pod, winner: str) -> None:
    high = PriorityClass.read({"metadata": {"name": "high"}, "value": 5})

    assert places([first, second], [a_node()], priorities={"high": high})[winner] == "node-0"


def test_preemption_is_spoken_of_only_where_it_would_not_help() -> None:
    low = asking("low", "node-0", cpu="2")
    important = {"priority": 5}

    helps = places([asking("p", cpu="2", more=important)], [a_node()], [low])["p"]
    futile = places([asking("p", cpu="3", more=important)], [a_node()], [low])["p"]

    assert helps == "0/1 nodes are available: 1 Insufficient cpu."
    assert futile == f"{helps} preemption: 0/1 nodes are available: 1 Insufficient cpu."


def test_thinking_of_preemption_leaves_the_board_as_it_was() -> None:
    board = board_of([a_node()], [asking("low", "node-0", cpu="2")])
    before = dict(board.rooms["node-0"].free)
    place([asking("p", cpu="3", more={"priority": 5})], board, World())

    assert board.rooms["node-0"].free == before


def test_a_gated_pod_waits_for_its_gates() -> None:
    found = one(asking("p", more={"schedulingGates": [{"name": "g"}]}), a_node())

    assert (found.node, found.reason) == ("", "SchedulingGated")


@pytest.mark.parametrize(
    "pod, is_ours",
    [
        (asking("p"), True),
        (asking("p", more={"schedulerName": "default-scheduler"}), True),
        (asking("p", more={"schedulerName": "volcano"}), True),
        (asking("p", more={"schedulerName": "mine"}), False),
        (asking("p", "node-0"), False),
        (asking("p", metadata={"deletion_timestamp": NOW}), False),
        (asking("p").but(status={"phase": "Failed"}), False),
    ],
)
def test_pods_of_other_schedulers_are_left_alone(pod: Pod, is_ours: bool) -> None:
    assert ours(pod) is is_ours


@pytest.mark.parametrize(
    "first, second, clash",
    [
        ({}, {}, True),
        ({"hostIP": "127.0.0.1"}, {"hostIP": "127.0.0.2"}, False),
        ({"hostIP": "127.0.0.1"}, {"hostIP": "0.0.0.0"}, True),
        ({"protocol": "UDP"}, {}, False),
        ({"hostPort": 81}, {}, False),
    ],
)
def test_a_port_of_the_machine_is_taken_once(first: Any, second: Any, clash: bool) -> None:
    def serving(name: str, port: Any) -> Pod:
        ports = [{"containerPort": 1, "hostPort": 80, **port}]
        return asking(name, more={"containers": [{"name": "main", "ports": ports}]})

    found = places([serving("p", first), serving("q", second)], [a_node()])["q"]
    assert ("didn't have free ports" in found) is clash


def grouped(name: str, **more: Any) -> Pod:
    return asking(name, metadata={"annotations": {"scheduling.k8s.io/group-name": "team"}}, **more)


def a_group(**spec: Any) -> dict[str, Any]:
    group = PodGroup.read({"metadata": {"name": "team", "namespace": "ml"}, "spec": spec})
    return {"groups": {Key("ml", "team"): group}}


def test_a_group_starts_when_all_of_it_fits() -> None:
    pods = [grouped(f"p{i}", cpu="2") for i in range(2)]

    assert set(places(pods, [a_node("a"), a_node("b")], **a_group(minMember=2)).values()) == {"a", "b"}


def test_a_group_that_does_not_fit_leaves_its_room_to_others() -> None:
    pods = [grouped(f"p{i}", cpu="2") for i in range(3)]
    found = places([*pods, asking("single", cpu="2")], [a_node("a"), a_node("b")], **a_group(minMember=3))

    assert found["single"] in "ab"
    assert found["p0"] == (
        "1/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable"
    )
    assert found["p2"].startswith("0/2 nodes are available: 2 Insufficient cpu.")


@pytest.mark.parametrize(
    "spec, pods, message",
    [
        ({"minMember": 3}, 2,
         "2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 3 minAvailable"),
        ({"minMember": 1, "minResources": {"cpu": "9"}}, 1,
         "pod group team needs 9 of cpu: the nodes have less left"),
        (None, 1, 'podgroup.scheduling.volcano.sh "team" not found'),
    ],
)  # fmt: skip
def test_a_group_waits_for_its_pods_and_its_room(spec: Any, pods: int, message: str) -> None:
    waiting = [grouped(f"p{i}") for i in range(pods)]
    world = {} if spec is None else a_group(**spec)

    assert set(places(waiting, [a_node()], **world).values()) == {message}


def test_a_group_that_has_begun_takes_its_others_one_by_one() -> None:
    there = grouped("p0", more={"nodeName": "a"}, cpu="1")
    found = places(
        [grouped("p1", cpu="1"), grouped("p2", cpu="5")], [a_node("a")], [there], **a_group(minMember=2)
    )

    assert found["p1"] == "a"
    assert "Insufficient cpu" in found["p2"]


def test_a_board_is_the_same_in_whatever_order_things_came() -> None:
    nodes = [host("a"), host("b")]
    pods = [asking("p", "a", cpu="1"), asking("q", "b", cpu="500m"), asking("r", "a", cpu="250m")]
    forth = board_of(nodes, pods)
    back = Board()
    for needs in [forth.find(p.key) for p in reversed(pods)]:
        assert needs is not None
        back.put(needs[1], needs[0])
    for node in reversed(nodes):
        back.set_node(node)
    back.drop_node("a")
    back.set_node(nodes[0])
    back.remove(pods[2].key)
    forth.remove(pods[2].key)

    for name in "ab":
        assert back.rooms[name].free == forth.rooms[name].free
        assert back.rooms[name].slots == forth.rooms[name].slots


def test_a_sign_of_life_of_a_node_changes_nothing() -> None:
    board, node = board_of([a_node()]), a_node()
    beat = node.but(status={**node.status, "conditions": [
        {"type": "Ready", "status": "True", "lastHeartbeatTime": "2024-06-01T12:00:00Z"}]})  # fmt: skip

    assert not board.set_node(beat)
    assert board.set_node(a_node(ready=False))
