"""RecurringRun: which moment the next run is for, and when none is made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.decisions.builders import NOW, created, metadata, seen

from paddlecloud.api.workflowrun import WorkflowRun
from paddlecloud.api.workflowservice import RecurringRun, RecurringRunStatus
from paddlecloud.controllers.contract import Decision
from paddlecloud.controllers.recurringrun import LONGEST_NAME, make_run, reconcile, run_name

PIPELINE = {"name": "greet", "digest": "0" * 64}
HOUR = timedelta(hours=1)


def stamp(moment: datetime) -> int:
    return int(moment.timestamp())


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def nightly(*, made: datetime = NOW - 3 * 24 * HOUR, status: Any = None, **spec: Any) -> RecurringRun:
    """Of every midnight, made three days before noon of the first of June."""
    said = {"run": {"pipeline": PIPELINE}, **({} if "intervalSeconds" in spec else {"cron": "0 0 0 * * *"})}
    body = {"metadata": metadata("it", creationTimestamp=made.isoformat()), "spec": said | spec}
    return RecurringRun.read(body | ({"status": status} if status else {}))


def a_run_of(moment: str, phase: str = "Succeeded") -> WorkflowRun:
    body = {"metadata": metadata(f"it-{stamp(at(moment))}"), "spec": {"pipeline": PIPELINE}}
    return WorkflowRun.read(body | {"status": {"phase": phase}})


def begun(recurring: RecurringRun, *runs: WorkflowRun, now: datetime = NOW) -> list[str]:
    """The moments that runs are made for now."""
    around = seen(None, *runs, now=now)
    names = created(reconcile(recurring, around), around)
    stamps = (datetime.fromtimestamp(int(n.rpartition("-")[2]), UTC) for n in names)
    return [f"{moment:%Y-%m-%d %H:%M:%S}" for moment in stamps]


def reason(decision: Decision) -> tuple[str, str]:
    assert isinstance(decision.status, RecurringRunStatus)
    [told] = decision.status.conditions
    return told.reason, told.message


@pytest.mark.parametrize(
    "spec, made_for",
    [
        ({}, ["2024-05-30 00:00:00"]),
        ({"noCatchup": True}, ["2024-06-01 00:00:00"]),
        ({"enabled": False}, []),
        ({"startTime": "2024-05-01T00:00:00Z"}, ["2024-05-02 00:00:00"]),  # earlier than its making
        ({"startTime": "2024-06-01T06:00:00Z"}, []),
        ({"endTime": "2024-05-29T23:59:59Z"}, []),
        ({"noCatchup": True, "endTime": "2024-05-31T00:00:00Z"}, ["2024-05-31 00:00:00"]),
        ({"cron": "30 15 10 * * ?"}, ["2024-05-30 10:15:30"]),
        ({"intervalSeconds": 7200}, ["2024-05-29 14:00:00"]),
        ({"intervalSeconds": 7200, "noCatchup": True}, ["2024-06-01 12:00:00"]),
        ({"intervalSeconds": 50 * 3600, "noCatchup": True}, ["2024-05-31 14:00:00"]),
        ({"intervalSeconds": 3600, "startTime": "2024-06-01T11:30:00Z"}, []),
    ],
)
def test_the_moment_that_a_run_is_made_for(spec: dict[str, Any], made_for: list[str]) -> None:
    assert begun(nightly(**spec)) == made_for


def test_missed_moments_are_made_up_for_one_after_the_other() -> None:
    first = a_run_of("2024-05-30 00:00")
    second = a_run_of("2024-05-31 00:00", "Failed")
    third = a_run_of("2024-06-01 00:00")

    assert begun(nightly(), first) == ["2024-05-31 00:00:00"]
    assert begun(nightly(), first, second) == ["2024-06-01 00:00:00"]
    assert begun(nightly(), first, second, third) == []


def test_no_more_runs_are_under_way_than_may_be() -> None:
    running = a_run_of("2024-05-30 00:00", "Running")
    decision = reconcile(nightly(), seen(None, running))

    assert begun(nightly(), running) == []
    assert begun(nightly(maxConcurrency=2), running) == ["2024-05-31 00:00:00"]
    assert reason(decision)[0] == "RunsUnderWay" and running.name in reason(decision)[1]


def test_a_moment_whose_run_was_deleted_does_not_come_back() -> None:
    assert begun(nightly(status={"lastTriggerTime": "2024-06-01T00:00:00Z"})) == []


def test_it_is_looked_at_again_when_the_next_moment_comes() -> None:
    recurring = nightly(made=NOW)

    assert reconcile(recurring, seen()).check_again == 12 * 3600
    assert begun(recurring, now=NOW + 12 * HOUR) == ["2024-06-02 00:00:00"]


def test_an_end_that_has_passed_is_told_and_nothing_is_looked_at_again() -> None:
    decision = reconcile(nightly(endTime="2024-05-29T23:00:00Z"), seen())

    assert reason(decision)[0] == "Over" and decision.check_again is None


@pytest.mark.parametrize(
    "spec, word",
    [
        ({"cron": "0 0 * * *"}, "expected exactly 6 fields, the second first, found 5"),
        ({"cron": "0 61 * * * *"}, "between 0 and 59"),
        ({"cron": ""}, "either cron or an interval"),
        ({"intervalSeconds": 60, "cron": "@daily"}, "either cron or an interval"),
        ({"startTime": "2024-06-02T00:00:00Z", "endTime": "2024-06-01T00:00:00Z"}, "is not after the start"),
    ],
)
def test_a_trigger_that_cannot_be_read_is_said(spec: dict[str, Any], word: str) -> None:
    decision = reconcile(nightly(**spec), seen())

    assert word in reason(decision)[1]
    assert [note.reason for note in decision.asides] == ["UnparseableSchedule"]


def test_a_run_says_what_it_is_of_and_for_which_moment() -> None:
    spec = {"pipeline": PIPELINE, "parameters": {"day": "d-[[ScheduledTime]]", "n": 3}}
    run = make_run(nightly(run=spec, displayName="every night"), at("2024-06-01 00:00:00"), NOW)

    assert run.spec.parameters == {"day": "d-20240601000000", "n": 3}
    assert run.spec.display_name == "every night 2024-06-01T00:00:00Z"
    assert run.spec.recurring_run == "it"


def test_long_names_stay_apart() -> None:
    names = {run_name("x" * LONGEST_NAME + end, NOW) for end in ("", "a", "b")}

    assert len(names) == 3 and all(len(name) <= 63 for name in names)


DAYS = ("2024-05-28", "2024-05-29", "2024-05-30", "2024-05-31", "2024-06-01")


@pytest.mark.parametrize(
    "history, told, phases, stay",
    [
        (None, DAYS[-1], "SSSSS", 5),
        (2, DAYS[-1], "SSSSS", 2),
        (2, DAYS[-1], "SFSFR", 3),  # one that runs does not count
        (9, DAYS[-1], "SSSSS", 5),
        (2, DAYS[-2], "SSSSS", 5),  # not before the status tells the newest moment
    ],
)
def test_a_history_has_an_end_if_somebody_says_so(
    history: int | None, told: str, phases: str, stay: int
) -> None:
    words = {"S": "Succeeded", "F": "Failed", "R": "Running"}
    runs = [a_run_of(f"{day} 00:00:00", words[p]) for day, p in zip(DAYS, phases, strict=True)]
    limit: dict[str, Any] = {} if history is None else {"maxHistory": history}
    recurring = nightly(status={"lastTriggerTime": f"{told}T00:00:00Z"}, **limit)
    kept = reconcile(recurring, seen(None, *runs)).children

    assert [r.name for r in kept] == [r.name for r in runs[-stay:]]
