"""Which pod goes to which node, and why one goes nowhere."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import NOW, a_node, a_pod

from paddlecloud.api.core import Node, Pod
from paddlecloud.scheduler.placement import place, requests
from paddlecloud.scheduler.quantities import number

GPU: dict[str, Any] = {"nvidia.com/gpu": 1}


def asking(name: str, node: str = "", **wanted: Any) -> Pod:
    spec: dict[str, Any] = {"containers": [{"name": "main", "resources": {"requests": wanted}}]}
    return a_pod(name, "Pending", spec=spec | ({"nodeName": node} if node else {}))


def selecting(name: str, **labels: str) -> Pod:
    return a_pod(name, "Pending", spec={"nodeSelector": labels})


def placed(waiting: list[Pod], nodes: list[Node], there: list[Pod] | None = None) -> dict[str, str]:
    return {p.pod.name: p.node or p.reason for p in place(waiting, nodes, there or [])}


@pytest.mark.parametrize(
    "pod, node, result",
    [
        (asking("p"), a_node(), "node-0"),
        (asking("p", cpu="2"), a_node(cpu="2"), "node-0"),
        (asking("p", cpu="2500m"), a_node(cpu="2"),
         "0/1 nodes are available: 1 has too little cpu (asked 2.5, free 2)"),
        (asking("p", **GPU), a_node(),
         "0/1 nodes are available: 1 has too little nvidia.com/gpu (asked 1, free 0)"),
        (asking("p"), a_node(ready=False), "0/1 nodes are available: 1 is not ready"),
        (asking("p"), a_node().but(spec={"unschedulable": True}), "0/1 nodes are available: 1 is cordoned"),
        (asking("p"), a_node(pods="0"), "0/1 nodes are available: 1 has too little pods (asked 1, free 0)"),
        (selecting("p", disk="ssd"), a_node(),
         "0/1 nodes are available: 1 lacks the label disk=ssd"),
        (selecting("p", disk="ssd"), a_node(labels={"disk": "ssd"}), "node-0"),
    ],
)  # fmt: skip
def test_a_node_must_fit_and_a_misfit_is_explained(pod: Pod, node: Node, result: str) -> None:
    assert placed([pod], [node]) == {"p": result}


def test_the_same_trouble_is_counted() -> None:
    nodes = [a_node("a", ready=False), a_node("b", ready=False), a_node("c", cpu="1")]

    assert placed([asking("p", cpu=2)], nodes) == {
        "p": "0/3 nodes are available: 1 has too little cpu (asked 2, free 1), 2 is not ready"
    }


def test_without_nodes_that_is_the_reason() -> None:
    assert placed([asking("p")], []) == {"p": "0/0 nodes are available: there is no node"}


def test_the_emptiest_node_is_taken_and_filled() -> None:
    nodes = [a_node("a", cpu="2"), a_node("b", cpu="3")]
    pods = [asking(f"p{i}", cpu="2") for i in range(3)]

    assert placed(pods, nodes) == {
        "p0": "b", "p1": "a",
        "p2": "0/2 nodes are available: 1 has too little cpu (asked 2, free 0), "
              "1 has too little cpu (asked 2, free 1)",
    }  # fmt: skip


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
    assert placed([asking("p", cpu="2")], [a_node()], [there])["p"].startswith(result)


def test_the_oldest_pod_comes_first() -> None:
    def born(pod: Pod, minutes: int) -> Pod:
        return pod.but(metadata=pod.metadata.but(creation_timestamp=NOW + timedelta(minutes=minutes)))

    pods = [born(asking("young", cpu="2"), 2), born(asking("old", cpu="2"), 1)]

    assert placed(pods, [a_node()])["old"] == "node-0"


def test_a_pod_that_makes_no_sense_keeps_no_other_from_its_node() -> None:
    result = placed([asking("odd", cpu="lots"), asking("p")], [a_node()])

    assert result["p"] == "node-0"
    assert "'lots' is no quantity" in result["odd"]


def test_a_pod_asks_for_its_containers_together_or_its_largest_init_container() -> None:
    def container(**wanted: Any) -> dict[str, Any]:
        return {"resources": {"requests": wanted}}

    limited = {"resources": {"limits": {"cpu": "1"}}}  # a limit without a request is a request
    spec = {
        "initContainers": [container(cpu="4", memory="1Ki"), container(cpu="3")],
        "containers": [container(cpu="1", memory="1Ki"), container(memory="1Ki"), limited],
    }

    assert requests(a_pod("p", spec=spec)) == {"pods": 1, "cpu": 4, "memory": 2048}


@pytest.mark.parametrize(
    "text, value",
    [
        ("2", 2), (2, 2), (0.5, 0.5), ("500m", 0.5), ("1.5Gi", 1.5 * 2**30), ("2Mi", 2**21), ("1k", 1e3),
        ("1e3", 1e3), ("1E3", 1e3), ("1E", 1e18), ("2Ei", 2**61), (".5", 0.5), ("5.", 5), ("100u", 1e-4),
        ("10n", 1e-8), ("-1", -1), (" 3 ", 3),
    ],
)  # fmt: skip
def test_quantities(text: Any, value: float) -> None:
    assert number(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "lots", "5mi", "5ki", "5KI", "1 Gi", "1GiB", "m", None, "0x10", "1e"])
def test_what_is_no_quantity_is_told(text: Any) -> None:
    with pytest.raises(ValueError, match="is no quantity"):
        number(text)
