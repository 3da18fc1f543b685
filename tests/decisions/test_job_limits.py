"""How long a job may take, how long it stays, and how it rests."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.decisions.builders import NOW, a_job, condition_of, deleted, pods_of, seen

from paddlecloud.api.core import Pod
from paddlecloud.api.paddlejob import PaddleJob, PaddleJobStatus
from paddlecloud.controllers.contract import Decision, Snapshot
from paddlecloud.controllers.paddlejob import reconcile


def old(job: PaddleJob, seconds: float) -> PaddleJob:
    return job.but(metadata=job.metadata.but(creation_timestamp=NOW - timedelta(seconds=seconds)))


def phase(decision: Decision) -> str:
    assert isinstance(decision.status, PaddleJobStatus)
    return decision.status.phase.value


@pytest.mark.parametrize(
    "age, allowed, expected, again",
    [
        (59.0, 60, "Running", 1.0),
        (5.0, 60, "Running", 55.0),
        (60.0, 60, "Failed", None),
        (1e6, None, "Running", None),
    ],
)
def test_a_job_may_take_so_long(age: float, allowed: int | None, expected: str, again: float | None) -> None:
    job = old(a_job(worker=2, activeDeadlineSeconds=allowed), age)
    decision = reconcile(job, seen(job, worker="Running"))

    assert phase(decision) == expected and decision.check_again == again
    if expected == "Failed":
        assert condition_of(decision, "Failed").reason == "DeadlineExceeded"
        # Nothing goes before the end is written down.
        assert len([c for c in decision.children if isinstance(c, Pod)]) == 2


def test_one_that_has_just_completed_is_not_too_late() -> None:
    job = old(a_job(worker=1, activeDeadlineSeconds=5), 100)
    assert phase(reconcile(job, seen(job, worker="Succeeded"))) == "Completed"


@pytest.mark.parametrize("reason, gone", [("DeadlineExceeded", ["wide-deep-worker-1"]), ("PodFailed", [])])
def test_what_still_runs_of_a_job_that_was_cut_off_ends_whatever_the_policy(
    reason: str, gone: list[str]
) -> None:
    failed = {"type": "Failed", "status": "True", "reason": reason}
    job = a_job(worker=2, cleanPodPolicy="Never", status={"phase": "Failed", "conditions": [failed]})
    there = Snapshot(NOW, pods_of(job, worker=["Failed", "Running"]))
    assert deleted(reconcile(job, there), there) == gone


@pytest.mark.parametrize(
    "ttl, ago, ends, again",
    [(60, 61, True, None), (60, 50, False, 10.0), (0, 0, True, None), (None, 1e6, False, None)],
)
def test_a_job_that_has_ended_goes_in_its_time(
    ttl: int | None, ago: float, ends: bool, again: float | None
) -> None:
    status = {"phase": "Completed", "completionTime": (NOW - timedelta(seconds=ago)).isoformat()}
    job = a_job(worker=1, ttlSecondsAfterFinished=ttl, status=status)
    decision = reconcile(job, seen(job))
    assert (decision.ending is not None, decision.check_again) == (ends, again)


def suspended(status: str, ago: float = 0) -> dict[str, Any]:
    since = (NOW - timedelta(seconds=ago)).isoformat()
    return {"type": "Suspended", "status": status, "lastTransitionTime": since}


def test_a_job_that_rests_has_no_pods_and_says_how_to_go_on() -> None:
    job = a_job(worker=2, suspend=True, status={"phase": "Running", "startTime": NOW.isoformat()})
    there = Snapshot(NOW, pods_of(job, worker="Running"))
    decision = reconcile(job, there)

    assert len(deleted(decision, there)) == 2 and phase(decision) == "Pending"
    assert condition_of(decision, "Suspended").status == "True"
    assert "spec.suspend" in condition_of(decision, "Progressing").message
    assert [n.reason for n in decision.notes] == ["Suspended"]
    assert isinstance(decision.status, PaddleJobStatus) and decision.status.start_time is None
    assert reconcile(job.but(status=decision.status), Snapshot(NOW, ())).notes == ()


def test_a_job_that_ended_before_it_was_told_to_rest_has_ended() -> None:
    job = a_job(worker=1, suspend=True)
    assert phase(reconcile(job, seen(job, worker="Succeeded"))) == "Completed"


@pytest.mark.parametrize(
    "told, expected",
    [
        (suspended("False", 10), "Running"),  # resumed a while ago, made long ago
        (suspended("False", 70), "Failed"),
    ],
)
def test_the_time_of_rest_does_not_count(told: dict[str, Any], expected: str) -> None:
    job = old(a_job(worker=1, activeDeadlineSeconds=60, status={"conditions": [told]}), 1000)
    decision = reconcile(job, seen(job, worker="Running"))
    assert phase(decision) == expected
    assert condition_of(decision, "Suspended").status == "False"


def test_a_job_that_rests_is_never_too_late() -> None:
    status = {"conditions": [suspended("True", 1000)]}
    job = old(a_job(worker=1, activeDeadlineSeconds=60, suspend=True, status=status), 1000)
    assert phase(reconcile(job, seen(job))) == "Pending"
