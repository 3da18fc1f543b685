"""Deletion: what is answered, what holds it up, and what goes along."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import NAMESPACES, config_map, core, jobs, paddle_job, pod
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until


def gone(rest: Rest, path: str) -> None:
    until(lambda: rest.get(path).status == 404, what=f"{path} gone")


def owned_by(owner: dict[str, Any], body: dict[str, Any], **more: Any) -> dict[str, Any]:
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        **more,
    }
    body["metadata"]["ownerReferences"] = [reference]
    return body


def test_a_deletion_is_answered_with_a_status_that_names_the_object(rest: Rest, namespace: str) -> None:
    made = rest.post(core(namespace, "configmaps"), config_map()).expect(201)
    assert rest.delete(core(namespace, "configmaps", "settings")).expect(200) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "settings", "kind": "configmaps", "uid": made["metadata"]["uid"]},
    }
    assert rest.get(core(namespace, "configmaps", "settings")).status == 404


def test_a_deletion_of_our_kind_names_its_group(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    answer = rest.delete(jobs(namespace, "train")).expect(200)
    assert answer["details"]["group"] == "batch.paddlepaddle.org"


def test_a_pod_on_no_node_is_gone_at_once(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "pods"), pod()).expect(201)
    assert rest.delete(core(namespace, "pods", "sleeper")).status == 200
    assert rest.get(core(namespace, "pods", "sleeper")).status == 404


def test_a_pod_on_a_node_waits_for_the_node(rest: Rest, namespace: str) -> None:
    body = pod()
    body["spec"]["nodeName"] = "nobody-home"
    rest.post(core(namespace, "pods"), body).expect(201)
    answer = rest.delete(core(namespace, "pods", "sleeper"), {"gracePeriodSeconds": 20}).expect(200)
    assert answer["kind"] == "Pod"
    assert answer["metadata"]["deletionTimestamp"] and answer["metadata"]["deletionGracePeriodSeconds"] == 20
    assert rest.get(core(namespace, "pods", "sleeper")).status == 200
    rest.delete(core(namespace, "pods", "sleeper"), {"gracePeriodSeconds": 0})
    assert rest.get(core(namespace, "pods", "sleeper")).status == 404


@pytest.mark.parametrize("precondition", ["uid", "resourceVersion"])
def test_a_deletion_for_another_object_is_a_conflict(rest: Rest, namespace: str, precondition: str) -> None:
    path = core(namespace, "configmaps", "settings")
    metadata = rest.post(core(namespace, "configmaps"), config_map()).expect(201)["metadata"]
    wrong = {"uid": "00000000-0000-0000-0000-000000000000", "resourceVersion": "1"}[precondition]
    answer = rest.delete(path, {"preconditions": {precondition: wrong}}).expect(409)
    assert answer["reason"] == "Conflict"
    assert rest.delete(path, {"preconditions": {precondition: metadata[precondition]}}).status == 200


def test_a_dry_run_deletes_nothing(rest: Rest, namespace: str) -> None:
    path = core(namespace, "configmaps", "settings")
    rest.post(core(namespace, "configmaps"), config_map()).expect(201)
    rest.delete(path, {"dryRun": ["All"]}).expect(200)
    assert rest.get(path).status == 200


def test_a_finalizer_holds_an_object_until_it_is_taken_away(rest: Rest, namespace: str) -> None:
    path = core(namespace, "configmaps", "settings")
    body = config_map()
    body["metadata"]["finalizers"] = ["example.org/wait"]
    rest.post(core(namespace, "configmaps"), body).expect(201)

    going = rest.delete(path).expect(200)
    assert going["metadata"]["deletionTimestamp"]
    assert going["metadata"]["deletionGracePeriodSeconds"] == 0
    assert rest.get(path).status == 200

    rest.merge(path, {"metadata": {"finalizers": None}}).expect(200)
    assert rest.get(path).status == 404


def test_a_second_deletion_of_what_is_held_changes_nothing(rest: Rest, namespace: str) -> None:
    path = jobs(namespace, "train")
    body = paddle_job()
    body["metadata"]["finalizers"] = ["example.org/wait"]
    rest.post(jobs(namespace), body).expect(201)
    rest.delete(path).expect(200)
    held = rest.get(path).expect(200)
    rest.delete(path).expect(200)
    assert rest.get(path).expect(200) == held
    rest.merge(path, {"metadata": {"finalizers": None}}).expect(200)


def test_what_is_going_takes_no_new_finalizer(rest: Rest, namespace: str) -> None:
    path = core(namespace, "configmaps", "settings")
    body = config_map()
    body["metadata"]["finalizers"] = ["example.org/wait"]
    rest.post(core(namespace, "configmaps"), body).expect(201)
    rest.delete(path).expect(200)
    answer = rest.merge(path, {"metadata": {"finalizers": ["example.org/wait", "example.org/more"]}})
    assert "no new finalizers can be added if the object is being deleted" in answer.expect(422)["message"]
    rest.merge(path, {"metadata": {"finalizers": None}}).expect(200)


def test_a_selection_is_deleted_and_the_rest_stays(rest: Rest, namespace: str) -> None:
    for name, colour in (("a", "red"), ("b", "red"), ("c", "blue")):
        rest.post(core(namespace, "configmaps"), config_map(name, {"colour": colour})).expect(201)
    answer = rest.delete(core(namespace, "configmaps"), labelSelector="colour=red").expect(200)
    assert answer["kind"] == "ConfigMapList"
    left = rest.get(core(namespace, "configmaps"), labelSelector="colour").expect(200)["items"]
    assert [item["metadata"]["name"] for item in left] == ["c"]


@pytest.mark.needs_controllers
def test_what_an_object_owned_goes_after_it(rest: Rest, namespace: str) -> None:
    owner = rest.post(jobs(namespace), paddle_job()).expect(201)
    rest.post(core(namespace, "configmaps"), owned_by(owner, config_map("child"))).expect(201)
    rest.delete(jobs(namespace, "train"), {"propagationPolicy": "Background"}).expect(200)
    gone(rest, core(namespace, "configmaps", "child"))


@pytest.mark.needs_controllers
def test_a_child_of_two_owners_stays_while_one_lives(rest: Rest, namespace: str) -> None:
    owners = [rest.post(core(namespace, "configmaps"), config_map(n)).expect(201) for n in ("one", "two")]
    child = owned_by(owners[0], config_map("child"))
    child["metadata"]["ownerReferences"] += owned_by(owners[1], config_map())["metadata"]["ownerReferences"]
    rest.post(core(namespace, "configmaps"), child).expect(201)
    path = core(namespace, "configmaps", "child")
    rest.delete(core(namespace, "configmaps", "one")).expect(200)
    until(
        lambda: [o["name"] for o in rest.get(path).expect(200)["metadata"]["ownerReferences"]] == ["two"],
        what="the dead owner struck from the list",
    )
    rest.delete(core(namespace, "configmaps", "two")).expect(200)
    gone(rest, path)


@pytest.mark.needs_controllers
def test_orphans_stay_without_their_owner(rest: Rest, namespace: str) -> None:
    owner = rest.post(core(namespace, "configmaps"), config_map("owner")).expect(201)
    rest.post(core(namespace, "configmaps"), owned_by(owner, config_map("child"))).expect(201)
    rest.delete(core(namespace, "configmaps", "owner"), {"propagationPolicy": "Orphan"}).expect(200)
    gone(rest, core(namespace, "configmaps", "owner"))
    metadata = rest.get(core(namespace, "configmaps", "child")).expect(200)["metadata"]
    assert "ownerReferences" not in metadata


@pytest.mark.needs_controllers
def test_a_foreground_deletion_waits_for_the_children(rest: Rest, namespace: str) -> None:
    owner = rest.post(core(namespace, "configmaps"), config_map("owner")).expect(201)
    child = owned_by(owner, config_map("child"), blockOwnerDeletion=True)
    child["metadata"]["finalizers"] = ["example.org/wait"]
    rest.post(core(namespace, "configmaps"), child).expect(201)
    path = core(namespace, "configmaps", "owner")
    answer = rest.delete(path, {"propagationPolicy": "Foreground"}).expect(200)
    assert answer["metadata"]["finalizers"] == ["foregroundDeletion"]
    child_path = core(namespace, "configmaps", "child")
    until(
        lambda: "deletionTimestamp" in rest.get(child_path).expect(200)["metadata"],
        what="the deletion of the child",
    )
    assert rest.get(path).status == 200
    rest.merge(child_path, {"metadata": {"finalizers": None}}).expect(200)
    gone(rest, path)


@pytest.mark.needs_controllers
def test_a_namespace_takes_its_objects_with_it(rest: Rest) -> None:
    name = rest.post(NAMESPACES, {"metadata": {"generateName": "short-"}}).expect(201)["metadata"]["name"]
    rest.post(core(name, "configmaps"), config_map()).expect(201)
    rest.post(jobs(name), paddle_job()).expect(201)
    going = rest.delete(f"{NAMESPACES}/{name}").expect(200)
    assert going["status"]["phase"] == "Terminating"
    gone(rest, f"{NAMESPACES}/{name}")
    assert rest.get(jobs(name)).expect(200)["items"] == []


@pytest.mark.needs_controllers
def test_nothing_new_starts_in_a_namespace_that_goes(rest: Rest) -> None:
    name = rest.post(NAMESPACES, {"metadata": {"generateName": "held-"}}).expect(201)["metadata"]["name"]
    held = config_map("held")
    held["metadata"]["finalizers"] = ["example.org/wait"]
    rest.post(core(name, "configmaps"), held).expect(201)
    rest.delete(f"{NAMESPACES}/{name}").expect(200)
    answer = rest.post(core(name, "configmaps"), config_map("late")).expect(403)
    assert answer["reason"] == "Forbidden"
    assert answer["message"] == (
        f'configmaps "late" is forbidden: unable to create new content in namespace {name} '
        "because it is being terminated"
    )
    rest.merge(core(name, "configmaps", "held"), {"metadata": {"finalizers": None}}).expect(200)
    gone(rest, f"{NAMESPACES}/{name}")
