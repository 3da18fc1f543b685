"""Elastic jobs: with whom they begin, and when they change their size."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.decisions.builders import NOW, a_job, a_role, created, deleted, pods_of, with_stored

from paddlecloud.api.core import ConfigMap, Pod
from paddlecloud.api.paddlejob import PaddleJob, PaddleJobStatus
from paddlecloud.controllers.attempts import Mark, fingerprint
from paddlecloud.controllers.contract import Snapshot
from paddlecloud.controllers.endpoints import endpoints
from paddlecloud.controllers.jobpods import make_pod
from paddlecloud.controllers.membership import PATIENCE, members
from paddlecloud.controllers.paddlejob import reconcile
from paddlecloud.controllers.startorder import RANK, START

LONG_AGO = NOW - timedelta(seconds=PATIENCE)


def elastic(replicas: int, least: int = 1, most: int = 8, **status: Any) -> PaddleJob:
    role = a_role(replicas) | {"requests": least, "limits": most}
    return a_job(elastic=1, worker=role, status={"phase": "Running", "startTime": LONG_AGO} | status)


def workers(job: PaddleJob, *phases: str, made: datetime = LONG_AGO) -> dict[str, Pod]:
    found = pods_of(job, worker=phases)
    return {p.name: p.but(metadata=p.metadata.but(creation_timestamp=made)) for p in found}


def let_go(pods: dict[str, Pod], attempt: int = 0) -> dict[str, Pod]:
    mark = str(Mark(attempt, fingerprint(pods.values())))
    return {n: p.but(metadata=p.metadata.but(annotations={START: mark})) for n, p in pods.items()}


def numbers(pods: dict[str, Pod]) -> list[int]:
    return [int(name.rpartition("-")[2]) for name in pods]


@pytest.mark.parametrize(
    "least, phases, made, expected",
    [
        (1, ("Running", "Running", "Running"), NOW, [0, 1, 2]),
        (1, ("Running", "Running", "Pending"), NOW, []),  # the last one may still come
        (1, ("Running", "Running", "Pending"), LONG_AGO, [0, 1]),
        (1, ("Pending", "Running", "Running"), LONG_AGO, [1, 2]),
        (3, ("Running", "Running", "Pending"), LONG_AGO, []),
        (2, ("Running", "Pending", "Pending"), LONG_AGO, []),
    ],
)
def test_a_job_begins_with_all_or_after_a_while_with_enough(
    least: int, phases: tuple[str, ...], made: datetime, expected: list[int]
) -> None:
    job = elastic(3, least)
    assert numbers(members(job, workers(job, *phases, made=made), NOW)) == expected


def test_when_too_few_could_begin_nobody_looks_again_and_again() -> None:
    job = elastic(3, 3, phase="Pending")
    young, old = (workers(job, *["Pending"] * 3, made=made) for made in (NOW, LONG_AGO - timedelta(1)))
    assert reconcile(job, Snapshot(NOW, tuple(young.values()))).check_again == PATIENCE
    assert reconcile(job, Snapshot(NOW, tuple(old.values()))).check_again is None


def test_those_who_take_part_are_counted_from_zero() -> None:
    job = elastic(3)
    pods = workers(job, "Pending", "Running", "Running")
    written = endpoints(job, members(job, pods, NOW))
    decision = reconcile(job, Snapshot(NOW, (*pods.values(), *written)))

    ranks = {c.observed.name: c.patch["metadata"]["annotations"][RANK] for c in decision.changes}
    assert ranks == {"wide-deep-worker-1": "0", "wide-deep-worker-2": "1"}
    [found] = [c for c in decision.children if isinstance(c, ConfigMap)]
    assert found.data["PADDLE_TRAINERS_NUM"] == "2"


def test_its_rank_is_what_a_worker_is_told_when_it_is_let_go() -> None:
    env = {e["name"]: e for e in make_pod(elastic(2), "worker", 1).spec["containers"][0]["env"]}
    assert env["PADDLE_TRAINER_ID"]["valueFrom"]["fieldRef"]["fieldPath"] == f"metadata.annotations['{RANK}']"
    assert env["PADDLE_ELASTIC_JOB_ID"]["value"] == "ml-wide-deep"
    assert env["PADDLE_ELASTIC_NP"]["value"] == "2" and env["PADDLE_ELASTIC_TIMEOUT"]["value"] == "60"


def test_a_larger_job_trains_on_until_the_new_ones_are_there() -> None:
    job = elastic(3)
    two = let_go(workers(job, "Running", "Running"))
    snapshot = Snapshot(NOW, (*two.values(), *endpoints(job, two)))
    decision = reconcile(job, snapshot)
    assert created(decision, snapshot) == ["wide-deep-worker-2"] and deleted(decision, snapshot) == []

    three = workers(job, "Running", "Running", "Running") | two
    snapshot = Snapshot(NOW, tuple(three.values()))
    decision = reconcile(job, snapshot)
    status = decision.status
    assert isinstance(status, PaddleJobStatus)
    assert (status.attempt, status.restarts, status.phase) == (1, 0, "Restarting")
    assert [(n.reason, n.message) for n in decision.notes] == [("Scaled", "goes on with 3 workers")]
    # Who waits at the gate need not be made again.
    again = with_stored(job, decision)
    assert deleted(reconcile(again, snapshot), snapshot) == ["wide-deep-worker-0", "wide-deep-worker-1"]


def test_a_smaller_job_begins_again_without_the_last() -> None:
    three = let_go(workers(elastic(3), "Running", "Running", "Running"))
    job = elastic(2)
    snapshot = Snapshot(NOW, tuple(three.values()))
    first = reconcile(job, snapshot)
    assert deleted(first, snapshot) == []
    again = with_stored(job, first)
    assert deleted(reconcile(again, snapshot), snapshot) == list(three)


def test_a_worker_that_has_gone_and_finds_no_place_is_done_without() -> None:
    job = elastic(3, 2)
    pods = let_go(workers(job, "Running", "Running", "Running"))
    pods |= {n: p for n, p in workers(job, "Running", "Running", "Pending").items() if n.endswith("2")}
    status = reconcile(job, Snapshot(NOW, tuple(pods.values()))).status
    assert isinstance(status, PaddleJobStatus) and status.attempt == 1


@pytest.mark.parametrize(
    "phases, phase",
    [
        (("Succeeded", "Succeeded"), "Completed"),
        (("Succeeded", "Running"), "Running"),
    ],
)
def test_a_job_that_went_on_with_fewer_is_complete_with_those(phases: tuple[str, ...], phase: str) -> None:
    job = elastic(3)
    pods = let_go(workers(job, *phases))
    waiting = {n: p for n, p in workers(job, "Pending", "Pending", "Pending").items() if n.endswith("2")}
    status = reconcile(job, Snapshot(NOW, (*pods.values(), *waiting.values()))).status
    assert isinstance(status, PaddleJobStatus) and status.phase == phase


def test_nobody_at_all_is_not_a_success() -> None:
    job = elastic(2)
    status = reconcile(job, Snapshot(NOW)).status
    assert isinstance(status, PaddleJobStatus) and status.phase == "Pending"
