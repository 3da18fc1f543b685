"""Queues: what a gang may take, whose turn it is, and what the waiting ones are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from tests.decisions.builders import a_node, a_pod

from paddlecloud.api.core import Node, Pod
from paddlecloud.api.meta import Key
from paddlecloud.api.scheduling import PodGroup, PriorityClass, Queue
from paddlecloud.scheduler.board import Board, board_of
from paddlecloud.scheduler.placement import World, ours, place
from paddlecloud.scheduler.quantities import amount, text_of


def member(group: str, index: int, cpu: str = "1", node: str = "", **more: Any) -> Pod:
    spec: dict[str, Any] = {
        "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}],
        "schedulerName": "volcano",
        **({"nodeName": node} if node else {}),
        **more,
    }
    pod = a_pod(f"{group}-{index}", "Pending", spec=spec)
    marks = {"scheduling.k8s.io/group-name": group, "volcano.sh/task-spec": "odd" if index % 2 else "even"}
    return pod.but(metadata=pod.metadata.but(annotations=marks))


def members(group: str, count: int, cpu: str = "1") -> list[Pod]:
    return [member(group, index, cpu) for index in range(count)]


def a_world(groups: dict[str, Any], queues: dict[str, Any] | None = None, **classes: int) -> World:
    """Each group by its spec, each queue by its spec and, under `state`, how it is."""
    made = {
        name: Queue.read(
            {"metadata": {"name": name}, "spec": spec, "status": {"state": spec.pop("state", "Open")}}
        )
        for name, spec in {k: dict(v) for k, v in (queues or {}).items()}.items()
    }
    return World(
        groups={
            Key("ml", name): PodGroup.read({"metadata": {"name": name, "namespace": "ml"}, "spec": spec})
            for name, spec in groups.items()
        },
        queues=made,
        priorities={
            name: PriorityClass.read({"metadata": {"name": name}, "value": value})
            for name, value in classes.items()
        },
    )


def placed(pods: Iterable[Pod], board: Board, world: World) -> Counter[str]:
    """How many pods of each group found a node."""
    return Counter(p.pod.name.rpartition("-")[0] for p in place(pods, board, world) if p.node)


def told(pods: Iterable[Pod], nodes: list[Node], world: World) -> dict[str, str]:
    return {p.pod.name: p.node or p.message for p in place(pods, board_of(nodes), world)}


def test_two_gangs_that_do_not_fit_together_run_one_after_the_other_and_none_by_half() -> None:
    world = a_world({"a": {"minMember": 2}, "b": {"minMember": 2}})
    board, pods = board_of([a_node(cpu="3")]), [*members("a", 2), *members("b", 2)]

    assert placed(pods, board, world) == {"a": 2}
    assert placed(pods[2:], board, world) == {}
    for pod in pods[:2]:
        board.remove(pod.key)
    assert placed(pods[2:], board, world) == {"b": 2}


def test_a_gang_that_waits_holds_nothing() -> None:
    board = board_of([a_node(cpu="3")])
    place(members("a", 4), board, a_world({"a": {"minMember": 4}}))

    assert board.rooms["node-0"].free["cpu"] == 3000
    assert (board.taken, board.started) == ({}, {})


def test_a_gang_that_waits_leaves_its_queue_to_others() -> None:
    world = a_world(
        {"a": {"minMember": 3, "queue": "n"}, "b": {"minMember": 2, "queue": "n"}},
        {"n": {"capability": {"cpu": 3}}},
    )

    assert placed([*members("a", 3), *members("b", 2)], board_of([a_node(cpu="2")]), world) == {"b": 2}


def test_the_class_of_a_group_orders_gangs() -> None:
    groups = {"a": {"minMember": 2}, "b": {"minMember": 2, "priorityClassName": "high"}}
    pods = [*members("a", 2), *members("b", 2)]

    assert placed(pods, board_of([a_node()]), a_world(groups, high=10)) == {"b": 2}
    assert placed(pods, board_of([a_node()]), a_world(groups, other=10)) == {"a": 2}


@pytest.mark.parametrize(
    "queue, message",
    [
        ({"capability": {"cpu": 2}}, ""),
        ({"capability": {"cpu": "1500m"}}, "queue night has 500m of its 1500m cpu left, pod a-1 needs 1"),
        ({"capability": {"cpu": 1, "memory": "1Gi"}}, "queue night has 0 of its 1 cpu left, pod a-1 needs 1"),
        ({"capability": {"nvidia.com/gpu": 0}}, ""),  # they ask for none
        ({"state": "Closed"}, "queue night is Closed"),
        (None, 'queue.scheduling.volcano.sh "night" not found'),
    ],
)
def test_a_queue_gives_what_it_may_and_says_what_it_may_not(queue: Any, message: str) -> None:
    queues = {} if queue is None else {"night": queue}
    found = told(members("a", 2), [a_node()], a_world({"a": {"minMember": 2, "queue": "night"}}, queues))

    assert found["a-1"] == (message or "node-0")
    assert (found["a-0"] == "node-0") == (not message)


def test_the_default_queue_needs_no_object() -> None:
    assert placed(members("a", 1), board_of([a_node()]), a_world({"a": {}})) == {"a": 1}


def test_what_runs_in_a_queue_counts_whoever_placed_it() -> None:
    world = a_world({"a": {"queue": "n"}, "b": {"queue": "n"}}, {"n": {"capability": {"cpu": 2}}})
    board = board_of([a_node(cpu="9")], [member("a", 0, node="node-0")])

    assert placed(members("b", 2), board, world) == {"b": 1}  # minMember is one
    board.remove(Key("ml", "a-0"))
    assert placed(members("b", 2), board, world) == {"b": 1}


def test_a_gang_that_has_begun_stays_in_a_queue_that_was_closed() -> None:
    world = a_world({"a": {"minMember": 1, "queue": "n"}}, {"n": {"state": "Closed"}})
    board = board_of([a_node()], [member("a", 0, node="node-0")])

    assert placed([member("a", 1)], board, world) == {"a": 1}


@pytest.mark.parametrize(
    "weights, result",
    [((1, 1), (6, 6)), ((2, 1), (8, 4)), ((1, 3), (3, 9)), ((1, 65535), (1, 11))],
)  # fmt: skip
def test_queues_that_compete_share_the_room_by_their_weights(
    weights: tuple[int, int], result: tuple[int, int]
) -> None:
    groups = {f"{queue}{n}": {"queue": queue} for queue in "xy" for n in range(12)}
    world = a_world(groups, {"x": {"weight": weights[0]}, "y": {"weight": weights[1]}})
    pods = [member(group, 0) for group in groups]
    found = placed(pods, board_of([a_node(cpu="12")]), world)

    by_queue = Counter(name[0] for name in found)
    assert (by_queue["x"], by_queue["y"]) == result


def test_a_queue_alone_gets_all_there_is() -> None:
    groups = {f"x{n}": {"queue": "x"} for n in range(4)}
    world = a_world(groups, {"x": {"weight": 1}, "y": {"weight": 99}})

    assert sum(placed([member(g, 0) for g in groups], board_of([a_node(cpu="4")]), world).values()) == 4


def test_pods_without_a_group_keep_their_turn_beside_competing_queues() -> None:
    urgent = a_pod("urgent", "Pending", spec={**member("x", 0).spec, "priority": 5})
    world = a_world({"x": {"queue": "x"}, "y": {"queue": "y"}}, {"x": {}, "y": {}})

    assert placed([member("x", 0), member("y", 0), urgent], board_of([a_node(cpu="1")]), world) == {"": 1}


@pytest.mark.parametrize(
    "least, pods, message",
    [
        ({"even": 1, "odd": 1}, 2, ""),
        ({"odd": 2}, 2, "pod group is not ready, task odd has 1 pods of its 2 minAvailable"),
        ({"third": 1}, 2, "pod group is not ready, task third has 0 pods of its 1 minAvailable"),
    ],
)
def test_every_task_has_its_least_number_of_pods(least: Any, pods: int, message: str) -> None:
    found = told(members("a", pods), [a_node()], a_world({"a": {"minMember": 1, "minTaskMember": least}}))

    assert set(found.values()) == {message or "node-0"}


def test_a_task_that_finds_too_few_nodes_holds_the_gang_back() -> None:
    world = a_world({"a": {"minMember": 1, "minTaskMember": {"odd": 1}}})
    pods = [member("a", 0), member("a", 1, cpu="9")]
    found = told(pods, [a_node()], world)

    assert "1/2 tasks in gang unschedulable" in found["a-0"]
    assert "Insufficient cpu" in found["a-1"]


def test_the_pod_that_fits_nowhere_is_told_so_even_if_the_group_asks_for_more_than_is_free() -> None:
    world = a_world({"a": {"minMember": 3, "minResources": {"cpu": "3"}}})
    found = told(members("a", 3), [a_node(cpu="2")], world)

    assert found["a-2"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert found["a-0"].startswith("1/3 tasks in gang unschedulable")


def test_a_group_with_an_unreadable_wish_is_told_so() -> None:
    found = told(members("a", 1), [a_node()], a_world({"a": {"minResources": {"cpu": "lots"}}}))

    assert found["a-0"] == "pod group a asks for what cannot be read: 'lots' is no quantity"


@pytest.mark.parametrize("scheduler, grouped, result", [
    ("volcano", False, True), ("my-scheduler", False, False), ("my-scheduler", True, True),
])  # fmt: skip
def test_pods_of_groups_are_ours_whoever_they_ask_for(scheduler: str, grouped: bool, result: bool) -> None:
    pod = member("a", 0)
    marks = pod.metadata.annotations if grouped else {}
    pod = pod.but(spec={**pod.spec, "schedulerName": scheduler}, metadata=pod.metadata.but(annotations=marks))

    assert ours(pod) is result


@pytest.mark.parametrize(
    "resource, value, text",
    [
        ("cpu", 4000, "4"), ("cpu", 2500, "2500m"), ("cpu", 0, "0"), ("memory", 0, "0"),
        ("memory", 2**30, "1Gi"), ("memory", 1536 * 2**20, "1536Mi"), ("memory", 1000, "1000"),
        ("memory", 2**50, "1024Ti"), ("nvidia.com/gpu", 1024, "1024"), ("hugepages-2Mi", 2**21, "2Mi"),
    ],
)  # fmt: skip
def test_an_amount_is_written_as_kubernetes_reads_it(resource: str, value: int, text: str) -> None:
    assert text_of(resource, value) == text
    assert amount(resource, text) == value
