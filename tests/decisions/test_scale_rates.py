"""How fast an autoscaler may go and how long it hesitates, in the numbers of Kubernetes' documentation."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.embedded.workloads.scalerates import Past, allowed

NOW = 1000.0
AT_ONCE = {"scaleDown": {"stabilizationWindowSeconds": 0}}


def policy(direction: str, kind: str, value: int, **rules: Any) -> dict[str, Any]:
    policies = [{"type": kind, "value": value, "periodSeconds": 60}]
    return {direction: {"stabilizationWindowSeconds": 0, "policies": policies, **rules}}


@pytest.mark.parametrize(
    "behavior, current, wanted, past, pods, reason",
    [
        ({}, 3, 3, Past(), 3, ""),
        ({}, 1, 3, Past(), 3, ""),
        # Four more, or as many again, within a quarter of a minute.
        ({}, 1, 50, Past(), 5, "ScaleUpLimit"),
        ({}, 10, 50, Past(), 20, "ScaleUpLimit"),
        ({}, 5, 50, Past(changes=((NOW - 5, 4),)), 5, "ScaleUpLimit"),
        ({}, 5, 50, Past(changes=((NOW - 20, 4),)), 10, "ScaleUpLimit"),
        ({}, 90, 120, Past(), 100, "TooManyReplicas"),
        # Fewer only when nobody asked for more within five minutes.
        ({}, 8, 2, Past(asked=((NOW - 100, 6),)), 6, ""),
        ({}, 8, 2, Past(asked=((NOW - 301, 6),)), 2, ""),
        ({}, 8, 1, Past(), 2, "TooFewReplicas"),
        (AT_ONCE, 8, 3, Past(asked=((NOW - 1, 8),)), 3, ""),
        ({"scaleUp": {"stabilizationWindowSeconds": 60}}, 2, 9, Past(asked=((NOW - 30, 3),)), 3, ""),
        (policy("scaleUp", "Pods", 1), 4, 9, Past(), 5, "ScaleUpLimit"),
        (policy("scaleUp", "Pods", 1), 4, 9, Past(changes=((NOW - 30, 1),)), 4, "ScaleUpLimit"),
        (policy("scaleDown", "Pods", 2), 9, 3, Past(), 7, "ScaleDownLimit"),
        (policy("scaleDown", "Percent", 10), 40, 3, Past(), 36, "ScaleDownLimit"),
        (policy("scaleDown", "Pods", 2, selectPolicy="Disabled"), 9, 3, Past(), 9, "ScaleDownLimit"),
    ],
)
def test_the_next_number(
    behavior: dict[str, Any], current: int, wanted: int, past: Past, pods: int, reason: str
) -> None:
    spec = {"minReplicas": 2 if wanted == 1 else 1, "maxReplicas": 100, "behavior": behavior}

    verdict = allowed(spec, current, wanted, past, NOW)

    assert (verdict.pods, verdict.limited[0]) == (pods, reason)


@pytest.mark.parametrize("choose, pods", [("Max", 20), ("Min", 14)])
def test_of_several_policies_the_one_that_is_chosen(choose: str, pods: int) -> None:
    rules = {"policies": [{"type": "Pods", "value": 4, "periodSeconds": 15},
                          {"type": "Percent", "value": 100, "periodSeconds": 15}],
             "selectPolicy": choose}  # fmt: skip

    assert allowed({"maxReplicas": 50, "behavior": {"scaleUp": rules}}, 10, 40, Past(), NOW).pods == pods


def test_what_is_longer_ago_than_any_window_is_forgotten() -> None:
    past = Past(((1.0, 5),), ((1.0, 2),)).but(4000.0, asked=3, change=-1)

    assert past == Past(((4000.0, 3),), ((4000.0, -1),))
