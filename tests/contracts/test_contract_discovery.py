"""How clients find out what a server serves, who may ask, and that it is well."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kubernetes.rest import Answer, Rest

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def aggregated(rest: Rest, path: str) -> dict[str, Any]:
    answer = rest.get_as(f"{AGGREGATED},application/json", path)
    content_type = answer.headers["Content-Type"]
    for part in ("g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"):
        assert part in content_type
    body: dict[str, Any] = answer.expect(200)
    return body


def resources_of(body: dict[str, Any], group: str, version: str) -> dict[str, dict[str, Any]]:
    [found] = [item for item in body["items"] if item["metadata"].get("name", "") == group]
    [served] = [v for v in found["versions"] if v["version"] == version]
    return {resource["resource"]: resource for resource in served["resources"]}


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_a_server_says_that_it_is_well_in_one_word(rest: Rest, path: str) -> None:
    answer = rest.get(path)
    assert (answer.status, answer.text) == (200, "ok")


@pytest.mark.parametrize("path", ["/version", "/version/"])
def test_the_version_is_one_that_clients_can_parse(rest: Rest, path: str) -> None:
    body = rest.get(path).expect(200)
    assert (body["major"], body["minor"]) == ("1", "33")
    assert body["gitVersion"].startswith("v1.33.")


def test_the_core_group_has_one_version(rest: Rest) -> None:
    body = rest.get("/api").expect(200)
    assert (body["kind"], body["versions"]) == ("APIVersions", ["v1"])


def test_the_list_of_groups_holds_ours_with_its_preferred_version(rest: Rest) -> None:
    body = rest.get("/apis").expect(200)
    assert body["kind"] == "APIGroupList"
    [group] = [g for g in body["groups"] if g["name"] == "batch.paddlepaddle.org"]
    assert group["preferredVersion"] == {"groupVersion": "batch.paddlepaddle.org/v1", "version": "v1"}
    assert [v["version"] for v in group["versions"]] == ["v1", "v1alpha1"]


def test_one_group_can_be_asked_for_alone(rest: Rest) -> None:
    body = rest.get("/apis/hub.paddlepaddle.org").expect(200)
    assert (body["kind"], body["name"]) == ("APIGroup", "hub.paddlepaddle.org")


@pytest.mark.parametrize(
    "path, name, kind, namespaced, short",
    [
        ("/api/v1", "pods", "Pod", True, ["po"]),
        ("/api/v1", "configmaps", "ConfigMap", True, ["cm"]),
        ("/api/v1", "namespaces", "Namespace", False, ["ns"]),
        ("/apis/apps/v1", "statefulsets", "StatefulSet", True, ["sts"]),
        ("/apis/batch.paddlepaddle.org/v1", "paddlejobs", "PaddleJob", True, ["pdj"]),
    ],
)
def test_a_group_version_lists_its_resources(
    rest: Rest, path: str, name: str, kind: str, namespaced: bool, short: list[str]
) -> None:
    body = rest.get(path).expect(200)
    assert body["kind"] == "APIResourceList"
    [found] = [r for r in body["resources"] if r["name"] == name]
    assert (found["kind"], found["namespaced"], found["shortNames"]) == (kind, namespaced, short)
    assert {"create", "delete", "get", "list", "patch", "update", "watch"} <= set(found["verbs"])
    assert f"{name}/status" in {r["name"] for r in body["resources"]} or name == "configmaps"


@pytest.mark.parametrize(
    "path, group, version, resource, kind",
    [
        ("/api", "", "v1", "pods", "Pod"),
        ("/apis", "batch.paddlepaddle.org", "v1", "paddlejobs", "PaddleJob"),
        ("/apis", "batch.paddlepaddle.org", "v1alpha1", "samplesets", "SampleSet"),
    ],
)
def test_aggregated_discovery_tells_all_of_it_in_one_answer(
    rest: Rest, path: str, group: str, version: str, resource: str, kind: str
) -> None:
    body = aggregated(rest, path)
    assert body["kind"] == "APIGroupDiscoveryList"
    found = resources_of(body, group, version)[resource]
    assert found["responseKind"]["kind"] == kind
    assert found["scope"] == "Namespaced"
    assert found["singularResource"] == kind.lower()
    assert "status" in {s["subresource"] for s in found["subresources"]}


def test_our_kinds_are_part_of_kubectl_get_all(rest: Rest) -> None:
    found = resources_of(aggregated(rest, "/apis"), "batch.paddlepaddle.org", "v1")["paddlejobs"]
    assert "all" in found["categories"]


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_discovery_that_has_not_changed_is_not_sent_again(rest: Rest, path: str) -> None:
    first = rest.get_as(AGGREGATED, path)
    known = {"Accept": AGGREGATED, "If-None-Match": first.headers["ETag"]}
    again = rest.send("GET", path, headers=known)
    assert (again.status, again.text) == (304, "")
    assert "Accept" in first.headers["Vary"]


def test_openapi_v3_describes_our_fields_and_lets_clients_ask_for_strictness(rest: Rest) -> None:
    index = rest.get("/openapi/v3").expect(200)["paths"]
    document = rest.get(index["apis/batch.paddlepaddle.org/v1"]["serverRelativeURL"]).expect(200)
    [schema] = [
        s
        for s in document["components"]["schemas"].values()
        if any(k["kind"] == "PaddleJob" for k in s.get("x-kubernetes-group-version-kind", ()))
    ]
    assert "cleanPodPolicy" in schema["properties"]["spec"]["properties"]
    path = "/apis/batch.paddlepaddle.org/v1/namespaces/{namespace}/paddlejobs/{name}"
    parameters = document["paths"][path]["patch"]["parameters"]
    assert "fieldValidation" in {p.get("name") for p in parameters}


def test_a_wrong_token_is_refused(rest: Rest) -> None:
    stranger = rest.holding("not-a-token")
    answer = stranger.get("/api/v1/namespaces")
    stranger.close()
    assert answer.expect(401) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Unauthorized",
        "reason": "Unauthorized",
        "code": 401,
    }


def test_somebody_without_a_token_reads_no_objects(rest: Rest) -> None:
    nobody = rest.holding("")
    answer: Answer = nobody.get("/api/v1/secrets")
    nobody.close()
    assert answer.status in (401, 403)
    assert answer.body["kind"] == "Status"


@pytest.mark.parametrize(
    "path", ["/apis/nobody.example.org/v1/things", "/api/v1/namespaces/default/things", "/no"]
)
def test_a_path_nobody_serves_is_not_found(rest: Rest, path: str) -> None:
    assert rest.get(path).status == 404
