"""Warm-ups that run ahead of a training: one epoch after the other, until it ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.decisions.builders import (
    a_data_set,
    a_job,
    a_result,
    a_runtime,
    a_runtime_reports,
    condition_of,
    metadata,
    seen,
)

from paddlecloud.api.paddlejob import PaddleJob
from paddlecloud.api.samplejob import SampleJob, SampleJobStatus
from paddlecloud.api.sampleset import SampleSet
from paddlecloud.controllers import samplejob
from paddlecloud.controllers.aheads import epoch_to_load
from paddlecloud.controllers.contract import Decision
from paddlecloud.controllers.mirrors import Mirrors
from paddlecloud.controllers.sampleoperations import body_of, operation_name

UP = a_runtime_reports(0, phase="Synced", totalSize=10, totalFiles=1)


def a_warm_up(*, status: Any = None, first: int | None = None, **options: Any) -> SampleJob:
    ahead = {"job": "wide-deep", **({"firstEpoch": first} if first is not None else {})}
    given = {"strategyName": "random", "batchSize": 4, "ahead": ahead, **options}
    spec = {"type": "warmup", "sampleSetRef": {"name": "digits"}, "warmupOptions": given}
    return SampleJob.read(
        {"metadata": metadata("it"), "spec": spec, **({"status": status} if status else {})}
    )


def training(epoch: float | None = None, message: str = "", phase: str = "Running") -> PaddleJob:
    progress = {"progress": {"metrics": {"epoch": epoch}, "message": message}} if epoch is not None else {}
    return a_job(worker=2, status={"phase": phase, **progress})


def the_set(engine: str = "juicefs", **more: Any) -> SampleSet:
    status = {"engine": engine, "cacheStatus": {"partitions": [{"name": "digits-runtime-0"}]}}
    return a_data_set("Ready", status=status, **more)


def decided(job: SampleJob, *related: Any, answers: Any = None) -> Decision:
    around = (the_set(), a_runtime(), *related)
    return samplejob.reconcile(job, seen(job, related=around, answers={**UP, **(answers or {})}))


@pytest.mark.parametrize(
    "job, told, message, epoch",
    [
        (a_warm_up(), None, "", 0),
        (a_warm_up(), 1, "", 1),
        (a_warm_up(), 7, "epoch 7 of 10", 7),
        (a_warm_up(), 10, "epoch 10 of 10", 9),
        (a_warm_up(first=0), 0, "", 1),
        (a_warm_up(first=0), 3, "", 4),
        (a_warm_up(epoch=5), None, "", 5),
        (a_warm_up(epoch=5), 1, "epoch 1 of 3", 6),
        (a_warm_up(epoch=5), 3, "epoch 3 of 3", 7),
    ],
)
def test_the_epoch_after_the_one_in_training_is_loaded_in_the_numbers_of_samplers(
    job: SampleJob, told: float | None, message: str, epoch: int
) -> None:
    assert epoch_to_load(job, training(told, message)) == epoch


def test_each_epoch_is_an_operation_of_its_own_with_the_share_of_that_epoch_alone() -> None:
    job = a_warm_up()
    ids = []
    for told in (None, 1, 2):
        [call] = decided(job, training(told)).calls
        body = json.loads(call.body)
        assert body["epoch"] == (told or 0) and body["shareOnly"] and body["partitions"] == 1
        ids.append(call.id)
    assert ids == [f"{operation_name(job)}-e{n}" for n in range(3)]


@pytest.mark.parametrize("epoch, alone", [(0, False), (1, True)])
def test_copies_are_all_brought_before_the_first_epoch(epoch: int, alone: bool) -> None:
    assert json.loads(body_of(a_warm_up(), the_set("local"), Mirrors(), epoch))["shareOnly"] is alone


def test_when_an_epoch_is_near_the_job_rests_until_the_next_begins() -> None:
    job = a_warm_up()
    near = a_result("warmup", f"{operation_name(job)}-e1", "success")
    rests = decided(job, training(1), answers=near)

    assert rests.status and not rests.calls and rests.check_again is None
    assert condition_of(rests, "Progressing").reason == "Ahead"
    assert "epoch 1" in condition_of(rests, "Progressing").message
    assert [c.id for c in decided(job, training(2), answers=near).calls] == [f"{operation_name(job)}-e2"]


@pytest.mark.parametrize("phase", ["Completed", "Failed"])
def test_it_ends_with_the_training(phase: str) -> None:
    decision = decided(a_warm_up(), training(3, phase=phase))

    assert isinstance(decision.status, SampleJobStatus) and decision.status.phase.value == "Succeeded"
    assert "has ended" in condition_of(decision, "Complete").message and not decision.calls


def test_a_failure_stays_one_in_later_epochs_until_the_options_are_edited() -> None:
    job = a_warm_up()
    failed = a_warm_up(status={"phase": "Failed", "jobName": f"{operation_name(job)}-e1"})
    assert not decided(failed, training(2)).calls
    edited = a_warm_up(threads=3, status={"phase": "Failed", "jobName": f"{operation_name(job)}-e1"})
    assert decided(edited, training(2)).calls


@pytest.mark.parametrize(
    "job, related, kind, words",
    [
        (a_warm_up(), [], "Progressing", "PaddleJob wide-deep does not exist"),
        (a_warm_up(strategyName="sequence"), [training(1)], "Failed", "needs strategyName: random"),
    ],
)
def test_what_keeps_it_from_beginning_is_said(
    job: SampleJob, related: list[PaddleJob], kind: str, words: str
) -> None:
    decision = decided(job, *related)
    assert words in condition_of(decision, kind).message and not decision.calls


def test_a_warm_up_of_one_shuffled_epoch_says_what_it_is_worth_in_the_others() -> None:
    spec = {"type": "warmup", "sampleSetRef": {"name": "digits"}, "warmupOptions": {"strategyName": "random"}}
    job = SampleJob.read({"metadata": metadata("it"), "spec": spec})
    status = {
        "engine": "juicefs",
        "cacheStatus": {"partitions": [{"name": f"digits-runtime-{i}"} for i in (0, 1)]},
    }
    data = a_data_set("Ready", status=status, partitions=2)
    answers = {**UP, **a_runtime_reports(1, phase="Synced")}
    for index in (0, 1):
        answers |= a_result(
            "warmup", operation_name(job), "success", index, stats={"files": 3, "seconds": index}
        )
    decision = samplejob.reconcile(
        job, seen(job, related=(data, a_runtime(0), a_runtime(1)), answers=answers)
    )

    assert "about 50 %" in condition_of(decision, "Complete").message
    assert isinstance(decision.status, SampleJobStatus) and decision.status.outcome is not None
    assert (decision.status.outcome.files, decision.status.outcome.seconds) == (6, 1.0)
