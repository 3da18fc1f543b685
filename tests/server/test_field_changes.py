"""Which fields differ between two states of an object."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.test_field_sets import SHAPE

from paddlecloud.embedded.server.changes import compared
from paddlecloud.embedded.server.shapes import DEDUCED

PORT = 'k:{"port":80,"protocol":"TCP"}'


@pytest.mark.parametrize(
    "old, new, changed, removed",
    [
        ({}, {}, {}, {}),
        ({}, {"text": "a"}, {"f:text": {}}, {}),
        ({"text": "a"}, {"text": "b"}, {"f:text": {}}, {}),
        ({"text": "a"}, {}, {}, {"f:text": {}}),
        ({}, {"labels": {"x": "y"}}, {"f:labels": {".": {}, "f:x": {}}}, {}),
        ({"labels": None}, {"labels": {"x": "y"}}, {"f:labels": {"f:x": {}}}, {}),
        (
            {"labels": {"x": "y"}},
            {"labels": {"z": "y"}},
            {"f:labels": {"f:z": {}}},
            {"f:labels": {"f:x": {}}},
        ),
        ({"labels": {"x": "y"}}, {"labels": None}, {}, {"f:labels": {"f:x": {}}}),
        ({"labels": {}}, {"labels": None}, {"f:labels": {}}, {}),
        ({"selector": {"x": "y"}}, {"selector": {"x": "y", "z": "1"}}, {"f:selector": {}}, {}),
        ({"args": ["a"]}, {"args": ["a", "b"]}, {"f:args": {}}, {}),
        ({"tags": ["a", "b"]}, {"tags": ["b", "c"]}, {"f:tags": {'v:"c"': {}}}, {"f:tags": {'v:"a"': {}}}),
        ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}, {}, {}),
        (
            {"ports": [{"port": 80}]},
            {"ports": [{"port": 80, "protocol": "TCP", "name": "x"}]},
            {"f:ports": {PORT: {"f:protocol": {}, "f:name": {}}}},
            {},
        ),
        (
            {"ports": [{"port": 80}]},
            {"ports": [{"port": 80}, {"port": 80}]},
            {"f:ports": {PORT: {}}},
            {"f:ports": {PORT: {".": {}, "f:port": {}}}},
        ),
    ],
)
def test_the_changes_between_two_states(old: Any, new: Any, changed: Any, removed: Any) -> None:
    assert compared(old, new, SHAPE) == (changed, removed)


@pytest.mark.parametrize(
    "old, new, changed, removed",
    [
        (1, {"a": 1}, {"f:v": {".": {}, "f:a": {}}}, {}),
        ({"a": 1}, 1, {"f:v": {}}, {"f:v": {"f:a": {}}}),
        ([1], [2], {"f:v": {}}, {}),
        (None, [2], {"f:v": {}}, {}),
    ],
)
def test_a_value_without_a_schema_may_become_another_thing(
    old: Any, new: Any, changed: Any, removed: Any
) -> None:
    assert compared({"v": old}, {"v": new}, DEDUCED) == (changed, removed)
