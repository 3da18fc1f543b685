"""What stands in for kube-controller-manager and Knative: ordered pods, revisions, tidiness."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import (
    NOW,
    a_knative,
    a_pod,
    a_revision,
    metadata,
    seen,
)

from paddlecloud.api.core import (
    Event,
    Namespace,
    ServiceAccount,
)
from paddlecloud.api.meta import Metadata, OwnerReference
from paddlecloud.controllers.contract import Decision
from paddlecloud.embedded.workloads import beginnings, collector, housekeeping, knative


def status_of(decision: Decision) -> dict[str, Any]:
    assert isinstance(decision.status, dict)
    return decision.status


def told(decision: Decision, kind: str = "Ready") -> str:
    return next(str(c["status"]) for c in status_of(decision)["conditions"] if c["type"] == kind)


@pytest.mark.parametrize(
    "revisions, before, kept, serving, ready",
    [
        ([], "", ["shapes-00002"], None, "Unknown"),
        ([a_revision(2, "Unknown")], "", ["shapes-00002"], None, "Unknown"),
        ([a_revision(2)], "", ["shapes-00002"], "shapes-00002", "True"),
        # The revision that answers stays until the next one is ready.
        ([a_revision(1), a_revision(2, "Unknown")], "shapes-00001", ["shapes-00002", "shapes-00001"],
         "shapes-00001", "Unknown"),
        ([a_revision(1), a_revision(2)], "shapes-00001", ["shapes-00002"], "shapes-00002", "True"),
    ],
)  # fmt: skip
def test_a_roll_out_takes_nothing_away(
    revisions: list[Any], before: str, kept: list[str], serving: str | None, ready: str
) -> None:
    told_before: dict[str, Any] = {"latestReadyRevisionName": before} if before else {}
    service = a_knative("Unknown", generation=2, **told_before)
    decision = knative.reconcile_service(service, seen(service, *revisions))

    assert [c.name for c in decision.children] == kept
    assert status_of(decision).get("latestReadyRevisionName") == serving
    assert told(decision) == ready


def test_a_revision_carries_the_template_of_its_service() -> None:
    template = {"metadata": {"annotations": {"a": "b"}}, "spec": {"containers": [{"image": "x"}]}}
    made = knative.make_revision(a_knative(spec={"template": template}))

    assert made.spec == template["spec"] and made.metadata.annotations == {"a": "b"}
    assert made.metadata.labels["serving.knative.dev/service"] == "shapes"


@pytest.mark.parametrize(
    "pods, ready, said",
    [
        ([], "Unknown", "the pods are starting"),
        ([a_pod("p", ready=False)], "Unknown", "the pods are starting"),
        ([a_pod("p")], "True", ""),
        ([a_pod("p", "Pending", status={"containerStatuses": [
            {"state": {"waiting": {"reason": "ErrImagePull", "message": "no suite"}}}]})],
         "False", "pod p: ErrImagePull: no suite"),
        ([a_pod("p", "Pending", status={"conditions": [
            {"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]})],
         "False", "pod p has no node: 0/1 nodes"),
    ],
)  # fmt: skip
def test_a_revision_is_as_ready_as_its_pods(pods: list[Any], ready: str, said: str) -> None:
    revision = a_revision(1)
    decision = knative.reconcile_revision(revision, seen(revision, *pods))

    assert told(decision) == ready
    assert status_of(decision)["conditions"][0].get("message", "") == said


@pytest.mark.parametrize("scale, count", [(None, 1), ("0", 1), ("3", 3), ("many", 1), ("²", 1)])
def test_a_revision_has_at_least_one_pod(scale: str | None, count: int) -> None:
    annotations = {"autoscaling.knative.dev/min-scale": scale} if scale else {}
    revision = a_revision(1).but(metadata=Metadata(name="r", namespace="ml", annotations=annotations))

    assert len(knative.reconcile_revision(revision, seen(revision)).children) == count


@pytest.mark.parametrize("ports, port", [([{"containerPort": 9000}], "9000"), ([{}], "8080"), ([], None)])
def test_a_container_is_told_where_it_serves(ports: list[Any], port: str | None) -> None:
    revision = a_revision(1, spec={"containers": [{"name": "c", "ports": ports}]})
    env = {e["name"]: e["value"] for e in knative.make_pod(revision, 0).spec["containers"][0]["env"]}

    assert env.get("PORT") == port
    assert (env["K_SERVICE"], env["K_REVISION"]) == ("shapes", "shapes-00001")


def test_every_namespace_gets_an_account_once() -> None:
    spaces = [Namespace(metadata=Metadata(name=n)) for n in ("old", "new")]
    going = Namespace(metadata=Metadata(name="going", deletion_timestamp=NOW))
    accounts = [
        ServiceAccount(metadata=Metadata(name="default", namespace="old")),
        ServiceAccount(metadata=Metadata(name="other", namespace="new")),
    ]

    assert [n.name for n in beginnings.without_account([*spaces, going], accounts)] == ["new"]


@pytest.mark.parametrize(
    "last, born, gone",
    [
        (NOW - timedelta(minutes=59), NOW - timedelta(days=1), False),
        (NOW - timedelta(minutes=61), NOW - timedelta(days=1), True),
        (None, NOW - timedelta(minutes=61), True),
        (NOW - timedelta(days=900), NOW, False),
        (None, NOW, False),
        (None, None, False),
    ],
)
def test_events_live_for_an_hour(last: Any, born: Any, gone: bool) -> None:
    stamp = last.strftime("%Y-%m-%dT%H:%M:%SZ") if last else None
    event = Event(metadata=Metadata(name="e", creation_timestamp=born), last_timestamp=stamp)

    assert bool(housekeeping.expired([event], NOW)) is gone


def owned(name: str, *owners: str, **more: Any) -> Any:
    references = [OwnerReference(uid=f"uid-{o}", block_owner_deletion=True) for o in owners]
    return a_pod(name).but(
        metadata=Metadata.model_validate(metadata(name)).but(owner_references=references, **more)
    )


@pytest.mark.parametrize(
    "objects, gone",
    [
        ([owned("child", "owner")], ["child"]),
        ([owned("child", "owner"), owned("owner")], []),
        ([owned("child", "owner", "other"), owned("other")], []),
        ([owned("child", "owner", deletion_timestamp=NOW)], []),
        ([owned("free")], []),
        ([owned("child", "owner"), owned("owner", deletion_timestamp=NOW)], []),  # not before it is gone
        ([owned("child", "owner"), owned("owner", deletion_timestamp=NOW, finalizers=["foregroundDeletion"])],
         ["child"]),
        ([owned("child", "owner"), owned("owner", deletion_timestamp=NOW, finalizers=["orphan"])], []),
    ],
)  # fmt: skip
def test_what_lost_all_its_owners_goes(objects: list[Any], gone: list[str]) -> None:
    assert [o.name for o in collector.collect(objects).delete] == gone


@pytest.mark.parametrize(
    "owner, kept",
    [
        (owned("owner"), True),
        (owned("other"), False),
        (owned("owner", deletion_timestamp=NOW, finalizers=["foregroundDeletion"]), False),
        (owned("owner", deletion_timestamp=NOW, finalizers=["orphan"]), True),  # it lets go of them first
    ],
)
def test_an_owner_that_the_server_still_has_keeps_its_children(owner: Any, kept: bool) -> None:
    assert collector.keeps(owner, "uid-owner") is kept
