"""Forecasts: arithmetic on what was measured, made by a job, kept by the set; beside them what happened."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.decisions.builders import (
    NOW,
    a_claim,
    a_data_set,
    a_job,
    a_result,
    a_runtime,
    a_runtime_reports,
    metadata,
    seen,
    the_runtimes,
)

from paddlecloud.api.forecast import Forecast, Speeds
from paddlecloud.api.samplejob import SampleJob, SampleJobStatus
from paddlecloud.api.sampleset import SampleSet, SampleSetStatus
from paddlecloud.controllers import samplejob, sampleset
from paddlecloud.controllers.contract import Decision
from paddlecloud.controllers.dataforecasts import Load, predicted
from paddlecloud.controllers.sampleoperations import operation_name
from paddlecloud.sdk.dataepochs import Epoch, epochs_of
from paddlecloud.sdk.datareports import reported

SLOW = Speeds(link=20.0, cold=10.0, near=100.0)


@pytest.mark.parametrize(
    "load, speeds, warm, cold, near, gain, pays",
    [
        (Load(1000, 10, 1000, 1), SLOW, 50.0, 100.0, 10.0, 10.0, 50 / 90),
        (Load(1000, 10, 1000, 2), SLOW, 50.0, 50.0, 5.0, 10.0, 50 / 45),
        (Load(1000, 10, 0, 1), SLOW, 0.0, 100.0, 10.0, 10.0, 0.0),
        (Load(1000, 10, 1000, 1, compute=2.0), SLOW, 50.0, 100.0, 20.0, 5.0, 50 / 80),
        (Load(1000, 10, 1000, 1, compute=20.0), SLOW, 50.0, 200.0, 200.0, 1.0, 0.0),
        (Load(0, 0, 0, 1), Speeds(), 0.0, 0.0, 0.0, 0.0, 0.0),
    ],
    ids=["one worker", "two", "all is near", "some computing", "computing counts alone", "nothing known"],
)
def test_a_prediction(
    load: Load, speeds: Speeds, warm: float, cold: float, near: float, gain: float, pays: float
) -> None:
    found = predicted(load, speeds)
    assert (found.warm, found.cold_epoch, found.warm_epoch) == (warm, cold, near)
    assert found.gain == pytest.approx(gain) and found.pays_after == pytest.approx(pays)


def the_set(engine: str = "local", **status: Any) -> SampleSet:
    parts = [{"name": f"digits-runtime-{i}", "node": f"node-{i}"} for i in range(2)]
    told = {"engine": engine, "cacheStatus": {"partitions": parts}, **status}
    return a_data_set("Ready", status=told, partitions=2, source={"uri": "s3://bucket/x"})


def a_forecast_job(status: Any = None, **options: Any) -> SampleJob:
    spec = {"type": "forecast", "sampleSetRef": {"name": "digits"}, "forecastOptions": options}
    return SampleJob.read(
        {"metadata": metadata("it"), "spec": spec, **({"status": status} if status else {})}
    )


def decided(job: SampleJob, data: SampleSet, *more: Any, answers: Any) -> Decision:
    related = (data, a_runtime(0), a_runtime(1), *more)
    return samplejob.reconcile(job, seen(job, related=related, answers=answers))


def held(**cached: int) -> dict[Any, Any]:
    sizes = {"totalSize": 1000, "totalFiles": 10, "phase": "Synced"}
    return {
        **a_runtime_reports(0, **sizes, cachedSize=cached.get("first", 0)),
        **a_runtime_reports(1, **sizes, cachedSize=cached.get("second", 0)),
    }


def test_every_runtime_measures_with_the_source_of_the_set() -> None:
    decision = decided(a_forecast_job(readers=4), the_set(), answers=held())

    assert [call.url.rpartition("/")[2] for call in decision.calls] == ["forecastOptions"] * 2
    assert '"source": "s3://bucket/x"' in decision.calls[0].body and '"readers": 4' in decision.calls[0].body


@pytest.mark.parametrize("engine, missing, warm", [("local", 900, 90.0), ("juicefs", 450, 45.0)])
def test_the_slowest_runtime_and_the_emptiest_make_the_forecast(
    engine: str, missing: int, warm: float
) -> None:
    job = a_forecast_job(job="wide-deep")
    name = operation_name(job)
    answers = held(first=100, second=400)
    answers |= a_result("forecast", name, "success", 0, measured={"link": 10.0, "cold": 5.0, "near": 80.0})
    answers |= a_result("forecast", name, "success", 1, measured={"link": 30.0, "cold": 9.0, "near": 50.0})
    status = decided(job, the_set(engine), a_job(worker=4), answers=answers).status

    assert isinstance(status, SampleJobStatus) and status.phase.value == "Succeeded"
    found = status.forecast
    assert found is not None and found.speeds == Speeds(link=10.0, cold=5.0, near=50.0)
    assert (found.job, found.workers, found.missing, found.warm_seconds) == ("wide-deep", 4, missing, warm)
    assert (found.cold_epoch_seconds, found.warm_epoch_seconds, found.gain) == (50.0, 5.0, 10.0)


def test_a_forecast_waits_for_the_job_it_is_for() -> None:
    status = decided(a_forecast_job(job="wide-deep"), the_set(), answers=held()).status
    assert isinstance(status, SampleJobStatus)
    assert status.conditions[0].reason == "ErrorPaddleJobNotExist" and not status.phase.final


def test_a_set_keeps_the_newest_forecast_when_its_job_is_gone() -> None:
    def status(data: SampleSet, *jobs: SampleJob) -> SampleSetStatus:
        snapshot = seen(data, a_claim(), the_runtimes(), related=jobs)
        found = sampleset.reconcile(data, replace(snapshot, answers={})).status
        assert isinstance(found, SampleSetStatus)
        return found

    old = a_forecast_job({"forecast": {"gain": 2, "madeAt": "2024-06-01T10:00:00Z"}})
    new = a_forecast_job({"forecast": {"gain": 3, "madeAt": "2024-06-01T11:00:00Z"}})
    told = status(the_set(), new, old).forecast
    assert told is not None and told.gain == 3
    kept = the_set().but(status=the_set().status.but(forecast=told))
    assert status(kept).forecast == told == status(kept, old).forecast


def at(second: float) -> datetime:
    return datetime(2024, 6, 1, 12, tzinfo=UTC) + timedelta(seconds=second)


def said(second: float, words: str) -> str:
    return f"{at(second).isoformat()} {words}"


def test_epochs_are_timed_by_their_first_lines_and_a_new_beginning_counts_anew() -> None:
    lines = [said(0, "epoch 1/3 step 1/2"), said(4, "epoch 1/3 step 2/2"), said(9, "nothing")]
    lines += [said(10, "epoch 2/3 step 1/2"), said(13, "epoch 3/3 step 1/2"), said(20, "epoch 3/3 step 2/2")]
    assert [(e.number, e.seconds) for e in epochs_of(lines)] == [(1, 10.0), (2, 3.0)]
    again = [*lines, said(30, "epoch 1/3 step 1/2"), said(37, "epoch 2/3 step 1/2")]
    assert [(e.number, e.seconds) for e in epochs_of(again)] == [(1, 7.0)]
    assert epochs_of([]) == []


def a_warm_up(end: float, seconds: float) -> SampleJob:
    status = {"phase": "Succeeded", "completionTime": at(end).isoformat(), "outcome": {"seconds": seconds}}
    spec = {"type": "warmup", "sampleSetRef": {"name": "digits"}}
    return SampleJob.read({"metadata": metadata("w"), "spec": spec, "status": status})


FORECAST = Forecast(
    made_at=at(0), missing=5, warm_seconds=10.0, cold_epoch_seconds=20.0, warm_epoch_seconds=4.0, gain=5.0
)
EPOCHS = [
    Epoch(1, at(1), at(25)),
    Epoch(2, at(25), at(40)),
    Epoch(3, at(40), at(45)),
    Epoch(4, at(45), at(52)),
]


@pytest.mark.parametrize(
    "forecast, jobs, expected",
    [
        (FORECAST, [a_warm_up(38, 12.0)], [12.0, 24.0, 6.0, 4.0]),
        (FORECAST, [], [None, 12.75, None, None]),
        (FORECAST, [a_warm_up(-5, 12.0)], [None, 12.75, None, None]),
        (FORECAST.but(missing=0), [], [None, None, 12.75, None]),
        (None, [a_warm_up(38, 12.0)], [12.0, 24.0, 6.0, 4.0]),
    ],
    ids=["warmed on the way", "never", "before the forecast", "nothing was missing", "without a forecast"],
)
def test_what_happened_beside_what_was_predicted(
    forecast: Forecast | None, jobs: list[SampleJob], expected: list[float | None]
) -> None:
    found = reported(forecast, jobs, EPOCHS)
    assert [row.happened for row in found.rows] == expected
    predicted = [row.predicted for row in found.rows]
    assert predicted == ([10.0, 20.0, 4.0, 5.0] if forecast else [None] * 4)
    ratio = found.rows[0].ratio
    assert ratio == (1.2 if forecast and expected[0] else None)
    assert [row["what"] for row in found.json()["rows"]] == ["warm-up", "epoch, cold", "epoch, warm", "gain"]


def test_the_moment_of_a_forecast_is_the_moment_of_the_look() -> None:
    job = a_forecast_job()
    speeds = {"link": 1.0, "cold": 1.0, "near": 1.0}
    answers = held()
    for index in (0, 1):
        answers |= a_result("forecast", operation_name(job), "success", index, measured=speeds)
    status = decided(job, the_set(), answers=answers).status
    assert isinstance(status, SampleJobStatus) and status.forecast and status.forecast.made_at == NOW
    assert status.forecast.workers == 2
