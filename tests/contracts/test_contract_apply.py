"""Server-side apply: what becomes of the object, who owns it afterwards, and who is refused."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import config_map, core, jobs, paddle_job
from tests.contracts.owners import APPLY, apply, owners, strategic
from tests.kubernetes.rest import Rest

NAME = "settings"
GROUP = "batch.paddlepaddle.org/v1"


@pytest.fixture
def path(namespace: str) -> str:
    return core(namespace, "configmaps", NAME)


def service(*ports: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"ports": list(ports), "selector": {"app": "web"}},
    }


def job(name: str = "train", **spec: Any) -> dict[str, Any]:
    """A part of a PaddleJob, to be laid over one that is there."""
    return {"apiVersion": GROUP, "kind": "PaddleJob", "metadata": {"name": name}, "spec": spec}


def deployment(name: str = "web", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def whole_deployment(name: str = "web", image: str = "example/image:1") -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"schedulerName": "nobody", "containers": [{"name": "main", "image": image}]},
    }
    return deployment(name, replicas=0, selector={"matchLabels": {"app": name}}, template=template)


def deployments(namespace: str, name: str = "web") -> str:
    return f"/apis/apps/v1/namespaces/{namespace}/deployments" + (f"/{name}" if name else "")


def test_applying_what_is_not_there_creates_it(rest: Rest, path: str) -> None:
    made = apply(rest, path, config_map(a="1", labels={"x": "y"})).expect(201)
    assert made["data"] == {"a": "1"}
    assert owners(made) == {"alice Apply": "/data/a /metadata/labels/x"}


def test_applying_the_same_again_changes_nothing(rest: Rest, path: str) -> None:
    made = apply(rest, path, config_map(a="1")).expect(201)
    again = apply(rest, path, config_map(a="1")).expect(200)
    assert again == made


def test_a_second_manager_adds_its_own_fields(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    made = apply(rest, path, config_map(b="2"), "bob").expect(200)
    assert made["data"] == {"a": "1", "b": "2"}
    assert owners(made) == {"alice Apply": "/data/a", "bob Apply": "/data/b"}


def test_the_same_value_is_owned_by_both(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    made = apply(rest, path, config_map(a="1"), "bob").expect(200)
    assert owners(made) == {"alice Apply": "/data/a", "bob Apply": "/data/a"}


def test_an_owner_that_came_without_a_change_has_no_time(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    made = apply(rest, path, config_map(a="1"), "bob").expect(200)
    times = {e["manager"]: "time" in e for e in made["metadata"]["managedFields"]}
    assert times == {"alice": True, "bob": False}


def test_another_value_is_a_conflict(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    answer = apply(rest, path, config_map(a="2"), "bob").expect(409)
    assert answer["reason"] == "Conflict"
    assert answer["message"] == 'Apply failed with 1 conflict: conflict with "alice": .data.a'
    assert answer["details"] == {
        "causes": [{"reason": "FieldManagerConflict", "message": 'conflict with "alice"', "field": ".data.a"}]
    }
    assert rest.get(path).expect(200)["data"] == {"a": "1"}


def test_a_conflict_with_an_update_names_its_version(rest: Rest, namespace: str, path: str) -> None:
    rest.post(core(namespace, "configmaps"), config_map(a="1")).expect(201)
    answer = apply(rest, path, config_map(a="2")).expect(409)
    assert answer["message"] == 'Apply failed with 1 conflict: conflict with "contracts" using v1: .data.a'


def test_many_conflicts_are_told_by_manager(rest: Rest, namespace: str, path: str) -> None:
    rest.post(core(namespace, "configmaps"), config_map(a="1", c="3"), fieldManager="carol").expect(201)
    rest.merge(path, {"data": {"b": "2"}}, fieldManager="bob").expect(200)
    answer = apply(rest, path, config_map(a="x", b="x", c="x")).expect(409)
    assert answer["message"] == (
        'Apply failed with 3 conflicts: conflicts with "bob" using v1:\n- .data.b\n'
        'conflicts with "carol" using v1:\n- .data.a\n- .data.c'
    )
    assert sorted(c["field"] for c in answer["details"]["causes"]) == [".data.a", ".data.b", ".data.c"]


def test_force_takes_over(rest: Rest, namespace: str, path: str) -> None:
    rest.post(core(namespace, "configmaps"), config_map(a="1", b="1")).expect(201)
    made = apply(rest, path, config_map(a="2"), force="true").expect(200)
    assert made["data"] == {"a": "2", "b": "1"}
    assert owners(made) == {"alice Apply": "/data/a", "contracts Update": "/data /data/b"}


def test_force_takes_from_an_applier_too(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    made = apply(rest, path, config_map(a="2"), "bob", force="true").expect(200)
    assert owners(made) == {"bob Apply": "/data/a"}


def test_what_is_no_longer_said_is_removed(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1", b="2")).expect(201)
    made = apply(rest, path, config_map(a="1")).expect(200)
    assert made["data"] == {"a": "1"}
    assert owners(made) == {"alice Apply": "/data/a"}


def test_what_another_one_owns_too_stays(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1", b="2")).expect(201)
    apply(rest, path, config_map(b="2"), "bob").expect(200)
    made = apply(rest, path, config_map(a="1")).expect(200)
    assert made["data"] == {"a": "1", "b": "2"}
    assert owners(made) == {"alice Apply": "/data/a", "bob Apply": "/data/b"}


def test_what_an_updater_owns_too_stays(rest: Rest, namespace: str, path: str) -> None:
    rest.post(core(namespace, "configmaps"), config_map(a="1", b="2")).expect(201)
    apply(rest, path, config_map(b="2")).expect(200)
    made = apply(rest, path, config_map(c="3")).expect(200)
    assert made["data"] == {"a": "1", "b": "2", "c": "3"}
    assert owners(made) == {"alice Apply": "/data/c", "contracts Update": "/data /data/a /data/b"}


def test_saying_nothing_gives_up_everything(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1", labels={"x": "y"})).expect(201)
    bare = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}}
    made = apply(rest, path, bare).expect(200)
    assert "data" not in made and "labels" not in made["metadata"]
    assert owners(made) == {}


def test_an_empty_map_is_owned_as_such(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1")).expect(201)
    apply(rest, path, config_map(a="1"), "bob").expect(200)
    assert owners(apply(rest, path, config_map()).expect(200))["alice Apply"] == "/data"
    made = apply(rest, path, config_map(), "bob").expect(200)
    assert "data" not in made
    assert owners(made) == {"alice Apply": "/data", "bob Apply": "/data"}


def test_an_update_takes_a_field_from_its_applier(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1", b="2")).expect(201)
    made = rest.merge(path, {"data": {"a": "9"}}, fieldManager="bob").expect(200)
    assert owners(made) == {"alice Apply": "/data/b", "bob Update": "/data/a"}


def test_who_has_lost_a_field_and_says_it_no_more_leaves_it(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1", b="2")).expect(201)
    rest.merge(path, {"data": {"a": "9"}}, fieldManager="bob").expect(200)
    made = apply(rest, path, config_map(b="2")).expect(200)
    assert made["data"] == {"a": "9", "b": "2"}


def test_a_field_that_is_removed_is_nobodys(rest: Rest, path: str) -> None:
    apply(rest, path, config_map(a="1", b="2")).expect(201)
    made = rest.merge(path, {"data": {"a": None}}, fieldManager="bob").expect(200)
    assert owners(made) == {"alice Apply": "/data/b"}


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


def test_a_key_that_is_left_out_means_its_default(rest: Rest, namespace: str) -> None:
    made = apply(rest, core(namespace, "services", "web"), service({"port": 80})).expect(201)
    assert owners(made) == {"alice Apply": "/spec/ports[80,TCP] /spec/ports[80,TCP]/port /spec/selector"}


def test_items_with_keys_are_merged_one_by_one(rest: Rest, namespace: str) -> None:
    path = core(namespace, "services", "web")
    apply(rest, path, service({"port": 80, "name": "plain"})).expect(201)
    made = apply(rest, path, service({"port": 443, "name": "secret"}), "bob").expect(200)
    assert [p["port"] for p in made["spec"]["ports"]] == [80, 443]
    ports = "/spec/ports"
    assert owners(made) == {
        "alice Apply": f"{ports}[80,TCP] {ports}[80,TCP]/name {ports}[80,TCP]/port /spec/selector",
        "bob Apply": f"{ports}[443,TCP] {ports}[443,TCP]/name {ports}[443,TCP]/port /spec/selector",
    }
    rest.delete(path)


def test_an_item_no_longer_said_is_removed(rest: Rest, namespace: str) -> None:
    path = core(namespace, "services", "web")
    both = [{"port": 80, "name": "plain"}, {"port": 443, "name": "secret"}]
    apply(rest, path, service(*both)).expect(201)
    made = apply(rest, path, service(both[1])).expect(200)
    assert [p["port"] for p in made["spec"]["ports"]] == [443]


def test_an_item_said_twice_is_refused(rest: Rest, namespace: str) -> None:
    path = core(namespace, "services", "web")
    ports = [{"port": 80, "name": "a"}, {"port": 80, "name": "b", "protocol": "TCP"}]
    assert apply(rest, path, service(*ports)).expect(500)["message"] == (
        "failed to create typed patch object (/web; /v1, Kind=Service): "
        '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]'
    )


def test_an_atomic_map_is_owned_and_replaced_as_one(rest: Rest, namespace: str) -> None:
    path = core(namespace, "services", "web")
    apply(rest, path, service({"port": 80})).expect(201)
    config = service({"port": 80})
    config["spec"]["selector"] = {"tier": "front"}
    answer = apply(rest, path, config, "bob").expect(409)
    assert answer["details"]["causes"][0]["field"] == ".spec.selector"
    made = apply(rest, path, config, "bob", force="true").expect(200)
    assert made["spec"]["selector"] == {"tier": "front"}


def test_the_items_of_a_set_have_owners(rest: Rest, namespace: str, path: str) -> None:
    body = config_map(a="1")
    body["metadata"]["finalizers"] = ["example.com/one", "example.com/two"]
    rest.post(core(namespace, "configmaps"), body).expect(201)
    body["metadata"]["finalizers"] = ["example.com/three"]
    made = apply(rest, path, body).expect(200)
    rest.merge(path, {"metadata": {"finalizers": None}}).expect(200)
    assert made["metadata"]["finalizers"] == ["example.com/one", "example.com/two", "example.com/three"]
    assert owners(made)["alice Apply"] == "/data/a /metadata/finalizers[=example.com/three]"


def test_the_order_of_items_is_that_of_the_configuration(rest: Rest, namespace: str) -> None:
    path = deployments(namespace)
    config = whole_deployment()
    spec = config["spec"]["template"]["spec"]
    spec["containers"] = [{"name": n, "image": "example/image:1"} for n in ("one", "two", "three")]
    apply(rest, path, config).expect(201)
    added = [{"name": n, "image": "example/image:1"} for n in ("three", "extra", "one")]
    made = apply(rest, path, deployment(template={"spec": {"containers": added}}), "bob").expect(200)
    names = [c["name"] for c in made["spec"]["template"]["spec"]["containers"]]
    assert names == ["two", "three", "extra", "one"]


def test_a_deployment_is_owned_without_its_defaults(rest: Rest, namespace: str) -> None:
    made = apply(rest, deployments(namespace), whole_deployment()).expect(201)
    container = "/spec/template/spec/containers[main]"
    assert owners(made) == {
        "alice Apply": "/spec/replicas /spec/selector /spec/template/metadata/labels/app "
        f"{container} {container}/image {container}/name /spec/template/spec/schedulerName"
    }


def test_a_conflict_deep_in_a_list_is_shown_by_its_key(rest: Rest, namespace: str) -> None:
    path = deployments(namespace)
    apply(rest, path, whole_deployment()).expect(201)
    image = [{"name": "main", "image": "example/image:2"}]
    answer = apply(rest, path, deployment(template={"spec": {"containers": image}}), "bob").expect(409)
    field = '.spec.template.spec.containers[name="main"].image'
    assert answer["message"] == f'Apply failed with 1 conflict: conflict with "alice": {field}'


def test_a_strategic_patch_takes_what_it_changes(rest: Rest, namespace: str) -> None:
    path = deployments(namespace)
    apply(rest, path, whole_deployment()).expect(201)
    changed = [{"name": "main", "image": "example/image:2", "env": [{"name": "A", "value": "1"}]}]
    patch = {"spec": {"template": {"spec": {"containers": changed}}}}
    made = strategic(rest, path, patch, fieldManager="bob").expect(200)
    container = "/spec/template/spec/containers[main]"
    env = f"{container}/env"
    assert owners(made)["bob Update"] == f"{env} {env}[A] {env}[A]/name {env}[A]/value {container}/image"
    assert f"{container}/image" not in owners(made)["alice Apply"].split()


def test_the_status_has_owners_of_its_own(rest: Rest, namespace: str) -> None:
    path = deployments(namespace)
    apply(rest, path, whole_deployment()).expect(201)
    status = deployment() | {"status": {"collisionCount": 3}}
    made = apply(rest, f"{path}/status", status, "ctl").expect(200)
    assert made["status"]["collisionCount"] == 3
    assert owners(made)["ctl Apply status"] == "/status/collisionCount"


def test_a_status_in_the_configuration_of_an_object_is_not_heard(rest: Rest, namespace: str) -> None:
    path = deployments(namespace)
    made = apply(rest, path, whole_deployment() | {"status": {"collisionCount": 3}}).expect(201)
    assert "collisionCount" not in made["status"]
    assert "status" not in owners(made)["alice Apply"]


def test_a_spec_in_the_configuration_of_a_status_is_not_heard(rest: Rest, namespace: str) -> None:
    path = jobs(namespace, "train")
    apply(rest, path, paddle_job()).expect(201)
    config = job(intranet="Host") | {"status": {"mode": "PS"}}
    made = apply(rest, f"{path}/status", config, "ctl").expect(200)
    assert made["spec"]["intranet"] == "PodIP"
    assert owners(made)["ctl Apply status"] == "/status/mode"


def test_the_status_of_nothing_cannot_be_applied(rest: Rest, namespace: str) -> None:
    apply(rest, jobs(namespace, "train/status"), job()).expect(404)


def test_a_job_is_owned_as_its_schema_says(rest: Rest, namespace: str) -> None:
    made = apply(rest, jobs(namespace, "train"), paddle_job()).expect(201)
    template = "/spec/worker/template/spec"
    assert owners(made) == {
        "alice Apply": f"/spec/worker/replicas {template}/containers {template}/schedulerName"
    }


def test_what_a_schema_does_not_know_is_owned_as_it_looks(rest: Rest, namespace: str) -> None:
    path = jobs(namespace, "train")
    rest.post(jobs(namespace), paddle_job(), fieldManager="maker").expect(201)
    extra = {"template": {"spec": {"hostNetwork": True, "affinity": {"zones": ["a", "b"]}}}}
    made = apply(rest, path, job(worker=extra)).expect(200)
    template = "/spec/worker/template/spec"
    assert (
        owners(made)["alice Apply"] == f"{template}/affinity {template}/affinity/zones {template}/hostNetwork"
    )


def test_a_field_our_schema_does_not_know_is_refused(rest: Rest, namespace: str) -> None:
    answer = apply(rest, jobs(namespace, "train"), paddle_job(colour="red")).expect(500)
    assert answer["message"] == (
        f"failed to create typed patch object (/train; {GROUP}, Kind=PaddleJob): "
        ".spec.colour: field not declared in schema"
    )


def test_a_job_that_makes_no_sense_is_refused(rest: Rest, namespace: str) -> None:
    config = paddle_job()
    config["spec"]["intranet"] = "Carrier"
    answer = apply(rest, jobs(namespace, "train"), config).expect(422)
    assert answer["details"]["causes"][0]["field"] == "spec.intranet"


def test_a_conflict_on_a_job(rest: Rest, namespace: str) -> None:
    path = jobs(namespace, "train")
    rest.post(jobs(namespace), paddle_job(), fieldManager="maker").expect(201)
    rest.merge(path, {"spec": {"intranet": "Host"}}, fieldManager="bob").expect(200)
    answer = apply(rest, path, job(intranet="Service")).expect(409)
    assert answer["message"] == (
        f'Apply failed with 1 conflict: conflict with "bob" using {GROUP}: .spec.intranet'
    )
    made = apply(rest, path, job(intranet="Service"), force="true").expect(200)
    assert owners(made)["alice Apply"] == "/spec/intranet"
    assert "bob Update" not in owners(made)


def test_a_job_gives_up_what_is_no_longer_applied(rest: Rest, namespace: str) -> None:
    path = jobs(namespace, "train")
    apply(rest, path, paddle_job() | {"metadata": {"name": "train", "labels": {"a": "b"}}}).expect(201)
    made = apply(rest, path, paddle_job()).expect(200)
    assert "labels" not in made["metadata"]


def test_scaling_takes_the_replicas(rest: Rest, namespace: str) -> None:
    path = deployments(namespace)
    apply(rest, path, whole_deployment()).expect(201)
    rest.merge(f"{path}/scale", {"spec": {"replicas": 1}}, fieldManager="carol").expect(200)
    made = rest.get(path).expect(200)
    assert owners(made)["carol Update scale"] == "/spec/replicas"
    assert "/spec/replicas" not in owners(made)["alice Apply"].split()
    answer = apply(rest, path, whole_deployment()).expect(409)
    assert answer["details"]["causes"][0]["message"] == (
        'conflict with "carol" with subresource "scale" using apps/v1'
    )


def test_a_scale_is_applied_to_the_object_behind_it(rest: Rest, namespace: str) -> None:
    path = deployments(namespace)
    apply(rest, path, whole_deployment()).expect(201)
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}}
    config = scale | {"spec": {"replicas": 1}}
    answer = apply(rest, f"{path}/scale", config, "carol").expect(409)
    assert answer["message"].startswith('Apply failed with 1 conflict: conflict with "alice"')
    assert apply(rest, f"{path}/scale", config, "carol", force="true").expect(200)["spec"] == {"replicas": 1}
    made = rest.get(path).expect(200)
    assert owners(made)["carol Apply scale"] == "/spec/replicas"
    assert made["metadata"]["generation"] == 2
