"""Our own kinds: validation, defaults, unknown fields, and the division between spec and status."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import jobs, paddle_job, sample_set, sample_sets, worker
from tests.kubernetes.rest import Rest

STRICT = {"fieldValidation": "Strict"}


@pytest.mark.parametrize(
    "spec, field",
    [
        ({"worker": worker(), "cleanPodPolicy": "Sometimes"}, "spec.cleanPodPolicy"),
        ({"worker": worker(), "intranet": "Carrier"}, "spec.intranet"),
        ({"worker": worker(-1)}, "spec.worker.replicas"),
        ({"worker": worker(), "withGloo": 3}, "spec.withGloo"),
        ({"worker": {"template": {"spec": {"containers": [{}]}}}}, "spec.worker.replicas"),
        ({"worker": {"replicas": 1}}, "spec.worker.template"),
        ({"worker": worker(1, restartPolicy="Never")}, "spec.worker.template.spec.containers"),
        ({"worker": worker(1, containers=[])}, "spec.worker.template.spec.containers"),
        ({"worker": worker(), "elastic": "yes"}, "spec.elastic"),
    ],
)
def test_a_job_that_makes_no_sense_is_refused_at_its_field(
    rest: Rest, common_namespace: str, spec: dict[str, Any], field: str
) -> None:
    answer = rest.post(jobs(common_namespace), paddle_job(**spec)).expect(422)
    assert (answer["reason"], answer["details"]["kind"]) == ("Invalid", "PaddleJob")
    assert answer["message"].startswith('PaddleJob.batch.paddlepaddle.org "train" is invalid: ')
    assert answer["details"]["causes"][0]["field"] == field


def test_a_bad_choice_is_told_with_the_good_ones(rest: Rest, common_namespace: str) -> None:
    body = paddle_job(worker=worker(), cleanPodPolicy="Sometimes")
    answer = rest.post(jobs(common_namespace), body).expect(422)
    assert (
        'spec.cleanPodPolicy: Unsupported value: "Sometimes": '
        'supported values: "Always", "Never", "OnFailure", "OnCompletion"'
    ) in answer["message"]


def test_a_job_without_a_spec_is_refused(rest: Rest, common_namespace: str) -> None:
    body = paddle_job()
    del body["spec"]
    answer = rest.post(jobs(common_namespace), body).expect(422)
    assert "spec: Required value" in answer["message"]


@pytest.mark.parametrize(
    "spec, field",
    [
        ({"source": {"uri": "short"}}, "spec.source.uri"),
        ({"partitions": 0}, "spec.partitions"),
        ({"csi": {"driver": "tape"}}, "spec.csi.driver"),
        ({"cache": {"levels": []}}, "spec.cache.levels"),
    ],
)
def test_a_data_set_that_makes_no_sense_is_refused_at_its_field(
    rest: Rest, common_namespace: str, spec: dict[str, Any], field: str
) -> None:
    answer = rest.post(sample_sets(common_namespace), sample_set(**spec)).expect(422)
    assert field in [cause["field"] for cause in answer["details"]["causes"]]


def test_an_update_is_checked_like_a_creation(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    answer = rest.merge(jobs(namespace, "train"), {"spec": {"worker": {"replicas": -2}}}).expect(422)
    assert answer["details"]["causes"][0]["field"] == "spec.worker.replicas"


def test_what_is_left_out_gets_its_default(rest: Rest, namespace: str) -> None:
    body = sample_set(source={"uri": "file:///data/digits"}, csi={})
    made = rest.post(sample_sets(namespace), body).expect(201)
    assert made["spec"]["partitions"] == 1
    assert made["spec"]["csi"] == {"driver": "auto"}


def test_a_default_does_not_make_the_object_around_it(rest: Rest, namespace: str) -> None:
    made = rest.post(sample_sets(namespace), sample_set()).expect(201)
    assert "csi" not in made["spec"]


def test_a_field_nobody_knows_is_dropped(rest: Rest, namespace: str) -> None:
    made = rest.post(jobs(namespace), paddle_job(worker=worker(), colour="red")).expect(201)
    assert "colour" not in made["spec"]
    assert "colour" not in rest.get(jobs(namespace, "train")).expect(200)["spec"]


def test_a_field_nobody_knows_is_refused_where_the_client_is_strict(rest: Rest, namespace: str) -> None:
    answer = rest.post(jobs(namespace), paddle_job(worker=worker(), colour="red"), **STRICT).expect(400)
    assert answer["reason"] == "BadRequest"
    assert 'strict decoding error: unknown field "spec.colour"' in answer["message"]
    assert rest.get(jobs(namespace, "train")).status == 404


def test_a_field_nobody_knows_is_warned_of_where_the_client_asks(rest: Rest, namespace: str) -> None:
    answer = rest.post(jobs(namespace), paddle_job(worker=worker(), colour="red"), fieldValidation="Warn")
    answer.expect(201)
    assert answer.headers["Warning"] == '299 - "unknown field \\"spec.colour\\""'


def test_the_pod_template_stays_as_it_was_written(rest: Rest, namespace: str) -> None:
    containers = [{"name": "paddle", "image": "example/paddle:1", "somethingNew": {"a": [1]}}]
    role = worker(1, containers=containers, hostNetwork=True)
    made = rest.post(jobs(namespace), paddle_job(worker=role), **STRICT).expect(201)
    assert made["spec"]["worker"] == role


def test_the_misspelt_synonym_is_a_field(rest: Rest, namespace: str) -> None:
    made = rest.post(jobs(namespace), paddle_job(worker=worker(), cleanPolicy="Never"), **STRICT).expect(201)
    assert made["spec"]["cleanPolicy"] == "Never"


def test_a_new_object_has_no_status_of_its_senders(rest: Rest, namespace: str) -> None:
    made = rest.post(jobs(namespace), paddle_job() | {"status": {"phase": "Completed"}}).expect(201)
    assert "status" not in made


def test_the_status_is_changed_at_its_own_address_only(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    path = jobs(namespace, "train")
    assert "status" not in rest.merge(path, {"status": {"phase": "Running"}}).expect(200)
    changed = rest.merge(f"{path}/status", {"status": {"phase": "Running"}}).expect(200)
    assert changed["status"]["phase"] == "Running"
    assert rest.get(f"{path}/status").expect(200)["status"] == changed["status"]


def test_a_status_write_changes_neither_spec_nor_labels(rest: Rest, namespace: str) -> None:
    made = rest.post(jobs(namespace), paddle_job()).expect(201)
    made["spec"]["intranet"] = "Host"
    made["metadata"]["labels"] = {"a": "b"}
    made["status"] = {"phase": "Starting"}
    changed = rest.put(f"{jobs(namespace, 'train')}/status", made).expect(200)
    assert changed["status"] == {"phase": "Starting"}
    assert changed["spec"]["intranet"] == "PodIP"
    assert "labels" not in changed["metadata"]


def test_an_update_keeps_the_status(rest: Rest, namespace: str) -> None:
    path = jobs(namespace, "train")
    rest.post(jobs(namespace), paddle_job()).expect(201)
    current = rest.merge(f"{path}/status", {"status": {"phase": "Running"}}).expect(200)
    del current["status"]
    current["spec"]["cleanPodPolicy"] = "Never"
    assert rest.put(path, current).expect(200)["status"] == {"phase": "Running"}


def test_an_update_of_our_kind_must_name_its_version(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    answer = rest.put(jobs(namespace, "train"), paddle_job()).expect(422)
    assert (
        "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update" in answer["message"]
    )


def test_a_bad_status_is_refused(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    answer = rest.merge(jobs(namespace, "train/status"), {"status": {"phase": "Dreaming"}}).expect(422)
    assert answer["details"]["causes"][0]["field"] == "status.phase"


@pytest.mark.parametrize(
    "where, patch, generation",
    [
        ("train", {"spec": {"cleanPodPolicy": "Never"}}, 2),
        ("train", {"spec": {"intranet": "PodIP"}}, 1),
        ("train", {"metadata": {"labels": {"a": "b"}}}, 1),
        ("train", {"metadata": {"annotations": {"a": "b"}}}, 1),
        ("train/status", {"status": {"phase": "Running"}}, 1),
    ],
)
def test_the_generation_counts_changes_of_the_spec(
    rest: Rest, namespace: str, where: str, patch: dict[str, Any], generation: int
) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    assert rest.merge(jobs(namespace, where), patch).expect(200)["metadata"]["generation"] == generation


def test_two_kinds_of_one_group_live_in_two_versions(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job("same")).expect(201)
    rest.post(sample_sets(namespace), sample_set("same")).expect(201)
    assert rest.get(jobs(namespace, "same")).expect(200)["kind"] == "PaddleJob"
    assert rest.get(sample_sets(namespace, "same")).expect(200)["kind"] == "SampleSet"
    wrong = jobs(namespace).replace("/v1/", "/v1alpha1/")
    assert rest.get(wrong).status == 404
