"""Strategic merge patches on small schemas."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from paddlecloud.embedded.server.strategic import strategic_merge
from paddlecloud.embedded.server.typed import Type
from paddlecloud.errors import ApiError, BadRequest, ServerError

MERGE = {"x-kubernetes-patch-strategy": "merge"}
OF = Type(
    {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "x-kubernetes-patch-merge-key": "name",
                **MERGE,
                "items": {
                    "type": "object",
                    "properties": {"values": {"type": "array", "items": {"type": "string"}, **MERGE}},
                },
            },
            "values": {"type": "array", "items": {"type": "string"}, **MERGE},
            "plain": {"type": "array", "items": {"type": "string"}},
            "whole": {"type": "object", "x-kubernetes-patch-strategy": "replace"},
            "source": {"type": "object", "x-kubernetes-patch-strategy": "retainKeys"},
        },
    }
)


def named(*names: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in names]


@pytest.mark.parametrize(
    "old, patch, new",
    [
        ({"a": 1}, {"a": 2, "b": 3}, {"a": 2, "b": 3}),
        ({"a": 1}, {"a": None, "z": None}, {}),
        ({}, {"m": {"a": None, "b": [{"c": None}]}}, {"m": {"b": [{}]}}),
        ({"m": {"a": 1}}, {"m": {"b": 2}}, {"m": {"a": 1, "b": 2}}),
        ({"whole": {"a": 1}}, {"whole": {"b": 2}}, {"whole": {"b": 2}}),
        ({"m": {"a": 1}}, {"m": {"$patch": "delete"}}, {"m": {}}),
        ({}, {"m": {"$patch": "delete"}}, {}),
        ({"m": {"a": 1}}, {"m": {"$patch": "replace", "b": 2}}, {"m": {"b": 2}}),
        ({"source": {"a": 1, "b": 2}}, {"source": {"$retainKeys": ["c"], "c": 3}}, {"source": {"c": 3}}),
        ({"plain": ["a"]}, {"plain": ["b"]}, {"plain": ["b"]}),
        ({"values": ["a", "b"]}, {"values": ["c", "a"]}, {"values": ["c", "a", "b"]}),
        ({"values": ["a", "b"]}, {"$deleteFromPrimitiveList/values": ["a"]}, {"values": ["b"]}),
        ({}, {"$deleteFromPrimitiveList/values": ["a"]}, {}),
        ({"values": ["a", "b"]}, {"$setElementOrder/values": ["b", "a"]}, {"values": ["b", "a"]}),
        ({"items": named("a")}, {"items": [{"name": "a", "x": 1}]}, {"items": [{"name": "a", "x": 1}]}),
        ({"items": named("a", "b")}, {"items": [{"name": "a", "$patch": "delete"}]}, {"items": named("b")}),
        ({"items": named("a")}, {"items": [{"$patch": "replace"}, *named("z")]}, {"items": named("z")}),
        ({"items": named("a", "b")}, {"items": named("c", "a")}, {"items": named("c", "a", "b")}),
        ({"items": named("a", "b", "c")}, {"items": named("c", "a")}, {"items": named("b", "c", "a")}),
        (
            {"items": [{"name": "a", "values": ["x"]}]},
            {"items": [{"name": "a", "$deleteFromPrimitiveList/values": ["x"], "values": ["y"]}]},
            {"items": [{"name": "a", "values": ["y"]}]},
        ),
        (
            {"items": named("a", "b", "c")},
            {"$setElementOrder/items": named("new", "c", "a"), "items": named("new")},
            {"items": named("new", "b", "c", "a")},
        ),
        ({}, {"$setElementOrder/items": named("a")}, {}),
    ],
)
def test_a_patch_makes_this_of_an_object(old: Any, patch: Any, new: Any) -> None:
    before, sent = copy.deepcopy(old), copy.deepcopy(patch)
    assert strategic_merge(old, patch, OF) == new
    assert (old, patch) == (before, sent), "the arguments were changed"


@pytest.mark.parametrize(
    "patch, error, message",
    [
        ({"items": [{"x": 1}]}, ServerError, "map: map[x:1] does not contain declared merge key: name"),
        ({"items": [{"$patch": "delete"}]}, ServerError, "does not contain declared merge key: name"),
        ({"items": [{"name": "a", "$patch": "merge"}]}, ServerError, "merging lists cannot yet be specified"),
        ({"m": {"$patch": "eat"}}, ServerError, "unknown patch type: eat in map: map[$patch:eat]"),
        ({"m": {"$retainKeys": ["a"], "b": 1}}, BadRequest, "invalid patch format of retainKeys"),
        (
            {"$setElementOrder/items": named("b"), "items": named("a")},
            ServerError,
            "doesn't match $setElementOrder list:\n[map[name:b]]\n",
        ),
        ({"$setElementOrder/items": {}}, ServerError, "expected a []interface {}, but received a map"),
    ],
)
def test_a_patch_that_makes_no_sense_is_refused(patch: Any, error: type[ApiError], message: str) -> None:
    with pytest.raises(error) as caught:
        strategic_merge({"items": named("a"), "m": {"a": 1}}, patch, OF)
    assert message in caught.value.message
