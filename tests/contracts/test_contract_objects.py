"""Creating and reading objects, and what the server adds to them."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from tests.contracts.objects import NAMESPACES, config_map, core, paddle_job, pod
from tests.kubernetes.rest import Rest


def test_a_new_object_comes_back_with_its_identity(rest: Rest, namespace: str) -> None:
    answer = rest.post(core(namespace, "configmaps"), config_map(mode="fast"))
    body = answer.expect(201)
    assert (body["apiVersion"], body["kind"], body["data"]) == ("v1", "ConfigMap", {"mode": "fast"})
    metadata = body["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("settings", namespace)
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", metadata["uid"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", metadata["creationTimestamp"])
    assert int(metadata["resourceVersion"]) > 0
    assert answer.headers["Content-Type"] == "application/json"


def test_what_was_created_is_what_is_read(rest: Rest, namespace: str) -> None:
    made = rest.post(core(namespace, "configmaps"), config_map(mode="fast")).expect(201)
    assert rest.get(core(namespace, "configmaps", "settings")).expect(200) == made


def test_kind_and_version_of_a_body_may_be_left_out(rest: Rest, namespace: str) -> None:
    body = rest.post(core(namespace, "configmaps"), {"metadata": {"name": "bare"}}).expect(201)
    assert (body["apiVersion"], body["kind"]) == ("v1", "ConfigMap")


def test_identity_is_the_servers_to_give(rest: Rest, namespace: str) -> None:
    forged = config_map()
    forged["metadata"] |= {"uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "selfLink": "/x"}
    metadata = rest.post(core(namespace, "configmaps"), forged).expect(201)["metadata"]
    assert metadata["uid"] != "mine" and not metadata["creationTimestamp"].startswith("2001")


def test_an_object_cannot_be_created_at_a_version(rest: Rest, namespace: str) -> None:
    body = config_map()
    body["metadata"]["resourceVersion"] = "7"
    answer = rest.post(core(namespace, "configmaps"), body)
    # Kubernetes itself calls it its own fault, 500.
    assert answer.status in (400, 500)
    assert answer.body["message"] == "resourceVersion should not be set on objects to be created"


def test_a_generated_name_is_the_prefix_and_five_letters(rest: Rest, namespace: str) -> None:
    body = config_map() | {"metadata": {"generateName": "run-"}}
    names = {rest.post(core(namespace, "configmaps"), body).expect(201)["metadata"]["name"] for _ in range(3)}
    assert len(names) == 3
    assert all(re.fullmatch(r"run-[a-z0-9]{5}", name) for name in names)


def test_a_dry_run_answers_but_stores_nothing(rest: Rest, namespace: str) -> None:
    body = rest.post(core(namespace, "configmaps"), config_map(), dryRun="All").expect(201)
    assert body["metadata"]["uid"]
    assert "resourceVersion" not in body["metadata"]
    assert rest.get(core(namespace, "configmaps", "settings")).status == 404


def test_a_namespace_is_active_and_labelled_with_its_name(rest: Rest, namespace: str) -> None:
    body = rest.get(f"{NAMESPACES}/{namespace}").expect(200)
    assert body["status"] == {"phase": "Active"}
    assert body["metadata"]["labels"]["kubernetes.io/metadata.name"] == namespace
    assert body["spec"] == {"finalizers": ["kubernetes"]}


def test_text_in_a_secret_is_kept_as_data(rest: Rest, namespace: str) -> None:
    body = {"metadata": {"name": "key"}, "stringData": {"password": "quiet"}}
    made = rest.post(core(namespace, "secrets"), body).expect(201)
    assert made["type"] == "Opaque"
    assert base64.b64decode(made["data"]["password"]) == b"quiet"
    assert "stringData" not in made


def test_data_of_a_secret_that_is_not_base64_is_refused(rest: Rest, namespace: str) -> None:
    answer = rest.post(core(namespace, "secrets"), {"metadata": {"name": "key"}, "data": {"a": "%%%"}})
    assert answer.status == 400


def test_a_service_gets_an_address(rest: Rest, namespace: str) -> None:
    spec = {"selector": {"app": "x"}, "ports": [{"port": 80}]}
    made = rest.post(core(namespace, "services"), {"metadata": {"name": "web"}, "spec": spec}).expect(201)
    assert made["spec"]["type"] == "ClusterIP"
    assert re.fullmatch(r"\d+(\.\d+){3}", made["spec"]["clusterIP"])
    assert made["spec"]["clusterIPs"] == [made["spec"]["clusterIP"]]
    assert made["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]


def test_a_headless_service_gets_none(rest: Rest, namespace: str) -> None:
    spec = {"clusterIP": "None", "selector": {"app": "x"}, "ports": [{"port": 80}]}
    made = rest.post(core(namespace, "services"), {"metadata": {"name": "pods"}, "spec": spec}).expect(201)
    assert made["spec"]["clusterIP"] == "None"


def test_a_new_pod_is_pending_and_on_no_node(rest: Rest, namespace: str) -> None:
    body = rest.post(core(namespace, "pods"), pod()).expect(201)
    assert body["status"]["phase"] == "Pending"
    assert "nodeName" not in body["spec"]


@pytest.mark.parametrize(
    "field, value",
    [
        ("restartPolicy", "Always"),
        ("terminationGracePeriodSeconds", 30),
        ("dnsPolicy", "ClusterFirst"),
        ("enableServiceLinks", True),
        ("serviceAccountName", "default"),
    ],
)
def test_a_pod_gets_the_defaults_of_kubernetes(rest: Rest, namespace: str, field: str, value: Any) -> None:
    assert rest.post(core(namespace, "pods"), pod()).expect(201)["spec"][field] == value


def test_a_container_gets_the_defaults_of_kubernetes(rest: Rest, namespace: str) -> None:
    [container] = rest.post(core(namespace, "pods"), pod()).expect(201)["spec"]["containers"]
    assert container["imagePullPolicy"] == "IfNotPresent"
    assert container["terminationMessagePath"] == "/dev/termination-log"
    assert container["resources"] == {}


def test_the_status_in_a_new_pod_is_not_believed(rest: Rest, namespace: str) -> None:
    body = pod() | {"status": {"phase": "Running", "podIP": "127.0.0.9"}}
    status = rest.post(core(namespace, "pods"), body).expect(201)["status"]
    assert status["phase"] == "Pending" and "podIP" not in status


def test_a_pod_is_bound_to_a_node_once(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "pods"), pod()).expect(201)
    binding = {"metadata": {"name": "sleeper"}, "target": {"kind": "Node", "name": "node-x"}}
    assert rest.post(core(namespace, "pods", "sleeper/binding"), binding).status == 201
    bound = rest.get(core(namespace, "pods", "sleeper")).expect(200)
    assert bound["spec"]["nodeName"] == "node-x"
    assert {"PodScheduled"} == {c["type"] for c in bound["status"]["conditions"] if c["status"] == "True"}
    assert rest.post(core(namespace, "pods", "sleeper/binding"), binding).status == 409


def test_the_spec_of_a_pod_does_not_change(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "pods"), pod()).expect(201)
    answer = rest.merge(core(namespace, "pods", "sleeper"), {"spec": {"restartPolicy": "Never"}}).expect(422)
    assert answer["reason"] == "Invalid"


@pytest.mark.parametrize("containers", [[], None])
def test_a_pod_without_containers_is_refused(rest: Rest, namespace: str, containers: Any) -> None:
    body = pod()
    body["spec"]["containers"] = containers
    answer = rest.post(core(namespace, "pods"), body).expect(422)
    assert answer["message"] == 'Pod "sleeper" is invalid: spec.containers: Required value'


@pytest.mark.parametrize("name", ["Upper", "with space", "under_score", "-dash", "x" * 254])
def test_a_name_that_is_not_a_host_name_is_refused(rest: Rest, namespace: str, name: str) -> None:
    answer = rest.post(core(namespace, "configmaps"), config_map(name)).expect(422)
    assert answer["details"]["causes"][0]["field"] == "metadata.name"


@pytest.mark.parametrize("labels", [{"a b": "x"}, {"a": "x y"}, {"/a": "x"}, {"a": "x" * 64}])
def test_labels_that_cannot_be_selected_are_refused(
    rest: Rest, namespace: str, labels: dict[str, str]
) -> None:
    answer = rest.post(core(namespace, "configmaps"), config_map(labels=labels)).expect(422)
    assert answer["details"]["causes"][0]["field"] == "metadata.labels"


def test_a_job_round_trips(rest: Rest, namespace: str) -> None:
    path = f"/apis/batch.paddlepaddle.org/v1/namespaces/{namespace}/paddlejobs"
    sent = paddle_job()
    made = rest.post(path, sent).expect(201)
    assert made["metadata"]["generation"] == 1
    assert made["spec"] == sent["spec"] | {"intranet": "PodIP"}
    assert rest.get(f"{path}/train").expect(200)["spec"] == made["spec"]
