"""Taints that drive pods away: at once, after a while, or never."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.contracts.workloads import Workloads, template
from tests.kubernetes.rest import Rest

pytestmark = pytest.mark.needs_controllers
NODES = "/api/v1/nodes"
TAINT = {"key": "example.org/away", "effect": "NoExecute"}
TOLERATION = {"key": "example.org/away", "operator": "Exists", "effect": "NoExecute"}


@pytest.fixture
def w(rest: Rest, namespace: str) -> Iterator[Workloads]:
    """A namespace, and a tainted node of its name."""
    rest.post(NODES, {"metadata": {"name": namespace}, "spec": {"taints": [TAINT]}}).expect(201)
    yield Workloads(rest, namespace)
    rest.delete(f"{NODES}/{namespace}").expect(200)


def pod(w: Workloads, name: str, *tolerations: dict[str, Any]) -> None:
    w.make("pods", name, {**template()["spec"], "nodeName": w.namespace, "tolerations": list(tolerations)})


def leaves(w: Workloads, name: str) -> bool:
    answer = w.rest.get(w.path("pods", name))
    return answer.status == 404 or "deletionTimestamp" in answer.body["metadata"]


def test_a_pod_that_tolerates_nothing_goes_at_once_and_is_told_why(w: Workloads) -> None:
    pod(w, "one")
    w.wait(lambda: leaves(w, "one"), "the end of the pod")
    said = next(c for c in w.get("pods", "one")["status"]["conditions"] if c["type"] == "DisruptionTarget")
    assert (said["status"], said["reason"]) == ("True", "DeletionByTaintManager")
    assert said["message"] == "Taint manager: deleting due to NoExecute taint"


def test_a_pod_goes_when_its_patience_ends_and_stays_when_it_has_no_end(w: Workloads) -> None:
    pod(w, "patient", TOLERATION)
    pod(w, "briefly", {**TOLERATION, "tolerationSeconds": 1})
    w.wait(lambda: leaves(w, "briefly"), "the end of the pod")
    assert not leaves(w, "patient")
