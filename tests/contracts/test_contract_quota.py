"""ResourceQuota: what is counted, when it is too much, and the sentence that says so."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import core, jobs, paddle_job
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

SOME = {"requests": {"cpu": "500m"}, "limits": {"memory": "100Mi"}}


def limited(rest: Rest, namespace: str, name: str = "q", **hard: str) -> None:
    """A quota that is in force."""
    named = {key.replace("__", "/").replace("_", "."): value for key, value in hard.items()}
    body = {"metadata": {"name": name}, "spec": {"hard": named}}
    rest.post(core(namespace, "resourcequotas"), body).expect(201)
    until(lambda: status(rest, namespace, name).get("hard") == named, what="the quota in force")


def status(rest: Rest, namespace: str, name: str = "q") -> dict[str, Any]:
    found = rest.get(core(namespace, "resourcequotas", name)).expect(200).get("status") or {}
    return dict(found)


def used(rest: Rest, namespace: str) -> dict[str, str]:
    return dict(status(rest, namespace)["used"])


def pod(name: str, resources: dict[str, Any] | None = None) -> dict[str, Any]:
    container = {"name": "main", "image": "example/image:1", "resources": resources or {}}
    return {"metadata": {"name": name}, "spec": {"schedulerName": "nobody", "containers": [container]}}


def test_the_last_place_is_given_once(rest: Rest, namespace: str) -> None:
    limited(rest, namespace, pods="2")
    for name in ("a", "b"):
        rest.post(core(namespace, "pods"), pod(name)).expect(201)
    answer = rest.post(core(namespace, "pods"), pod("c")).expect(403)
    assert answer["reason"] == "Forbidden"
    assert answer["message"] == (
        'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'
    )
    assert answer["details"] == {"name": "c", "kind": "pods"}


def test_a_new_quota_counts_what_is_there(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "pods"), pod("a", SOME)).expect(201)
    limited(rest, namespace, pods="5", requests_cpu="2", limits_memory="1Gi", services="1")
    until(
        lambda: (
            used(rest, namespace)
            == {"pods": "1", "requests.cpu": "500m", "limits.memory": "100Mi", "services": "0"}
        ),
        what="the first count",
    )


@pytest.mark.parametrize("counter", ["secrets", "count__secrets"])
def test_objects_are_counted_by_kind(rest: Rest, namespace: str, counter: str) -> None:
    path = core(namespace, "secrets")
    limited(rest, namespace, **{counter: "1"})
    rest.post(path, {"metadata": {"name": "a"}}).expect(201)
    name = counter.replace("__", "/")
    assert rest.post(path, {"metadata": {"name": "b"}}).expect(403)["message"] == (
        f'secrets "b" is forbidden: exceeded quota: q, requested: {name}=1, used: {name}=1, limited: {name}=1'
    )


def test_our_own_kinds_are_counted_with_their_group(rest: Rest, namespace: str) -> None:
    name = "count/paddlejobs.batch.paddlepaddle.org"
    body = {"metadata": {"name": "q"}, "spec": {"hard": {name: "1"}}}
    rest.post(core(namespace, "resourcequotas"), body).expect(201)
    until(lambda: status(rest, namespace).get("used") == {name: "0"}, what="the quota in force")
    rest.post(jobs(namespace), paddle_job("a")).expect(201)
    answer = rest.post(jobs(namespace), paddle_job("b")).expect(403)
    assert answer["message"] == (
        'paddlejobs.batch.paddlepaddle.org "b" is forbidden: exceeded quota: q, '
        f"requested: {name}=1, used: {name}=1, limited: {name}=1"
    )


def test_amounts_are_added_up(rest: Rest, namespace: str) -> None:
    limited(rest, namespace, requests_cpu="1", limits_memory="1Gi")
    rest.post(core(namespace, "pods"), pod("a", SOME)).expect(201)
    assert used(rest, namespace) == {"requests.cpu": "500m", "limits.memory": "100Mi"}
    large = {"requests": {"cpu": "600m"}, "limits": {"memory": "2Gi"}}
    assert rest.post(core(namespace, "pods"), pod("b", large)).expect(403)["message"] == (
        'pods "b" is forbidden: exceeded quota: q, requested: limits.memory=2Gi,requests.cpu=600m, '
        "used: limits.memory=100Mi,requests.cpu=500m, limited: limits.memory=1Gi,requests.cpu=1"
    )


def test_a_pod_must_say_what_is_limited(rest: Rest, namespace: str) -> None:
    limited(rest, namespace, requests_cpu="1", limits_memory="1Gi")
    assert rest.post(core(namespace, "pods"), pod("a")).expect(403)["message"] == (
        'pods "a" is forbidden: failed quota: q: must specify limits.memory for: main; requests.cpu for: main'
    )


def test_storage_is_limited_by_what_claims_ask_for(rest: Rest, namespace: str) -> None:
    limited(rest, namespace, requests_storage="5Gi", persistentvolumeclaims="3")
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "6Gi"}}}
    path = core(namespace, "persistentvolumeclaims")
    answer = rest.post(path, {"metadata": {"name": "big"}, "spec": claim}).expect(403)
    assert answer["message"] == (
        'persistentvolumeclaims "big" is forbidden: exceeded quota: q, requested: requests.storage=6Gi, '
        "used: requests.storage=0, limited: requests.storage=5Gi"
    )


def test_what_goes_makes_place(rest: Rest, namespace: str) -> None:
    limited(rest, namespace, pods="1")
    rest.post(core(namespace, "pods"), pod("a")).expect(201)
    rest.delete(core(namespace, "pods", "a"), {"gracePeriodSeconds": 0})
    until(lambda: used(rest, namespace) == {"pods": "0"}, what="the place free again")
    rest.post(core(namespace, "pods"), pod("b")).expect(201)


def test_a_finished_pod_takes_no_place(rest: Rest, namespace: str) -> None:
    limited(rest, namespace, pods="1", count__pods="5")
    rest.post(core(namespace, "pods"), pod("a")).expect(201)
    rest.merge(core(namespace, "pods", "a/status"), {"status": {"phase": "Succeeded"}}).expect(200)
    until(lambda: used(rest, namespace) == {"pods": "0", "count/pods": "1"}, what="the place free again")


def test_a_dry_run_takes_no_place(rest: Rest, namespace: str) -> None:
    limited(rest, namespace, secrets="1")
    body = {"metadata": {"name": "s"}}
    rest.post(core(namespace, "secrets"), body, dryRun="All").expect(201)
    assert used(rest, namespace) == {"secrets": "0"}
    rest.post(core(namespace, "secrets"), body).expect(201)
    assert rest.post(core(namespace, "secrets"), {"metadata": {"name": "t"}}, dryRun="All").status == 403


def test_every_quota_of_a_namespace_counts(rest: Rest, namespace: str) -> None:
    limited(rest, namespace, "wide", pods="5")
    limited(rest, namespace, "narrow", pods="1")
    rest.post(core(namespace, "pods"), pod("a")).expect(201)
    answer = rest.post(core(namespace, "pods"), pod("b")).expect(403)
    assert "exceeded quota: narrow, requested: pods=1, used: pods=1, limited: pods=1" in answer["message"]


def test_a_larger_quota_lets_more_in(rest: Rest, namespace: str) -> None:
    limited(rest, namespace, pods="0")
    assert rest.post(core(namespace, "pods"), pod("a")).status == 403
    rest.merge(core(namespace, "resourcequotas", "q"), {"spec": {"hard": {"pods": "1"}}}).expect(200)
    until(lambda: status(rest, namespace)["hard"] == {"pods": "1"}, what="the new limit in force")
    rest.post(core(namespace, "pods"), pod("a")).expect(201)


@pytest.mark.parametrize(
    "hard, code, message",
    [
        ({"pods": "-1"}, 422, 'spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0'),
        ({"widgets": "1"}, 422, "Invalid value: widgets: must be a standard resource for quota"),
        ({"pods": "many"}, 400, "quantities must match the regular expression"),
    ],
)  # fmt: skip
def test_a_quota_that_makes_no_sense_is_refused(
    rest: Rest, namespace: str, hard: dict[str, str], code: int, message: str
) -> None:
    body = {"metadata": {"name": "q"}, "spec": {"hard": hard}}
    assert message in rest.post(core(namespace, "resourcequotas"), body).expect(code)["message"]
