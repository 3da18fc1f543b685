"""Merging an applied configuration: order of lists, what is taken away, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.test_field_sets import SHAPE

from paddlecloud.embedded.server.merging import laid_over, problems, taken_away


def ports(*numbers: int) -> dict[str, Any]:
    return {"ports": [{"port": n} for n in numbers]}


@pytest.mark.parametrize(
    "old, new, result",
    [
        ((1, 2, 3), (3, 1), (2, 3, 1)),
        ((1, 2), (3,), (1, 2, 3)),
        ((1, 2), (3, 2), (1, 3, 2)),
        ((1, 2, 3), (3, 2, 1), (3, 2, 1)),
        ((), (2, 1), (2, 1)),
        ((1, 2, 3), (), (1, 2, 3)),
        ((1, 2, 3), (3, 4, 1), (2, 3, 4, 1)),
    ],
)
def test_items_come_in_the_order_of_the_configuration(old: Any, new: Any, result: Any) -> None:
    assert laid_over(ports(*old), ports(*new), SHAPE) == ports(*result)


@pytest.mark.parametrize(
    "old, new, result",
    [
        ({"labels": {"a": "1"}}, {"labels": {"b": "2"}}, {"labels": {"a": "1", "b": "2"}}),
        ({"selector": {"a": "1"}}, {"selector": {"b": "2"}}, {"selector": {"b": "2"}}),
        ({"args": ["a"]}, {"args": ["b"]}, {"args": ["b"]}),
        ({"tags": ["a"]}, {"tags": ["b", "a"]}, {"tags": ["b", "a"]}),
        ({"text": "a"}, {"text": None}, {"text": None}),
    ],
)
def test_what_is_said_wins_and_the_rest_stays(old: Any, new: Any, result: Any) -> None:
    assert laid_over(old, new, SHAPE) == result


@pytest.mark.parametrize("nulls, left", [(True, {"labels": None}), (False, None)])
def test_a_map_without_its_last_part_is_null_or_gone(nulls: bool, left: Any) -> None:
    body = {"labels": {"a": "1"}}
    assert taken_away(body, {"f:labels": {"f:a": {}}}, SHAPE, nulls=nulls) == left


def test_items_are_taken_away_by_their_keys() -> None:
    gone: dict[str, Any] = {"f:ports": {'k:{"port":1,"protocol":"TCP"}': {".": {}, "f:port": {}}}}
    assert taken_away(ports(1, 2), gone, SHAPE) == ports(2)


@pytest.mark.parametrize(
    "config, found",
    [
        ({"text": "a", "labels": {"x": "y"}, "free": {"any": [1]}}, []),
        ({"colour": 1}, [".colour: field not declared in schema"]),
        (
            ports(1, 1),
            ['.ports: duplicate entries for key [port=1,protocol="TCP"]'],
        ),
        (
            {"ports": [{"name": "x"}]},
            [
                '.ports: element 0: associative list with keys has an element that omits key field "port" '
                "(and doesn't have default value)"
            ],
        ),
        ({"inner": {"x": "1"}}, [".inner.x: expected numeric (int or float), got string"]),
        ({"text": 5}, [".text: expected string, got &value.valueUnstructured{Value:5}"]),
    ],
)
def test_what_is_wrong_with_a_configuration(config: Any, found: list[str]) -> None:
    assert problems(config, SHAPE) == found
