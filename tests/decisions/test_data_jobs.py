"""Jobs on a data set: whom they tell what, how far they are, when a schedule makes them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.decisions.builders import (
    NOW,
    a_result,
    a_runtime,
    a_runtime_reports,
    condition_of,
    metadata,
    seen,
)
from tests.decisions.data_builders import SYNCED, the_set

from paddlecloud.api.samplejob import SampleJob, SampleJobStatus
from paddlecloud.controllers import samplejob
from paddlecloud.controllers.contract import Decision, HttpCall, SecretQuestion, SecretSight
from paddlecloud.controllers.sampleoperations import operation_name


def a_sample_job(kind: str = "warmup", *, status: Any = None, **spec: Any) -> SampleJob:
    body = {"type": kind, "sampleSetRef": {"name": "digits"}, **spec}
    about = metadata("it", creationTimestamp="2024-06-01T11:00:00Z")
    return SampleJob.read({"metadata": about, "spec": body, **({"status": status} if status else {})})


def decide(job: SampleJob, *related: Any, answers: Any = None, children: Any = (), **more: Any) -> Decision:
    snapshot = seen(job, *children, related=related, answers=answers, now=more.pop("now", NOW))
    return samplejob.reconcile(job, replace(snapshot, **more))


def told(decision: Decision) -> SampleJobStatus:
    assert isinstance(decision.status, SampleJobStatus)
    return decision.status


UP = a_runtime_reports(**SYNCED)


@pytest.mark.parametrize(
    "status, phase, calls",
    [
        (None, "Pending", 1),
        ("queued", "Pending", 0),
        ("running", "Running", 0),
        ("success", "Succeeded", 0),
        ("fail", "Failed", 0),
        ("cancelled", "Failed", 0),
    ],
)
def test_a_job_is_as_far_as_the_runtimes_say(status: str | None, phase: str, calls: int) -> None:
    job = a_sample_job()
    result = a_result("warmup", operation_name(job), status, message="m") if status else {}
    decision = decide(job, the_set(), a_runtime(), answers=UP | result)

    assert (told(decision).phase, len(decision.calls)) == (phase, calls)
    assert told(decision).job_name == operation_name(job)


@pytest.mark.parametrize(
    "kind, engine, heard",
    [
        ("sync", "local", 2),
        ("sync", "juicefs", 1),
        ("rmr", "juicefs", 1),
        ("warmup", "juicefs", 2),
        ("clear", "local", 2),
    ],
)
def test_who_is_told(kind: str, engine: str, heard: int) -> None:
    options = {"rmrOptions": {"paths": ["a b"]}} if kind == "rmr" else {}
    data = the_set(partitions=2, status={"engine": engine})
    both = UP | a_runtime_reports(1, **SYNCED)

    assert (
        len(decide(a_sample_job(kind, **options), data, a_runtime(0), a_runtime(1), answers=both).calls)
        == heard
    )


@pytest.mark.parametrize(
    "kind, spec, body",
    [
        ("sync", {}, {"source": "file:///data/digits"}),
        ("sync", {"syncOptions": {"source": "s3://b/x", "dry": True}}, {"source": "s3://b/x", "dry": True}),
        ("warmup", {"warmupOptions": {"strategyName": "random", "batchSize": 8, "epoch": 3}},
         {"strategyName": "random", "batchSize": 8, "epoch": 3, "partitions": 1}),
        ("rmr", {"rmrOptions": {"paths": ["n01514859"]}}, {"paths": ["n01514859"]}),
        ("clear", {}, {}),
    ],
)  # fmt: skip
def test_options_are_told_as_they_were_written(kind: str, spec: dict[str, Any], body: dict[str, Any]) -> None:
    [call] = decide(a_sample_job(kind, **spec), the_set(), a_runtime(), answers=UP).calls

    assert json.loads(call.body) == body


@pytest.mark.parametrize(
    "job, around, answers, reason",
    [
        (a_sample_job(), (), {}, "ErrorSampleSetNotExist"),
        (a_sample_job(), (the_set(), a_runtime()), {}, "WaitingForRuntime"),
        (a_sample_job("sync", secretRef={"name": "k"}), (the_set(), a_runtime()),
         UP | {SecretQuestion("ml", "k"): None}, "ErrorSecretNotExist"),
        (a_sample_job("sync", secretRef={"name": "k"}), (the_set(), a_runtime()),
         UP | {SecretQuestion("ml", "k"): SecretSight(frozenset())}, "WaitingForKeys"),
    ],
)  # fmt: skip
def test_a_job_says_what_it_waits_for(job: SampleJob, around: Any, answers: Any, reason: str) -> None:
    decision = decide(job, *around, answers=answers)

    assert (told(decision).phase, condition_of(decision, "Progressing").reason) == ("Pending", reason)
    assert not decision.calls and decision.check_again


def test_the_keys_that_older_manifests_call_none_are_no_keys() -> None:
    job = a_sample_job("sync", secretRef={"name": "none"})

    assert len(decide(job, the_set(), a_runtime(), answers=UP).calls) == 1


def test_a_job_that_terminates_ends_the_others_before_it_begins() -> None:
    job = a_sample_job(terminate=True)
    first = decide(job, the_set(), a_runtime(), answers=UP)
    assert [c.url for c in first.calls] == ["http://127.64.7.1:7716/upload/clearOptions?terminate=1"]

    second = decide(job.but(status=first.status), the_set(), a_runtime(), answers=UP)
    assert [c.id for c in second.calls] == [operation_name(job)]


def test_a_failed_job_begins_anew_when_it_is_edited_and_not_before() -> None:
    failed = told(decide(a_sample_job("rmr", rmrOptions={"paths": ["../x"]}), the_set()))
    same = a_sample_job("rmr", rmrOptions={"paths": ["../x"]}).but(status=failed)
    edited = a_sample_job("rmr", rmrOptions={"paths": ["x"]}).but(status=failed)

    assert failed.phase == "Failed" and not decide(same, the_set(), a_runtime(), answers=UP).calls
    assert len(decide(edited, the_set(), a_runtime(), answers=UP).calls) == 1


def test_what_a_runtime_refuses_fails_the_job() -> None:
    [call] = decide(a_sample_job(), the_set(), a_runtime(), answers=UP).calls
    refused: dict[HttpCall, str] = {call: "no such strategy"}
    decision = decide(a_sample_job(), the_set(), a_runtime(), answers=UP, rebuffs=refused)

    assert "no such strategy" in condition_of(decision, "Failed").message


def child(minute: int, phase: str) -> SampleJob:
    when = int(datetime(2024, 6, 1, 11, minute, tzinfo=UTC).timestamp()) // 60
    return SampleJob.read({"metadata": metadata(f"it-{when}"), "status": {"phase": phase}})


@pytest.mark.parametrize(
    "spec, jobs, names",
    [
        ({}, [], ["12:00"]),
        ({"suspend": True}, [], []),
        ({"concurrencyPolicy": "Forbid"}, [child(30, "Running")], ["11:30"]),
        ({"concurrencyPolicy": "Replace"}, [child(30, "Running")], ["12:00"]),
        ({}, [child(30, "Running")], ["11:30", "12:00"]),
        ({"successfulJobsHistoryLimit": 0}, [child(30, "Succeeded")], ["12:00"]),
        ({"suspend": True}, [child(10, "Failed"), child(20, "Failed")], ["11:20"]),
        ({"schedule": "?"}, [], []),
    ],
)
def test_a_schedule_makes_jobs(spec: dict[str, Any], jobs: list[SampleJob], names: list[str]) -> None:
    job = a_sample_job("sync", **{"schedule": "*/10 * * * *", **spec})
    known = job.but(status=decide(job, children=jobs).status)
    made = [c.name for c in decide(known, children=jobs).children]

    begins = [datetime.fromtimestamp(int(n.rpartition("-")[2]) * 60, UTC).strftime("%H:%M") for n in made]
    assert begins == names


def test_a_job_of_a_schedule_has_its_options_and_no_schedule() -> None:
    job = a_sample_job(
        "sync", schedule="0 20 * * *", timeZone="Asia/Shanghai", syncOptions={"delete-dst": True}
    )
    [made] = decide(job, now=datetime(2024, 6, 1, 12, 0, tzinfo=UTC)).children

    rest = {"sampleSetRef": {"name": "digits"}, "syncOptions": {"delete-dst": True}}
    assert made.wire()["spec"] == {"type": "sync", **rest}
