"""What is done for the sake of others: silent nodes, taints, lost marks, and where a Service answers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.decisions.builders import CONTAINER, NOW, a_pod, metadata, seen

from paddlecloud.api.batch import Job
from paddlecloud.api.core import Node, Pod, Service
from paddlecloud.api.endpoints import Endpoints
from paddlecloud.api.lease import Lease
from paddlecloud.api.meta import Resource
from paddlecloud.controllers.contract import Snapshot
from paddlecloud.embedded.workloads import endpoints, nodelife, podkeeping
from paddlecloud.embedded.workloads.addressing import seats
from paddlecloud.embedded.workloads.formernodes import former
from paddlecloud.embedded.workloads.jobcounting import TRACKING
from paddlecloud.embedded.workloads.slices import slices
from paddlecloud.embedded.workloads.stamps import stamp

LONG_AGO = NOW - timedelta(hours=1)


def a_node(ready: str = "True", name: str = "n1", heard: datetime = LONG_AGO, **spec: Any) -> Node:
    said = {"type": "Ready", "status": ready, "lastTransitionTime": stamp(LONG_AGO)}
    status = {"conditions": [{**said, "lastHeartbeatTime": stamp(heard)}] if ready else []}
    metadata = {"name": name, "uid": "u", "creationTimestamp": stamp(heard)}
    return Node.read({"metadata": metadata, "spec": spec, "status": status})


ANOTHER, UNWELL = a_node(name="n2"), a_node("Unknown", name="n2")


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def renewed(seconds: float) -> Lease:
    when = stamp(NOW - timedelta(seconds=seconds))
    return Lease.read(
        {"metadata": {"name": "n1", "namespace": "kube-node-lease"}, "spec": {"renewTime": when}}
    )


@pytest.mark.parametrize(
    "node, beside, since, ready, taints",
    [
        (a_node(), [renewed(5)], LONG_AGO, "True", ""),
        (
            a_node(),
            [renewed(51), ANOTHER],
            LONG_AGO,
            "Unknown",
            "unreachable:NoSchedule unreachable:NoExecute",
        ),
        (a_node(), [renewed(51), UNWELL], LONG_AGO, "Unknown", "unreachable:NoSchedule"),  # we are cut off
        (a_node(), [renewed(51)], LONG_AGO, "Unknown", "unreachable:NoSchedule"),
        (a_node(), [renewed(600)], ago(5), "True", ""),  # we have just begun to look
        (a_node(heard=ago(20)), [], LONG_AGO, "True", ""),  # its status is a sign of life, too
        (a_node(heard=ago(20)), [renewed(600)], LONG_AGO, "True", ""),
        (
            a_node(heard=ago(51)),
            [ANOTHER],
            LONG_AGO,
            "Unknown",
            "unreachable:NoSchedule unreachable:NoExecute",
        ),
        (a_node("", heard=ago(59)), [], LONG_AGO, "", ""),  # it may still be on its way
        (a_node("", heard=ago(61)), [], LONG_AGO, "Unknown", "unreachable:NoSchedule"),
        (
            a_node("False"),
            [renewed(5), ANOTHER],
            LONG_AGO,
            "False",
            "not-ready:NoSchedule not-ready:NoExecute",
        ),
        (a_node("False"), [renewed(5)], LONG_AGO, "False", "not-ready:NoSchedule"),
        (a_node(unschedulable=True), [renewed(5)], LONG_AGO, "True", "unschedulable:NoSchedule"),
    ],
)
def test_a_node_that_falls_silent_is_not_ready(
    node: Node, beside: list[Resource], since: Any, ready: str, taints: str
) -> None:
    decision = nodelife.decide(node, Snapshot(NOW, related=tuple(beside)), since)
    assert isinstance(decision.status, dict)

    assert nodelife.ready(decision.status.get("conditions") or ()) == ready
    said = [t for u in decision.changes for t in u.patch["spec"]["taints"]]
    assert " ".join(f"{t['key'].partition('/')[2]}:{t['effect']}" for t in said) == taints


@pytest.mark.parametrize(
    "node, reason",
    [(a_node(), "NodeStatusUnknown"), (a_node(""), "NodeStatusNeverUpdated")],
    ids=["fell silent", "never spoke"],
)
def test_of_a_silent_node_nothing_is_known(node: Node, reason: str) -> None:
    decision = nodelife.decide(node, Snapshot(NOW), LONG_AGO)
    assert isinstance(decision.status, dict)

    assert {c["status"] for c in decision.status["conditions"]} == {"Unknown"}
    assert [c["type"] for c in decision.status["conditions"]] == list(nodelife.REPORTED)
    assert decision.status["conditions"][0]["reason"] == reason
    again = node.but(status=decision.status)
    assert nodelife.decide(again, Snapshot(NOW), LONG_AGO).status == decision.status, "no further write"
    assert nodelife.given_up(again) == (reason == "NodeStatusUnknown")


def test_a_node_that_speaks_again_loses_our_taints_only() -> None:
    mine = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "timeAdded": stamp(LONG_AGO)}
    yours = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
    decision = nodelife.decide(a_node(taints=[mine, yours]), Snapshot(NOW, related=(renewed(1),)), LONG_AGO)

    assert [u.patch for u in decision.changes] == [{"spec": {"taints": [yours]}}]


def test_a_taint_without_a_date_gets_one() -> None:
    taint = {"key": "away", "effect": "NoExecute"}
    decision = nodelife.decide(a_node(taints=[taint], heard=NOW), Snapshot(NOW), LONG_AGO)

    assert [u.patch["spec"]["taints"][0]["timeAdded"] for u in decision.changes] == [stamp(NOW)]


def test_the_next_look_is_when_patience_ends() -> None:
    assert nodelife.decide(a_node(), Snapshot(NOW, related=(renewed(20),)), LONG_AGO).check_again == 30


def test_nodes_the_home_has_no_more_are_forgotten_and_those_of_others_are_not() -> None:
    def node(name: str, runtime: str) -> Node:
        info = {"nodeInfo": {"containerRuntimeVersion": runtime}}
        return Node.read({"metadata": {"name": name}, "status": info})

    ours = [node(f"node-{i}", "paddlecloud://0.1.0") for i in range(3)]
    theirs = [
        node("made-up", ""),
        node("elsewhere", "containerd://2.0"),
        Node.read({"metadata": {"name": "x"}}),
    ]
    assert former([*ours, *theirs], ("node-0", "node-1")) == [ours[2]]


TAINT = {
    "key": "node.kubernetes.io/unreachable",
    "effect": "NoExecute",
    "timeAdded": stamp(NOW - timedelta(seconds=100)),
}
KEY = {"key": "node.kubernetes.io/unreachable", "operator": "Exists"}


@pytest.mark.parametrize(
    "tolerations, left",
    [
        ([], 0),
        ([KEY], None),
        ([{**KEY, "tolerationSeconds": 300}], 200),
        ([{**KEY, "tolerationSeconds": 50}], 0),
        ([{**KEY, "tolerationSeconds": 300}, {**KEY, "tolerationSeconds": 120}], 20),
        ([{"operator": "Exists"}], None),
        ([{**KEY, "effect": "NoSchedule"}], 0),
        ([{"key": KEY["key"], "operator": "Equal", "value": "other"}], 0),
    ],
)
def test_a_pod_goes_when_it_tolerates_no_more(tolerations: list[Any], left: float | None) -> None:
    pod = a_pod("p", spec={"tolerations": tolerations})

    assert podkeeping.patience(pod, a_node(taints=[TAINT]), NOW) == left


def test_a_pod_of_a_silent_node_is_not_ready_whatever_it_said_last() -> None:
    said = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
    silent = Node.read({"metadata": {"name": "n1"}, "status": {"conditions": [said]}})
    conditions = [{"type": kind, "status": "True"} for kind in ("Ready", "ContainersReady")]
    pod = on_node(10, status={"phase": "Running", "conditions": conditions})

    decision = podkeeping.reconcile(pod, Snapshot(NOW, related=(silent,)))
    assert isinstance(decision.status, dict)
    assert [c["status"] for c in decision.status["conditions"]] == ["False", "True"]
    assert [note.message for note in decision.notes] == ["Node is not ready"]
    after = podkeeping.reconcile(pod.but(status=decision.status), Snapshot(NOW, related=(silent,)))
    assert after.status == decision.status and not after.notes
    assert podkeeping.reconcile(pod, Snapshot(NOW, related=(a_node("False"),))).status == pod.status


def on_node(age: int, **more: Any) -> Pod:
    pod = a_pod("p", spec={"nodeName": "n1", "containers": [CONTAINER]}, **more)
    return pod.but(metadata=pod.metadata.but(creation_timestamp=NOW - timedelta(seconds=age)))


def test_a_pod_of_a_node_that_is_gone_has_failed_and_goes() -> None:
    early = podkeeping.reconcile(on_node(10), seen())
    late = podkeeping.reconcile(on_node(100), seen())
    assert isinstance(late.status, dict)

    assert early.ending is None and early.check_again == 30
    assert late.ending is not None and late.ending.grace == 0
    assert (late.status["phase"], late.status["conditions"][-1]["reason"]) == ("Failed", "DeletionByPodGC")


@pytest.mark.parametrize("there, freed", [("uid-work", False), ("uid-another", True), (None, True)])
def test_a_mark_that_waits_for_nobody_goes(there: str | None, freed: bool) -> None:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "work", "uid": "uid-work", "controller": True}
    pod = Pod.read({"metadata": metadata("p", finalizers=[TRACKING], ownerReferences=[owner])})
    related = [Job.read({"metadata": metadata("work", uid=there)})] if there else []

    assert bool(podkeeping.reconcile(pod, seen(related=related)).changes) is freed


def a_service(**spec: Any) -> Service:
    body = {"selector": {"app": "x"}, "ports": [{"port": 80}], "clusterIP": "127.65.0.1", **spec}
    return Service.read({"metadata": metadata("api"), "spec": body})


def test_a_slice_holds_a_hundred_and_every_pod_stays_where_it_is() -> None:
    service, pods = a_service(), [a_pod(f"p{i:03}", ip=f"10.0.{i // 250}.{i % 250}") for i in range(150)]
    first = slices(service, seats(service, pods), {})
    assert [len(s.endpoints) for s in first] == [100, 50]

    again = slices(service, seats(service, pods[1:]), {s.name: s for s in first})
    assert sorted(len(s.endpoints) for s in again) == [50, 99]
    assert {s.name for s in again} == {s.name for s in first}


def test_endpoints_without_their_service_go() -> None:
    ours = Endpoints.read(
        {"metadata": metadata("api", labels={endpoints.MANAGED: endpoints.CONTROLLER_NAME})}
    )
    theirs = Endpoints.read({"metadata": metadata("api")})

    assert endpoints.abandoned(ours, seen()).ending is not None
    assert endpoints.abandoned(ours, seen(related=[a_service()])).ending is None
    assert endpoints.abandoned(theirs, seen()).ending is None
