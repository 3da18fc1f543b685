"""A pod evicted by a request: it goes as if deleted, and says why."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import core, pod
from tests.kubernetes.rest import Rest


@pytest.fixture
def path(rest: Rest, namespace: str) -> str:
    """A pod on a node that nobody answers for: it waits for its end."""
    body = pod()
    body["spec"]["nodeName"] = "nobody-home"
    rest.post(core(namespace, "pods"), body).expect(201)
    return core(namespace, "pods", "sleeper")


def eviction(name: str = "sleeper", **options: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    return {**body, "deleteOptions": options} if options else body


def test_an_evicted_pod_is_marked_and_leaves_within_its_grace(rest: Rest, path: str) -> None:
    answer = rest.post(f"{path}/eviction", eviction(gracePeriodSeconds=20)).expect(201)
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    found = rest.get(path).expect(200)
    assert found["metadata"]["deletionGracePeriodSeconds"] == 20
    [said] = [c for c in found["status"]["conditions"] if c["type"] == "DisruptionTarget"]
    assert (said["status"], said["reason"]) == ("True", "EvictionByEvictionAPI")
    assert said["message"] == "Eviction API: evicting"


def test_a_pod_that_runs_nowhere_is_gone_at_once(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "pods"), pod()).expect(201)
    path = core(namespace, "pods", "sleeper")
    rest.post(f"{path}/eviction", eviction()).expect(201)
    assert rest.get(path).status == 404


def test_an_eviction_that_is_only_tried_leaves_the_pod_alone(rest: Rest, path: str) -> None:
    rest.post(f"{path}/eviction", eviction(dryRun=["All"])).expect(201)
    found = rest.get(path).expect(200)
    assert "deletionTimestamp" not in found["metadata"]
    assert not found["status"].get("conditions")


@pytest.mark.parametrize(
    ("name", "body", "status", "sentence"),
    [
        ("sleeper", eviction("other"), 400, "name in URL does not match name in Eviction object"),
        ("nobody", eviction("nobody"), 404, 'pods "nobody" not found'),
        ("sleeper", eviction(preconditions={"uid": "abc"}), 409, "recondition"),
    ],
    ids=["name", "absent", "uid"],
)
def test_who_is_not_evicted(
    rest: Rest, path: str, name: str, body: dict[str, Any], status: int, sentence: str
) -> None:
    answer = rest.post(f"{path.rpartition('/')[0]}/{name}/eviction", body)
    assert answer.status == status and sentence in answer.body["message"]
