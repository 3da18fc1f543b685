"""Who owns what after a write that is no apply, and how the owners themselves are changed."""

from __future__ import annotations

import pytest
from tests.contracts.objects import config_map, core, jobs, paddle_job, pod
from tests.contracts.owners import apply, owners
from tests.kubernetes.rest import Rest

NAME = "settings"


@pytest.fixture
def path(rest: Rest, namespace: str) -> str:
    rest.post(core(namespace, "configmaps"), config_map(a="1", b="2")).expect(201)
    return core(namespace, "configmaps", NAME)


def test_who_creates_owns_everything(rest: Rest, path: str) -> None:
    made = rest.get(path).expect(200)
    assert owners(made) == {"contracts Update": "/data /data/a /data/b"}
    [entry] = made["metadata"]["managedFields"]
    assert entry["apiVersion"] == "v1"
    assert entry["time"] == made["metadata"]["creationTimestamp"]


@pytest.mark.parametrize(
    "agent, manager",
    [
        ("kubectl/v1.33.1 (linux/amd64)", "kubectl"),
        ("python-requests", "python-requests"),
        ("some program/1", "some program"),
        ("/1", "unknown"),
    ],
)
def test_who_gives_no_name_is_known_by_its_program(
    rest: Rest, namespace: str, agent: str, manager: str
) -> None:
    made = rest.send(
        "POST", core(namespace, "configmaps"), config_map(a="1"), headers={"User-Agent": agent}
    ).expect(201)
    assert owners(made) == {f"{manager} Update": "/data /data/a"}


def test_who_gives_a_name_is_known_by_it(rest: Rest, namespace: str) -> None:
    made = rest.post(core(namespace, "configmaps"), config_map(a="1"), fieldManager="zoe").expect(201)
    assert owners(made) == {"zoe Update": "/data /data/a"}


def test_an_object_of_nothing_is_nobodys(rest: Rest, namespace: str) -> None:
    made = rest.post(core(namespace, "configmaps"), {"metadata": {"name": "empty"}}).expect(201)
    assert "managedFields" not in made["metadata"]


def test_what_the_server_sets_is_nobodys(rest: Rest, namespace: str) -> None:
    body = config_map(labels={"x": "y"})
    body["metadata"] |= {"annotations": {"note": "1"}, "namespace": namespace}
    made = rest.post(core(namespace, "configmaps"), body).expect(201)
    assert owners(made) == {
        "contracts Update": "/metadata/annotations /metadata/annotations/note "
        "/metadata/labels /metadata/labels/x"
    }


def test_a_generated_name_has_an_owner(rest: Rest, namespace: str) -> None:
    body = {"metadata": {"generateName": "some-"}, "data": {"a": "1"}}
    made = rest.post(core(namespace, "configmaps"), body).expect(201)
    assert owners(made) == {"contracts Update": "/data /data/a /metadata/generateName"}


def test_who_changes_a_field_owns_it(rest: Rest, path: str) -> None:
    made = rest.merge(path, {"data": {"a": "9", "c": "3"}}, fieldManager="bob").expect(200)
    assert owners(made) == {"bob Update": "/data/a /data/c", "contracts Update": "/data /data/b"}


def test_who_says_the_same_owns_nothing(rest: Rest, path: str) -> None:
    before = rest.get(path).expect(200)
    assert rest.merge(path, {"data": {"a": "1"}}, fieldManager="bob").expect(200) == before


def test_an_update_is_judged_by_what_it_changes(rest: Rest, path: str) -> None:
    made = rest.put(path, config_map(a="1", c="3"), fieldManager="bob").expect(200)
    assert owners(made) == {"bob Update": "/data/c", "contracts Update": "/data /data/a"}


def test_who_owns_nothing_any_more_vanishes(rest: Rest, path: str) -> None:
    rest.merge(path, {"data": {"c": "3"}}, fieldManager="bob").expect(200)
    made = rest.merge(path, {"data": {"c": None}}, fieldManager="carol").expect(200)
    assert owners(made) == {"contracts Update": "/data /data/a /data/b"}


def test_the_fields_of_one_manager_come_together(rest: Rest, path: str) -> None:
    rest.merge(path, {"data": {"c": "3"}}, fieldManager="bob").expect(200)
    made = rest.json_patch(path, [{"op": "add", "path": "/data/d", "value": "4"}], fieldManager="bob")
    assert owners(made.expect(200))["bob Update"] == "/data/c /data/d"


def test_a_dry_run_shows_the_owners_it_would_have_made(rest: Rest, path: str) -> None:
    made = rest.merge(path, {"data": {"a": "9"}}, fieldManager="bob", dryRun="All").expect(200)
    assert owners(made)["bob Update"] == "/data/a"
    assert "bob Update" not in owners(rest.get(path).expect(200))


def test_a_new_pod_is_owned_with_its_defaults(rest: Rest, namespace: str) -> None:
    made = rest.post(core(namespace, "pods"), pod()).expect(201)
    container = "/spec/containers[main]"
    assert owners(made) == {
        "contracts Update": f"{container} {container}/image {container}/imagePullPolicy {container}/name "
        f"{container}/resources {container}/terminationMessagePath {container}/terminationMessagePolicy "
        "/spec/dnsPolicy /spec/enableServiceLinks /spec/restartPolicy /spec/schedulerName "
        "/spec/securityContext /spec/terminationGracePeriodSeconds"
    }


def test_a_new_service_is_owned_without_its_address(rest: Rest, namespace: str) -> None:
    body = {"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}
    made = rest.post(core(namespace, "services"), body).expect(201)
    port = "/spec/ports[80,TCP]"
    assert owners(made) == {
        "contracts Update": f"/spec/internalTrafficPolicy /spec/ports {port} {port}/port {port}/protocol "
        f"{port}/targetPort /spec/selector /spec/sessionAffinity /spec/type"
    }


def test_a_new_namespace_owns_its_label(rest: Rest, namespace: str) -> None:
    made = rest.get(f"/api/v1/namespaces/{namespace}").expect(200)
    assert owners(made) == {
        "contracts Update": "/metadata/labels /metadata/labels/kubernetes.io/metadata.name"
    }


def test_the_status_of_a_pod_is_owned_beside_the_pod(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "pods"), pod()).expect(201)
    path = core(namespace, "pods", "sleeper/status")
    patch = {"status": {"phase": "Running", "podIP": "127.9.9.9"}}
    made = rest.merge(path, patch, fieldManager="kubelet").expect(200)
    assert owners(made)["kubelet Update status"].startswith("/status/phase /status/podIP")


def test_a_new_job_is_owned_with_the_objects_in_it(rest: Rest, namespace: str) -> None:
    made = rest.post(jobs(namespace), paddle_job()).expect(201)
    worker = "/spec/worker"
    assert owners(made) == {
        "contracts Update": f"/spec /spec/intranet {worker} {worker}/replicas {worker}/template "
        f"{worker}/template/spec {worker}/template/spec/containers {worker}/template/spec/schedulerName"
    }


def test_a_job_that_is_changed_changes_hands_field_by_field(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    patch = {"metadata": {"labels": {"a": "b"}}, "spec": {"cleanPodPolicy": "Never"}}
    made = rest.merge(jobs(namespace, "train"), patch, fieldManager="bob").expect(200)
    assert owners(made)["bob Update"] == "/metadata/labels /metadata/labels/a /spec/cleanPodPolicy"
    assert "/spec/cleanPodPolicy" not in owners(made)["contracts Update"].split()


def test_there_are_at_most_ten_updaters(rest: Rest, path: str) -> None:
    for i in range(12):
        made = rest.merge(path, {"data": {f"k{i}": "1"}}, fieldManager=f"m{i}").expect(200)
    found = owners(made)
    assert len(found) == 10
    assert {"/data", "/data/a", "/data/b"} <= set(found["ancient-changes Update"].split())
    assert found["m11 Update"] == "/data/k11"
    assert sum(text.count("/data/k") for text in found.values()) == 12


@pytest.mark.parametrize("nothing", [[], [{}]])
def test_ownership_can_be_given_up(rest: Rest, path: str, nothing: list[dict[str, str]]) -> None:
    patch = [{"op": "replace", "path": "/metadata/managedFields", "value": nothing}]
    assert "managedFields" not in rest.json_patch(path, patch).expect(200)["metadata"]
    made = rest.merge(path, {"data": {"c": "3"}}, fieldManager="bob").expect(200)
    assert "managedFields" not in made["metadata"]


def test_what_was_nobodys_belongs_to_a_stand_in_after_an_apply(rest: Rest, path: str) -> None:
    rest.merge(path, {"metadata": {"managedFields": []}}).expect(200)
    made = apply(rest, path, config_map(a="1")).expect(200)
    assert owners(made) == {
        "alice Apply": "/data/a",
        "before-first-apply Update": "/data /data/a /data/b",
    }


def test_the_owners_can_be_rewritten(rest: Rest, path: str) -> None:
    entries = rest.get(path).expect(200)["metadata"]["managedFields"]
    entries[0]["manager"] = "renamed"
    patch = [{"op": "replace", "path": "/metadata/managedFields", "value": entries}]
    made = rest.json_patch(path, patch, fieldManager="bob").expect(200)
    assert owners(made) == {"renamed Update": "/data /data/a /data/b"}


@pytest.mark.parametrize(
    "entry",
    [
        {"manager": "x", "operation": "Guess", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}},
        {"manager": "x", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {}},
        {"manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsV1": {}},
    ],
)
def test_owners_that_make_no_sense_are_not_heard(rest: Rest, path: str, entry: dict[str, object]) -> None:
    patch = [{"op": "replace", "path": "/metadata/managedFields", "value": [entry]}]
    made = rest.json_patch(path, patch).expect(200)
    assert owners(made) == {"contracts Update": "/data /data/a /data/b"}


def test_the_owners_cannot_be_rewritten_through_the_status(rest: Rest, namespace: str) -> None:
    made = rest.post(core(namespace, "pods"), pod()).expect(201)
    before = owners(made)
    made["metadata"]["managedFields"] = [{}]
    changed = rest.put(core(namespace, "pods", "sleeper/status"), made).expect(200)
    assert owners(changed) == before


def test_who_forgets_the_owners_keeps_them(rest: Rest, path: str) -> None:
    current = rest.get(path).expect(200)
    del current["metadata"]["managedFields"]
    current["data"]["c"] = "3"
    made = rest.put(path, current, fieldManager="bob").expect(200)
    assert owners(made) == {"bob Update": "/data/c", "contracts Update": "/data /data/a /data/b"}
