# ruff: noqa: E501
"""Which schemas of custom kinds are structural, and what they make of objects."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.definitions import (
    DEFINITIONS,
    EITHER,
    INSIDE,
    KEYED,
    NUMBER,
    OPEN,
    SHARED,
    SPEC,
    TEXT,
    definition,
    having,
    served,
    version,
)
from tests.kubernetes.rest import Rest


@pytest.fixture
def namespace(common_namespace: str) -> str:
    """One for all: every case has a kind of its own, and takes its objects with it."""
    return common_namespace


@pytest.mark.parametrize(
    "schema, field, message",
    [
        ({"properties": {}}, "type", "Required value: must not be empty at the root"),
        (TEXT, "type", 'Invalid value: "string": must be object at the root'),
        ({"type": "object", "additionalProperties": TEXT}, "additionalProperties",
         "Forbidden: must not be used at the root"),
        ({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}},
         "properties[metadata]",
         "Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified"),
        ({"type": "object", "properties": {"metadata": {"type": "string"}}}, "properties[metadata].type",
         'Invalid value: "string": must be object'),
        ({"type": "object", "properties": {"kind": NUMBER}}, "properties[kind].type",
         'Invalid value: "integer": must be string'),
        ({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"name": {**TEXT, "default": "x"}}}}},
         "properties[metadata].properties[name].default", "Forbidden: must not be set in top-level metadata"),
    ],
)  # fmt: skip
def test_the_root_of_a_schema_is_an_object_with_the_servers_own_metadata(
    rest: Rest, schema: Any, field: str, message: str
) -> None:
    answer = rest.post(DEFINITIONS, definition(version(schema))).expect(422)
    causes = [(c["field"], c["message"]) for c in answer["details"]["causes"]]
    assert causes == [(f"{SHARED}.{field}", message)]


@pytest.mark.parametrize(
    "schema, field, message",
    [
        ({}, "type", "Required value: must not be empty for specified object fields"),
        ({"type": "text"}, "type", 'Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"'),
        ({"type": "array"}, "items", "Required value: must be specified"),
        ({"type": "array", "items": {}}, "items.type", "Required value: must not be empty for specified array items"),
        ({"type": "array", "items": [TEXT]}, "items", "Forbidden: items must be a schema object and not an array"),
        ({"type": "object", "additionalProperties": {}}, "additionalProperties.type", "Required value: must not be empty for specified object fields"),
        ({"type": "object", "additionalProperties": TEXT, "properties": {"b": TEXT}}, "additionalProperties", "Forbidden: additionalProperties and properties are mutual exclusive"),
        ({**TEXT, "anyOf": [TEXT]}, "anyOf[0].type", "Forbidden: must be empty to be structural"),
        ({**TEXT, "allOf": [{"default": "x"}]}, "allOf[0].default", "Forbidden: must be undefined to be structural"),
        ({**TEXT, "oneOf": [{"description": "x"}]}, "oneOf[0].description", "Forbidden: must be empty to be structural"),
        ({**TEXT, "not": {"nullable": True}}, "not.nullable", "Forbidden: must be false to be structural"),
        ({**TEXT, "uniqueItems": True}, "uniqueItems", "Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic"),
        ({**TEXT, "$ref": "#/x"}, "$ref", "Forbidden: $ref is not supported"),
        ({"type": "object", "patternProperties": {"a": TEXT}}, "patternProperties", "Forbidden: patternProperties is not supported"),
        ({**TEXT, "pattern": "("}, "pattern", 'Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`'),
        ({"type": "object", OPEN: False}, OPEN, "Invalid value: false: must be true or undefined"),
        ({EITHER: True, OPEN: True}, OPEN, f"Invalid value: true: must be false if {EITHER} is true"),
        ({"type": "object", INSIDE: True}, "properties", f"Required value: must not be empty if {INSIDE} is true without {OPEN}"),
        ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "bag"}, "x-kubernetes-list-type", 'Unsupported value: "bag": supported values: "atomic", "set", "map"'),
        ({"type": "object", "x-kubernetes-list-type": "set"}, "type", 'Invalid value: "object": must be array if x-kubernetes-list-type is specified'),
        ({**KEYED, "x-kubernetes-list-map-keys": [], "items": {"type": "object"}}, "x-kubernetes-list-map-keys", "Required value: must not be empty if x-kubernetes-list-type is map"),
        ({**KEYED, "items": {"type": "object", "properties": {"z": TEXT}}}, "x-kubernetes-list-map-keys", 'Invalid value: []string{"n"}: entries must all be names of item properties'),
        ({**KEYED, "items": {"type": "object", "properties": {"n": TEXT}}}, "items.properties[n].default", "Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"),
        ({**KEYED, "items": TEXT}, "items.type", "Invalid value: \"string\": must be object if parent array's x-kubernetes-list-type is map"),
        ({"type": "object", "x-kubernetes-map-type": "x"}, "x-kubernetes-map-type", 'Unsupported value: "x": supported values: "atomic", "granular"'),
        ({**NUMBER, "default": "x"}, "default", 'Invalid value: "string":  in body must be of type integer: "string"'),
        ({**NUMBER, "minimum": 5, "default": 1}, "default", "Invalid value: 1:  in body should be greater than or equal to 5"),
        ({"type": "object", "properties": {"b": TEXT}, "default": {"c": 1}}, "default", 'Invalid value: map[string]interface {}{"c":1}: must not have unknown fields'),
    ],
)  # fmt: skip
def test_a_field_that_is_not_structural_is_refused_where_it_stands(
    rest: Rest, schema: Any, field: str, message: str
) -> None:
    answer = rest.post(DEFINITIONS, definition(version(having(a=schema)))).expect(422)
    causes = [(c["field"], c["message"]) for c in answer["details"]["causes"]]
    assert causes == [(f"{SPEC}.properties[a].{field}", message)]


def test_a_problem_of_one_version_names_the_version(rest: Rest) -> None:
    versions = [version(), version(having(a={}), "v2", storage=False)]
    answer = rest.post(DEFINITIONS, definition(*versions)).expect(422)
    field = "spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[a].type"
    assert [c["field"] for c in answer["details"]["causes"]] == [field]


@pytest.mark.parametrize(
    "schema",
    [
        {EITHER: True},
        {EITHER: True, "anyOf": [NUMBER, TEXT]},
        {"type": "object", "additionalProperties": True},
        {"type": "object", OPEN: True, INSIDE: True},
        {**TEXT, "format": "nobody-knows"},
        {"type": "object", "not": {"properties": {"zz": {"minLength": 1}}}},
        {**KEYED, "items": {"type": "object", "required": ["n"], "properties": {"n": TEXT}}},
    ],
)
def test_a_structural_schema_is_taken(rest: Rest, schema: Any) -> None:
    rest.post(DEFINITIONS, definition(version(having(a=schema))), dryRun="All").expect(201)


@pytest.mark.parametrize(
    "schema, value, reason, message",
    [
        ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}, ["a", "b", "a"], "FieldValueDuplicate", 'Duplicate value: "a"'),
        ({EITHER: True}, 1.5, "FieldValueTypeInvalid", 'Invalid value: "number": spec.a in body must be of type integer,string: "number"'),
        ({EITHER: True}, True, "FieldValueTypeInvalid", 'Invalid value: "boolean": spec.a in body must be of type integer,string: "boolean"'),
        ({"type": "object", "additionalProperties": NUMBER, "maxProperties": 1}, {"a": 1, "b": 2}, "FieldValueTooMany", "Too many: 2: must have at most 1 items"),
        ({"type": "object", "additionalProperties": NUMBER, "minProperties": 1}, {}, "FieldValueInvalid", "Invalid value: 0: spec.a in body should have at least 1 properties"),
        ({**NUMBER, "multipleOf": 5}, 7, "FieldValueInvalid", "Invalid value: 7: spec.a in body should be a multiple of 5"),
        ({**NUMBER, "minimum": 1, "exclusiveMinimum": True}, 1, "FieldValueInvalid", "Invalid value: 1: spec.a in body should be greater than 1"),
        ({**NUMBER, "enum": [1, 2]}, 3, "FieldValueNotSupported", 'Unsupported value: 3: supported values: "1", "2"'),
        ({**TEXT, "format": "date-time"}, "yesterday", "FieldValueTypeInvalid", 'Invalid value: "yesterday": spec.a in body must be of type date-time: "yesterday"'),
        ({**TEXT, "format": "ipv4"}, "1.2", "FieldValueTypeInvalid", 'Invalid value: "1.2": spec.a in body must be of type ipv4: "1.2"'),
        ({**TEXT, "format": "uuid"}, "x", "FieldValueTypeInvalid", 'Invalid value: "x": spec.a in body must be of type uuid: "x"'),
        ({**TEXT, "format": "duration"}, "x", "FieldValueTypeInvalid", 'Invalid value: "x": spec.a in body must be of type duration: "x"'),
        ({**TEXT, "not": {"enum": ["bad"]}}, "bad", "FieldValueInvalid", 'Invalid value: "": "spec.a" must not validate the schema (not)'),
        ({"type": "object", "properties": {"x": TEXT, "y": TEXT}, "oneOf": [{"required": ["x"]}, {"required": ["y"]}]}, {"x": "1", "y": "2"}, "FieldValueInvalid", 'Invalid value: "": "spec.a" must validate one and only one schema (oneOf). Found 2 valid alternatives'),
        ({"type": "object", "required": ["q"], "properties": {"q": TEXT}}, {}, "FieldValueRequired", "Required value"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused_with_its_reason(
    rest: Rest, namespace: str, schema: Any, value: Any, reason: str, message: str
) -> None:
    with served(rest, namespace, definition(version(having(a=schema)))) as widgets:
        answer = widgets.create(a=value).expect(422)
        [cause] = answer["details"]["causes"]
        assert (cause["reason"], cause["message"]) == (reason, message)


def test_items_of_a_keyed_list_differ_in_their_keys(rest: Rest, namespace: str) -> None:
    items = {
        "type": "object",
        "required": ["n"],
        "properties": {"n": TEXT, "p": {**NUMBER, "default": 1}, "v": TEXT},
    }
    keyed = {**KEYED, "x-kubernetes-list-map-keys": ["n", "p"], "items": items}
    with served(rest, namespace, definition(version(having(a=keyed)))) as widgets:
        answer = widgets.create(a=[{"n": "a"}, {"n": "a", "p": 1, "v": "x"}]).expect(422)
        [cause] = answer["details"]["causes"]
        assert (cause["field"], cause["reason"]) == ("spec.a[1]", "FieldValueDuplicate")
        assert cause["message"] == 'Duplicate value: map[string]interface {}{"n":"a", "p":1}'
        made = widgets.create(a=[{"n": "a"}, {"n": "a", "p": 2}]).expect(201)
        assert made["spec"]["a"] == [{"n": "a", "p": 1}, {"n": "a", "p": 2}]


@pytest.mark.parametrize(
    "schema, given, kept",
    [
        ({**TEXT, "nullable": True}, None, {"a": None}),
        ({**TEXT, "nullable": True, "default": "d"}, None, {"a": None}),
        ({**TEXT, "default": "d"}, None, {"a": "d"}),
        (TEXT, None, {}),
        (NUMBER, 1.0, {"a": 1}),
        ({EITHER: True}, "10%", {"a": "10%"}),
        ({"type": "object", "properties": {"b": {**TEXT, "default": "d"}}, "default": {}}, None, {"a": {"b": "d"}}),
    ],
)  # fmt: skip
def test_nulls_and_defaults(rest: Rest, namespace: str, schema: Any, given: Any, kept: Any) -> None:
    with served(rest, namespace, definition(version(having(a=schema)))) as widgets:
        assert widgets.create(a=given).expect(201)["spec"] == kept


def test_an_object_in_an_object_says_what_it_is(rest: Rest, namespace: str) -> None:
    inner = {"type": "object", INSIDE: True, OPEN: True}
    with served(rest, namespace, definition(version(having(a=inner)))) as widgets:
        answer = widgets.create(a={}).expect(422)
        assert [c["field"] for c in answer["details"]["causes"]] == ["spec.a.apiVersion", "spec.a.kind"]
        embedded = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "anything": 1}
        assert widgets.create(a=embedded).expect(201)["spec"]["a"] == embedded
