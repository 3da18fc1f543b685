"""Requests are values: what is sent can be read off them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from paddlecloud.api.core import ConfigMap, Node, Pod
from paddlecloud.api.meta import Key
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.cluster import requests
from paddlecloud.cluster.requests import PatchType, Place, Request, Scope
from paddlecloud.errors import AlreadyExists, ApiError, Expired, NotFound, ServerError, Unavailable, WrongUse

KEY = Key("ml", "wide-deep")
DEPLOYMENTS = Place("apps/v1", "deployments")


@pytest.mark.parametrize(
    "request_, line",
    [
        (requests.get(Pod, KEY), "GET /api/v1/namespaces/ml/pods/wide-deep"),
        (
            requests.get(PaddleJob, KEY),
            "GET /apis/batch.paddlepaddle.org/v1/namespaces/ml/paddlejobs/wide-deep",
        ),
        (requests.get(Node, Key("", "n1")), "GET /api/v1/nodes/n1"),
        (requests.get(Node, Key("ml", "n1")), "GET /api/v1/nodes/n1"),
        (requests.get(Pod, Key("a/b", "c?d")), "GET /api/v1/namespaces/a%2Fb/pods/c%3Fd"),
        (
            requests.get(DEPLOYMENTS, KEY, "status"),
            "GET /apis/apps/v1/namespaces/ml/deployments/wide-deep/status",
        ),
        (requests.listing(Pod, Scope(), limit=0), "GET /api/v1/pods"),
        (
            requests.listing(Pod, Scope("ml"), after="t=="),
            "GET /api/v1/namespaces/ml/pods?limit=500&continue=t%3D%3D",
        ),
        (
            requests.listing(Pod, Scope("ml", {"a": "b", "c": "d"}, "status.phase!=Failed"), limit=0),
            "GET /api/v1/namespaces/ml/pods"
            "?labelSelector=a%3Db%2Cc%3Dd&fieldSelector=status.phase%21%3DFailed",
        ),
        (
            requests.watching(Pod, Scope("ml"), "7", 60),
            "GET /api/v1/namespaces/ml/pods"
            "?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=60",
        ),
        (
            requests.creation(ConfigMap, "ml", {}),
            "POST /api/v1/namespaces/ml/configmaps?fieldManager=paddlecloud",
        ),
        (
            requests.scaling(DEPLOYMENTS, KEY, 3),
            "PATCH /apis/apps/v1/namespaces/ml/deployments/wide-deep/scale?fieldManager=paddlecloud",
        ),
        (
            requests.pod_log(KEY, container="main", tail=0, follow=True),
            "GET /api/v1/namespaces/ml/pods/wide-deep/log?container=main&tailLines=0&follow=true",
        ),
    ],
)
def test_a_request_goes_to(request_: Request, line: str) -> None:
    assert f"{request_.method} {request_.target}" == line


@pytest.mark.parametrize(
    "form, query",
    [
        (PatchType.MERGE, "fieldManager=paddlecloud"),
        (PatchType.JSON, "fieldManager=paddlecloud"),
        (PatchType.APPLY, "fieldManager=paddlecloud&force=true"),
    ],
)
def test_a_patch_says_what_kind_it_is(form: PatchType, query: str) -> None:
    request = requests.patching(Pod, KEY, {"a": None}, subresource="status", form=form)

    assert request.headers["Content-Type"] == form
    assert request.target == f"/api/v1/namespaces/ml/pods/wide-deep/status?{query}"
    assert request.body == b'{"a":null}'


@pytest.mark.parametrize(
    "request_, harmless",
    [
        (requests.get(Pod, KEY), True),
        (requests.deletion(Pod, KEY), True),
        (requests.replacement(Pod, KEY, {}), True),
        (requests.patching(Pod, KEY, {}), True),
        (requests.patching(Pod, KEY, [], form=PatchType.JSON), False),
        (requests.creation(Pod, "ml", {}), False),
    ],
)
def test_only_some_requests_may_be_sent_twice(request_: Request, harmless: bool) -> None:
    assert request_.idempotent is harmless


@pytest.mark.parametrize(
    "options, said",
    [
        ({}, {"propagationPolicy": "Background"}),
        ({"grace": 0}, {"propagationPolicy": "Background", "gracePeriodSeconds": 0}),
        (
            {"uid": "u1", "propagation": "Orphan"},
            {"propagationPolicy": "Orphan", "preconditions": {"uid": "u1"}},
        ),
    ],
)
def test_a_delete_says_how(options: dict[str, Any], said: dict[str, Any]) -> None:
    body = orjson.loads(requests.deletion(Pod, KEY, **options).body or b"")

    assert body == {"apiVersion": "v1", "kind": "DeleteOptions", **said}


@pytest.mark.parametrize(
    "status, body, error, said",
    [
        (404, b'{"kind":"Status","reason":"NotFound","message":"no such pod"}', NotFound, "no such pod"),
        (409, b'{"reason":"AlreadyExists","message":"there"}', AlreadyExists, "there"),
        (410, b'{"reason":"Gone","message":"too old"}', Expired, "too old"),
        (503, b"upstream is down", Unavailable, "upstream is down"),
        (502, b"<html>", ServerError, "<html>"),
        (200, b"hello", ServerError, "without JSON: 'hello'"),
        (200, b"[1]", ServerError, "no object"),
    ],
)
def test_an_answer_that_is_no_success_is_raised(
    status: int, body: bytes, error: type[ApiError], said: str
) -> None:
    with pytest.raises(error) as caught:
        requests.parse(status, body)
    assert said in caught.value.message
    assert type(caught.value) is error


def test_a_success_is_its_object() -> None:
    assert requests.parse(201, b'{"kind":"Pod"}') == {"kind": "Pod"}


@pytest.mark.parametrize("key", [Key("", "name"), Key("ml", "")])
def test_a_request_for_no_object_in_particular_is_refused(key: Key) -> None:
    with pytest.raises(WrongUse):
        requests.deletion(Pod, key)


def test_a_namespaced_object_cannot_be_created_nowhere() -> None:
    with pytest.raises(WrongUse, match="namespaces"):
        requests.creation(Pod, "", {})
