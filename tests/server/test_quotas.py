"""Quantities and quotas as arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.embedded.server import quota
from paddlecloud.embedded.server.quantities import Quantity, parse


@pytest.mark.parametrize(
    "text, value, shown",
    [
        ("1", 1, "1"),
        ("500m", 0.5, "500m"),
        ("0.5", 0.5, "500m"),
        ("1500m", 1.5, "1500m"),
        ("2000m", 2, "2"),
        ("1Gi", 1024**3, "1Gi"),
        ("1024Mi", 1024**3, "1Gi"),
        ("1.5Gi", 3 * 1024**3 // 2, "1536Mi"),
        ("1000", 1000, "1k"),
        ("1e3", 1000, "1k"),
        ("2G", 2 * 10**9, "2G"),
        ("0", 0, "0"),
        ("-1", -1, "-1"),
        ("100u", 0.0001, "100u"),
    ],
)
def test_a_quantity_is_its_value_and_prints_in_its_family(text: str, value: float, shown: str) -> None:
    assert float(parse(text).value) == value
    assert str(parse(text)) == shown


@pytest.mark.parametrize("text", ["", "x", "1KiB", "1 Gi", "--1", "1e", "Gi"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="quantities must match"):
        parse(text)


def test_a_sum_has_the_family_of_its_first_amount() -> None:
    assert str(parse("1Gi") + parse("1Gi")) == "2Gi"
    assert str(Quantity(0) + parse("100Mi")) == "100Mi"
    assert str(parse("500m") + parse("500m")) == "1"


def pod(*requests: str, init: str = "", phase: str = "Pending") -> dict[str, Any]:
    def container(name: str, cpu: str) -> dict[str, Any]:
        return {"name": name, "resources": {"requests": {"cpu": cpu}}}

    spec: dict[str, Any] = {"containers": [container(f"c{i}", cpu) for i, cpu in enumerate(requests)]}
    if init:
        spec["initContainers"] = [container("first", init)]
    return {"metadata": {"name": "p"}, "spec": spec, "status": {"phase": phase}}


@pytest.mark.parametrize(
    "body, cpu",
    [
        (pod("500m"), "500m"),
        (pod("500m", "1"), "1500m"),
        (pod("500m", init="2"), "2"),
        (pod("3", init="2"), "3"),
    ],
)
def test_a_pod_uses_the_sum_of_its_containers_or_its_largest_beginning(body: Any, cpu: str) -> None:
    used = quota.uses("/pods", body)
    assert (str(used["requests.cpu"]), str(used["cpu"]), str(used["pods"])) == (cpu, cpu, "1")


def test_a_finished_pod_is_counted_and_uses_nothing() -> None:
    assert {k: str(v) for k, v in quota.uses("/pods", pod("1", phase="Failed")).items()} == {
        "count/pods": "1"
    }


def test_what_is_limited_and_not_asked_for_is_asked_for() -> None:
    body: dict[str, Any] = {
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"memory": "1Gi"}}}]}
    }
    assert str(quota.uses("/pods", body)["requests.memory"]) == "1Gi"


def limit(used: dict[str, str], **hard: str) -> dict[str, Any]:
    return {"metadata": {"name": "q"}, "spec": {"hard": hard}, "status": {"hard": hard, "used": used}}


@pytest.mark.parametrize(
    "used, asked, text",
    [
        ({"pods": "1"}, 1, ""),
        ({"pods": "2"}, 1, "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"),
        ({}, 3, "exceeded quota: q, requested: pods=3, used: pods=0, limited: pods=2"),
        ({"pods": "5"}, 0, ""),
    ],
)
def test_what_does_not_fit_is_told_in_one_sentence(used: dict[str, str], asked: int, text: str) -> None:
    assert quota.exceeded(limit(used, pods="2"), {"pods": Quantity(asked)}) == text


def test_the_status_names_what_is_limited_and_nothing_else() -> None:
    used = {"pods": Quantity(1), "secrets": Quantity(4)}
    assert quota.status_of(limit({}, pods="2", services="1"), used) == {
        "hard": {"pods": "2", "services": "1"},
        "used": {"pods": "1", "services": "0"},
    }
