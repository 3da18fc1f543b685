"""What the use of pods asks for: the ratio to the target, and pods that start or were not measured."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from paddlecloud.api.core import Pod
from paddlecloud.embedded.workloads.podload import Unmeasured, pods_asked
from paddlecloud.embedded.workloads.stamps import stamp

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
HALF: dict[str, Any] = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
}
MEMORY: dict[str, Any] = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "100Mi"}},
}


def pod(
    name: str,
    *,
    ready: str = "True",
    age: int = 9999,
    ready_for: int = 3000,
    cpu: str = "200m",
    **status: Any,
) -> Pod:
    since = stamp(NOW - timedelta(seconds=ready_for))
    told = {
        "phase": "Running",
        "startTime": stamp(NOW - timedelta(seconds=age)),
        "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": since}],
    }
    resources = {"requests": {"cpu": cpu}} if cpu else {}
    body = {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "server", "resources": resources}]},
        "status": told | status,
    }
    return Pod.model_validate(body)


def used(**cpu: str) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "timestamp": stamp(NOW),
            "window": "15.000s",
            "containers": [{"name": "server", "usage": {"cpu": amount, "memory": "204800Ki"}}],
        }
        for name, amount in cpu.items()
    }


@pytest.mark.parametrize(
    "pods, usage, current, wanted",
    [
        ([pod("a")], used(a="100m"), 1, 1),
        ([pod("a")], used(a="109m"), 1, 1),
        ([pod("a")], used(a="400000000n"), 1, 4),
        ([pod("a"), pod("b")], used(a="200m", b="0"), 2, 2),
        ([pod("a"), pod("b"), pod("c")], used(a="10m", b="10m", c="10m"), 3, 1),
        # One that starts is taken for idle when more are asked for, and not at all when fewer are.
        ([pod("a"), pod("b", ready="False", age=10, ready_for=5)], used(a="300m", b="900m"), 2, 3),
        ([pod("a"), pod("b", phase="Pending")], used(a="300m"), 2, 3),
        ([pod("a"), pod("b", phase="Pending")], used(a="150m"), 2, 2),
        ([pod("a"), pod("b", age=30, ready_for=5)], used(a="10m", b="900m"), 2, 1),
        # One that nobody measured is idle when more are asked for, and fully busy when fewer are.
        ([pod("a"), pod("b")], used(a="500m"), 2, 5),
        ([pod("a"), pod("b")], used(a="150m"), 2, 2),
        ([pod("a"), pod("b")], used(a="0"), 2, 2),
        # One that failed is none.
        ([pod("a"), pod("b", phase="Failed")], used(a="100m", b="900m"), 1, 1),
    ],
)
def test_how_many_pods_their_processors_ask_for(
    pods: list[Pod], usage: dict[str, dict[str, Any]], current: int, wanted: int
) -> None:
    assert pods_asked(HALF, current, pods, usage, NOW).pods == wanted


def test_what_is_shown_of_it() -> None:
    asked = pods_asked(HALF, 1, [pod("a")], used(a="150m"), NOW)

    shown = {"averageUtilization": 75, "averageValue": "150m"}
    assert asked.current == {"type": "Resource", "resource": {"name": "cpu", "current": shown}}
    assert asked.name == "cpu resource utilization (percentage of request)"


def test_an_amount_a_pod_needs_no_requests() -> None:
    assert pods_asked(MEMORY, 2, [pod("a", cpu=""), pod("b", cpu="")], used(a="0", b="0"), NOW).pods == 4


@pytest.mark.parametrize(
    "metric, pods, usage, reason, words",
    [
        (HALF, [pod("a", cpu="")], used(a="1"), "FailedGetResourceMetric",
         "missing request for cpu in container server of Pod a"),
        (HALF, [pod("a")], {}, "FailedGetResourceMetric", "no metrics of ready pods"),
        (HALF, [pod("a", age=20, ready_for=3)], used(a="900m"), "FailedGetResourceMetric", "no metrics of"),
        ({"type": "Pods", "pods": {"metric": {"name": "concurrency"}, "target": {}}}, [pod("a")], used(a="1"),
         "FailedGetPodsMetric", "unable to get metric concurrency"),
    ],
)  # fmt: skip
def test_what_cannot_be_said(
    metric: dict[str, Any], pods: list[Pod], usage: dict[str, dict[str, Any]], reason: str, words: str
) -> None:
    with pytest.raises(Unmeasured, match=words) as told:
        pods_asked(metric, 1, pods, usage, NOW)

    assert told.value.reason == reason
