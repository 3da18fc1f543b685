"""PaddleJob: who begins again after what, how often, and what is told of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.decisions.builders import (
    NOW,
    a_job,
    a_role,
    condition_of,
    created,
    deleted,
    log_of,
    pods_of,
    with_stored,
)

from paddlecloud.api.core import ConfigMap, Pod
from paddlecloud.api.paddlejob import PaddleJob, PaddleJobStatus
from paddlecloud.controllers.attempts import Mark, fingerprint, mark_of
from paddlecloud.controllers.contract import Decision, Snapshot, plan
from paddlecloud.controllers.endpoints import endpoints
from paddlecloud.controllers.faults import find_fault, pause_left, peers_of
from paddlecloud.controllers.jobpods import make_pod
from paddlecloud.controllers.paddlejob import asks, reconcile
from paddlecloud.controllers.startorder import START

EARLIER = NOW - timedelta(hours=1)
OOM: dict[str, Any] = {"exitCode": 137, "reason": "OOMKilled"}


def ended(pod: Pod, how: dict[str, Any], at: datetime | None = None, reason: str = "") -> Pod:
    """The pod with a container that ended so; without *how*: one that failed as a whole."""
    if at:
        how = {**how, "finishedAt": at.isoformat().replace("+00:00", "Z")}
    state = [{"name": "main", "state": {"terminated": how}}] if how else []
    return pod.but(
        status={**pod.status, "phase": "Failed", "reason": reason or None, "containerStatuses": state}
    )


def running(job: PaddleJob, attempt: int = 0) -> dict[str, Pod]:
    """All pods, let go together."""
    pods = {p.name: p for p in pods_of(job, **dict.fromkeys(job.spec.roles(), "Running"))}
    mark = str(Mark(attempt, peers_of(job, pods)))
    return {n: annotated(p, mark) for n, p in pods.items()}


def annotated(pod: Pod, mark: str) -> Pod:
    return pod.but(metadata=pod.metadata.but(annotations={START: mark}))


def look(job: PaddleJob, pods: dict[str, Pod], now: datetime = NOW, **answers: Any) -> Snapshot:
    written = endpoints(job, running(job))
    return Snapshot(now, (*pods.values(), *written), answers=answers.get("answers", {}))


def status_of(decision: Decision) -> PaddleJobStatus:
    assert isinstance(decision.status, PaddleJobStatus)
    return decision.status


def after(job: PaddleJob, snapshot: Snapshot) -> PaddleJob:
    stored = with_stored(job, reconcile(job, snapshot))
    assert isinstance(stored, PaddleJob)
    return stored


def started(**spec: Any) -> PaddleJob:
    status = {"phase": "Running", "startTime": EARLIER} | spec.pop("status", {})
    return a_job(status=status, **spec)


W0, W1, PS0 = "wide-deep-worker-0", "wide-deep-worker-1", "wide-deep-ps-0"


@pytest.mark.parametrize(
    "how, own",
    [
        ({"exitCode": 1}, True),
        ({"exitCode": 127}, True),
        ({"exitCode": 137}, False),
        ({"exitCode": 143}, False),
        (OOM, False),
        ("Evicted", False),
        ("NodeLost", False),
        ("DeadlineExceeded", True),
        ("", True),
    ],
)
def test_what_was_done_to_a_job_is_told_from_its_own_errors(how: Any, own: bool) -> None:
    job = started(worker=1)
    pods = running(job)
    pods[W0] = ended(pods[W0], {}, reason=how) if isinstance(how, str) else ended(pods[W0], how)
    fault = find_fault(job, pods, NOW)
    assert fault is not None and fault.own is own


@pytest.mark.parametrize(
    "spec, how, phase",
    [
        ({}, OOM, "Restarting"),
        ({}, {"exitCode": 1}, "Restarting"),  # it had trained for an hour
        ({"status": {"startTime": NOW}}, {"exitCode": 1}, "Failed"),
        ({"status": {"startTime": NOW}}, OOM, "Restarting"),
        ({"status": {"startTime": NOW}, "backoffLimit": 1}, {"exitCode": 1}, "Restarting"),
        ({"backoffLimit": 0}, OOM, "Failed"),
        ({"status": {"restarts": 2}}, OOM, "Restarting"),
        ({"status": {"restarts": 3}}, OOM, "Failed"),
        ({"status": {"restarts": 3}, "backoffLimit": 4}, OOM, "Restarting"),
        ({"status": {"restarts": 4}, "backoffLimit": 4}, OOM, "Failed"),
        ({"status": {"restarts": 1, "lastRestartTime": NOW}}, {"exitCode": 1}, "Failed"),
    ],
)
def test_a_job_begins_again_as_often_as_it_may(spec: dict[str, Any], how: dict[str, Any], phase: str) -> None:
    job = started(worker=2, **spec)
    pods = running(job)
    pods[W1] = ended(pods[W1], how)
    assert status_of(reconcile(job, look(job, pods))).phase == phase


def test_a_collective_job_begins_again_as_a_whole_once_that_is_written_down() -> None:
    job = started(worker=2)
    pods = running(job)
    pods[W1] = ended(pods[W1], OOM)
    snapshot = look(job, pods, answers=log_of(W1, "one\ntwo"))

    assert [q.pod for q in asks(job, snapshot)] == [W1]  # type: ignore[union-attr]
    first = reconcile(job, snapshot)
    told = condition_of(first, "Progressing")
    assert plan(snapshot.children, first).empty
    assert (told.status, told.reason) == ("True", "Restarting")
    assert told.message == (
        f"restart 1: pod {W1} failed (OOMKilled, exit code 137); its last lines:\none\ntwo"
    )
    assert [(n.reason, n.type) for n in first.notes] == [("Restarting", "Warning")]

    again = after(job, snapshot)
    assert (again.status.restarts, again.status.attempt) == (1, 1)
    second = reconcile(again, snapshot)
    assert deleted(second, snapshot) == [W0, W1] and created(second, snapshot) == []
    assert status_of(second).phase == "Restarting"

    empty = look(again, {})
    assert created(reconcile(again, empty), empty) == [W0, W1]


def test_pods_of_the_new_attempt_are_let_go_with_its_number() -> None:
    job = started(worker=2, status={"attempt": 3, "restarts": 3, "phase": "Restarting"})
    pods = {p.name: p for p in pods_of(job, worker="Running")}
    marks = [c.patch["metadata"]["annotations"][START] for c in reconcile(job, look(job, pods)).changes]
    assert marks == [f"3.{fingerprint(pods.values())}"] * 2


def test_a_worker_of_parameter_servers_comes_back_alone() -> None:
    job = started(ps=1, worker=2)
    pods = running(job)
    pods[W1] = ended(pods[W1], OOM)
    snapshot = look(job, pods)
    again = after(job, snapshot)

    assert (again.status.restarts, again.status.attempt, again.status.phase) == (1, 0, "Running")
    assert deleted(reconcile(again, snapshot), snapshot) == [W1]
    left = look(again, {n: p for n, p in pods.items() if n != W1})
    decision = reconcile(again, left)
    assert created(decision, left) == [W1] and deleted(decision, left) == []
    assert status_of(decision).replaced == []


@pytest.mark.parametrize("spec", [{"withGloo": 1}, {"heter": 1}])
def test_workers_that_are_tied_to_each_other_begin_again_together(spec: dict[str, Any]) -> None:
    job = started(ps=1, worker=2, **spec)
    pods = running(job)
    pods[W1] = ended(pods[W1], OOM)
    assert after(job, look(job, pods)).status.attempt == 1


def test_a_server_that_failed_takes_its_parameters_with_it() -> None:
    job = started(ps=1, worker=2)
    pods = running(job)
    pods[PS0] = ended(pods[PS0], OOM)
    assert after(job, look(job, pods)).status.attempt == 1


@pytest.mark.parametrize("leaving", [True, False])
def test_a_peer_that_has_gone_ends_the_attempt(leaving: bool) -> None:
    job = started(worker=2)
    pods = running(job)
    if leaving:
        pods[W1] = pods[W1].but(metadata=pods[W1].metadata.but(deletion_timestamp=NOW))
    else:
        del pods[W1]
    told = condition_of(reconcile(job, look(job, pods)), "Progressing")
    assert told.message == f"restart 1: pod {W1} has gone"


def test_a_peer_that_came_back_unseen_is_not_taken_for_the_one_the_others_know() -> None:
    job = started(worker=2)
    pods = running(job)
    other = next(p for p in pods_of(job, worker="Running") if p.name == W1)
    pods[W1] = other.but(metadata=other.metadata.but(uid="another"))
    decision = reconcile(job, look(job, pods))
    assert status_of(decision).attempt == 1 and not decision.changes


def test_a_worker_that_has_gone_from_its_servers_is_made_again() -> None:
    job = started(ps=1, worker=2)
    pods = running(job)
    del pods[W1]
    snapshot = look(job, pods)
    decision = reconcile(job, snapshot)
    assert created(decision, snapshot) == [W1] and status_of(decision).restarts == 0


def test_pods_let_go_by_an_earlier_version_are_left_alone() -> None:
    job = started(worker=2)
    pods = {n: annotated(p, "worker") for n, p in running(job).items()}
    decision = reconcile(job, look(job, pods))
    assert status_of(decision).restarts == 0 and plan(look(job, pods).children, decision).empty


def test_the_first_to_fail_is_the_one_to_blame() -> None:
    job = started(worker=2)
    pods = running(job)
    pods[W0] = ended(pods[W0], {"exitCode": 1}, NOW - timedelta(seconds=5))
    pods[W1] = ended(pods[W1], OOM, NOW - timedelta(seconds=6))
    fault = find_fault(job, pods, NOW)
    assert fault is not None and fault.culprit is not None and fault.culprit.name == W1 and not fault.own


def test_who_failed_first_is_waited_for_while_others_run() -> None:
    job = started(worker=2, status={"startTime": NOW})
    pods = running(job)
    pods[W0] = ended(pods[W0], {"exitCode": 1}, NOW)
    decision = reconcile(job, look(job, pods))
    assert (status_of(decision).phase, decision.check_again) == ("Starting", 2.0)
    later = reconcile(job, look(job, pods, NOW + timedelta(seconds=2)))
    assert status_of(later).phase == "Failed"


def test_one_that_failed_at_its_gate_is_replaced_too() -> None:
    job = started(worker=2)
    pods = {p.name: p for p in pods_of(job, worker="Running")}
    pods[W0] = ended(pods[W0], {}, reason="Evicted")
    snapshot = look(job, pods)
    again = after(job, snapshot)
    assert deleted(reconcile(again, snapshot), snapshot) == [W0]


@pytest.mark.parametrize(
    "restarts, ago, left", [(0, 0, 0), (1, 0, 0), (2, 0, 10), (2, 4, 6), (3, 0, 20), (4, 50, 0), (40, 0, 360)]
)
def test_every_further_fault_is_followed_by_a_longer_pause(restarts: int, ago: float, left: float) -> None:
    last = NOW - timedelta(seconds=ago)
    assert pause_left(started(worker=1, status={"restarts": restarts, "lastRestartTime": last}), NOW) == left


def test_nothing_is_made_during_a_pause() -> None:
    job = started(
        worker=1, status={"restarts": 2, "lastRestartTime": NOW, "attempt": 2, "phase": "Restarting"}
    )
    snapshot = look(job, {})
    decision = reconcile(job, snapshot)
    assert created(decision, snapshot) == [] and decision.check_again == 10.0
    later = look(job, {}, NOW + timedelta(seconds=10))
    assert created(reconcile(job, later), later) == [W0]


def test_a_job_that_was_tried_often_enough_tells_so() -> None:
    job = started(worker=1, status={"restarts": 3})
    pods = running(job)
    pods[W0] = ended(pods[W0], OOM)
    decision = reconcile(job, look(job, pods, answers=log_of(W0, "no memory left")))
    assert condition_of(decision, "Failed").message == (
        f"pod {W0} failed (OOMKilled, exit code 137) after 3 restarts; its last lines:\nno memory left"
    )


@pytest.mark.parametrize(
    "spec, count, phase",
    [
        ({}, 9, "Running"),  # its template asks for that
        ({"backoffLimit": 2}, 2, "Running"),
        ({"backoffLimit": 2}, 3, "Failed"),
        ({"elastic": 1}, 3, "Running"),
        ({"elastic": 1}, 4, "Failed"),
    ],
)
def test_containers_started_again_in_place_count_too(spec: dict[str, Any], count: int, phase: str) -> None:
    job = started(worker=1, **spec)
    pods = running(job)
    statuses = [{"name": "main", "restartCount": count, "state": {"running": {}}}]
    pods[W0] = pods[W0].but(status={**pods[W0].status, "containerStatuses": statuses})
    assert status_of(reconcile(job, look(job, pods))).phase == phase


def test_endpoints_are_those_of_the_pods_there_now() -> None:
    job = started(ps=1, worker=2)
    pods = running(job)
    moved = pods[W1].but(status={**pods[W1].status, "podIP": "127.64.9.9"})
    decision = reconcile(job, look(job, {**pods, W1: moved}))
    [written] = [c for c in decision.children if isinstance(c, ConfigMap)]
    assert "127.64.9.9" in written.data["PADDLE_TRAINER_ENDPOINTS"]


@pytest.mark.parametrize("text, mark", [("2.ab", Mark(2, "ab")), ("worker", Mark(0, ""))])
def test_marks(text: str, mark: Mark) -> None:
    job = started(worker=1)
    assert mark_of(annotated(running(job)[W0], text)) == mark
    assert mark_of(annotated(running(job)[W0], str(Mark(1, "x")))) == Mark(1, "x")


def test_pods_of_a_job_that_was_edited_while_nobody_looked_are_made_anew() -> None:
    before = started(worker=2)
    job = started(worker=a_role(2, containers=[{"name": "main", "image": "example/other:2"}]))
    there = {
        n: make_pod(before, "worker", i).but(status=p.status)
        for i, (n, p) in enumerate(running(before).items())
    }
    snapshot = look(job, there)
    assert deleted(reconcile(before, snapshot), snapshot) == []
    assert deleted(reconcile(job, snapshot), snapshot) == [W0, W1]
