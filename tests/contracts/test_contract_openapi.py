"""OpenAPI v3: documents that never change under their address, and what tools read from them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kubernetes.rest import Rest

APPS = "/openapi/v3/apis/apps/v1"


def address(rest: Rest, version: str = "apis/apps/v1") -> str:
    return str(rest.get("/openapi/v3").expect(200)["paths"][version]["serverRelativeURL"])


def schema_of(rest: Rest, version: str, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of a kind, and all the others."""
    schemas: dict[str, Any] = rest.get(address(rest, version)).expect(200)["components"]["schemas"]
    [found] = [
        s
        for s in schemas.values()
        if any(k["kind"] == kind for k in s.get("x-kubernetes-group-version-kind", ())) and "properties" in s
    ]
    return found, schemas


def test_a_document_is_kept_for_ever_under_its_address(rest: Rest) -> None:
    answer = rest.get(address(rest))
    assert answer.headers["Cache-Control"] == "public, immutable"
    assert answer.headers["ETag"] == f'"{address(rest).partition("hash=")[2]}"'
    assert "Expires" in answer.headers


def test_without_its_digest_it_is_asked_for_again(rest: Rest) -> None:
    answer = rest.get(APPS)
    assert "immutable" not in answer.headers["Cache-Control"]
    assert answer.expect(200) == rest.get(address(rest)).body


def test_an_old_address_leads_to_the_new_one(rest: Rest) -> None:
    answer = rest.get(APPS, hash="OLD")
    assert (answer.status, answer.headers["Location"]) == (301, address(rest))


def test_what_a_client_has_is_not_sent_again(rest: Rest) -> None:
    known = {"If-None-Match": rest.get(APPS).headers["ETag"]}
    assert rest.send("GET", APPS, headers=known).status == 304


@pytest.mark.parametrize(
    "version, path",
    [
        ("api/v1", "/api/v1/namespaces/{namespace}/pods/{name}"),
        ("api/v1", "/api/v1/nodes/{name}"),
        ("apis/apps/v1", "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"),
        ("apis/batch/v1", "/apis/batch/v1/namespaces/{namespace}/jobs/{name}/status"),
        (
            "apis/autoscaling/v2",
            "/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers/{name}",
        ),
        ("apis/rbac.authorization.k8s.io/v1", "/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}"),
    ],
)
def test_clients_learn_that_patches_can_be_strict(rest: Rest, version: str, path: str) -> None:
    patch = rest.get(address(rest, version)).expect(200)["paths"][path]["patch"]
    assert {"dryRun", "fieldValidation"} <= {p["name"] for p in patch["parameters"]}
    assert set(patch["x-kubernetes-group-version-kind"]) == {"group", "version", "kind"}


@pytest.mark.parametrize(
    "version, kind, path, keys",
    [
        ("api/v1", "Pod", "PodSpec.containers",
         {"x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge",
          "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
        ("api/v1", "Service", "ServiceSpec.ports",
         {"x-kubernetes-patch-merge-key": "port", "x-kubernetes-list-map-keys": ["port", "protocol"]}),
        ("apis/apps/v1", "Deployment", "DeploymentSpec.strategy",
         {"x-kubernetes-patch-strategy": "retainKeys"}),
        ("apis/networking.k8s.io/v1", "Ingress", "IngressSpec.rules", {"x-kubernetes-list-type": "atomic"}),
    ],
)  # fmt: skip
def test_clients_learn_how_lists_are_merged(
    rest: Rest, version: str, kind: str, path: str, keys: dict[str, Any]
) -> None:
    struct, field = path.split(".")
    schema, schemas = schema_of(rest, version, kind)
    assert schema["properties"]["spec"]["allOf"][0]["$ref"].endswith(f".{struct}")
    [found] = [s for name, s in schemas.items() if name.endswith(f".{struct}")]
    assert keys.items() <= found["properties"][field].items()


def test_every_reference_leads_somewhere(rest: Rest) -> None:
    text = rest.get(address(rest, "api/v1")).text
    schemas = rest.get(address(rest, "api/v1")).body["components"]["schemas"]
    parts = text.split('"$ref":"#/components/schemas/')[1:]
    assert parts and {part.partition('"')[0] for part in parts} <= set(schemas)


@pytest.mark.parametrize(
    ("version", "schema", "field", "values"),
    [
        ("api/v1", "core.v1.PodSpec", "restartPolicy", ["Always", "Never", "OnFailure"]),
        ("api/v1", "core.v1.ServiceSpec", "type", ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]),
        ("api/v1", "core.v1.EphemeralContainer", "imagePullPolicy", ["Always", "IfNotPresent", "Never"]),
        ("api/v1", "core.v1.PersistentVolumeClaimSpec", "accessModes",
         ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]),
        ("api/v1", "core.v1.PersistentVolumeClaimStatus", "allocatedResourceStatuses",
         ["ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress",
          "NodeResizeInfeasible", "NodeResizePending"]),
        ("apis/batch/v1", "batch.v1.CronJobSpec", "concurrencyPolicy", ["Allow", "Forbid", "Replace"]),
        ("apis/networking.k8s.io/v1", "networking.v1.HTTPIngressPath", "pathType",
         ["Exact", "ImplementationSpecific", "Prefix"]),
        ("apis/discovery.k8s.io/v1", "discovery.v1.EndpointSlice", "addressType", ["FQDN", "IPv4", "IPv6"]),
        ("apis/admissionregistration.k8s.io/v1", "admissionregistration.v1.RuleWithOperations", "scope",
         None),
    ],
)  # fmt: skip
def test_the_values_that_a_field_may_have_are_told(
    rest: Rest, version: str, schema: str, field: str, values: list[str] | None
) -> None:
    schemas = rest.get(address(rest, version)).expect(200)["components"]["schemas"]
    said = schemas[f"io.k8s.api.{schema}"]["properties"][field]
    inner = said.get("items") or said.get("additionalProperties") or said
    assert inner.get("enum") == values
