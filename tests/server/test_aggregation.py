"""Roles made of roles."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.embedded.server.aggregation import aggregated

GET = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
LIST = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}


def part(name: str, *rules: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}, "rules": list(rules)}


def whole(name: str, *selectors: dict[str, Any], rules: Any = None, **labels: str) -> dict[str, Any]:
    rule = {"clusterRoleSelectors": list(selectors)}
    return {"metadata": {"name": name, "labels": labels}, "aggregationRule": rule, "rules": rules}


ALL = {"matchLabels": {"part": "yes"}}


def test_a_sum_has_the_rules_of_its_parts_once_each() -> None:
    roles = [whole("sum", ALL), part("b", LIST, GET, part="yes"), part("a", GET, part="yes"), part("c", LIST)]
    assert aggregated(roles) == {"sum": [GET, LIST]}


def test_a_sum_that_is_right_is_left_alone() -> None:
    assert aggregated([whole("sum", ALL, rules=[GET]), part("a", GET, part="yes")]) == {}


def test_a_part_that_is_gone_takes_its_rules_along() -> None:
    assert aggregated([whole("sum", ALL, rules=[GET])]) == {"sum": []}


def test_a_sum_may_be_a_part_of_another() -> None:
    more = {"matchLabels": {"more": "yes"}}
    roles = [whole("a-large", more), whole("small", ALL, more="yes"), part("p", GET, part="yes")]
    assert aggregated(roles) == {"small": [GET], "a-large": [GET]}


def test_two_sums_that_contain_each_other_come_to_an_end() -> None:
    roles = [
        whole("one", {"matchLabels": {"two": "yes"}}, one="yes", rules=[GET]),
        whole("two", {"matchLabels": {"one": "yes"}}, two="yes"),
    ]
    assert aggregated(roles).keys() <= {"one", "two"}


@pytest.mark.parametrize(
    "expression, chosen",
    [
        ({"key": "part", "operator": "In", "values": ["yes", "no"]}, True),
        ({"key": "part", "operator": "In", "values": ["no"]}, False),
        ({"key": "part", "operator": "NotIn", "values": ["no"]}, True),
        ({"key": "part", "operator": "Exists"}, True),
        ({"key": "part", "operator": "DoesNotExist"}, False),
        ({"key": "other", "operator": "DoesNotExist"}, True),
        ({"key": "part", "operator": "Sounds"}, False),
    ],
)
def test_parts_are_chosen_by_expressions_too(expression: dict[str, Any], chosen: bool) -> None:
    roles = [whole("sum", {"matchExpressions": [expression]}), part("p", GET, part="yes")]
    assert aggregated(roles).get("sum", []) == ([GET] if chosen else [])
