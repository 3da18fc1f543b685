"""Structural schemas: what the contracts check over HTTP, and the corners they leave out."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.api.crds import crd
from paddlecloud.api.kinds import EMBEDDED_ONLY, OURS
from paddlecloud.embedded.server.structural import problems

TEXT = {"type": "string"}
EITHER = "x-kubernetes-int-or-string"


def found(schema: Any) -> list[str]:
    body = {"type": "object", "properties": {"a": schema}}
    return [f"{v.field}: {v.message}" for v in problems(body, "s")]


@pytest.mark.parametrize("kind", [*OURS, *EMBEDDED_ONLY])
def test_our_own_kinds_are_structural(kind: Any) -> None:
    [version] = crd(kind)["spec"]["versions"]
    assert list(problems(version["schema"]["openAPIV3Schema"], "s")) == []


@pytest.mark.parametrize(
    "schema",
    [
        {EITHER: True, "allOf": [{"anyOf": [{"type": "integer"}, TEXT]}, {"pattern": "x"}]},
        {"x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "properties": {"b": TEXT}, "anyOf": [{"properties": {"b": {"minLength": 1}}}]},
        {"type": "array", "items": {"type": "array", "items": TEXT}, "x-kubernetes-list-type": "set"},
        {**TEXT, "default": None},
    ],
)  # fmt: skip
def test_what_only_looks_wrong_is_taken(schema: Any) -> None:
    assert found(schema) == []


def test_every_problem_is_told_at_once() -> None:
    schema = {"type": "object", "properties": {"b": {}, "c": {"type": "array"}}}
    assert found(schema) == [
        "s.properties[a].properties[b].type: Required value: must not be empty for specified object fields",
        "s.properties[a].properties[c].items: Required value: must be specified",
    ]


def test_a_junctor_restricts_deep_inside_and_never_describes() -> None:
    schema = {**TEXT, "allOf": [{"anyOf": [{"not": {"properties": {"x": {"title": "t"}}}}]}]}
    assert found(schema) == [
        "s.properties[a].allOf[0].anyOf[0].not.properties[x].title: Forbidden: must be empty to be structural"
    ]


def test_items_of_a_set_that_are_objects_are_atomic() -> None:
    items = {"type": "object", "x-kubernetes-map-type": "granular"}
    schema = {"type": "array", "items": items, "x-kubernetes-list-type": "set"}
    assert found(schema) == [
        's.properties[a].items.x-kubernetes-map-type: Invalid value: "granular": must be atomic as item of a '
        "list with x-kubernetes-list-type=set"
    ]
