"""APIServices: the list of what the server serves itself."""

from __future__ import annotations

import pytest
from tests.contracts.definitions import DEFINITIONS, definition, version
from tests.kubectl import Kubectl
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

PATH = "/apis/apiregistration.k8s.io/v1/apiservices"


@pytest.mark.parametrize(
    "name, group, priority, version_priority, managed",
    [
        ("v1.", None, 18000, 1, "onstart"),
        ("v1.apps", "apps", 17800, 15, "onstart"),
        ("v1.events.k8s.io", "events.k8s.io", 17750, 15, "onstart"),
        ("v1.autoscaling", "autoscaling", 17500, 15, "onstart"),
        ("v2.autoscaling", "autoscaling", 17500, 30, "onstart"),
        ("v1.batch.paddlepaddle.org", "batch.paddlepaddle.org", 1000, 100, "true"),
    ],
)
def test_every_group_and_version_has_one(
    rest: Rest, name: str, group: str | None, priority: int, version_priority: int, managed: str
) -> None:
    seen = rest.get(f"{PATH}/{name}").expect(200)
    spec = {
        "version": name.partition(".")[0],
        "groupPriorityMinimum": priority,
        "versionPriority": version_priority,
    }
    assert seen["spec"] == spec | ({"group": group} if group else {})
    assert seen["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": managed}
    [condition] = seen["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("Available", "True", "Local")


def test_kubectl_lists_them(kubectl: Kubectl) -> None:
    line = next(line for line in kubectl("get", "apiservices").splitlines() if line.startswith("v1.apps "))
    assert line.split()[:3] == ["v1.apps", "Local", "True"]


def test_they_follow_the_definitions(rest: Rest) -> None:
    body = definition(version(name="v1"))
    group = body["spec"]["group"]

    rest.post(DEFINITIONS, body).expect(201)

    try:
        until(lambda: rest.get(f"{PATH}/v1.{group}").status == 200, what="its APIService")
    finally:
        rest.delete(f"{DEFINITIONS}/{body['metadata']['name']}").expect(200)
    until(lambda: rest.get(f"{PATH}/v1.{group}").status == 404, what="its end")
