# ruff: noqa: E501
"""Definitions of custom kinds: which are taken, under which names, how they change and go."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.definitions import (
    DEFINITIONS,
    NUMBER,
    TABLE,
    TEXT,
    condition,
    definition,
    having,
    served,
    version,
)
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until


@pytest.fixture
def namespace(common_namespace: str) -> str:
    """One for all: every case has a kind of its own, and takes its objects with it."""
    return common_namespace


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
