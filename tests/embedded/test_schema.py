"""Structural schemas: prune, default and validate as Kubernetes does, and in its words."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from paddlecloud.embedded.server.schema import Violation, default, prune, violations

OPAQUE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def shaped(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    "schema, body, kept, unknown",
    [
        (shaped(a=TEXT), {"a": "x"}, {"a": "x"}, []),
        (shaped(a=TEXT), {"a": "x", "b": 1}, {"a": "x"}, ["b"]),
        (shaped(s=shaped(a=TEXT)), {"s": {"b": 1}}, {"s": {}}, ["s.b"]),
        (shaped(s=OPAQUE), {"s": {"b": {"c": 1}}}, {"s": {"b": {"c": 1}}}, []),
        # What is declared inside is pruned even where the rest is kept.
        (shaped(s=OPAQUE | shaped(a=shaped())), {"s": {"a": {"x": 1}, "y": 2}},
         {"s": {"a": {}, "y": 2}}, ["s.a.x"]),
        (shaped(l={"type": "array", "items": shaped(a=TEXT)}), {"l": [{"a": "x"}, {"b": 1}]},
         {"l": [{"a": "x"}, {}]}, ["l[1].b"]),
        (shaped(m={"type": "object", "additionalProperties": shaped(a=TEXT)}), {"m": {"k": {"b": 1}}},
         {"m": {"k": {}}}, ["m.k.b"]),
        (shaped(m={"type": "object", "additionalProperties": True}), {"m": {"k": 1}}, {"m": {"k": 1}}, []),
        (shaped(), {"apiVersion": "v1", "kind": "K", "metadata": {"labels": {"a": "b"}}},
         {"apiVersion": "v1", "kind": "K", "metadata": {"labels": {"a": "b"}}}, []),
        (shaped(s=shaped()), {"s": {"kind": "x"}}, {"s": {}}, ["s.kind"]),  # only at the top
        (shaped(a=TEXT), {"a": {"not": "text"}}, {"a": {}}, ["a.not"]),  # and then refused by its type
    ],
)  # fmt: skip
def test_what_the_schema_does_not_know_is_pruned_and_named(
    schema: Any, body: Any, kept: Any, unknown: list[str]
) -> None:
    original = copy.deepcopy(body)

    assert prune(body, schema) == (kept, unknown)
    assert body == original


@pytest.mark.parametrize(
    "schema, body, result",
    [
        (shaped(a=TEXT | {"default": "x"}), {}, {"a": "x"}),
        (shaped(a=TEXT | {"default": "x"}), {"a": "y"}, {"a": "y"}),
        (shaped(a=TEXT | {"default": "x"}), {"a": None}, {"a": "x"}),  # null counts as absent
        (shaped(a=TEXT), {"a": None}, {}),
        (shaped(a=TEXT | {"nullable": True, "default": "x"}), {"a": None}, {"a": None}),
        (shaped(s=shaped(a=TEXT | {"default": "x"})), {}, {}),  # a default does not make the object around it
        (shaped(s=shaped(a=TEXT | {"default": "x"})), {"s": {}}, {"s": {"a": "x"}}),
        (shaped(s=shaped(a=TEXT | {"default": "x"}) | {"default": {}}), {}, {"s": {"a": "x"}}),
        (shaped(l={"type": "array", "items": shaped(a=NUMBER | {"default": 1})}), {"l": [{}, {"a": 2}]},
         {"l": [{"a": 1}, {"a": 2}]}),
        (shaped(m={"type": "object", "additionalProperties": shaped(a=NUMBER | {"default": 1})}),
         {"m": {"k": {}}}, {"m": {"k": {"a": 1}}}),
        (shaped(s=OPAQUE), {"s": {"x": None}}, {"s": {"x": None}}),  # as it was written
        (shaped(a=NUMBER | {"default": 0}), {}, {"a": 0}),
    ],
)  # fmt: skip
def test_what_is_absent_gets_its_default(schema: Any, body: Any, result: Any) -> None:
    assert default(body, schema) == result


def test_a_default_is_not_shared_between_objects() -> None:
    schema = shaped(l={"type": "array", "items": TEXT, "default": ["x"]})
    first, second = default({}, schema), default({}, schema)
    first["l"].append("y")

    assert second == {"l": ["x"]} and schema["properties"]["l"]["default"] == ["x"]


def told(schema: Any, body: Any) -> list[str]:
    return [f"{v.field}: {v.message}" for v in violations(body, schema)]


WRONG = "a: Invalid value: "


@pytest.mark.parametrize(
    "field, value, message",
    [
        (NUMBER, "x", WRONG + '"string": a in body must be of type integer: "string"'),
        (NUMBER, True, WRONG + '"boolean": a in body must be of type integer: "boolean"'),
        (NUMBER, 1.5, WRONG + '"number": a in body must be of type integer: "number"'),
        (TEXT, 1, WRONG + '"integer": a in body must be of type string: "integer"'),
        (TEXT, None, WRONG + '"null": a in body must be of type string: "null"'),
        (TEXT, [], WRONG + '"array": a in body must be of type string: "array"'),
        ({"type": "array"}, {}, WRONG + '"object": a in body must be of type array: "object"'),
        ({"type": "boolean"}, "yes", WRONG + '"string": a in body must be of type boolean: "string"'),
        ({"x-kubernetes-int-or-string": True}, 1.5,
         WRONG + '"number": a in body must be of type integer,string: "number"'),
        (NUMBER | {"minimum": 0}, -1, WRONG + "-1: a in body should be greater than or equal to 0"),
        (NUMBER | {"maximum": 2}, 3, WRONG + "3: a in body should be less than or equal to 2"),
        (TEXT | {"minLength": 1}, "", WRONG + '"": a in body should be at least 1 chars long'),
        (TEXT | {"maxLength": 2}, "abc", "a: Too long: may not be more than 2 bytes"),
        (TEXT | {"pattern": "^x"}, 'a"b', WRONG + r'"a\"b": a in body should match ' + "'^x'"),
        (TEXT | {"enum": ["x", "y"]}, "z", 'a: Unsupported value: "z": supported values: "x", "y"'),
        ({"type": "boolean", "enum": [True]}, False, 'a: Unsupported value: false: supported values: "true"'),
        ({"type": "array", "minItems": 1}, [], WRONG + "0: a in body should have at least 1 items"),
        ({"type": "array", "maxItems": 1}, [1, 2], "a: Too many: 2: must have at most 1 items"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_the_words_of_kubernetes(field: Any, value: Any, message: str) -> None:
    assert told(shaped(a=field), {"a": value}) == [message]


@pytest.mark.parametrize(
    "field, value",
    [
        (NUMBER, 3), (NUMBER, 3.0), ({"type": "number"}, 3), ({"type": "number"}, 2.5), (TEXT, ""),
        (TEXT | {"nullable": True}, None), ({"x-kubernetes-int-or-string": True}, "50%"),
        ({"x-kubernetes-int-or-string": True}, 5), (TEXT | {"enum": ["x"]}, "x"), ({}, object()),
        (NUMBER | {"minimum": 0, "maximum": 0}, 0), (TEXT | {"pattern": "b"}, "abc"), (OPAQUE, {"x": 1}),
    ],
)  # fmt: skip
def test_what_is_right_is_left_alone(field: Any, value: Any) -> None:
    assert told(shaped(a=field), {"a": value}) == []


def test_every_problem_is_told_with_its_place() -> None:
    inner = shaped(n=NUMBER | {"minimum": 1}) | {"required": ["n", "m"]}
    schema = shaped(l={"type": "array", "items": inner}, m={"type": "object", "additionalProperties": TEXT})
    found = violations({"l": [{"n": 0, "m": 1}, {}], "m": {"k": 5}}, schema | {"required": ["spec"]})

    assert [(v.field, v.reason) for v in found] == [
        ("spec", "FieldValueRequired"),
        ("l[0].n", "FieldValueInvalid"),
        ("l[1].n", "FieldValueRequired"),
        ("l[1].m", "FieldValueRequired"),
        ("m.k", "FieldValueTypeInvalid"),
    ]
    assert found[0] == Violation("spec", "FieldValueRequired", "Required value")
