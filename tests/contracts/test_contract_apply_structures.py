"""Server-side apply in lists, sets and maps: what is owned one by one, and what as one."""

from __future__ import annotations

import pytest
from tests.contracts.applying import NAME, deployment, deployments, service, whole_deployment
from tests.contracts.objects import config_map, core
from tests.contracts.owners import apply, owners, strategic
from tests.kubernetes.rest import Rest


@pytest.fixture
def path(namespace: str) -> str:
    return core(namespace, "configmaps", NAME)


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
