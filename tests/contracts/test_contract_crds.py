# ruff: noqa: E501
"""Custom kinds: which definitions are taken, what they make of objects, how they change and go."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.definitions import (
    DEFINITIONS,
    NUMBER,
    SHARED,
    SPEC,
    TEXT,
    condition,
    definition,
    having,
    served,
    version,
)
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

KEYED = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"]}
EITHER = "x-kubernetes-int-or-string"
INSIDE = "x-kubernetes-embedded-resource"
OPEN = "x-kubernetes-preserve-unknown-fields"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


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
    "change, field, message",
    [
        ({"scope": "Planet"}, "spec.scope", 'Unsupported value: "Planet": supported values: "Cluster", "Namespaced"'),
        ({"preserveUnknownFields": True}, "spec.preserveUnknownFields", "Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"),
        ({"conversion": {"strategy": "Magic"}}, "spec.conversion.strategy", 'Unsupported value: "Magic": supported values: "None", "Webhook"'),
        ({"names": {"plural": "widgets", "kind": "Widget", "listKind": "Widget"}}, "spec.names.listKind", 'Invalid value: "Widget": kind and listKind may not be the same'),
        ({"versions": [version(deprecationWarning="x")]}, "spec.versions[0].deprecationWarning", 'Invalid value: "x": can only be set for deprecated versions'),
        ({"versions": [version(additionalPrinterColumns=[{"name": "A", "type": "text", "jsonPath": ".a"}])]}, "spec.additionalPrinterColumns[0].type", 'Invalid value: "text": must be one of boolean,date,integer,number,string'),
        ({"versions": [version(additionalPrinterColumns=[{"name": "A", "type": "string"}])]}, "spec.additionalPrinterColumns[0].JSONPath", "Required value"),
        ({"versions": [version(additionalPrinterColumns=[{"name": "A", "type": "string", "jsonPath": "a b"}])]}, "spec.additionalPrinterColumns[0].JSONPath", 'Invalid value: "a b": must be a simple json path starting with .'),
        ({"versions": [version(subresources={"scale": {"specReplicasPath": ".foo", "statusReplicasPath": ".status.n"}})]}, "spec.subresources.scale.specReplicasPath", 'Invalid value: ".foo": should be a json path under .spec'),
    ],
)  # fmt: skip
def test_a_definition_that_makes_no_sense_is_refused_at_its_field(
    rest: Rest, change: dict[str, Any], field: str, message: str
) -> None:
    body = definition()
    body["spec"] |= change
    answer = rest.post(DEFINITIONS, body).expect(422)
    assert [(c["field"], c["message"]) for c in answer["details"]["causes"]] == [(field, message)]


def test_a_definition_is_named_after_its_plural_and_its_group(rest: Rest) -> None:
    body = definition()
    body["metadata"]["name"] = "foo.bar"
    answer = rest.post(DEFINITIONS, body).expect(422)
    assert 'must be spec.names.plural+"."+spec.group' in answer["message"]


@pytest.mark.parametrize("storage", [[False, False], [True, True]])
def test_exactly_one_version_is_stored(rest: Rest, storage: list[bool]) -> None:
    versions = [version(name=f"v{i + 1}", storage=stored) for i, stored in enumerate(storage)]
    answer = rest.post(DEFINITIONS, definition(*versions)).expect(422)
    assert "must have exactly one version marked as storage version" in answer["message"]


def test_a_protected_group_needs_an_approval(rest: Rest) -> None:
    answer = rest.post(DEFINITIONS, definition(group="x.k8s.io")).expect(422)
    assert answer["details"]["causes"][0]["field"] == "metadata.annotations[api-approved.kubernetes.io]"


def test_a_new_definition_is_established_under_its_names(rest: Rest, namespace: str) -> None:
    body = definition(names={"shortNames": ["wd"], "categories": ["all"]})
    with served(rest, namespace, body) as widgets:
        accepted = condition(rest, body, "NamesAccepted")
        assert (accepted["status"], accepted["reason"]) == ("True", "NoConflicts")
        assert condition(rest, body, "Established")["reason"] == "InitialNamesAccepted"
        status = rest.get(widgets.at).expect(200)["status"]
        assert status["acceptedNames"] == {
            "plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList",
            "shortNames": ["wd"], "categories": ["all"],
        }  # fmt: skip
        assert status["storedVersions"] == ["v1"]


@pytest.mark.parametrize(
    "names, reason, message",
    [
        ({"plural": "gadgets", "kind": "Gadget", "shortNames": ["wd"]}, "ShortNamesConflict", '"wd" is already in use'),
        ({"plural": "gadgets", "kind": "Widget"}, "ListKindConflict", '"WidgetList" is already in use'),
        ({"plural": "gadgets", "kind": "Gadget", "singular": "widget"}, "SingularConflict", '"widget" is already in use'),
    ],
)  # fmt: skip
def test_names_that_are_taken_wait_until_they_are_free(
    rest: Rest, namespace: str, names: dict[str, Any], reason: str, message: str
) -> None:
    first = definition(names={"shortNames": ["wd"]})
    second = definition(names=names, group=first["spec"]["group"])
    at = f"{DEFINITIONS}/{second['metadata']['name']}"
    with served(rest, namespace, first):
        rest.post(DEFINITIONS, second).expect(201)
        refused = condition(rest, second, "NamesAccepted")
        assert (refused["status"], refused["reason"], refused["message"]) == ("False", reason, message)
        assert condition(rest, second, "Established")["status"] == "False"
        path = f"/apis/{second['spec']['group']}/v1/namespaces/{namespace}/gadgets"
        assert rest.get(path).status == 404
    until(lambda: condition(rest, second, "Established")["status"] == "True", what="the names are free")
    until(lambda: rest.get(path).status == 200, what="the kind is served")
    rest.delete(at).expect(200)


@pytest.mark.parametrize(
    "patch, field",
    [
        ({"scope": "Cluster"}, "spec.scope"),
        ({"group": "other.example.org"}, "spec.group"),
        ({"names": {"kind": "Gadget"}}, "spec.names.kind"),
    ],
)
def test_what_a_kind_is_cannot_change(rest: Rest, namespace: str, patch: dict[str, Any], field: str) -> None:
    with served(rest, namespace, definition()) as widgets:
        answer = rest.merge(widgets.at, {"spec": patch}).expect(422)
        causes = {c["field"]: c["message"] for c in answer["details"]["causes"]}
        assert causes[field].endswith("field is immutable")


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


def two_versions(**second: Any) -> dict[str, Any]:
    return definition(version(name="v1"), version(name="v2", **{"storage": False, **second}))


def test_an_object_can_be_read_in_every_served_version(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, two_versions()) as widgets:
        made = widgets.create(a="one").expect(201)
        again = rest.get(widgets.path("x", "v2")).expect(200)
        assert again == {**made, "apiVersion": f"{widgets.group}/v2"} or (
            again["spec"] == made["spec"] and again["apiVersion"] == f"{widgets.group}/v2"
        )
        listed = rest.get(widgets.path(version="v2")).expect(200)
        assert listed["apiVersion"] == f"{widgets.group}/v2"
        assert [item["apiVersion"] for item in listed["items"]] == [f"{widgets.group}/v2"]
        with rest.watch(widgets.path(version="v2")) as events:
            assert next(events).object["apiVersion"] == f"{widgets.group}/v2"


def test_an_object_can_be_written_in_every_served_version(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, two_versions()) as widgets:
        widgets.create(a="one").expect(201)
        changed = rest.merge(widgets.path("x", "v2"), {"spec": {"a": "two"}}).expect(200)
        assert changed["apiVersion"] == f"{widgets.group}/v2"
        assert rest.get(widgets.path("x")).expect(200)["spec"]["a"] == "two"
        assert rest.get(widgets.path("x")).expect(200)["apiVersion"] == f"{widgets.group}/v1"


def test_versions_are_offered_the_most_mature_first(rest: Rest, namespace: str) -> None:
    names = ["v1alpha1", "v1", "v1beta2", "v10", "v2", "v1beta1"]
    versions = [version(name=name, storage=name == "v1") for name in names]
    with served(rest, namespace, definition(*versions)) as widgets:
        group = rest.get(f"/apis/{widgets.group}").expect(200)
        order = [v["version"] for v in group["versions"]]
        assert order == ["v10", "v2", "v1", "v1beta2", "v1beta1", "v1alpha1"]
        assert group["preferredVersion"]["version"] == "v10"


def test_a_new_stored_version_is_remembered_beside_the_old_one(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, two_versions()) as widgets:
        versions = [version(name="v1", storage=False), version(name="v2")]
        rest.merge(widgets.at, {"spec": {"versions": versions}}).expect(200)
        until(
            lambda: rest.get(widgets.at).expect(200)["status"]["storedVersions"] == ["v1", "v2"],
            what="both versions remembered",
        )
        answer = rest.merge(widgets.at, {"spec": {"versions": [version(name="v2")]}}).expect(422)
        assert answer["details"]["causes"][0]["field"] == "status.storedVersions[0]"


@pytest.mark.parametrize(
    "own, warning",
    [({}, "{group}/v2 Widget is deprecated"), ({"deprecationWarning": "use v1"}, "use v1")],
)
def test_a_deprecated_version_warns_who_uses_it(
    rest: Rest, namespace: str, own: dict[str, Any], warning: str
) -> None:
    with served(rest, namespace, two_versions(deprecated=True, **own)) as widgets:
        answer = rest.get(widgets.path(version="v2"))
        assert answer.headers["Warning"] == f'299 - "{warning.format(group=widgets.group)}"'
        made = rest.post(widgets.path(version="v2"), widgets.body(version="v2"))
        assert made.headers["Warning"] == answer.headers["Warning"]
        assert "Warning" not in rest.get(widgets.path()).headers


def test_a_version_that_is_not_served_is_not_found(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, two_versions(served=False)) as widgets:
        assert rest.get(widgets.path(version="v2")).status == 404


def test_a_schema_that_changes_counts_from_then_on(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, definition(version(having(a=TEXT)))) as widgets:
        widgets.create(a="one").expect(201)
        stricter = version(having(a={**TEXT, "maxLength": 2}))
        rest.merge(widgets.at, {"spec": {"versions": [stricter]}}).expect(200)
        body = widgets.body("y", spec={"a": "long"})
        until(lambda: rest.post(widgets.path(), body, dryRun="All").status == 422, what="the new schema")


def test_columns_are_printed_as_the_definition_says(rest: Rest, namespace: str) -> None:
    columns = [
        {"name": "Text", "type": "string", "jsonPath": ".spec.a"},
        {"name": "Count", "type": "integer", "jsonPath": ".spec.n"},
        {"name": "Yes", "type": "boolean", "jsonPath": ".spec.b", "priority": 1},
        {"name": "When", "type": "date", "jsonPath": ".spec.d"},
        {"name": "None", "type": "string", "jsonPath": ".spec.missing"},
    ]
    schema = having(a=TEXT, n=NUMBER, b={"type": "boolean"}, d=TEXT)
    with served(rest, namespace, definition(version(schema, additionalPrinterColumns=columns))) as widgets:
        widgets.create(a="one", n=3, b=True, d="2020-01-01T00:00:00Z").expect(201)
        table = rest.get_as(TABLE, widgets.path()).expect(200)
        shown = [(c["name"], c["type"], c["priority"]) for c in table["columnDefinitions"]]
        assert shown == [
            ("Name", "string", 0), ("Text", "string", 0), ("Count", "integer", 0), ("Yes", "boolean", 1),
            ("When", "date", 0), ("None", "string", 0),
        ]  # fmt: skip
        [row] = table["rows"]
        assert row["cells"][:4] == ["x", "one", 3, True]
        assert "y" in row["cells"][4]
        assert row["cells"][5] is None


def test_a_definition_takes_its_objects_with_it(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, definition()) as widgets:
        widgets.create(a="one").expect(201)
        rest.delete(widgets.at).expect(200)
        until(lambda: rest.get(widgets.at).status == 404, what="the definition gone")
        until(lambda: rest.get(widgets.path()).status == 404, what="the kind gone")


def test_a_definition_waits_for_an_object_that_is_held(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, definition()) as widgets:
        held = widgets.body(metadata={"finalizers": ["example.org/wait"]})
        rest.post(widgets.path(), held).expect(201)
        rest.delete(widgets.at).expect(200)
        until(
            lambda: (
                condition(rest, widgets.definition, "Terminating")["reason"] == "InstanceDeletionInProgress"
            ),
            what="the deletion of the objects",
        )
        finalizers = rest.get(widgets.at).expect(200)["metadata"]["finalizers"]
        assert finalizers == ["customresourcecleanup.apiextensions.k8s.io"]
        until(
            lambda: "deletionTimestamp" in rest.get(widgets.path("x")).expect(200)["metadata"],
            what="the object going",
        )
        answer = rest.post(widgets.path(), widgets.body("y")).expect(405)
        assert answer["message"] == "create not allowed while custom resource definition is terminating"
        rest.merge(widgets.path("x"), {"metadata": {"finalizers": None}}).expect(200)
        until(lambda: rest.get(widgets.at).status == 404, what="the definition gone")


def test_a_kind_is_in_discovery_as_long_as_its_definition(rest: Rest, namespace: str) -> None:
    with served(rest, namespace, definition(names={"shortNames": ["wd"]})) as widgets:
        listed = rest.get(f"/apis/{widgets.group}/v1").expect(200)["resources"]
        assert [(r["name"], r["kind"], r["shortNames"]) for r in listed] == [("widgets", "Widget", ["wd"])]
        rest.delete(widgets.at).expect(200)
        until(lambda: rest.get(f"/apis/{widgets.group}/v1").status == 404, what="the group gone")
