"""PaddleJob under the name of Kubeflow: what is taken, filled in, refused and printed; ours comes first."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import jobs, paddle_job, worker
from tests.kubectl import Kubectl
from tests.kubernetes.rest import Rest

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
STRICT = {"fieldValidation": "Strict"}
POLICY = {
    "cleanPodPolicy": "All",
    "ttlSecondsAfterFinished": 60,
    "activeDeadlineSeconds": 600,
    "backoffLimit": 3,
    "suspend": False,
    "schedulingPolicy": {"minAvailable": 2, "queue": "night", "minResources": {"cpu": "4"}},
}

ELASTIC = {"minReplicas": 1, "maxReplicas": 4, "maxRestarts": 3}


def kubeflow_jobs(namespace: str, name: str = "") -> str:
    return f"/apis/kubeflow.org/v1/namespaces/{namespace}/paddlejobs" + (f"/{name}" if name else "")


def kubeflow_job(**spec: Any) -> dict[str, Any]:
    spec.setdefault("paddleReplicaSpecs", {"Worker": worker(2)})
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PaddleJob",
        "metadata": {"name": "simple"},
        "spec": spec,
    }


def test_a_job_as_kubeflow_knows_it_is_taken_and_filled_in(rest: Rest, namespace: str) -> None:
    roles = {"Master": {"template": worker()["template"], "restartPolicy": "Never"}, "Worker": worker(2)}
    elastic = {**ELASTIC, "metrics": [{"type": "Resource"}]}
    body = kubeflow_job(paddleReplicaSpecs=roles, runPolicy=POLICY, elasticPolicy=elastic)
    made = rest.post(kubeflow_jobs(namespace), body, **STRICT).expect(201)["spec"]

    assert (made["runPolicy"], made["elasticPolicy"]) == (POLICY, elastic)
    filled = {name: (r["replicas"], r["restartPolicy"]) for name, r in made["paddleReplicaSpecs"].items()}
    assert filled == {"Master": (1, "Never"), "Worker": (2, "OnFailure")}


@pytest.mark.parametrize(
    "spec, field",
    [
        ({"paddleReplicaSpecs": {}}, "spec.paddleReplicaSpecs"),
        ({"paddleReplicaSpecs": {"Worker": worker(-1)}}, "spec.paddleReplicaSpecs.Worker.replicas"),
        ({"paddleReplicaSpecs": {"Worker": {}}}, "spec.paddleReplicaSpecs.Worker.template"),
        ({"runPolicy": {"cleanPodPolicy": "Some"}}, "spec.runPolicy.cleanPodPolicy"),
        ({"runPolicy": {"activeDeadlineSeconds": 0}}, "spec.runPolicy.activeDeadlineSeconds"),
    ],
)
def test_a_job_that_makes_no_sense_is_refused_at_its_field(
    rest: Rest, common_namespace: str, spec: dict[str, Any], field: str
) -> None:
    answer = rest.post(kubeflow_jobs(common_namespace), kubeflow_job(**spec)).expect(422)

    assert answer["details"]["causes"][0]["field"] == field


REST = "set runPolicy.suspend to true first, or make a new job"


@pytest.mark.parametrize(
    "patch, path",
    [
        ({"paddleReplicaSpecs": {"Worker": {"replicas": 3}}}, "paddleReplicaSpecs.Worker.replicas"),
        ({"paddleReplicaSpecs": {"Worker": {"template": {"x": 1}}}}, "paddleReplicaSpecs.Worker.template"),
        ({"paddleReplicaSpecs": {"Master": worker(1)}}, "paddleReplicaSpecs.Master"),
        ({"elasticPolicy": {"minReplicas": 1, "maxReplicas": 2}}, "elasticPolicy"),
        ({"runPolicy": {"schedulingPolicy": {"queue": "day"}}}, "runPolicy.schedulingPolicy"),
    ],
)
def test_what_pods_were_made_from_changes_at_rest_only(
    rest: Rest, namespace: str, patch: dict[str, Any], path: str
) -> None:
    at = kubeflow_jobs(namespace, "simple")
    rest.post(kubeflow_jobs(namespace), kubeflow_job(runPolicy=POLICY)).expect(201)
    answer = rest.merge(at, {"spec": patch}).expect(422)
    assert path in answer["message"] and REST in answer["message"]

    rest.merge(at, {"spec": {"runPolicy": {"suspend": True}}}).expect(200)
    rest.merge(at, {"spec": patch}).expect(200)


@pytest.mark.parametrize(
    "patch, sentence",
    [
        ({"runPolicy": {"cleanPodPolicy": "Running"}}, "cleanPodPolicy Running is not supported"),
        ({"runPolicy": {"backoffLimit": 4}}, "maxRestarts and runPolicy.backoffLimit differ"),
        ({"elasticPolicy": {"metrics": [{"type": "Pods"}]}}, "elasticPolicy.metrics is not supported"),
        ({"elasticPolicy": {"minReplicas": 3}}, "Worker.replicas is not between elasticPolicy.minReplicas"),
        ({"paddleReplicaSpecs": {"Worker": {"replicas": 9}}}, "Worker.replicas is not between"),
    ],
)
def test_a_job_that_has_begun_cannot_ask_for_what_is_not_done(
    rest: Rest, namespace: str, patch: dict[str, Any], sentence: str
) -> None:
    rest.post(kubeflow_jobs(namespace), kubeflow_job(runPolicy=POLICY, elasticPolicy=ELASTIC)).expect(201)
    answer = rest.merge(kubeflow_jobs(namespace, "simple"), {"spec": patch}).expect(422)

    assert sentence in answer["message"]


@pytest.mark.parametrize(
    "patch",
    [
        {"metadata": {"labels": {"a": "b"}}},
        {"spec": {"nodeSelector": {"a": "b"}}},
        {"spec": {"containers": [{"name": "paddle", "image": "example/paddle:2"}]}},
    ],
)
def test_at_rest_too_master_and_worker_stay_alike(rest: Rest, namespace: str, patch: dict[str, Any]) -> None:
    roles = {"Master": worker(1), "Worker": worker(2)}
    rest.post(
        kubeflow_jobs(namespace), kubeflow_job(paddleReplicaSpecs=roles, runPolicy={"suspend": True})
    ).expect(201)
    at = kubeflow_jobs(namespace, "simple")
    answer = rest.merge(at, {"spec": {"paddleReplicaSpecs": {"Master": {"template": patch}}}}).expect(422)
    assert "the templates of Master and Worker differ" in answer["message"]

    both = {role: {"template": patch} for role in roles}
    rest.merge(at, {"spec": {"paddleReplicaSpecs": both}}).expect(200)


def test_an_elastic_job_is_scaled(rest: Rest, namespace: str) -> None:
    rest.post(kubeflow_jobs(namespace), kubeflow_job(elasticPolicy=ELASTIC)).expect(201)
    at = f"{kubeflow_jobs(namespace, 'simple')}/scale"
    rest.merge(at, {"spec": {"replicas": 4}}).expect(200)

    assert rest.get(at).expect(200)["spec"] == {"replicas": 4}


def test_the_last_condition_is_the_state_that_is_printed(rest: Rest, namespace: str) -> None:
    rest.post(kubeflow_jobs(namespace), kubeflow_job()).expect(201)
    told = [{"type": kind, "status": "True"} for kind in ("Created", "Running")]
    at = kubeflow_jobs(namespace, "simple")
    rest.merge(f"{at}/status", {"status": {"conditions": told}}).expect(200)
    table = rest.get_as(TABLE, at).expect(200)

    assert [c["name"] for c in table["columnDefinitions"]] == ["Name", "State", "Age"]
    assert table["rows"][0]["cells"][:2] == ["simple", "Running"]


def test_kubectl_takes_the_plain_name_for_ours(rest: Rest, kubectl: Kubectl, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job("ours")).expect(201)
    rest.post(kubeflow_jobs(namespace), kubeflow_job()).expect(201)

    for name in ("paddlejobs", "paddlejob", "pdj"):
        assert kubectl("get", name, "-o", "name") == "paddlejob.batch.paddlepaddle.org/ours\n"
    assert kubectl("get", "paddlejobs.kubeflow.org", "-o", "name") == "paddlejob.kubeflow.org/simple\n"
