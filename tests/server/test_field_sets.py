"""Sets of fields: their algebra, and what they are of an object."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.embedded.server import fields
from paddlecloud.embedded.server.fields import difference, intersection, union, with_names, without
from paddlecloud.embedded.server.shapes import DEDUCED, Shape, Unkeyed
from paddlecloud.embedded.server.typed import Type

Fields = dict[str, Any]
A: Fields = {"f:a": {}}
AB: Fields = {"f:a": {"f:b": {}}}
A_AND_AB: Fields = {"f:a": {".": {}, "f:b": {}}}
SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "selector": {"type": "object", "x-kubernetes-map-type": "atomic"},
        "args": {"type": "array", "items": {"type": "string"}},
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {
                "type": "object",
                "properties": {
                    "port": {"type": "integer"},
                    "protocol": {"type": "string", "default": "TCP"},
                    "name": {"type": "string"},
                },
            },
        },
        "inner": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
SHAPE = Shape(Type(SCHEMA))


@pytest.mark.parametrize(
    "left, right, both",
    [
        ({}, A, A),
        (A, {}, A),
        (A, A, A),
        (A, AB, A_AND_AB),
        (AB, A, A_AND_AB),
        (AB, {"f:a": {"f:c": {}}}, {"f:a": {"f:b": {}, "f:c": {}}}),
        (A, {"f:z": {}}, {"f:a": {}, "f:z": {}}),
    ],
)
def test_a_union_has_what_either_has(left: Fields, right: Fields, both: Fields) -> None:
    assert union(left, right) == both


@pytest.mark.parametrize(
    "left, right, rest",
    [
        (A, A, {}),
        (A, AB, A),
        (AB, A, AB),
        (A_AND_AB, A, AB),
        (A_AND_AB, AB, A),
        (A_AND_AB, A_AND_AB, {}),
        (AB, {}, AB),
    ],
)
def test_a_difference_has_what_only_the_first_has(left: Fields, right: Fields, rest: Fields) -> None:
    assert difference(left, right) == rest


@pytest.mark.parametrize(
    "left, right, common",
    [(A, A, A), (A, AB, {}), (A_AND_AB, A, A), (A_AND_AB, AB, AB), (AB, {"f:z": {}}, {}), ({}, A, {})],
)
def test_an_intersection_has_what_both_have(left: Fields, right: Fields, common: Fields) -> None:
    assert intersection(left, right) == common
    assert intersection(right, left) == common


@pytest.mark.parametrize("sets", [(A, AB), (A_AND_AB, AB), (AB, {"f:a": {"f:c": {}}, "f:z": {}})])
def test_the_operations_agree_with_each_other(sets: tuple[Fields, Fields]) -> None:
    left, right = sets
    parts = union(union(difference(left, right), difference(right, left)), intersection(left, right))
    assert parts == union(left, right)


def test_what_is_excluded_goes_with_everything_inside() -> None:
    everything = {"f:status": {"f:a": {}}, "f:spec": {"f:b": {}}, "f:metadata": {"f:labels": {"f:x": {}}}}
    assert without(everything, {"f:status": {}, "f:metadata": {"f:labels": {}}}) == {"f:spec": {"f:b": {}}}


@pytest.mark.parametrize(
    "value, owned",
    [
        ({"text": "a"}, {"f:text": {}}),
        ({"labels": {"x": "y"}}, {"f:labels": {"f:x": {}}}),
        ({"labels": {}}, {"f:labels": {}}),
        ({"labels": None}, {"f:labels": {}}),
        ({"selector": {"x": "y"}}, {"f:selector": {}}),
        ({"args": ["a"]}, {"f:args": {}}),
        ({"tags": ["a", 1]}, {"f:tags": {'v:"a"': {}, "v:1": {}}}),
        ({"tags": []}, {}),
        (
            {"ports": [{"port": 80, "name": "x"}]},
            {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:name": {}}}},
        ),
        ({"inner": {"x": 1}}, {"f:inner": {"f:x": {}}}),
        ({"free": {"m": {"n": [1]}}}, {"f:free": {"f:m": {".": {}, "f:n": {}}}}),
    ],
)
def test_a_configuration_speaks_of_these_fields(value: Any, owned: Fields) -> None:
    assert fields.of(value, SHAPE) == owned


def test_an_item_without_its_key_has_no_place() -> None:
    with pytest.raises(Unkeyed, match='omits key field "port"'):
        fields.of({"ports": [{"name": "x"}]}, SHAPE)


def test_listed_fields_on_the_way_are_named_but_not_keys_of_maps() -> None:
    deep = {"f:inner": {"f:x": {}}, "f:free": {"f:m": {"f:n": {}}}}
    assert with_names(deep, SHAPE) == {
        "f:inner": {".": {}, "f:x": {}},
        "f:free": {".": {}, "f:m": {"f:n": {}}},
    }


def test_paths_are_shown_as_people_write_them() -> None:
    owned = {
        "f:spec": {
            "f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}}},
            "f:tags": {'v:"a"': {}},
        }
    }
    assert list(fields.paths(owned)) == [
        '.spec.ports[port=80,protocol="TCP"]',
        '.spec.ports[port=80,protocol="TCP"].name',
        '.spec.tags[="a"]',
    ]


def test_without_a_schema_maps_have_parts_and_lists_have_none() -> None:
    assert fields.of({"a": {"b": 1}, "c": [1]}, DEDUCED) == {"f:a": {".": {}, "f:b": {}}, "f:c": {}}
