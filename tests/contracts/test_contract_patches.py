"""Strategic merge patches: lists are merged by their keys, and directives say what a merge cannot."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import config_map, core, jobs, paddle_job, pod
from tests.contracts.owners import strategic
from tests.kubernetes.rest import Rest

Body = dict[str, Any]


def container(name: str, **fields: Any) -> Body:
    return {"name": name, "image": f"example/{name}:1", **fields}


def web(*containers: Body, **spec: Any) -> Body:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"schedulerName": "nobody", "containers": list(containers), **spec},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


class Web:
    """One Deployment with three containers, patched in its pod template."""

    def __init__(self, rest: Rest, namespace: str) -> None:
        self.rest = rest
        self.path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
        env = [{"name": n, "value": n.lower()} for n in ("A", "B", "C")]
        ports = [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}]
        body = web(
            container("one", env=env, ports=ports, args=["x", "y"]),
            container("two"),
            container("three"),
            volumes=[{"name": "data", "emptyDir": {}}],
            tolerations=[{"key": "a", "operator": "Exists"}],
        )
        rest.post(self.path, body).expect(201)
        self.path += "/web"

    def patched(self, **pod_spec: Any) -> Body:
        patch = {"spec": {"template": {"spec": pod_spec}}}
        made = strategic(self.rest, self.path, patch).expect(200)
        result: Body = made["spec"]["template"]["spec"]
        return result

    def containers(self, **pod_spec: Any) -> list[str]:
        return [c["name"] for c in self.patched(**pod_spec)["containers"]]

    def refused(self, status: int, **pod_spec: Any) -> str:
        patch = {"spec": {"template": {"spec": pod_spec}}}
        return str(strategic(self.rest, self.path, patch).expect(status)["message"])


@pytest.fixture
def deployed(rest: Rest, namespace: str) -> Web:
    return Web(rest, namespace)


def test_a_container_is_found_by_its_name(deployed: Web) -> None:
    made = deployed.patched(containers=[{"name": "two", "image": "example/two:2"}])
    assert [c["image"] for c in made["containers"]] == ["example/one:1", "example/two:2", "example/three:1"]


def test_a_new_container_comes_first(deployed: Web) -> None:
    assert deployed.containers(containers=[container("four")]) == ["four", "one", "two", "three"]


def test_containers_of_the_patch_come_in_its_order(deployed: Web) -> None:
    patch = [container("four"), {"name": "three"}, {"name": "one"}]
    assert deployed.containers(containers=patch) == ["four", "two", "three", "one"]


def test_an_item_is_deleted_by_its_key(deployed: Web) -> None:
    assert deployed.containers(containers=[{"name": "two", "$patch": "delete"}]) == ["one", "three"]


def test_deleting_an_item_that_is_not_there_changes_nothing(deployed: Web) -> None:
    assert deployed.containers(containers=[{"name": "nine", "$patch": "delete"}]) == ["one", "two", "three"]


def test_a_list_is_replaced_where_the_patch_says_so(deployed: Web) -> None:
    assert deployed.containers(containers=[{"$patch": "replace"}, container("only")]) == ["only"]


def test_items_within_items_are_merged(deployed: Web) -> None:
    env = [{"name": "B", "value": "2"}, {"name": "D", "value": "4"}]
    made = deployed.patched(containers=[{"name": "one", "env": env}])
    found = {e["name"]: e["value"] for e in made["containers"][0]["env"]}
    assert found == {"A": "a", "B": "2", "C": "c", "D": "4"}


def test_null_takes_a_field_away(deployed: Web) -> None:
    made = deployed.patched(containers=[{"name": "one", "env": None}])
    assert "env" not in made["containers"][0]


def test_null_where_nothing_is_changes_nothing(deployed: Web) -> None:
    before = deployed.rest.get(deployed.path).expect(200)
    made = strategic(deployed.rest, deployed.path, {"metadata": {"labels": {"absent": None}}}).expect(200)
    assert made["spec"] == before["spec"]
    assert "labels" not in made["metadata"]


def test_a_list_without_a_key_is_replaced(deployed: Web) -> None:
    made = deployed.patched(containers=[{"name": "one", "args": ["z"]}], tolerations=[])
    assert made["containers"][0]["args"] == ["z"]
    assert "tolerations" not in made


def test_the_merge_key_alone_decides_even_where_there_are_two_keys(deployed: Web) -> None:
    patch = [{"containerPort": 53, "protocol": "TCP"}]
    made = deployed.patched(containers=[{"name": "one", "ports": patch}])
    assert made["containers"][0]["ports"] == [
        {"containerPort": 80, "protocol": "TCP"},
        {"containerPort": 53, "protocol": "TCP"},
    ]


@pytest.mark.parametrize(
    "order, names",
    [
        (["three", "two", "one"], ["three", "two", "one"]),
        (["two", "one"], ["two", "one", "three"]),
        (["three", "one"], ["two", "three", "one"]),
    ],
)
def test_the_order_can_be_asked_for(deployed: Web, order: list[str], names: list[str]) -> None:
    wanted = {"$setElementOrder/containers": [{"name": n} for n in order]}
    assert deployed.containers(**wanted) == names


def test_the_order_holds_for_new_items_too(deployed: Web) -> None:
    order = [{"name": n} for n in ("new", "three", "one")]
    patch = {"$setElementOrder/containers": order, "containers": [container("new")]}
    assert deployed.containers(**patch) == ["new", "two", "three", "one"]


def test_an_item_that_is_not_in_the_order_is_refused(deployed: Web) -> None:
    patch = {"$setElementOrder/containers": [{"name": "one"}], "containers": [{"name": "two"}]}
    text = deployed.refused(500, **patch)
    assert text == (
        "The order in patch list:\n[map[name:two]]\n doesn't match $setElementOrder list:\n[map[name:one]]\n"
    )


def test_an_item_without_its_key_is_refused(deployed: Web) -> None:
    text = deployed.refused(500, containers=[{"image": "example/none:1"}])
    assert text == "map: map[image:example/none:1] does not contain declared merge key: name"


@pytest.mark.parametrize("directive", ["explode", "merge"])
def test_a_directive_nobody_knows_is_refused(deployed: Web, directive: str) -> None:
    text = deployed.refused(500, containers=[{"name": "one", "$patch": directive}])
    assert text in (
        "unknown patch type: explode in map: map[$patch:explode name:one]",
        "merging lists cannot yet be specified in the patch",
    )


def test_a_map_is_replaced_where_the_patch_says_so(deployed: Web) -> None:
    rest, path = deployed.rest, deployed.path
    strategic(rest, path, {"metadata": {"annotations": {"a": "1", "b": "2"}}}).expect(200)
    made = strategic(rest, path, {"metadata": {"annotations": {"$patch": "replace", "c": "3"}}}).expect(200)
    found = {k: v for k, v in made["metadata"]["annotations"].items() if "/" not in k}
    assert found == {"c": "3"}


def test_a_map_is_emptied_where_the_patch_says_so(deployed: Web) -> None:
    rest, path = deployed.rest, deployed.path
    strategic(rest, path, {"metadata": {"labels": {"a": "1"}}}).expect(200)
    made = strategic(rest, path, {"metadata": {"labels": {"$patch": "delete"}}}).expect(200)
    assert not made["metadata"].get("labels")


def test_only_the_keys_that_are_retained_stay(deployed: Web) -> None:
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    made = strategic(deployed.rest, deployed.path, patch).expect(200)
    assert made["spec"]["strategy"] == {"type": "Recreate"}


def test_a_volume_changes_its_source(deployed: Web) -> None:
    volume = {"name": "data", "$retainKeys": ["name", "configMap"], "configMap": {"name": "settings"}}
    made = deployed.patched(volumes=[volume])
    assert "emptyDir" not in made["volumes"][0]
    assert made["volumes"][0]["configMap"]["name"] == "settings"


@pytest.mark.parametrize("keys", ["type", ["rollingUpdate"]])
def test_retained_keys_that_do_not_fit_are_refused(deployed: Web, keys: Any) -> None:
    patch = {"spec": {"strategy": {"$retainKeys": keys, "type": "Recreate"}}}
    answer = strategic(deployed.rest, deployed.path, patch).expect(400)
    assert answer["message"] == "invalid patch format of retainKeys"


def test_values_are_added_to_and_taken_from_a_list_of_values(rest: Rest, namespace: str) -> None:
    body = config_map(a="1")
    body["metadata"]["finalizers"] = ["example.com/one", "example.com/two"]
    rest.post(core(namespace, "configmaps"), body).expect(201)
    path = core(namespace, "configmaps", "settings")
    added = strategic(rest, path, {"metadata": {"finalizers": ["example.com/three", "example.com/one"]}})
    taken = strategic(rest, path, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/two"]}})
    rest.merge(path, {"metadata": {"finalizers": None}}).expect(200)
    assert added.expect(200)["metadata"]["finalizers"] == [
        "example.com/three",
        "example.com/one",
        "example.com/two",
    ]
    assert taken.expect(200)["metadata"]["finalizers"] == ["example.com/three", "example.com/one"]


def test_the_ports_of_a_service_are_found_by_number(rest: Rest, namespace: str) -> None:
    ports = [{"name": "plain", "port": 80}, {"name": "secret", "port": 443}]
    rest.post(core(namespace, "services"), {"metadata": {"name": "web"}, "spec": {"ports": ports}}).expect(
        201
    )
    patch = {"spec": {"ports": [{"port": 443, "name": "safe"}], "selector": {"app": "web"}}}
    made = strategic(rest, core(namespace, "services", "web"), patch).expect(200)
    assert [(p["port"], p["name"]) for p in made["spec"]["ports"]] == [(80, "plain"), (443, "safe")]
    assert made["spec"]["selector"] == {"app": "web"}


def test_the_conditions_of_a_pod_are_found_by_type(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "pods"), pod()).expect(201)
    path = core(namespace, "pods", "sleeper/status")
    for kind, status in (("Ready", "False"), ("Initialized", "True"), ("Ready", "True")):
        made = strategic(rest, path, {"status": {"conditions": [{"type": kind, "status": status}]}}).expect(
            200
        )
    found = {c["type"]: c["status"] for c in made["status"]["conditions"]}
    assert (found["Ready"], found["Initialized"]) == ("True", "True")


def test_a_node_is_tainted_and_cordoned(rest: Rest, namespace: str) -> None:
    taint = {"key": "gpu", "effect": "NoSchedule"}
    rest.post("/api/v1/nodes", {"metadata": {"name": namespace}, "spec": {"taints": [taint]}}).expect(201)
    path = f"/api/v1/nodes/{namespace}"
    cordoned = strategic(rest, path, {"spec": {"unschedulable": True}})
    freed = strategic(rest, path, {"spec": {"unschedulable": None, "taints": None}})
    rest.delete(path)
    assert cordoned.expect(200)["spec"]["unschedulable"] is True
    assert taint in cordoned.body["spec"]["taints"]
    assert "unschedulable" not in freed.expect(200)["spec"]


def test_the_patch_may_name_a_revision(deployed: Web) -> None:
    patch = {"metadata": {"resourceVersion": "1", "labels": {"a": "b"}}}
    answer = strategic(deployed.rest, deployed.path, patch).expect(409)
    assert "the object has been modified" in answer["message"]


def test_a_patch_that_changes_nothing_makes_no_revision(rest: Rest, namespace: str) -> None:
    made = rest.post(core(namespace, "configmaps"), config_map(a="1")).expect(201)
    again = strategic(rest, core(namespace, "configmaps", "settings"), {"data": {"a": "1"}}).expect(200)
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_our_kinds_say_which_patches_they_take(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    answer = strategic(rest, jobs(namespace, "train"), {}).expect(415)
    assert answer["message"] == (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )


@pytest.mark.parametrize("content", ["[]", "{", "7"])
def test_a_patch_that_is_none_is_refused(rest: Rest, namespace: str, content: str) -> None:
    rest.post(core(namespace, "configmaps"), config_map(a="1")).expect(201)
    answer = strategic(rest, core(namespace, "configmaps", "settings"), content).expect(400)
    assert answer["reason"] == "BadRequest"
