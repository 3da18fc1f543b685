"""Garbage collection and namespaces that go, for kinds the collector has never heard of before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts.definitions import Widgets, definition, served
from tests.contracts.objects import NAMESPACES, config_map, core
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

pytestmark = pytest.mark.needs_controllers
# A real collector looks for new kinds every 30 seconds.
LATE = 75.0


@pytest.fixture
def widgets(rest: Rest, namespace: str) -> Iterator[Widgets]:
    with served(rest, namespace, definition()) as it:
        yield it


def owned_by(owner: dict[str, Any], body: dict[str, Any], **more: Any) -> dict[str, Any]:
    named = {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], **more}
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], **named}
    return {**body, "metadata": {**body["metadata"], "ownerReferences": [reference]}}


def gone(rest: Rest, path: str) -> None:
    until(lambda: rest.get(path).status == 404, what=f"{path} gone", limit=LATE)


def test_what_a_custom_object_owned_goes_after_it(rest: Rest, namespace: str, widgets: Widgets) -> None:
    owner = widgets.create(a="one").expect(201)
    rest.post(core(namespace, "configmaps"), owned_by(owner, config_map("child"))).expect(201)
    rest.delete(widgets.path("x"), {"propagationPolicy": "Background"}).expect(200)
    gone(rest, core(namespace, "configmaps", "child"))


def test_a_custom_object_goes_after_its_owner(rest: Rest, namespace: str, widgets: Widgets) -> None:
    made = rest.post(core(namespace, "configmaps"), config_map("owner")).expect(201)
    rest.post(widgets.path(), owned_by(made, widgets.body("child"))).expect(201)
    rest.delete(core(namespace, "configmaps", "owner")).expect(200)
    gone(rest, widgets.path("child"))


def test_a_chain_of_owners_goes_to_its_end(rest: Rest, namespace: str, widgets: Widgets) -> None:
    first = widgets.create(a="one").expect(201)
    second = rest.post(widgets.path(), owned_by(first, widgets.body("y"))).expect(201)
    rest.post(core(namespace, "configmaps"), owned_by(second, config_map("last"))).expect(201)
    rest.delete(widgets.path("x")).expect(200)
    gone(rest, core(namespace, "configmaps", "last"))
    gone(rest, widgets.path("y"))


def test_an_owner_that_never_was_takes_its_child_along(rest: Rest, widgets: Widgets) -> None:
    owner = widgets.create(a="one").expect(201)
    owner["metadata"]["uid"] = "00000000-0000-0000-0000-000000000000"
    rest.post(widgets.path(), owned_by(owner, widgets.body("child"))).expect(201)
    gone(rest, widgets.path("child"))
    assert rest.get(widgets.path("x")).status == 200


def test_orphans_of_a_custom_object_stay(rest: Rest, namespace: str, widgets: Widgets) -> None:
    owner = widgets.create(a="one").expect(201)
    rest.post(core(namespace, "configmaps"), owned_by(owner, config_map("child"))).expect(201)
    rest.delete(widgets.path("x"), {"propagationPolicy": "Orphan"}).expect(200)
    gone(rest, widgets.path("x"))
    metadata = rest.get(core(namespace, "configmaps", "child")).expect(200)["metadata"]
    assert "ownerReferences" not in metadata


def test_a_custom_object_waits_for_its_children_in_the_foreground(
    rest: Rest, namespace: str, widgets: Widgets
) -> None:
    owner = widgets.create(a="one").expect(201)
    child = owned_by(owner, config_map("child"), blockOwnerDeletion=True)
    child["metadata"]["finalizers"] = ["example.org/wait"]
    rest.post(core(namespace, "configmaps"), child).expect(201)
    rest.delete(widgets.path("x"), {"propagationPolicy": "Foreground"}).expect(200)
    path = core(namespace, "configmaps", "child")
    until(
        lambda: "deletionTimestamp" in rest.get(path).expect(200)["metadata"],
        what="the deletion of the child",
        limit=LATE,
    )
    assert rest.get(widgets.path("x")).status == 200
    rest.merge(path, {"metadata": {"finalizers": None}}).expect(200)
    gone(rest, widgets.path("x"))


def test_a_namespace_takes_custom_objects_with_it(rest: Rest, namespace: str, widgets: Widgets) -> None:
    widgets.create(a="one").expect(201)
    rest.delete(f"{NAMESPACES}/{namespace}").expect(200)
    gone(rest, f"{NAMESPACES}/{namespace}")
    assert rest.get(widgets.path()).expect(200)["items"] == []


@pytest.mark.parametrize(
    "path, body",
    [
        ("/apis/apps/v1/namespaces/{}/controllerrevisions", {"revision": 1, "data": {"a": 1}}),
        ("/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies", {"spec": {"podSelector": {}}}),
        ("/apis/policy/v1/namespaces/{}/poddisruptionbudgets", {"spec": {"maxUnavailable": 1}}),
        ("/api/v1/namespaces/{}/limitranges", {"spec": {"limits": []}}),
    ],
)
def test_a_namespace_takes_objects_of_every_kind_with_it(
    rest: Rest, namespace: str, path: str, body: dict[str, Any]
) -> None:
    rest.post(path.format(namespace), {"metadata": {"name": "x"}, **body}).expect(201)
    rest.delete(f"{NAMESPACES}/{namespace}").expect(200)
    gone(rest, f"{NAMESPACES}/{namespace}")
    assert rest.get(path.format(namespace)).expect(200)["items"] == []


def test_namespaces_that_go_together_take_all_of_theirs_and_nothing_else(rest: Rest, namespace: str) -> None:
    going = [f"{namespace}-{letter}" for letter in "abc"]
    for name in going:
        rest.post(NAMESPACES, {"metadata": {"name": name}}).expect(201)
    for name in (namespace, *going):
        rest.post(core(name, "limitranges"), {"metadata": {"name": "x"}, "spec": {"limits": []}}).expect(201)
    for name in going:
        rest.delete(f"{NAMESPACES}/{name}").expect(200)
    for name in going:
        gone(rest, f"{NAMESPACES}/{name}")
        assert rest.get(core(name, "limitranges")).expect(200)["items"] == []
    rest.get(core(namespace, "limitranges", "x")).expect(200)


def test_a_namespace_says_what_holds_it_up(rest: Rest, namespace: str) -> None:
    path, held = core(namespace, "configmaps", "held"), config_map("held")
    held["metadata"]["finalizers"] = ["example.org/wait"]
    rest.post(core(namespace, "configmaps"), held).expect(201)
    rest.delete(f"{NAMESPACES}/{namespace}").expect(200)

    def told() -> dict[str, str]:
        status = rest.get(f"{NAMESPACES}/{namespace}").expect(200)["status"]
        conditions = status.get("conditions") or ()
        return {c["type"]: c["message"] for c in conditions if c["status"] == "True"}

    until(
        lambda: (
            told()
            == {
                "NamespaceContentRemaining": (
                    "Some resources are remaining: configmaps. has 1 resource instances"
                ),
                "NamespaceFinalizersRemaining": (
                    "Some content in the namespace has finalizers remaining: "
                    "example.org/wait in 1 resource instances"
                ),
            }
        ),
        what="the conditions of the namespace",
        limit=LATE,
    )
    rest.merge(path, {"metadata": {"finalizers": None}}).expect(200)
    gone(rest, f"{NAMESPACES}/{namespace}")
