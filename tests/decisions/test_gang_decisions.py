"""Jobs that start as a whole: their group, their pods, and what they say while they wait."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import (
    CONTAINER,
    NOW,
    a_job,
    a_role,
    condition_of,
    created,
    deleted,
    metadata,
    named,
    pods_of,
    seen,
)

from paddlecloud.api.core import ConfigMap
from paddlecloud.api.meta import OwnerReference
from paddlecloud.api.paddlejob import PaddleJob, PaddleJobStatus
from paddlecloud.api.scheduling import PodGroup, PodGroupStatus
from paddlecloud.controllers.contract import Snapshot
from paddlecloud.controllers.gangs import GROUP_NAME, is_gang, make_group
from paddlecloud.controllers.jobpods import make_pod
from paddlecloud.controllers.paddlejob import reconcile, related

NAME = "wide-deep"
VOLCANO = {"schedulerName": "volcano"}
NO_PODS = "2/0 tasks in gang unschedulable: pod group is not ready, 2 minAvailable"
"""What Volcano says of every group before it has pods."""


def a_group(phase: str = "", *, message: str = "", owner: PaddleJob | None = None, **spec: Any) -> PodGroup:
    conditions = [{"type": "Unschedulable", "status": "True", "message": message}] if message else []
    status = {"phase": phase, "conditions": conditions}
    group = PodGroup.read({"metadata": metadata(NAME), "spec": spec, "status": status})
    if owner is None:
        return group
    reference = OwnerReference(
        api_version=owner.api_version, kind=owner.kind, name=owner.name, uid=owner.uid, controller=True
    )
    return group.but(metadata=group.metadata.but(owner_references=[reference]))


def asking(replicas: int, *resources: dict[str, Any], **spec: Any) -> dict[str, Any]:
    containers = [{**CONTAINER, "resources": r} for r in resources]
    return {"replicas": replicas, "template": {"spec": {"containers": containers, **spec}}}


def around(job: PaddleJob, group: PodGroup | None = None, **phases: Any) -> Snapshot:
    """With the group as a child if the job owns it, and as what it is related to in any case."""
    groups = () if group is None else (group,)
    mine = [g for g in groups if g.controlled_by() == job.uid]
    return seen(job, *mine, related=groups, **phases)


@pytest.mark.parametrize(
    "spec, gang, schedulers",
    [
        ({"worker": 2}, False, [None, None]),
        ({"worker": 2, "schedulingPolicy": {}}, True, ["volcano", "volcano"]),
        ({"worker": a_role(1, **VOLCANO), "ps": 1}, True, ["volcano", "volcano"]),  # as the seeds write it
        ({"worker": 1, "ps": a_role(1, **VOLCANO), "heter": 1}, True, ["volcano"] * 3),
        ({"worker": a_role(1, schedulerName="kube-batch"), "ps": 1}, False, [None, "kube-batch"]),
        ({"worker": a_role(2, schedulerName="coscheduling"), "schedulingPolicy": {}}, True,
         ["coscheduling", "coscheduling"]),
        ({"worker": a_role(1, schedulerName="kube-batch"), "ps": 1, "schedulingPolicy": {}}, True,
         ["kube-batch", "kube-batch"]),
    ],
)  # fmt: skip
def test_who_asks_for_a_gang_and_who_places_its_pods(spec: Any, gang: bool, schedulers: list[Any]) -> None:
    job = a_job(**spec)
    pods = [make_pod(job, role, i) for role, g in job.spec.roles().items() for i in range(g.replicas)]

    assert is_gang(job) is gang
    assert [p.spec.get("schedulerName") for p in pods] == schedulers
    assert {p.metadata.annotations.get(GROUP_NAME) for p in pods} == {NAME if gang else None}
    assert [r.kind for r in related(job)] == ([PodGroup] if gang else [])


def test_a_pod_of_a_gang_says_what_volcano_reads() -> None:
    job = a_job(worker=1, schedulingPolicy={"queue": "night"})
    found = make_pod(job, "worker", 0).metadata.annotations

    assert {k: v for k, v in found.items() if "paddle" not in k and "istio" not in k} == {
        "scheduling.k8s.io/group-name": NAME,
        "volcano.sh/task-spec": "worker",
        "volcano.sh/job-name": NAME,
        "volcano.sh/job-version": "0",
        "volcano.sh/queue-name": "night",
    }


HALF = {"requests": {"cpu": "500m", "memory": "1Gi"}}


@pytest.mark.parametrize(
    "spec, group",
    [
        ({"worker": 2, "ps": 1}, {"minMember": 3}),
        ({"worker": asking(3, HALF)},
         {"minMember": 3, "minResources": {"cpu": "1500m", "memory": "3Gi"}}),
        ({"worker": asking(2, HALF, {"limits": {"cpu": 1, "nvidia.com/gpu": "4"}})},
         {"minMember": 2, "minResources": {"cpu": "3", "memory": "2Gi", "nvidia.com/gpu": "8"}}),
        # Requests are there, so the limits say nothing more.
        ({"worker": asking(1, {"requests": {"cpu": "1"}, "limits": {"cpu": "4", "memory": "1Gi"}})},
         {"minMember": 1, "minResources": {"cpu": "1"}}),
        # Those that must fit are the first, in the order in which they start.
        ({"ps": asking(2, {"requests": {"cpu": "1"}}), "worker": asking(4, {"requests": {"cpu": "2"}}),
          "schedulingPolicy": {"minAvailable": 3}},
         {"minMember": 3, "minResources": {"cpu": "4"}}),
        ({"worker": asking(2, HALF), "schedulingPolicy": {"minResources": {"cpu": "9"}}},
         {"minMember": 2, "minResources": {"cpu": "9"}}),
        ({"worker": asking(1, {"requests": {"cpu": "lots", "memory": "1536Mi"}})},
         {"minMember": 1, "minResources": {"memory": "1536Mi"}}),
        ({"worker": 1, "schedulingPolicy": {"queue": "night", "priorityClass": "high", "minAvailable": 0}},
         {"minMember": 0, "queue": "night", "priorityClassName": "high"}),
    ],
)  # fmt: skip
def test_the_group_is_the_sum_of_what_the_pods_ask_for(spec: Any, group: Any) -> None:
    made = make_group(a_job(**{"schedulingPolicy": {}} | spec))

    assert (made.name, made.wire()["spec"]) == (NAME, group)


POLICY: dict[str, Any] = {"worker": 2, "schedulingPolicy": {}}


def test_the_group_comes_before_the_pods() -> None:
    job = a_job(**POLICY)
    decision = reconcile(job, around(job))

    assert named(decision) == [f"PodGroup/{NAME}"]
    assert condition_of(decision, "Progressing").reason == "WaitingForGang"


@pytest.mark.parametrize(
    "phase, message, told",
    [
        ("", "", "the scheduler has not let it into queue night yet"),
        ("Pending", "", "the scheduler has not let it into queue night yet"),
        ("Pending", "queue night is full", "queue night is full"),
        ("Pending", NO_PODS, "the scheduler has not let it into queue night yet"),
        ("Inqueue", "", None),
        ("Running", "", None),
        ("Unknown", "", None),
        ("Completed", "", None),
    ],
)
@pytest.mark.parametrize("ours", [True, False])
def test_pods_are_made_once_the_group_is_let_in(phase: str, message: str, told: Any, ours: bool) -> None:
    job = a_job(**POLICY)
    group = a_group(phase, message=message, owner=job if ours else None, queue="night")
    decision = reconcile(job, around(job, group))

    made = [n for n in named(decision) if n.startswith("Pod/")]
    assert made == ([] if told else [f"Pod/{NAME}-worker-0", f"Pod/{NAME}-worker-1"])
    if told:
        found = condition_of(decision, "Progressing")
        assert (found.status, found.reason) == ("False", "WaitingForGang")
        assert found.message == f"waits for PodGroup {NAME} to be Inqueue: {told}"


def test_a_group_that_somebody_made_is_neither_changed_nor_deleted() -> None:
    job = a_job(**POLICY)
    group = a_group("Inqueue", minMember=1)
    around_it = around(job, group)
    decision = reconcile(job, around_it)

    assert f"PodGroup/{NAME}" not in named(decision)
    assert not decision.changes and not decision.removals and not deleted(decision, around_it)


def test_a_group_of_ours_follows_the_job() -> None:
    job = a_job(**POLICY | {"worker": 3})
    around_it = around(job, a_group("Running", owner=job, minMember=2), worker=["Running"] * 2)

    [group] = [c for c in reconcile(job, around_it).children if isinstance(c, PodGroup)]
    assert group.spec.min_member == 3


def test_a_group_that_an_earlier_job_left_is_waited_for() -> None:
    job = a_job(**POLICY)
    earlier = job.but(metadata=job.metadata.but(uid="another"))
    decision = reconcile(job, around(job, a_group("Running", owner=earlier)))

    assert named(decision) == [f"PodGroup/{NAME}"]  # to be made as soon as the name is free
    assert "of an earlier job to be gone" in condition_of(decision, "Progressing").message


@pytest.mark.parametrize("age, made", [(0.0, False), (1.0, False), (2.0, True), (60.0, True)])
def test_a_group_may_come_from_the_same_manifest(age: float, made: bool) -> None:
    job = a_job(worker=a_role(2, **VOLCANO))
    job = job.but(metadata=job.metadata.but(creation_timestamp=NOW - timedelta(seconds=age)))
    decision = reconcile(job, around(job))

    assert named(decision) == ([f"PodGroup/{NAME}"] if made else [])
    assert decision.check_again == (None if made else 2.0 - age)


@pytest.mark.parametrize("end", ["Completed", "Failed"])
@pytest.mark.parametrize("phase", ["Pending", "Inqueue", "Running", "Unknown", "Completed"])
@pytest.mark.parametrize("ours", [True, False])
def test_no_group_holds_up_the_end_of_a_job(end: str, phase: str, ours: bool) -> None:
    """Whatever the group says, the pods go; the group itself goes where it is ours."""
    job = a_job(**POLICY | {"cleanPodPolicy": "Always"}, status={"phase": end})
    around_it = around(job, a_group(phase, owner=job if ours else None), worker="Succeeded")
    gone = deleted(reconcile(job, around_it), around_it)

    assert {f"{NAME}-worker-0", f"{NAME}-worker-1"} <= set(gone)
    assert (NAME in gone) is ours


@pytest.mark.parametrize("phase, port", [("Pending", None), ("Inqueue", 20580)])
def test_a_job_in_the_queue_holds_no_port(phase: str, port: int | None) -> None:
    job = a_job(**POLICY | {"intranet": "Host"}, status={"port": 20580})
    decision = reconcile(job, around(job, a_group(phase, owner=job)))

    assert isinstance(decision.status, PaddleJobStatus)
    assert decision.status.wire().get("port") == port


def test_a_job_that_draws_a_port_keeps_its_group() -> None:
    job = a_job(**POLICY | {"intranet": "Host"})

    assert named(reconcile(job, around(job, a_group("Inqueue", owner=job)))) == [f"PodGroup/{NAME}"]


@pytest.mark.parametrize("phase, waits", [("Pending", True), ("Inqueue", False), ("Running", False)])
def test_a_job_that_begins_again_keeps_its_group_and_passes_the_gate_again(phase: str, waits: bool) -> None:
    job = a_job(**POLICY, status={"phase": "Restarting", "attempt": 1, "restarts": 1})
    old = ConfigMap.read({"metadata": metadata(NAME), "data": {"A": "b"}})
    group = a_group(phase, owner=job)
    decision = reconcile(job, seen(job, group, old, related=[group]))

    assert {f"PodGroup/{NAME}", f"ConfigMap/{NAME}"} <= set(named(decision))
    assert any(n.startswith("Pod/") for n in named(decision)) is not waits


def test_a_fault_leaves_the_group_where_it_is() -> None:
    job = a_job(**POLICY | {"backoffLimit": 3}, status={"phase": "Running"})
    around_it = around(job, a_group("Running", owner=job), worker=["Running", "Failed"])

    assert deleted(reconcile(job, around_it), around_it) == []


def test_a_job_that_rests_or_lacks_its_data_holds_no_place_in_a_queue() -> None:
    resting = a_job(**POLICY | {"suspend": True})
    around_it = around(resting, a_group("Running", owner=resting))
    assert deleted(reconcile(resting, around_it), around_it) == [NAME]

    waiting = a_job(**POLICY | {"sampleSetRef": {"name": "digits", "mountPath": "/d"}})
    assert named(reconcile(waiting, around(waiting))) == []


def test_without_volcano_the_job_says_how_to_get_it() -> None:
    job = a_job(**POLICY)
    around_it = Snapshot(NOW, missing=frozenset([PodGroup]))
    decision = reconcile(job, around_it)

    found = condition_of(decision, "Progressing")
    assert (found.status, found.reason) == ("False", "EngineMissing")
    assert "helm install volcano" in found.message and "remove schedulingPolicy" in found.message
    assert not created(decision, around_it)
    assert decision.check_again == 30.0, "nothing tells when it is installed"


def test_a_job_without_a_gang_does_not_miss_volcano() -> None:
    around_it = Snapshot(NOW, missing=frozenset([PodGroup]))

    assert created(reconcile(a_job(worker=1), around_it), around_it) == [f"{NAME}-worker-0"]


def test_a_group_that_another_scheduler_reads_is_not_waited_for() -> None:
    job = a_job(worker=a_role(1, schedulerName="coscheduling"), schedulingPolicy={})

    assert f"Pod/{NAME}-worker-0" in named(reconcile(job, around(job, a_group(owner=job))))


@pytest.mark.parametrize("phase, reason", [("Inqueue", "Unschedulable"), ("Running", "Starting")])
def test_what_the_group_says_comes_before_what_one_pod_says(phase: str, reason: str) -> None:
    job = a_job(**POLICY)
    group = a_group(phase, message=f"pod {NAME}-worker-1: 0/1 nodes are available", owner=job)
    pods = pods_of(job, worker="Pending" if phase == "Inqueue" else ["Running", "Pending"])
    decision = reconcile(job, seen(job, group, *pods, related=[group]))

    found = condition_of(decision, "Progressing")
    assert found.reason == reason
    if reason == "Unschedulable":
        cause = f"pod {NAME}-worker-1: 0/1 nodes are available"
        assert found.message == f"PodGroup {NAME} cannot start: {cause}"


def test_a_group_that_waits_says_what_it_asks_for() -> None:
    job = a_job(**POLICY)
    group = a_group("Pending", queue="night", minResources={"memory": "8Gi", "cpu": 4})
    found = condition_of(reconcile(job, around(job, group)), "Progressing")

    assert found.message.endswith("into queue night yet; it asks for cpu 4, memory 8Gi")


@pytest.mark.parametrize(
    "message, seconds, reason",
    [
        ("too little", -1, "Unschedulable"),
        ("too little", 0, "Pending"),
        ("too little", 1, "Pending"),
        (NO_PODS, None, "Pending"),
        ("too little", None, "Unschedulable"),
    ],
)
def test_what_the_group_said_before_its_pods_were_scheduled_is_over(
    message: str, seconds: int | None, reason: str
) -> None:
    """Volcano leaves both conditions; *seconds* is how much later the good news came."""
    job = a_job(**POLICY)
    said = [{"type": "Unschedulable", "status": "True", "message": message, "lastTransitionTime": NOW}]
    if seconds is not None:
        later = NOW + timedelta(seconds=seconds)
        said.append({"type": "Scheduled", "status": "True", "lastTransitionTime": later})
    status = {"phase": "Inqueue", "conditions": said}
    group = a_group(owner=job).but(status=PodGroupStatus.model_validate(status))
    pods = pods_of(job, worker="Pending")
    found = condition_of(reconcile(job, seen(job, group, *pods, related=[group])), "Progressing")

    assert found.reason == reason


def test_an_elastic_job_waits_for_no_more_than_it_can_work_with() -> None:
    worker = a_role(4) | {"requests": 2, "limits": 8}
    job = a_job(elastic=1, worker=worker, schedulingPolicy={})
    assert make_group(job).spec.min_member == 2
