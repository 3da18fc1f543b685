"""ReplicaSets: so many pods, whichever they are; who is taken in, let go, and taken away first."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.workloads import Body, Workloads, name_of, owners, stamp, template
from tests.kubernetes.rest import Rest

pytestmark = pytest.mark.needs_controllers
APP = {"app": "crowd"}


@pytest.fixture
def w(rest: Rest, namespace: str) -> Workloads:
    return Workloads(rest, namespace)


def crowd(w: Workloads, replicas: int = 2, **spec: Any) -> Body:
    body = {"replicas": replicas, "selector": {"matchLabels": APP}, "template": template(APP), **spec}
    return w.make("replicasets", "crowd", body)


def stranger(w: Workloads, name: str, **labels: str) -> Body:
    return w.make("pods", name, template()["spec"], labels=labels)


def scale(w: Workloads, replicas: int) -> None:
    w.patch("replicasets", "crowd", {"spec": {"replicas": replicas}})


def test_a_set_counts_its_pods(w: Workloads) -> None:
    crowd(w)
    pods = w.pods_are(2)
    status = w.status_has("replicasets", "crowd", replicas=2, fullyLabeledReplicas=2, observedGeneration=1)
    assert "readyReplicas" not in status
    w.run(pods[0])
    w.status_has("replicasets", "crowd", readyReplicas=1, availableReplicas=1)
    w.patch("pods", name_of(pods[1]), {"metadata": {"labels": {"more": "words"}}})
    w.status_has("replicasets", "crowd", replicas=2, fullyLabeledReplicas=2)
    assert sorted(w.heard("crowd", "SuccessfulCreate")) == [f"Created pod: {name_of(p)}" for p in pods]


def test_a_set_of_none_says_so(w: Workloads) -> None:
    crowd(w, 0)
    assert w.status_has("replicasets", "crowd", observedGeneration=1) == {
        "replicas": 0,
        "observedGeneration": 1,
    }


@pytest.mark.parametrize("end", ["deleted", "Failed", "Succeeded"])
def test_a_pod_that_ends_is_replaced(w: Workloads, end: str) -> None:
    crowd(w)
    first = w.pods_are(2)[0]
    if end == "deleted":
        w.delete("pods", name_of(first))
    else:
        w.end(first, phase=end)

    def others() -> list[Body]:
        return [p for p in w.pods() if p["metadata"]["uid"] != first["metadata"]["uid"]]

    w.wait(lambda: len(others()) == 2, "two other pods")
    w.status_has("replicasets", "crowd", replicas=2)
    left = [p for p in w.all("pods") if p["metadata"]["uid"] == first["metadata"]["uid"]]
    assert len(left) == (0 if end == "deleted" else 1)  # what ended by itself stays to be looked at


def test_a_set_takes_in_what_it_selects(w: Workloads) -> None:
    stranger(w, "alone", **APP)
    crowd(w)
    pods = w.pods_are(2)
    w.wait(lambda: owners(w.get("pods", "alone")) == [("ReplicaSet", "crowd", True)], "an owner")
    alone = w.get("pods", "alone")
    assert alone["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] is True
    assert name_of(pods[0]) == "alone"


def test_one_stranger_too_many_goes(w: Workloads) -> None:
    crowd(w, 1)
    w.run(*w.pods_are(1))
    stranger(w, "alone", **APP)
    w.wait(lambda: "alone" not in w.names("pods"), "the stranger to go")
    assert w.heard("crowd", "SuccessfulDelete") == ["Deleted pod: alone"]


def test_a_pod_that_loses_its_labels_is_let_go_and_replaced(w: Workloads) -> None:
    crowd(w)
    first = name_of(w.pods_are(2)[0])
    w.patch("pods", first, {"metadata": {"labels": {"app": "other"}}})
    w.pods_are(3)
    w.wait(lambda: owners(w.get("pods", first)) == [], "the release")
    w.status_has("replicasets", "crowd", replicas=2)


def test_a_selector_of_expressions_selects(w: Workloads) -> None:
    expression = {"key": "app", "operator": "In", "values": ["crowd", "throng"]}
    stranger(w, "alone", app="throng")
    stranger(w, "other", app="nobody")
    crowd(w, 2, selector={"matchExpressions": [expression]})
    w.pods_are(3)
    w.wait(lambda: owners(w.get("pods", "alone")) == [("ReplicaSet", "crowd", True)], "adoption")
    assert owners(w.get("pods", "other")) == []


def test_pods_that_are_not_ready_go_first(w: Workloads) -> None:
    crowd(w, 3)
    pods = w.pods_are(3)
    w.run(*pods[:2])
    w.status_has("replicasets", "crowd", readyReplicas=2)
    scale(w, 2)
    w.wait(lambda: w.names("pods") == sorted(map(name_of, pods[:2])), "the ready ones to stay")


def test_pods_that_wait_go_before_pods_that_run(w: Workloads) -> None:
    crowd(w, 2)
    pods = w.pods_are(2)
    w.run(pods[0], ready=False)
    scale(w, 1)
    w.wait(lambda: w.names("pods") == [name_of(pods[0])], "the running one to stay")


def test_pods_that_are_cheap_to_delete_go_first(w: Workloads) -> None:
    crowd(w, 3)
    pods = w.pods_are(3)
    w.run(*pods, since=stamp())
    for pod, cost in zip(pods, ("10", "-10", "0"), strict=True):
        annotations = {"controller.kubernetes.io/pod-deletion-cost": cost}
        w.patch("pods", name_of(pod), {"metadata": {"annotations": annotations}})
    w.status_has("replicasets", "crowd", readyReplicas=3)
    scale(w, 2)
    w.wait(lambda: w.names("pods") == sorted(map(name_of, (pods[0], pods[2]))), "the cheap one to go")
    scale(w, 1)
    w.wait(lambda: w.names("pods") == [name_of(pods[0])], "the dear one to stay")


def test_a_set_that_is_deleted_takes_its_pods_along(w: Workloads) -> None:
    crowd(w)
    w.pods_are(2)
    w.delete("replicasets", "crowd", propagationPolicy="Background")
    w.wait(lambda: w.names("pods") == [], "no pods", limit=60)
