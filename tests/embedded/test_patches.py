"""JSON patch and JSON merge patch."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from paddlecloud.embedded.server.patches import JSON, MERGE, patched
from paddlecloud.errors import BadRequest, Invalid

# The examples of RFC 7386 that can be bodies of objects.
MERGES: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ({"a": "text"}, {"a": {"b": 1}}, {"a": {"b": 1}}),
]


@pytest.mark.parametrize("body, patch, result", MERGES)
def test_a_merge_patch_says_only_what_changes(body: Any, patch: Any, result: Any) -> None:
    original = copy.deepcopy(body)

    assert patched(body, patch, MERGE) == result
    assert body == original


@pytest.mark.parametrize(
    "body, operations, result",
    [
        ({"a": 1}, [{"op": "add", "path": "/b", "value": 2}], {"a": 1, "b": 2}),
        ({"a": [1, 3]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2, 3]}),
        ({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}], {"a": [1, 2]}),
        ({"a": 1}, [{"op": "remove", "path": "/a"}], {}),
        ({"a": [1, 2]}, [{"op": "remove", "path": "/a/0"}], {"a": [2]}),
        ({"a": 1}, [{"op": "replace", "path": "/a", "value": {"b": 2}}], {"a": {"b": 2}}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": {"c": 3}}], {"c": 3}),
        ({"a": {"x": 1}}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": {"x": 1}, "b": {"x": 1}}),
        ({"a": {"x": 1}}, [{"op": "move", "from": "/a/x", "path": "/y"}], {"a": {}, "y": 1}),
        ({"a": [1]}, [{"op": "test", "path": "/a", "value": [1]}], {"a": [1]}),
        ({"a/b": 1, "m~n": 2}, [{"op": "remove", "path": "/a~1b"}, {"op": "remove", "path": "/m~0n"}], {}),
        ({}, [], {}),
    ],
)
def test_a_json_patch_is_carried_out_step_by_step(body: Any, operations: Any, result: Any) -> None:
    original = copy.deepcopy(body)

    assert patched(body, operations, JSON) == result
    assert body == original


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/no"},
        {"op": "replace", "path": "/no", "value": 1},
        {"op": "test", "path": "/a", "value": 2},
        {"op": "add", "path": "/a/b", "value": 1},
        {"op": "add", "path": "/list/x", "value": 1},
        {"op": "add", "path": "/list/7", "value": 1},
        {"op": "add", "path": "a", "value": 1},
        {"op": "add", "path": "/b"},
        {"op": "copy", "path": "/b"},
        {"op": "shout", "path": "/a"},
        {"op": "add", "path": 7, "value": 1},
    ],
)
def test_an_operation_that_cannot_be_done_refuses_the_whole_patch(operation: dict[str, Any]) -> None:
    body = {"a": 1, "list": [1]}
    with pytest.raises(Invalid, match="the server rejected our request"):
        patched(body, [{"op": "add", "path": "/new", "value": 1}, operation], JSON)

    assert body == {"a": 1, "list": [1]}


@pytest.mark.parametrize(
    "patch, form", [({}, JSON), ([1], JSON), ([{"op": "add"}], JSON), ([], MERGE), ("text", MERGE)]
)
def test_what_is_no_patch_is_refused(patch: Any, form: str) -> None:
    with pytest.raises(BadRequest):
        patched({}, patch, form)


def test_a_json_patch_may_not_turn_an_object_into_something_else() -> None:
    with pytest.raises(Invalid):
        patched({"a": 1}, [{"op": "replace", "path": "", "value": 7}], JSON)
