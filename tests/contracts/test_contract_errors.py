"""Refusals: the code, the reason and the words that clients read."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import config_map, core, jobs, paddle_job
from tests.kubernetes.rest import Rest

FAILURE = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_missing_pod_is_told_word_for_word(rest: Rest, namespace: str, method: str) -> None:
    assert rest.send(method, core(namespace, "pods", "x")).expect(404) == FAILURE | {
        "message": 'pods "x" not found',
        "reason": "NotFound",
        "details": {"name": "x", "kind": "pods"},
        "code": 404,
    }


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_missing_job_is_told_with_its_group(rest: Rest, namespace: str, method: str) -> None:
    assert rest.send(method, jobs(namespace, "x")).expect(404) == FAILURE | {
        "message": 'paddlejobs.batch.paddlepaddle.org "x" not found',
        "reason": "NotFound",
        "details": {"name": "x", "group": "batch.paddlepaddle.org", "kind": "paddlejobs"},
        "code": 404,
    }


@pytest.mark.parametrize(
    "path, body, kind",
    [
        ("configmaps", config_map(), "configmaps"),
        ("secrets", {"metadata": {"name": "settings"}}, "secrets"),
    ],
)
def test_a_second_object_of_a_name_is_refused(
    rest: Rest, namespace: str, path: str, body: dict[str, Any], kind: str
) -> None:
    rest.post(core(namespace, path), body).expect(201)
    assert rest.post(core(namespace, path), body).expect(409) == FAILURE | {
        "message": f'{kind} "settings" already exists',
        "reason": "AlreadyExists",
        "details": {"name": "settings", "kind": kind},
        "code": 409,
    }


@pytest.mark.parametrize("path, body", [("configmaps", config_map()), ("jobs", paddle_job())])
def test_nothing_is_created_in_a_namespace_that_is_missing(
    rest: Rest, path: str, body: dict[str, Any]
) -> None:
    url = jobs("nowhere") if path == "jobs" else core("nowhere", path)
    answer = rest.post(url, body).expect(404)
    assert answer["message"] == 'namespaces "nowhere" not found'
    assert answer["details"] == {"name": "nowhere", "kind": "namespaces"}


def test_a_namespace_that_is_missing_lists_as_empty(rest: Rest) -> None:
    assert rest.get(core("nowhere", "pods")).expect(200)["items"] == []


def test_a_body_that_names_another_namespace_is_refused(rest: Rest, namespace: str) -> None:
    body = config_map()
    body["metadata"]["namespace"] = "elsewhere"
    answer = rest.post(core(namespace, "configmaps"), body).expect(400)
    assert "does not match the namespace sent on the request" in answer["message"]


def test_a_body_of_another_kind_is_refused(rest: Rest, namespace: str) -> None:
    assert rest.post(core(namespace, "configmaps"), {"apiVersion": "v1", "kind": "Secret"}).status == 400


def test_a_name_is_needed(rest: Rest, namespace: str) -> None:
    answer = rest.post(core(namespace, "configmaps"), {"metadata": {}}).expect(422)
    assert "name or generateName is required" in answer["message"]


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"metadata": 7}'])
def test_a_body_that_is_no_object_is_a_bad_request(rest: Rest, namespace: str, text: str) -> None:
    answer = rest.post(core(namespace, "configmaps"), text)
    assert answer.status in (400, 422)
    assert answer.body["kind"] == "Status"


def test_a_content_type_nobody_reads_is_refused(rest: Rest, namespace: str) -> None:
    answer = rest.send(
        "POST", core(namespace, "configmaps"), "a,b", headers={"Content-Type": "text/csv"}
    ).expect(415)
    assert answer["reason"] == "UnsupportedMediaType"


def test_an_answer_nobody_can_give_is_refused(rest: Rest, namespace: str) -> None:
    assert rest.get_as("text/csv", core(namespace, "configmaps")).status == 406


@pytest.mark.parametrize("method, name", [("POST", "x"), ("PUT", "")])
def test_a_method_that_makes_no_sense_is_refused(rest: Rest, namespace: str, method: str, name: str) -> None:
    assert rest.send(method, core(namespace, "configmaps", name), config_map()).status == 405


@pytest.mark.parametrize(
    "query", [{"labelSelector": "a in (b"}, {"labelSelector": "a=b=c"}, {"fieldSelector": "x"}]
)
def test_a_selector_that_cannot_be_parsed_is_a_bad_request(
    rest: Rest, namespace: str, query: dict[str, str]
) -> None:
    assert rest.get(core(namespace, "pods"), **query).expect(400)["reason"] == "BadRequest"


def test_a_field_that_cannot_be_selected_by_is_named(rest: Rest, namespace: str) -> None:
    answer = rest.get(core(namespace, "pods"), fieldSelector="spec.colour=red").expect(400)
    assert "field label not supported: spec.colour" in answer["message"]
