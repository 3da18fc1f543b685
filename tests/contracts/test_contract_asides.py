"""What clients meet beside the objects: missing doors, namespaces that stay, old kinds, OpenAPI v2."""

from __future__ import annotations

import pytest
from tests.contracts.objects import core, sample_set, sample_sets
from tests.kubernetes.rest import Rest

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize("door", ["scale", "nothing"])
def test_a_custom_kind_without_that_door_is_not_found_there(rest: Rest, namespace: str, door: str) -> None:
    rest.post(sample_sets(namespace), sample_set()).expect(201)
    answer = rest.get(f"{sample_sets(namespace, 'digits')}/{door}").expect(404)
    assert answer["message"] == 'samplesets.batch.paddlepaddle.org "digits" not found'


def test_a_scale_as_a_table(rest: Rest, namespace: str) -> None:
    spec = {
        "replicas": 2,
        "selector": {"a": "b"},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"schedulerName": "nobody", "containers": [{"name": "main", "image": "example/image"}]},
        },
    }
    path = core(namespace, "replicationcontrollers")
    rest.post(path, {"metadata": {"name": "x"}, "spec": spec}).expect(201)
    table = rest.get_as(TABLE, f"{path}/x/scale").expect(200)
    assert table["kind"] == "Table"
    names = [(c["name"], c["type"]) for c in table["columnDefinitions"]]
    assert names == [("Name", "string"), ("Desired", "integer"), ("Available", "integer"), ("Age", "string")]
    assert table["rows"][0]["cells"][:2] == ["x", 2]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


@pytest.mark.parametrize("name", ["default", "kube-public", "kube-system"])
def test_some_namespaces_may_not_be_deleted(rest: Rest, name: str) -> None:
    answer = rest.delete(f"/api/v1/namespaces/{name}").expect(403)
    assert answer["message"] == f'namespaces "{name}" is forbidden: this namespace may not be deleted'


def test_whoever_uses_an_old_kind_is_warned(rest: Rest, namespace: str) -> None:
    answer = rest.get(core(namespace, "endpoints"))
    assert answer.headers["Warning"] == (
        '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
    )


def test_there_is_an_openapi_of_version_2(rest: Rest) -> None:
    body = rest.get("/openapi/v2").expect(200)
    assert (body["swagger"], body["info"]["title"]) == ("2.0", "Kubernetes")


def test_a_job_takes_the_labels_of_its_pods(rest: Rest, namespace: str) -> None:
    pod = {"schedulerName": "nobody", "restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    made = rest.post(path, {"metadata": {"name": "x"}, "spec": {"template": {"spec": pod}}}).expect(201)
    labels = made["spec"]["template"]["metadata"]["labels"]
    assert made["metadata"]["labels"] == labels and labels["job-name"] == "x"
