"""Server-side apply of statuses, of custom kinds and of scales."""

from __future__ import annotations

from tests.contracts.applying import GROUP, deployment, deployments, job, whole_deployment
from tests.contracts.objects import jobs, paddle_job
from tests.contracts.owners import apply, owners
from tests.kubernetes.rest import Rest


def test_the_status_has_owners_of_its_own(rest: Rest, namespace: str) -> None:
    path = deployments(namespace)
    apply(rest, path, whole_deployment()).expect(201)
    status = deployment() | {"status": {"collisionCount": 3}}
    made = apply(rest, f"{path}/status", status, "ctl").expect(200)
    assert made["status"]["collisionCount"] == 3
    assert owners(made)["ctl Apply status"] == "/status/collisionCount"


def test_a_status_in_the_configuration_of_an_object_is_not_heard(rest: Rest, namespace: str) -> None:
    path = deployments(namespace)
    made = apply(rest, path, whole_deployment() | {"status": {"collisionCount": 3}}).expect(201)
    assert "collisionCount" not in made["status"]
    assert "status" not in owners(made)["alice Apply"]


def test_a_spec_in_the_configuration_of_a_status_is_not_heard(rest: Rest, namespace: str) -> None:
    path = jobs(namespace, "train")
    apply(rest, path, paddle_job()).expect(201)
    config = job(intranet="Host") | {"status": {"mode": "PS"}}
    made = apply(rest, f"{path}/status", config, "ctl").expect(200)
    assert made["spec"]["intranet"] == "PodIP"
    assert owners(made)["ctl Apply status"] == "/status/mode"


def test_the_status_of_nothing_cannot_be_applied(rest: Rest, namespace: str) -> None:
    apply(rest, jobs(namespace, "train/status"), job()).expect(404)


def test_a_job_is_owned_as_its_schema_says(rest: Rest, namespace: str) -> None:
    made = apply(rest, jobs(namespace, "train"), paddle_job()).expect(201)
    template = "/spec/worker/template/spec"
    assert owners(made) == {
        "alice Apply": f"/spec/worker/replicas {template}/containers {template}/schedulerName"
    }


def test_what_a_schema_does_not_know_is_owned_as_it_looks(rest: Rest, namespace: str) -> None:
    path = jobs(namespace, "train")
    rest.post(jobs(namespace), paddle_job(), fieldManager="maker").expect(201)
    extra = {"template": {"spec": {"hostNetwork": True, "dnsConfig": {"zones": ["a", "b"]}}}}
    # A job at rest: the template of one that has pods cannot change.
    made = apply(rest, path, job(worker=extra, suspend=True)).expect(200)
    template = "/spec/worker/template/spec"
    fields = f"{template}/dnsConfig {template}/dnsConfig/zones {template}/hostNetwork"
    assert owners(made)["alice Apply"] == f"/spec/suspend {fields}"


def test_a_field_our_schema_does_not_know_is_refused(rest: Rest, namespace: str) -> None:
    answer = apply(rest, jobs(namespace, "train"), paddle_job(colour="red")).expect(500)
    assert answer["message"] == (
        f"failed to create typed patch object (/train; {GROUP}, Kind=PaddleJob): "
        ".spec.colour: field not declared in schema"
    )


def test_a_job_that_makes_no_sense_is_refused(rest: Rest, namespace: str) -> None:
    config = paddle_job()
    config["spec"]["intranet"] = "Carrier"
    answer = apply(rest, jobs(namespace, "train"), config).expect(422)
    assert answer["details"]["causes"][0]["field"] == "spec.intranet"


def test_a_conflict_on_a_job(rest: Rest, namespace: str) -> None:
    path = jobs(namespace, "train")
    rest.post(jobs(namespace), paddle_job(), fieldManager="maker").expect(201)
    rest.merge(path, {"spec": {"cleanPodPolicy": "Never"}}, fieldManager="bob").expect(200)
    answer = apply(rest, path, job(cleanPodPolicy="Always")).expect(409)
    assert answer["message"] == (
        f'Apply failed with 1 conflict: conflict with "bob" using {GROUP}: .spec.cleanPodPolicy'
    )
    made = apply(rest, path, job(cleanPodPolicy="Always"), force="true").expect(200)
    assert owners(made)["alice Apply"] == "/spec/cleanPodPolicy"
    assert "bob Update" not in owners(made)


def test_a_job_gives_up_what_is_no_longer_applied(rest: Rest, namespace: str) -> None:
    path = jobs(namespace, "train")
    apply(rest, path, paddle_job() | {"metadata": {"name": "train", "labels": {"a": "b"}}}).expect(201)
    made = apply(rest, path, paddle_job()).expect(200)
    assert "labels" not in made["metadata"]


def test_scaling_takes_the_replicas(rest: Rest, namespace: str) -> None:
    path = deployments(namespace)
    apply(rest, path, whole_deployment()).expect(201)
    rest.merge(f"{path}/scale", {"spec": {"replicas": 1}}, fieldManager="carol").expect(200)
    made = rest.get(path).expect(200)
    assert owners(made)["carol Update scale"] == "/spec/replicas"
    assert "/spec/replicas" not in owners(made)["alice Apply"].split()
    answer = apply(rest, path, whole_deployment()).expect(409)
    assert answer["details"]["causes"][0]["message"] == (
        'conflict with "carol" with subresource "scale" using apps/v1'
    )


def test_a_scale_is_applied_to_the_object_behind_it(rest: Rest, namespace: str) -> None:
    path = deployments(namespace)
    apply(rest, path, whole_deployment()).expect(201)
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}}
    config = scale | {"spec": {"replicas": 1}}
    answer = apply(rest, f"{path}/scale", config, "carol").expect(409)
    assert answer["message"].startswith('Apply failed with 1 conflict: conflict with "alice"')
    assert apply(rest, f"{path}/scale", config, "carol", force="true").expect(200)["spec"] == {"replicas": 1}
    made = rest.get(path).expect(200)
    assert owners(made)["carol Apply scale"] == "/spec/replicas"
    assert made["metadata"]["generation"] == 2
