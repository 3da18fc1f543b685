"""Ephemeral containers: they are put beside those of a pod through a door of their own, and stay."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import core, pod
from tests.kubernetes.rest import Answer, Rest

Body = dict[str, Any]
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}


@pytest.fixture
def door(rest: Rest, namespace: str) -> str:
    """The door of a pod with the container `main`."""
    body = pod()
    body["spec"]["containers"][0]["name"] = "main"
    rest.post(core(namespace, "pods"), body).expect(201)
    return f"{core(namespace, 'pods', 'sleeper')}/ephemeralcontainers"


def visitor(name: str = "look", **more: Any) -> Body:
    return {"name": name, "image": "busybox:1", **more}


def put(*visitors: Body) -> Body:
    return {"spec": {"ephemeralContainers": list(visitors)}}


def strategic(rest: Rest, path: str, patch: Body) -> Answer:
    return rest.send("PATCH", path, patch, headers=STRATEGIC)


def test_a_visitor_is_put_beside_the_others_and_gets_its_defaults(rest: Rest, door: str) -> None:
    made = strategic(rest, door, put(visitor(targetContainerName="main", stdin=True, tty=True))).expect(200)
    assert made["kind"] == "Pod"
    assert made["spec"]["ephemeralContainers"] == [
        {
            "name": "look",
            "image": "busybox:1",
            "resources": {},
            "targetContainerName": "main",
            "stdin": True,
            "tty": True,
            "imagePullPolicy": "IfNotPresent",
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
        }
    ]
    assert made["metadata"]["generation"] == 2
    assert rest.get(door).expect(200)["spec"] == made["spec"]
    [entry] = [e for e in made["metadata"]["managedFields"] if e.get("subresource")]
    assert entry["subresource"] == "ephemeralcontainers"


def test_another_comes_beside_the_first(rest: Rest, door: str) -> None:
    strategic(rest, door, put(visitor())).expect(200)
    both = strategic(rest, door, put(visitor("again"))).expect(200)["spec"]["ephemeralContainers"]
    assert sorted(c["name"] for c in both) == ["again", "look"]


def test_nothing_else_comes_through_the_door(rest: Rest, door: str) -> None:
    patch = put(visitor())
    patch["metadata"] = {"labels": {"a": "b"}}
    patch["spec"]["containers"] = [{"name": "main", "image": "another:2"}]
    made = strategic(rest, door, patch).expect(200)
    assert "a" not in made["metadata"].get("labels", {})
    assert made["spec"]["containers"][0]["image"] != "another:2"


def test_through_the_front_no_visitor_comes(rest: Rest, door: str) -> None:
    answer = strategic(rest, door.removesuffix("/ephemeralcontainers"), put(visitor()))
    assert answer.status == 422
    assert "pod updates may not change fields other than" in answer.body["message"]


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"targetContainerName": "nope"}, 'targetContainerName: Not found: "nope"'),
        ({"name": "main"}, 'name: Duplicate value: "main"'),
        ({"image": ""}, "image: Required value"),
        ({"ports": [{"containerPort": 1}]}, "ports: Forbidden: cannot be set for an Ephemeral Container"),
        ({"resources": {"limits": {"cpu": "1"}}}, "resources: Forbidden: cannot be set for an"),
        ({"livenessProbe": {"tcpSocket": {"port": 1}}}, "livenessProbe: Forbidden: cannot be set for an"),
        ({"lifecycle": {"preStop": {"exec": {"command": ["x"]}}}}, "lifecycle: Forbidden: cannot be set"),
    ],
    ids=["target", "name", "image", "ports", "resources", "probe", "hook"],
)
def test_what_a_visitor_may_not_be(rest: Rest, door: str, said: Body, complaint: str) -> None:
    answer = strategic(rest, door, put({**visitor(), **said}))
    assert answer.status == 422
    assert f"spec.ephemeralContainers[0].{complaint}" in answer.body["message"]


def test_who_is_there_is_neither_changed_nor_taken_away(rest: Rest, door: str) -> None:
    strategic(rest, door, put(visitor())).expect(200)
    changed = strategic(rest, door, put(visitor(image="other:1")))
    assert changed.status == 422
    said = 'spec.ephemeralContainers: Forbidden: existing ephemeral containers "look" may not be '
    assert f"{said}changed" in changed.body["message"]
    removed = strategic(rest, door, put({"$patch": "delete", "name": "look"}))
    assert removed.status == 422 and f"{said}removed" in removed.body["message"]


def test_a_pod_is_not_made_with_a_visitor(rest: Rest, namespace: str) -> None:
    body = pod()
    body["spec"]["ephemeralContainers"] = [visitor()]
    answer = rest.post(core(namespace, "pods"), body)
    assert answer.status == 422 and "cannot be set on create" in answer.body["message"]
