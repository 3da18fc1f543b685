"""Quotas that count some pods only."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import core
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

ASKING = {"resources": {"requests": {"cpu": "600m"}}}
CRITICAL = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}


def pod(name: str, container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "m", "image": "example/image:1", **(container or {})}]
    plain = {"schedulerName": "nobody", "automountServiceAccountToken": False, "containers": containers}
    return {"metadata": {"name": name}, "spec": {**plain, **spec}}


def limited(rest: Rest, namespace: str, **spec: Any) -> None:
    path = core(namespace, "resourcequotas")
    rest.post(path, {"metadata": {"name": "q"}, "spec": spec}).expect(201)
    until(
        lambda: (rest.get(f"{path}/q").expect(200).get("status") or {}).get("used") is not None,
        what="the quota in force",
    )


@pytest.mark.parametrize(
    "spec, inside, outside",
    [
        ({"scopes": ["BestEffort"]}, pod("a"), pod("b", ASKING)),
        ({"scopes": ["NotBestEffort"]}, pod("a", ASKING), pod("b")),
        ({"scopes": ["Terminating"]}, pod("a", activeDeadlineSeconds=10), pod("b")),
        ({"scopes": ["NotTerminating"]}, pod("a"), pod("b", activeDeadlineSeconds=10)),
        (
            {"scopeSelector": {"matchExpressions": [CRITICAL]}},
            pod("a", priorityClassName="system-node-critical"),
            pod("b"),
        ),
    ],
    ids=["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "PriorityClass"],
)
def test_a_quota_counts_what_is_in_its_scope(
    rest: Rest, namespace: str, spec: dict[str, Any], inside: dict[str, Any], outside: dict[str, Any]
) -> None:
    limited(rest, namespace, hard={"pods": "0"}, **spec)
    answer = rest.post(core(namespace, "pods"), inside).expect(403)
    assert answer["message"] == (
        'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0'
    )
    rest.post(core(namespace, "pods"), outside).expect(201)


def test_only_pods_in_the_scope_must_say_what_they_want(rest: Rest, namespace: str) -> None:
    limited(rest, namespace, hard={"requests.cpu": "1"}, scopes=["Terminating"])
    rest.post(core(namespace, "pods"), pod("a")).expect(201)
    answer = rest.post(core(namespace, "pods"), pod("b", activeDeadlineSeconds=10)).expect(403)
    assert answer["message"] == ('pods "b" is forbidden: failed quota: q: must specify requests.cpu for: m')


def test_a_new_quota_counts_what_is_in_its_scope_already(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "pods"), pod("a")).expect(201)
    rest.post(core(namespace, "pods"), pod("b", ASKING)).expect(201)
    limited(rest, namespace, hard={"pods": "5"}, scopes=["BestEffort"])
    path = core(namespace, "resourcequotas", "q")
    until(lambda: rest.get(path).expect(200)["status"]["used"] == {"pods": "1"}, what="the first count")
