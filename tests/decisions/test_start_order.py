"""Servers begin before workers, workers before heterogeneous ones, nobody before the endpoints are there."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.decisions.builders import NOW, a_job, pods_of
from tests.kubernetes.waiting import until

from paddlecloud.api.core import ConfigMap, Pod, Service
from paddlecloud.api.paddlejob import PaddleJob, PaddleJobStatus
from paddlecloud.controllers.contract import Snapshot, plan
from paddlecloud.controllers.endpoints import endpoints
from paddlecloud.controllers.jobservices import services
from paddlecloud.controllers.paddlejob import reconcile
from paddlecloud.controllers.startorder import FILE, FOLDER, GATE, RANK, START, WAIT

AT_GATE = {"name": GATE, "state": {"running": {"startedAt": "2024-06-01T12:00:00Z"}}}


def waiting_at_gate(pod: Pod) -> Pod:
    return pod.but(status={**pod.status, "phase": "Pending", "initContainerStatuses": [AT_GATE]})


def told(pod: Pod) -> Pod:
    return pod.but(metadata=pod.metadata.but(annotations={**pod.metadata.annotations, START: "x"}))


def world(job: PaddleJob, begun: tuple[str, ...], released: tuple[str, ...] = ()) -> Snapshot:
    """All pods have addresses; those of the roles *begun* run, the others wait."""
    pods = {p.name: p for p in pods_of(job, **dict.fromkeys(job.spec.roles(), "Running"))}
    written = endpoints(job, pods)
    shown = []
    for pod in pods.values():
        role = pod.metadata.labels["paddle-res-type"]
        there = pod if role in begun else waiting_at_gate(pod)
        shown.append(told(there) if role in (*begun, *released) else there)
    return Snapshot(NOW, (*shown, *written, *services(job)))


def released(job: PaddleJob, snapshot: Snapshot) -> list[str]:
    changes = reconcile(job, snapshot).changes
    assert all(list(c.patch["metadata"]["annotations"]) == [START, RANK] for c in changes)
    return [c.observed.name.removeprefix("wide-deep-") for c in changes]


@pytest.mark.parametrize(
    "begun, earlier, expected",
    [
        ((), (), ["ps-0", "ps-1"]),
        ((), ("ps",), []),  # they were told, and are on their way
        (("ps",), (), ["worker-0", "worker-1"]),
        (("ps",), ("worker",), []),
        (("ps", "worker"), (), ["heter-0"]),
        (("ps", "worker", "heter"), (), []),
    ],
)
def test_role_after_role(begun: tuple[str, ...], earlier: tuple[str, ...], expected: list[str]) -> None:
    job = a_job(ps=2, worker=2, heter=1)
    assert released(job, world(job, begun, earlier)) == expected


def test_nobody_begins_before_the_endpoints_are_written_as_they_are_now() -> None:
    job = a_job(worker=2)
    snapshot = world(job, ())
    pods = tuple(c for c in snapshot.children if isinstance(c, Pod))
    [written] = [c for c in snapshot.children if isinstance(c, ConfigMap)]
    stale = written.but(data={**written.data, "PADDLE_TRAINERS": "10.0.0.9"})

    assert released(job, Snapshot(NOW, pods)) == []
    assert released(job, Snapshot(NOW, (*pods, stale))) == []
    assert released(job, Snapshot(NOW, (*pods, written))) == ["worker-0", "worker-1"]


def test_nobody_begins_whose_name_leads_elsewhere() -> None:
    job = a_job(worker=2, intranet="Service")
    snapshot = world(job, ())
    without = Snapshot(NOW, tuple(c for c in snapshot.children if c.kind != "Service"))

    assert released(job, without) == []
    assert released(job, snapshot) == ["worker-0", "worker-1"]


def test_one_that_is_missing_holds_up_the_next_role() -> None:
    job = a_job(ps=2, worker=1, intranet="Service")
    children = world(job, ("ps",)).children
    there = tuple(c for c in children if not (isinstance(c, Pod) and c.name == "wide-deep-ps-1"))

    assert released(job, Snapshot(NOW, there)) == []


def test_a_pod_that_leaves_is_told_nothing() -> None:
    job = a_job(worker=1)
    leaving = [
        c.but(metadata=c.metadata.but(deletion_timestamp=NOW)) if isinstance(c, Pod) else c
        for c in world(job, ()).children
    ]
    assert released(job, Snapshot(NOW, tuple(leaving))) == []


def test_a_job_whose_pods_wait_for_each_other_is_starting() -> None:
    job = a_job(worker=2)
    status = reconcile(job, world(job, ())).status
    assert isinstance(status, PaddleJobStatus) and status.worker is not None
    assert (status.phase, status.worker.starting) == ("Starting", 2)


@pytest.mark.parametrize(
    "policy, kept",
    [("Always", {"ConfigMap"}), ("Never", {"ConfigMap", "Service", "Pod"})],
)
def test_the_services_go_with_the_pods(policy: str, kept: set[str]) -> None:
    job = a_job(worker=1, intranet="Service", cleanPodPolicy=policy, status={"phase": "Completed"})
    children: tuple[Any, ...] = world(a_job(worker=1, intranet="Service"), ("worker",)).children
    service = Service.read({"metadata": {"name": "wide-deep-worker-0", "namespace": job.namespace}})
    decision = reconcile(job, Snapshot(NOW, (*children, service)))

    assert {c.kind for c in decision.children} == kept
    assert {c.kind for c in plan((*children, service), decision).delete} == {
        "Pod",
        "Service",
        "ConfigMap",
    } - kept


@pytest.mark.parametrize("sleeps", ["exit 127", "echo no fractions >&2; [ $1 = 1 ]"])
def test_a_gate_opens_in_any_image_with_a_shell(tmp_path: Path, sleeps: str) -> None:
    """One without `sleep`, and one whose `sleep` knows whole seconds only."""
    sleep = tmp_path / "sleep"
    sleep.write_text(f"#!/bin/sh\n: > {tmp_path}/tried; {sleeps}\n")
    sleep.chmod(0o755)
    command = ["/bin/sh", "-c", WAIT.replace(FOLDER, str(tmp_path))]
    with subprocess.Popen(command, env={"PATH": str(tmp_path)}, stderr=subprocess.PIPE) as gate:
        until((tmp_path / "tried").exists, what="a look at a closed gate")
        (tmp_path / "told").write_text("0.x")
        (tmp_path / "told").rename(tmp_path / FILE)
        _, complaints = gate.communicate(timeout=30)

    assert (gate.returncode, complaints) == (0, b"")
