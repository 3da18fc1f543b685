"""How far a group of pods is, what its queue holds, and what both say."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import NOW, a_pod

from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Key
from paddlecloud.api.scheduling import PodGroup, PriorityClass, Queue
from paddlecloud.embedded.workloads.podgroups import Census, Scene, census, queue_status, statuses

GANG = "1/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable"
LACK = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No victims."


def a_member(name: str, phase: str = "Pending", node: str = "node-0", told: str = "") -> Pod:
    conditions = [{"type": "PodScheduled", "status": "False", "message": told}] if told else []
    resources = {"requests": {"cpu": "500m"}}
    spec = {"containers": [{"name": "main", "resources": resources}], "nodeName": node}
    status = {"conditions": conditions} if conditions else {}
    return a_pod(name, phase, spec=spec, status=status)


def a_group(name: str = "a", phase: str = "", created: int = 0, **spec: Any) -> PodGroup:
    times = {"creationTimestamp": (NOW + timedelta(seconds=created)).isoformat()}
    body = {"metadata": {"name": name, "namespace": "ml", **times}, "spec": {"minMember": 2} | spec}
    return PodGroup.read({**body, "status": {"phase": phase}})


def a_queue(name: str = "default", state: str = "", **capability: Any) -> Queue:
    spec = {"capability": capability}
    return Queue.read({"metadata": {"name": name}, "spec": spec, "status": {"state": state}})


def a_scene(*groups: PodGroup, queues: tuple[Queue, ...] = (), **members: Census) -> Scene:
    return Scene(
        {g.key: g for g in groups},
        {Key("ml", name): found for name, found in members.items()},
        {q.name: q for q in queues},
        {"high": PriorityClass.read({"metadata": {"name": "high"}, "value": 9})},
    )


def phases(scene: Scene) -> dict[str, str]:
    return {key.name: status.phase for key, status in statuses(scene, NOW).items()}


@pytest.mark.parametrize(
    "before, pods, after",
    [
        ("", [], "Inqueue"),
        ("Inqueue", [], "Inqueue"),
        ("Running", [], "Inqueue"),
        ("Completed", [], "Completed"),
        ("Inqueue", [a_member("p", node=""), a_member("q", node="")], "Inqueue"),
        ("Inqueue", [a_member("p"), a_member("q", node="")], "Inqueue"),
        ("Inqueue", [a_member("p"), a_member("q")], "Running"),
        ("Running", [a_member("p", "Succeeded"), a_member("q", "Running")], "Running"),
        ("Running", [a_member("p", "Succeeded"), a_member("q", "Succeeded")], "Completed"),
        ("Running", [*(a_member(n, "Succeeded") for n in "pq"), a_member("r", "Failed")], "Completed"),
        ("Running", [*(a_member(n, "Succeeded") for n in "pq"), a_member("r", "Running")], "Running"),
        ("Running", [*(a_member(n, "Succeeded") for n in "pq"), a_member("r", node="")], "Running"),
        ("Running", [a_member("p", "Failed"), a_member("q", "Running")], "Unknown"),
        ("Running", [a_member("p", "Failed"), a_member("q", "Failed")], "Inqueue"),
        ("Completed", [a_member("p", node=""), a_member("q", node="")], "Inqueue"),  # the name is used again
    ],
)
def test_the_pods_show_the_phase(before: str, pods: list[Pod], after: str) -> None:
    assert phases(a_scene(a_group(phase=before), a=census(pods))) == {"a": after}


def test_pods_are_counted_and_those_that_leave_are_not() -> None:
    going = a_member("z", "Running")
    going = going.but(metadata=going.metadata.but(deletion_timestamp=NOW))
    pods = [a_member("p", "Running"), a_member("q", "Succeeded"), a_member("r", "Failed"), going]

    assert census(pods) == Census(
        there=3, placed=1, running=1, succeeded=1, failed=1, taken=(("cpu", 500),), complaint=""
    )


@pytest.mark.parametrize(
    "told, complaint",
    [
        (["", ""], ""),
        ([GANG, GANG], GANG),
        ([GANG, LACK], f"{GANG}; pod q: 0/1 nodes are available: 1 Insufficient cpu."),
        ([LACK, ""], "pod p: 0/1 nodes are available: 1 Insufficient cpu."),
    ],
)
def test_the_group_tells_which_pod_fits_nowhere_and_why(told: list[str], complaint: str) -> None:
    pods = [a_member(name, node="", told=text) for name, text in zip("pq", told, strict=True)]
    [status] = statuses(a_scene(a_group(phase="Inqueue"), a=census(pods)), NOW).values()

    assert [c.message for c in status.conditions] == ([complaint] if complaint else [])
    assert all((c.type, c.reason) == ("Unschedulable", "NotEnoughResources") for c in status.conditions)


def test_a_condition_keeps_its_time_while_its_words_change() -> None:
    group = a_group(phase="Inqueue")
    found = census([a_member("p", node="", told=LACK)])
    [first] = statuses(a_scene(group, a=found), NOW).values()
    [second] = statuses(a_scene(group.but(status=first), a=found), NOW + timedelta(hours=1)).values()

    assert second == first and first.conditions[0].last_transition_time == NOW


CPU: dict[str, Any] = {"queue": "n", "minResources": {"cpu": "1"}}


@pytest.mark.parametrize(
    "groups, result",
    [
        ([a_group("a", **CPU), a_group("b", created=1, **CPU)], {"a": "Inqueue", "b": "Pending"}),
        ([a_group("a", created=1, **CPU), a_group("b", **CPU)], {"a": "Pending", "b": "Inqueue"}),
        ([a_group("a", **CPU), a_group("b", created=1, priorityClassName="high", **CPU)],
         {"a": "Pending", "b": "Inqueue"}),
        ([a_group("a", "Inqueue", created=1, **CPU), a_group("b", **CPU)], {"a": "Inqueue", "b": "Pending"}),
        # One that asks for too much stands in nobody's way.
        ([a_group("a", queue="n", minResources={"cpu": "9"}), a_group("b", created=1, **CPU)],
         {"a": "Pending", "b": "Inqueue"}),
        # Nothing is known of what it needs: its pods will tell.
        ([a_group("a", **CPU), a_group("b", created=1, queue="n")], {"a": "Inqueue", "b": "Inqueue"}),
        ([a_group("a", "Completed", **CPU), a_group("b", created=1, **CPU)],
         {"a": "Completed", "b": "Inqueue"}),
    ],
)  # fmt: skip
def test_a_queue_lets_in_what_it_can_hold(groups: list[PodGroup], result: dict[str, str]) -> None:
    assert phases(a_scene(*groups, queues=(a_queue("n", cpu=1),))) == result


def test_what_the_pods_of_a_group_have_counts_and_no_longer_what_it_was_promised() -> None:
    running = census([a_member(n, "Running") for n in "pq"])
    large = a_group("a", "Running", queue="n", minResources={"cpu": "9"})
    queue = a_queue("n", cpu=2)

    assert phases(a_scene(large, a_group("b", **CPU), queues=(queue,), a=running))["b"] == "Inqueue"
    assert phases(a_scene(large, a_group("b", **CPU), queues=(a_queue("n", cpu="1500m"),), a=running)) == {
        "a": "Running", "b": "Pending",
    }  # fmt: skip


@pytest.mark.parametrize("told, after", [("", "Pending"), (LACK, "Inqueue")])
def test_a_group_whose_pods_fit_no_node_leaves_its_queue_to_others(told: str, after: str) -> None:
    stuck = census([a_member(name, node="", told=told) for name in "pq"])
    groups = (a_group("a", "Inqueue", **CPU), a_group("b", created=1, **CPU))

    assert phases(a_scene(*groups, queues=(a_queue("n", cpu=1),), a=stuck)) == {"a": "Inqueue", "b": after}


@pytest.mark.parametrize(
    "queues, message",
    [
        ((a_queue("n", cpu="500m"),), "queue n has 500m of its 500m cpu left, pod group a needs 1"),
        ((a_queue("n", "Closed"),), "queue n is Closed"),
        ((), 'queue.scheduling.volcano.sh "n" not found'),
    ],
)
def test_a_group_that_is_not_let_in_says_why(queues: tuple[Queue, ...], message: str) -> None:
    [status] = statuses(a_scene(a_group(**CPU), queues=queues), NOW).values()

    assert (status.phase, [c.message for c in status.conditions]) == ("Pending", [message])


def test_a_queue_tells_what_it_holds() -> None:
    groups = [a_group(name, phase) for name, phase in (("a", "Running"), ("b", "Inqueue"), ("c", ""))]
    scene = a_scene(*groups, a_group("d", "Running", queue="other"), a=census([a_member("p", "Running")]))

    assert queue_status(a_queue(), scene).wire() == {
        "state": "Open", "pending": 1, "inqueue": 1, "running": 1, "unknown": 0, "completed": 0,
        "allocated": {"cpu": "500m"},
    }  # fmt: skip
    assert queue_status(a_queue(state="Closed"), scene).state == "Closed"
