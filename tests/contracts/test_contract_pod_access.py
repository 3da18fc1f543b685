"""The volume through which a pod reaches the API: the server adds it, and the spec says so."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from tests.contracts.objects import core
from tests.kubernetes.rest import Rest

PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
OWN = {"name": "v", "mountPath": PATH}
SOURCES = [
    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {"downwardAPI": {"items": [{"path": "namespace",
                                "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
]  # fmt: skip


def container(name: str, *mounts: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "image": "example/image:1", **({"volumeMounts": list(mounts)} if mounts else {})}


def pod(**spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "p"},
        "spec": {"schedulerName": "nobody", "containers": [container("a")], **spec},
    }


def made(rest: Rest, namespace: str, **spec: Any) -> Any:
    return rest.post(core(namespace, "pods"), pod(**spec), dryRun="All").expect(201)["spec"]


def mounted(spec: dict[str, Any]) -> dict[str, list[str]]:
    """The volumes of each container that are mounted where clients look."""
    every = (*spec.get("initContainers", ()), *spec["containers"])
    return {
        c["name"]: [m["name"] for m in c.get("volumeMounts", ()) if m["mountPath"] == PATH] for c in every
    }


@pytest.fixture
def reserved(rest: Rest, namespace: str) -> str:
    """An account whose pods do without, unless they say otherwise."""
    body = {"metadata": {"name": "reserved"}, "automountServiceAccountToken": False}
    rest.post(core(namespace, "serviceaccounts"), body).expect(201)
    return namespace


def test_every_container_of_a_pod_gets_the_volume(rest: Rest, namespace: str) -> None:
    spec = made(rest, namespace, initContainers=[container("i")], containers=[container("a"), container("b")])
    [volume] = spec["volumes"]
    assert volume["name"].startswith("kube-api-access-") and len(volume["name"]) == 21
    assert volume["projected"] == {"sources": SOURCES, "defaultMode": 420}
    assert mounted(spec) == {key: [volume["name"]] for key in "iab"}
    assert spec["containers"][0]["volumeMounts"] == [
        {"name": volume["name"], "readOnly": True, "mountPath": PATH}
    ]


@pytest.mark.parametrize(
    ("spec", "given"),
    [
        ({"automountServiceAccountToken": False}, False),
        ({"automountServiceAccountToken": True}, True),
        ({"serviceAccountName": "reserved"}, False),
        ({"serviceAccountName": "reserved", "automountServiceAccountToken": True}, True),
    ],
)
def test_a_pod_may_do_without_and_its_word_counts_more_than_that_of_its_account(
    rest: Rest, reserved: str, spec: dict[str, Any], given: bool
) -> None:
    found = made(rest, reserved, **spec)
    assert bool(found.get("volumes")) == given and bool(mounted(found)["a"]) == given


VOLUME = {"name": "v", "emptyDir": {}}


@pytest.mark.parametrize(
    ("spec", "volumes", "mounts"),
    [
        ({"containers": [container("a", OWN)], "volumes": [VOLUME]}, ["v"], {"a": ["v"]}),
        (
            {"containers": [container("a", OWN), container("b")], "volumes": [VOLUME]},
            ["v", "*"],
            {"a": ["v"], "b": ["*"]},
        ),
        (
            {"volumes": [{"name": "kube-api-access-mine", "emptyDir": {}}]},
            ["kube-api-access-mine"],
            {"a": ["kube-api-access-mine"]},
        ),
    ],
    ids=["all have their own", "one has its own", "a volume of that name"],
)
def test_what_is_there_already_is_left_alone(
    rest: Rest, namespace: str, spec: dict[str, Any], volumes: list[str], mounts: dict[str, list[str]]
) -> None:
    found = made(rest, namespace, **spec)
    names = [v["name"] for v in found["volumes"]]
    added = next((n for n in names if n.startswith("kube-api-access-") and not n.endswith("mine")), "*")
    assert names == [added if n == "*" else n for n in volumes]
    assert mounted(found) == {k: [added if n == "*" else n for n in v] for k, v in mounts.items()}


def test_nobody_owns_what_the_server_added(rest: Rest, namespace: str) -> None:
    stored = rest.post(core(namespace, "pods"), pod()).expect(201)
    owned = json.dumps(stored["metadata"]["managedFields"])
    assert stored["spec"]["volumes"] and "f:volumes" not in owned and "f:volumeMounts" not in owned


def test_a_pod_that_a_node_only_shows_gets_nothing(rest: Rest, namespace: str) -> None:
    body = pod(nodeName="n", automountServiceAccountToken=None)
    body["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    spec = rest.post(core(namespace, "pods"), body, dryRun="All").expect(201)["spec"]
    assert "volumes" not in spec


@pytest.mark.parametrize(("seconds", "life"), [(3607, 365 * 24 * 3600), (3600, 3600)])
def test_the_token_of_the_volume_lives_longer_than_it_says(
    rest: Rest, namespace: str, seconds: int, life: int
) -> None:
    stored = rest.post(core(namespace, "pods"), pod()).expect(201)["metadata"]
    bound = {"apiVersion": "v1", "kind": "Pod", "name": stored["name"], "uid": stored["uid"]}
    asked = {"spec": {"expirationSeconds": seconds, "boundObjectRef": bound}}
    answer = rest.post(core(namespace, "serviceaccounts", "default/token"), asked).expect(201)
    assert answer["spec"]["expirationSeconds"] == seconds
    middle = answer["status"]["token"].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
    assert claims["exp"] - claims["iat"] == life
    warned = claims["kubernetes.io"].get("warnafter")
    assert warned == (claims["iat"] + seconds if life != seconds else None)
