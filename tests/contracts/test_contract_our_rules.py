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
            {"worker": worker(), "elasticLauncher": True},
            "elasticLauncher is a way of being elastic: set elastic too",
        ),
        (
            {"worker": worker(), "ps": worker(), "elastic": 1, "elasticLauncher": True},
            "the elastic launcher knows workers only: leave out ps and heter, or elasticLauncher",
        ),
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


MAIN: dict[str, Any] = {"name": "main", "image": "example/paddle:1"}


@pytest.mark.parametrize(
    "template, field, shape",
    [
        ({"spec": {"containers": ["x"]}}, "spec.containers[0]", "object"),
        ({"spec": {"containers": [MAIN], "volumes": "x"}}, "spec.volumes", "array"),
        ({"spec": {"containers": [MAIN], "volumes": ["x"]}}, "spec.volumes[0]", "object"),
        ({"spec": {"containers": [MAIN], "initContainers": {}}}, "spec.initContainers", "array"),
        ({"spec": {"containers": [MAIN], "schedulerName": 1}}, "spec.schedulerName", "string"),
        ({"spec": {"containers": [MAIN], "affinity": []}}, "spec.affinity", "object"),
        ({"spec": {"containers": [MAIN | {"env": {"A": "b"}}]}}, "spec.containers[0].env", "array"),
        ({"spec": {"containers": [MAIN | {"env": ["A=b"]}]}}, "spec.containers[0].env[0]", "object"),
        ({"spec": {"containers": [MAIN | {"image": 3}]}}, "spec.containers[0].image", "string"),
        ({"spec": {"containers": [MAIN | {"resources": []}]}}, "spec.containers[0].resources", "object"),
        ({"metadata": "x", "spec": {"containers": [MAIN]}}, "metadata", "object"),
        ({"metadata": {"labels": {"a": 1}}, "spec": {"containers": [MAIN]}}, "metadata.labels.a", "string"),
    ],
)
def test_a_template_of_a_wrong_shape_is_refused(
    rest: Rest, common_namespace: str, template: dict[str, Any], field: str, shape: str
) -> None:
    body = paddle_job(worker={"replicas": 1, "template": template})
    # The second, if there is one, says that rules were not looked at.
    cause, *_ = rest.post(jobs(common_namespace), body).expect(422)["details"]["causes"]

    assert cause["field"] == f"spec.worker.template.{field}"
    assert f"must be of type {shape}" in cause["message"]


def test_a_template_may_leave_parts_empty(rest: Rest, namespace: str) -> None:
    container = MAIN | {"env": None, "resources": {"limits": {"cpu": 0.5, "memory": "1Gi"}}}
    template = {"spec": {"containers": [container], "volumes": None, "tolerations": None}}
    made = rest.post(jobs(namespace), paddle_job(worker={"replicas": 1, "template": template})).expect(201)

    kept = made["spec"]["worker"]["template"]["spec"]
    assert "volumes" not in kept and "env" not in kept["containers"][0]


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
        (
            "2fast",
            {"elastic": 1, "elasticLauncher": True},
            "with elasticLauncher the name of a job begins with a letter: its Service is called after it",
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
    # A real server says it twice of a number that can be scaled.
    assert {c["field"].lstrip(".") for c in answer["details"]["causes"]} == {"spec.worker.replicas"}


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


@pytest.mark.parametrize(
    "spec, field",
    [
        ({"default": IMAGE, "canary": IMAGE, "canaryTrafficPercent": -1}, "spec.canaryTrafficPercent"),
        ({"default": IMAGE, "canary": IMAGE, "canaryTrafficPercent": 101}, "spec.canaryTrafficPercent"),
        ({"default": IMAGE | {"port": 0}}, "spec.default.port"),
        ({"default": IMAGE | {"port": 65536}}, "spec.default.port"),
        ({"default": IMAGE, "service": {"minScale": -1}}, "spec.service.minScale"),
        ({"default": IMAGE, "service": {"metric": "luck"}}, "spec.service.metric"),
        ({"canary": IMAGE}, "spec.default"),
    ],
)
def test_a_service_that_makes_no_sense_is_refused(
    rest: Rest, namespace: str, spec: dict[str, Any], field: str
) -> None:
    answer = rest.post(services(namespace), service(**spec)).expect(422)
    # A real server does not go on to the rules of a value that has the wrong form, and says so.
    assert field in {c.get("field") for c in answer["details"]["causes"]}


def test_processors_decide_with_their_own_class_only(rest: Rest, namespace: str) -> None:
    kpa, hpa = (f"{name}.autoscaling.knative.dev" for name in ("kpa", "hpa"))
    refused = service(default=IMAGE, service={"metric": "cpu", "autoscaler": kpa})
    answer = rest.post(services(namespace), refused).expect(422)
    assert sentences(answer) == [("spec.service", f"the metric cpu needs the autoscaler {hpa}")]
    rest.post(services(namespace), service(default=IMAGE, service={"metric": "cpu"})).expect(201)


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


KEPT = "cannot change while the job has pods: set suspend to true first, or make a new job"
OTHER = {"template": {"spec": {"containers": [{"name": "main", "image": "example/other:1"}]}}}


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"worker": worker() | OTHER}, f"worker.template {KEPT}"),
        ({"worker": worker() | {"replicas": 7}}, f"worker.replicas {KEPT}"),
        ({"ps": worker()}, f"ps {KEPT}"),
        ({"heter": worker()}, f"heter {KEPT}"),
        ({"intranet": "Service"}, f"intranet {KEPT}"),
        ({"withGloo": 1}, f"withGloo {KEPT}"),
        ({"elastic": 1}, f"elastic {KEPT}"),
        ({"sampleSetRef": {"name": "d", "mountPath": "/d"}}, f"sampleSetRef {KEPT}"),
        ({"schedulingPolicy": {"queue": "q"}}, f"schedulingPolicy {KEPT}"),
    ],
)
def test_what_pods_were_made_from_changes_only_while_the_job_rests(
    rest: Rest, namespace: str, change: dict[str, Any], sentence: str
) -> None:
    made = rest.post(jobs(namespace), paddle_job(worker=worker())).expect(201)
    path = f"{jobs(namespace)}/{made['metadata']['name']}"
    answer = rest.merge(path, {"spec": change}).expect(422)
    assert [(c["field"], c["message"]) for c in answer["details"]["causes"]] == [
        ("spec", f"Forbidden: {sentence}")
    ]
    rest.merge(path, {"spec": {**change, "suspend": True}}).expect(200)
    rest.merge(path, {"spec": {k: None for k in change if k != "worker"} | {"worker": worker()}}).expect(200)


def test_the_way_in_which_a_job_is_elastic_changes_only_while_it_rests(rest: Rest, namespace: str) -> None:
    made = rest.post(jobs(namespace), paddle_job(worker=worker(), elastic=1)).expect(201)
    path = f"{jobs(namespace)}/{made['metadata']['name']}"
    answer = rest.merge(path, {"spec": {"elasticLauncher": True}}).expect(422)
    assert [c["message"] for c in answer["details"]["causes"]] == [f"Forbidden: elasticLauncher {KEPT}"]
    rest.merge(path, {"spec": {"elasticLauncher": True, "suspend": True}}).expect(200)


@pytest.mark.parametrize(
    "replicas, sentence",
    [
        (1, "worker.replicas is less than worker.requests, the least an elastic job works with"),
        (5, "worker.replicas is more than worker.limits, the most an elastic job may have"),
    ],
)
def test_an_elastic_job_is_scaled_within_its_bounds(
    rest: Rest, namespace: str, replicas: int, sentence: str
) -> None:
    bounds = {"requests": 2, "limits": 4}
    made = rest.post(jobs(namespace), paddle_job(elastic=1, worker=worker(2) | bounds)).expect(201)
    path = f"{jobs(namespace)}/{made['metadata']['name']}"
    for inside in (4, 3):
        scaled = rest.merge(f"{path}/scale", {"spec": {"replicas": inside}}).expect(200)
        assert scaled["spec"]["replicas"] == inside
    answer = rest.merge(f"{path}/scale", {"spec": {"replicas": replicas}}).expect(422)
    assert sentences(answer) == [("spec", sentence)]


def test_a_job_that_has_ended_is_not_scaled(rest: Rest, namespace: str) -> None:
    made = rest.post(jobs(namespace), paddle_job(elastic=1, worker=worker(2))).expect(201)
    path = f"{jobs(namespace)}/{made['metadata']['name']}"
    rest.merge(f"{path}/status", {"status": {"phase": "Completed"}}).expect(200)
    answer = rest.merge(f"{path}/scale", {"spec": {"replicas": 3}}).expect(422)
    assert "the job has ended and cannot be scaled: make a new one" in answer["message"]


@pytest.mark.parametrize(
    "change",
    [
        {"cleanPodPolicy": "Never"},
        {"suspend": True},
        {"activeDeadlineSeconds": 60},
        {"ttlSecondsAfterFinished": 60},
        {"backoffLimit": 2},
    ],
)
def test_what_takes_effect_on_a_running_job_may_change(
    rest: Rest, namespace: str, change: dict[str, Any]
) -> None:
    made = rest.post(jobs(namespace), paddle_job(worker=worker())).expect(201)
    rest.merge(f"{jobs(namespace)}/{made['metadata']['name']}", {"spec": change}).expect(200)


def sample_jobs(namespace: str) -> str:
    return f"/apis/batch.paddlepaddle.org/v1alpha1/namespaces/{namespace}/samplejobs"


def sample_job(**spec: Any) -> dict[str, Any]:
    about = {"apiVersion": "batch.paddlepaddle.org/v1alpha1", "kind": "SampleJob"}
    return {**about, "metadata": {"generateName": "j-"}, "spec": spec}


ON = {"sampleSetRef": {"name": "digits"}}


@pytest.mark.parametrize(
    "spec, sentence",
    [
        (ON, "say what to do: type is sync, warmup, rmr, clear or forecast"),
        ({"type": "sync"}, "say on which data: sampleSetRef.name"),
        ({"type": "sync", "sampleSetRef": {"name": ""}}, "say on which data: sampleSetRef.name"),
        ({"type": "rmr", **ON}, "say what to remove: rmrOptions.paths"),
        (
            {"type": "sync", **ON, "timeZone": "Asia/Shanghai"},
            "timeZone, concurrencyPolicy and history limits need a schedule",
        ),
    ],
)
def test_a_sample_job_without_what_it_needs_is_refused(
    rest: Rest, common_namespace: str, spec: dict[str, Any], sentence: str
) -> None:
    answer = rest.post(sample_jobs(common_namespace), sample_job(**spec)).expect(422)
    assert sentences(answer) == [("spec", sentence)]


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "sync", **ON},
        {"type": "rmr", **ON, "rmrOptions": {"paths": ["a b"]}},
        {"type": "warmup", **ON, "warmupOptions": {"strategyName": "random", "batchSize": 8, "epoch": 0}},
        {
            "type": "sync",
            **ON,
            "schedule": "@daily",
            "timeZone": "Asia/Shanghai",
            "concurrencyPolicy": "Forbid",
        },
    ],
)
def test_a_sample_job_with_what_it_needs_is_taken(
    rest: Rest, common_namespace: str, spec: dict[str, Any]
) -> None:
    rest.post(sample_jobs(common_namespace), sample_job(**spec)).expect(201)


@pytest.mark.parametrize("name", ["d" * 48, "2digits", "di.gits"])
def test_a_data_set_is_called_so_that_its_service_can_be_called_after_it(
    rest: Rest, common_namespace: str, name: str
) -> None:
    answer = rest.post(sample_sets(common_namespace), sample_set(name)).expect(422)
    sentence = "a data set is called by at most 47 small letters, digits and dashes, a letter first: its Service is called after it"
    assert [c["message"].partition('"object": ')[2] for c in answer["details"]["causes"]] == [sentence]
