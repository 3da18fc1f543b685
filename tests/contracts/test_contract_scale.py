"""The scale subresource of custom and of built-in kinds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts.definitions import NUMBER, TEXT, Widgets, definition, served, version
from tests.kubernetes.rest import Rest

SCALE = {
    "specReplicasPath": ".spec.size.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.sel",
}  # fmt: skip
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "object", "properties": {"n": NUMBER}}}},
        "status": {"type": "object", "properties": {"n": NUMBER, "sel": TEXT}},
    },
}
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}


@pytest.fixture
def widgets(rest: Rest, namespace: str) -> Iterator[Widgets]:
    with served(
        rest, namespace, definition(version(SCHEMA, subresources={"status": {}, "scale": SCALE}))
    ) as it:
        yield it


@pytest.fixture
def scaled(rest: Rest, widgets: Widgets) -> str:
    """The path of the scale of an object with two replicas, one of them there."""
    widgets.create(size={"n": 2}).expect(201)
    rest.merge(widgets.path("x/status"), {"status": {"n": 1, "sel": "app=x"}}).expect(200)
    return widgets.path("x/scale")


def test_the_scale_shows_what_is_wanted_and_what_is_there(rest: Rest, scaled: str) -> None:
    scale = rest.get(scaled).expect(200)
    assert (scale["apiVersion"], scale["kind"]) == ("autoscaling/v1", "Scale")
    assert scale["spec"] == {"replicas": 2}
    assert scale["status"] == {"replicas": 1, "selector": "app=x"}
    own = rest.get(scaled.removesuffix("/scale")).expect(200)["metadata"]
    assert scale["metadata"] == {
        k: own[k] for k in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    }


def test_a_patch_of_the_scale_changes_the_object(rest: Rest, scaled: str) -> None:
    assert rest.merge(scaled, {"spec": {"replicas": 5}}).expect(200)["spec"] == {"replicas": 5}
    body = rest.get(scaled.removesuffix("/scale")).expect(200)
    assert body["spec"] == {"size": {"n": 5}}
    assert body["metadata"]["generation"] == 2


def test_a_json_patch_of_the_scale_changes_the_object(rest: Rest, scaled: str) -> None:
    patch = [{"op": "replace", "path": "/spec/replicas", "value": 4}]
    assert rest.json_patch(scaled, patch).expect(200)["spec"] == {"replicas": 4}


def test_an_update_of_the_scale_sets_the_number_and_nothing_else(rest: Rest, scaled: str) -> None:
    scale = rest.get(scaled).expect(200)
    scale["spec"]["replicas"] = 7
    scale["status"]["replicas"] = 99
    changed = rest.put(scaled, scale).expect(200)
    assert (changed["spec"], changed["status"]["replicas"]) == ({"replicas": 7}, 1)


def test_an_update_of_an_old_scale_is_a_conflict(rest: Rest, scaled: str) -> None:
    scale = rest.get(scaled).expect(200)
    rest.merge(scaled, {"spec": {"replicas": 5}}).expect(200)
    assert rest.put(scaled, scale).expect(409)["reason"] == "Conflict"
    del scale["metadata"]["resourceVersion"]
    assert rest.put(scaled, scale).expect(200)["spec"] == {"replicas": 2}


def test_fewer_than_none_are_refused_at_the_field_of_the_object(rest: Rest, scaled: str) -> None:
    answer = rest.merge(scaled, {"spec": {"replicas": -1}}).expect(422)
    assert answer["details"]["causes"] == [
        {
            "reason": "FieldValueInvalid",
            "message": "Invalid value: -1: should be a non-negative integer",
            "field": ".spec.size.n",
        }
    ]


def test_a_dry_run_scales_nothing(rest: Rest, scaled: str) -> None:
    assert rest.merge(scaled, {"spec": {"replicas": 9}}, dryRun="All").expect(200)["spec"]["replicas"] == 9
    assert rest.get(scaled).expect(200)["spec"] == {"replicas": 2}


def test_the_scale_of_nothing_is_not_found(rest: Rest, widgets: Widgets) -> None:
    answer = rest.get(widgets.path("nobody/scale")).expect(404)
    assert answer["message"] == f'widgets.{widgets.group} "nobody" not found'
    assert rest.merge(widgets.path("nobody/scale"), {"spec": {"replicas": 1}}).status == 404


def test_an_object_without_a_number_has_no_scale(rest: Rest, widgets: Widgets) -> None:
    widgets.create().expect(201)
    answer = rest.get(widgets.path("x/scale")).expect(500)
    assert answer["message"] == (
        'Internal error occurred: the spec replicas field ".spec.size.n" does not exist'
    )


def test_the_name_in_the_scale_is_the_name_on_the_url(rest: Rest, scaled: str) -> None:
    scale = rest.get(scaled).expect(200)
    scale["metadata"]["name"] = "other"
    assert rest.put(scaled, scale).expect(400)["message"] == (
        "the name of the object (other) does not match the name on the URL (x)"
    )


def test_a_custom_scale_takes_no_strategic_patch(rest: Rest, scaled: str) -> None:
    answer = rest.send("PATCH", scaled, {"spec": {"replicas": 3}}, headers=STRATEGIC)
    assert answer.expect(415)["reason"] == "UnsupportedMediaType"


def test_discovery_tells_of_the_scale(rest: Rest, widgets: Widgets) -> None:
    listed = rest.get(f"/apis/{widgets.group}/v1").expect(200)["resources"]
    [scale] = [r for r in listed if r["name"] == "widgets/scale"]
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")
    assert sorted(scale["verbs"]) == ["get", "patch", "update"]


@pytest.fixture
def stateful_set(rest: Rest, namespace: str) -> str:
    path = f"/apis/apps/v1/namespaces/{namespace}/statefulsets"
    expressions = [{"key": "k", "operator": "In", "values": ["y", "x"]}, {"key": "z", "operator": "Exists"}]
    body: dict[str, Any] = {
        "metadata": {"name": "w"},
        "spec": {
            "replicas": 0,
            "serviceName": "w",
            "selector": {"matchLabels": {"a": "b"}, "matchExpressions": expressions},
            "template": {
                "metadata": {"labels": {"a": "b", "k": "x", "z": "1"}},
                "spec": {
                    "schedulerName": "nobody",
                    "containers": [{"name": "c", "image": "example/image:1"}],
                },
            },
        },
    }
    rest.post(path, body).expect(201)
    return f"{path}/w"


def test_a_built_in_scale_tells_its_selector_as_text(rest: Rest, stateful_set: str) -> None:
    scale = rest.get(f"{stateful_set}/scale").expect(200)
    assert scale["spec"] == {}
    assert scale["status"] == {"replicas": 0, "selector": "a=b,k in (x,y),z"}


def test_a_built_in_kind_is_scaled(rest: Rest, stateful_set: str) -> None:
    changed = rest.merge(f"{stateful_set}/scale", {"spec": {"replicas": 3}}).expect(200)
    assert changed["spec"] == {"replicas": 3}
    assert rest.get(stateful_set).expect(200)["spec"]["replicas"] == 3


def test_a_built_in_scale_below_none_is_wrong_itself(rest: Rest, stateful_set: str) -> None:
    answer = rest.merge(f"{stateful_set}/scale", {"spec": {"replicas": -1}}).expect(422)
    assert answer["message"] == (
        'Scale.autoscaling "w" is invalid: spec.replicas: Invalid value: -1: '
        "must be greater than or equal to 0"
    )
