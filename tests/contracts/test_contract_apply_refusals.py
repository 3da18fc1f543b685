"""Server-side apply: which configurations are refused, what their conditions are, and dry runs."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.applying import NAME
from tests.contracts.objects import config_map, core
from tests.contracts.owners import APPLY, apply, owners
from tests.kubernetes.rest import Rest


@pytest.fixture
def path(namespace: str) -> str:
    return core(namespace, "configmaps", NAME)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"apiVersion": None}, "invalid object type: /, Kind=ConfigMap"),
        ({"kind": None}, "invalid object type: /v1, Kind="),
        ({"apiVersion": "v2"}, "invalid object type: /v2, Kind=ConfigMap"),
        ({"kind": "Secret"}, "invalid object type: /v1, Kind=Secret"),
        (
            {"metadata": {"name": "other"}},
            "the name of the object (other) does not match the name on the URL (settings)",
        ),
        (
            {"metadata": {"name": NAME, "namespace": "elsewhere"}},
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        ({"metadata": {"name": NAME, "managedFields": []}}, "metadata.managedFields must be nil"),
    ],
)
def test_a_configuration_of_something_else_is_refused(
    rest: Rest, path: str, change: dict[str, Any], message: str
) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    config = {k: v for k, v in (config_map(a="1") | change).items() if v is not None}
    answer = apply(rest, path, config).expect(400)
    assert (answer["reason"], answer["message"]) == ("BadRequest", message)


def test_a_new_object_needs_its_name(rest: Rest, path: str) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}
    assert apply(rest, path, config).expect(400)["message"] == (
        "the name of the object (settings based on URL) was undeterminable: name must be provided"
    )


def test_an_object_that_is_there_may_be_left_nameless(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    config = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "2"}}
    assert apply(rest, path, config).expect(200)["data"] == {"b": "2"}


@pytest.mark.parametrize(
    "content, message",
    [
        ("[1]", "cannot unmarshal array into Go value of type map[string]interface {}"),
        ("a: b: c", "yaml: mapping values are not allowed in this context"),
    ],
)
def test_what_is_no_configuration_is_refused(rest: Rest, path: str, content: str, message: str) -> None:
    answer = apply(rest, path, content).expect(400)
    assert answer["message"].startswith("error decoding YAML: ")
    assert message in answer["message"]


def test_a_configuration_may_be_yaml(rest: Rest, path: str) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata:\n  a: |\n    one\n    two\n"
    assert apply(rest, path, text).expect(201)["data"] == {"a": "one\ntwo\n"}


@pytest.mark.parametrize(
    "config, message",
    [
        (
            config_map() | {"spec": {}},
            "(/settings; /v1, Kind=ConfigMap): .spec: field not declared in schema",
        ),
        (
            config_map() | {"data": {"z": 5}},
            "(/settings; /v1, Kind=ConfigMap): .data.z: "
            "expected string, got &value.valueUnstructured{Value:5}",
        ),
    ],
)
def test_a_configuration_that_is_no_object_of_its_kind(
    rest: Rest, path: str, config: dict[str, Any], message: str
) -> None:
    answer = apply(rest, path, config).expect(500)
    assert answer["message"] == f"failed to create typed patch object {message}"
    assert not answer.get("reason")


@pytest.mark.parametrize(
    "query, message",
    [
        ({}, "fieldManager: Required value: is required for apply patch"),
        ({"fieldManager": "x" * 129}, "fieldManager: Too long: may not be more than 128 bytes"),
        (
            {"fieldManager": "a\nb"},
            'fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)',
        ),
    ],
)
def test_a_manager_has_a_name(rest: Rest, path: str, query: dict[str, str], message: str) -> None:
    answer = rest.send("PATCH", path, config_map(), query=query, headers={"Content-Type": APPLY}).expect(422)
    assert answer["message"] == f'PatchOptions.meta.k8s.io "" is invalid: {message}'
    assert answer["details"]["causes"][0]["field"] == "fieldManager"


def test_force_is_for_apply_alone(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    answer = rest.merge(path, {}, force="true").expect(422)
    assert answer["message"].endswith("force: Forbidden: may not be specified for non-apply patch")


def test_a_revision_in_the_configuration_is_a_condition(rest: Rest, path: str) -> None:
    made = apply(rest, path, config_map(a="1")).expect(201)
    config = config_map(a="2")
    config["metadata"]["resourceVersion"] = "1"
    assert "the object has been modified" in apply(rest, path, config).expect(409)["message"]
    config["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"]
    assert apply(rest, path, config).expect(200)["data"] == {"a": "2"}


def test_a_uid_in_the_configuration_must_be_the_objects(rest: Rest, path: str) -> None:
    config = config_map(a="1")
    config["metadata"]["uid"] = "other"
    answer = apply(rest, path, config).expect(409)
    assert answer["message"] == (
        'Operation cannot be fulfilled on configmaps "settings": uid mismatch: '
        "the provided object specified uid other, and no existing object was found"
    )
    apply(rest, path, config_map(a="1")).expect(201)
    assert apply(rest, path, config).expect(422)["details"]["causes"][0]["field"] == "metadata.uid"


def test_a_dry_run_shows_the_object_and_stores_nothing(rest: Rest, path: str) -> None:
    made = apply(rest, path, config_map(a="1"), dryRun="All").expect(201)
    assert owners(made) == {"alice Apply": "/data/a"}
    assert rest.get(path).status == 404


def test_a_dry_run_finds_conflicts(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    apply(rest, path, config_map(a="2"), "bob", dryRun="All").expect(409)
    made = apply(rest, path, config_map(a="2"), "bob", dryRun="All", force="true").expect(200)
    assert made["data"] == {"a": "2"}
    assert rest.get(path).expect(200)["data"] == {"a": "1"}
