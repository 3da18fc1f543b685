"""Equal parts of objects are kept once, and no object is another for it."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.api.core import Pod
from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.cluster.sharing import Sharing

CONTAINER = {"name": "main", "image": "example/paddle:1", "resources": {"requests": {"cpu": "1"}}}


def a_pod(name: str, **spec: Any) -> Pod:
    body = {"metadata": {"name": name}, "spec": {"containers": [dict(CONTAINER)], **spec}}
    return Pod.read(body)


def compacted(*pods: Pod, largest: int = 100) -> None:
    sharing = Sharing(largest)
    for pod in pods:
        sharing.compact(pod)


def test_pods_alike_have_one_description_between_them() -> None:
    one, other = a_pod("a", nodeName="x"), a_pod("b", nodeName="y")
    compacted(one, other)

    assert one.spec["containers"][0] is other.spec["containers"][0]
    assert (one.spec["nodeName"], other.spec["nodeName"]) == ("x", "y")


@pytest.mark.parametrize(
    "spec", [{}, {"volumes": []}, {"affinity": {}}, {"args": [1, 1.0, True, None, "深"]}]
)
def test_an_object_says_on_the_wire_what_it_said_before(spec: dict[str, Any]) -> None:
    before, twins = a_pod("a", **spec).wire(), [a_pod("a", **spec), a_pod("a", **spec)]
    compacted(*twins)

    assert [pod.wire() for pod in twins] == [before, before]


def test_a_copy_with_changes_leaves_the_others_as_they_are() -> None:
    jobs = [
        PaddleJob.read({"metadata": {"name": n}, "spec": {"worker": {"replicas": 1, "template": {}}}})
        for n in ("a", "b")
    ]
    sharing = Sharing()
    for job in jobs:
        sharing.compact(job)
    changed = jobs[0].but(spec=jobs[0].spec.but(suspend=True))

    assert changed.wire()["spec"]["suspend"] is True
    assert "suspend" not in jobs[0].wire()["spec"] and "suspend" not in jobs[1].wire()["spec"]


def test_what_is_remembered_is_bounded() -> None:
    pods = [a_pod(str(n), affinity={"n": n}) for n in range(10)]
    sharing = Sharing(largest=4)
    for pod in pods:
        sharing.compact(pod)

    assert len(sharing._parts) <= 4
    assert [pod.spec["affinity"] for pod in pods] == [{"n": n} for n in range(10)]
