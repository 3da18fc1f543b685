# ruff: noqa: E501
"""The rules of our own kinds: what the schema alone cannot say, and the sentence for who breaks it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import jobs, paddle_job, sample_set, sample_sets, worker
from tests.kubernetes.rest import Rest

IMAGE = {"containerImage": "example/serving", "tag": "1", "port": 9292}
HUB = "/apis/hub.paddlepaddle.org/v1alpha1/namespaces"
VERSION = {"model": "digits", "source": {"uri": "file:///models/digits"}}
CHANGE = {"model": "digits", "alias": "best", "to": "digits-1"}


def services(namespace: str) -> str:
    return f"/apis/serving.paddlepaddle.org/v1/namespaces/{namespace}/paddleservices"


def service(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "s"}, "apiVersion": "serving.paddlepaddle.org/v1", "kind": "PaddleService", "spec": spec}  # fmt: skip


def hub(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    named = {"name": "digits-1"}
    return {"apiVersion": "hub.paddlepaddle.org/v1alpha1", "kind": kind, "metadata": named, "spec": spec}


def sentences(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(c["field"], c["message"].partition('"object": ')[2]) for c in answer["details"]["causes"]]


@pytest.mark.parametrize(
    "spec, sentence",
    [
        ({"intranet": "PodIP"}, "a job needs a role: worker, ps or heter"),
        ({"ps": worker()}, "parameter servers need workers: add worker"),
        ({"heter": worker(), "elastic": 1}, "an elastic job needs workers: add worker"),
        (
            {"worker": worker(), "ps": worker() | {"replicas": 0}},
            "ps needs replicas: give it some, or leave it out",
        ),
    ],
)
def test_a_job_without_the_roles_it_needs_is_refused(
    rest: Rest, common_namespace: str, spec: dict[str, Any], sentence: str
) -> None:
    answer = rest.post(jobs(common_namespace), paddle_job(**spec)).expect(422)
    assert sentences(answer) == [("spec", sentence)]


@pytest.mark.parametrize(
    "name, spec, sentence",
    [
        (
            "j" * 51,
            {},
            "a job is called by at most 50 small letters, digits and dashes: its pods are called after it",
        ),
        (
            "wide.deep",
            {},
            "a job is called by at most 50 small letters, digits and dashes: its pods are called after it",
        ),
        (
            "2fast",
            {"intranet": "Service"},
            "with intranet Service the name of a job begins with a letter: its Services are called after it",
        ),
    ],
)
def test_a_job_whose_pods_could_not_be_called_after_it_is_refused(
    rest: Rest, common_namespace: str, name: str, spec: dict[str, Any], sentence: str
) -> None:
    body = paddle_job(worker=worker(), **spec)
    body["metadata"]["name"] = name
    answer = rest.post(jobs(common_namespace), body).expect(422)
    assert [c["message"].partition('"object": ')[2] for c in answer["details"]["causes"]] == [sentence]


@pytest.mark.parametrize("name, spec", [("j" * 50, {"intranet": "Service"}), ("2fast", {}), ("a", {})])
def test_a_job_with_a_name_at_the_limit_is_taken(
    rest: Rest, namespace: str, name: str, spec: dict[str, Any]
) -> None:
    body = paddle_job(worker=worker(), **spec)
    body["metadata"]["name"] = name
    rest.post(jobs(namespace), body).expect(201)


@pytest.mark.parametrize("replicas", [-1, 10_001, 10**9])
def test_a_job_with_too_many_or_too_few_pods_is_refused(
    rest: Rest, common_namespace: str, replicas: int
) -> None:
    answer = rest.post(jobs(common_namespace), paddle_job(worker=worker() | {"replicas": replicas})).expect(
        422
    )
    assert [c["field"] for c in answer["details"]["causes"]] == ["spec.worker.replicas"]


@pytest.mark.parametrize("default", [{"model": "digits@best"}, IMAGE, {"model": "digits@best", "tag": "1"}])
def test_an_endpoint_is_a_model_or_an_image(rest: Rest, namespace: str, default: dict[str, Any]) -> None:
    rest.post(services(namespace), service(default=default)).expect(201)


@pytest.mark.parametrize("endpoint", [{}, {"model": ""}, {"containerImage": "example/serving", "tag": "1"}])
def test_an_endpoint_without_either_is_refused(rest: Rest, namespace: str, endpoint: dict[str, Any]) -> None:
    sentence = "an endpoint needs a model, or containerImage, tag and port"
    answer = rest.post(services(namespace), service(default=endpoint)).expect(422)
    assert sentences(answer) == [("spec.default", sentence)]
    answer = rest.post(services(namespace), service(default=IMAGE, canary=endpoint)).expect(422)
    assert sentences(answer) == [("spec.canary", sentence)]


def test_a_share_needs_a_canary(rest: Rest, namespace: str) -> None:
    answer = rest.post(services(namespace), service(default=IMAGE, canaryTrafficPercent=10)).expect(422)
    assert sentences(answer) == [("spec", "canaryTrafficPercent is the share of a canary: add canary")]
    rest.post(services(namespace), service(default=IMAGE, canary=IMAGE, canaryTrafficPercent=10)).expect(201)


@pytest.mark.parametrize(
    "plural, kind, spec, patch, sentence",
    [
        ("modelversions", "ModelVersion", VERSION, {"version": "v2"}, "a model version never changes: make a new one"),
        ("aliaschanges", "AliasChange", CHANGE, {"to": "digits-2"}, "a line of the ledger never changes: add a new one"),
    ],
)  # fmt: skip
def test_what_was_written_into_the_hub_stays(
    rest: Rest, namespace: str, plural: str, kind: str, spec: Any, patch: Any, sentence: str
) -> None:
    path = f"{HUB}/{namespace}/{plural}"
    rest.post(path, hub(kind, spec)).expect(201)
    assert sentences(rest.merge(f"{path}/digits-1", {"spec": patch}).expect(422)) == [("spec", sentence)]
    rest.merge(f"{path}/digits-1", {"metadata": {"labels": {"a": "b"}}}).expect(200)


def test_the_source_of_a_data_set_stays(rest: Rest, namespace: str) -> None:
    path = sample_sets(namespace, "digits")
    other = {"spec": {"source": {"uri": "file:///data/other"}}}
    rest.post(sample_sets(namespace), sample_set(partitions=1)).expect(201)
    rest.merge(path, {"spec": {"source": {"uri": "file:///data/digits"}}}).expect(200)
    [cause] = rest.merge(path, other).expect(422)["details"]["causes"]
    assert cause["message"].endswith(
        "the source of a data set changes only after a failed sync: make a new SampleSet"
    )
    rest.merge(path, {"spec": {"partitions": 2}}).expect(200)
    rest.merge(f"{path}/status", {"status": {"phase": "SyncFailed"}}).expect(200)
    rest.merge(path, other).expect(200)
