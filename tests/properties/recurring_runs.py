"""Scenarios of recurring runs: their moments have all passed, so that none depends on when it is played."""

from __future__ import annotations

from typing import Any

from tests.properties.other_kinds import NAME, PIPELINE, make
from tests.properties.plays import Act, Scenario, Stage

from paddlecloud.api.meta import Key
from paddlecloud.api.workflowrun import WorkflowRun
from paddlecloud.api.workflowservice import RecurringRun
from paddlecloud.controllers import recurringrun

DAYS = {"startTime": "2024-01-01T00:00:00Z", "endTime": "2024-01-04T12:00:00Z"}
RUN = {"run": {"pipeline": PIPELINE, "parameters": {"day": "[[ScheduledTime]]"}}}
FIRST, SECOND, THIRD = 1704153600, 1704240000, 1704326400
"""The midnights between the two, as names of runs tell them."""


def spec(**fields: Any) -> Act:
    async def act(s: Stage) -> None:
        await s.client.patch(RecurringRun, Key(s.namespace, NAME), {"spec": fields})

    return act


def ends(moment: int, phase: str = "Succeeded") -> Act:
    """The controller of runs is not here: the test says how one ended."""

    async def act(s: Stage) -> None:
        key = Key(s.namespace, f"{NAME}-{moment}")
        await s.client.patch_status(WorkflowRun, key, {"phase": phase})

    return act


def forgotten(moment: int) -> Act:
    """Somebody deletes a run of it."""

    async def act(s: Stage) -> None:
        await s.client.delete(WorkflowRun, Key(s.namespace, f"{NAME}-{moment}"))

    return act


SCENARIOS = (
    Scenario(
        "moments that were missed are made up for one after the other, and a run that is deleted stays so",
        recurringrun.CONTROLLER,
        (
            make(RecurringRun, {**RUN, **DAYS, "cron": "0 0 0 * * *"}),
            ends(FIRST),
            ends(SECOND, "Failed"),
            forgotten(SECOND),
            ends(THIRD),
        ),
    ),
    Scenario(
        "of the runs of a schedule the newest are kept, and no moment is begun again",
        recurringrun.CONTROLLER,
        (
            make(RecurringRun, {**RUN, **DAYS, "cron": "0 0 0 * * *", "maxHistory": 1}),
            ends(FIRST),
            ends(SECOND, "Failed"),
            ends(THIRD),
        ),
    ),
    Scenario(
        "a trigger that rests makes up for the last moment only, and then for all with room for two",
        recurringrun.CONTROLLER,
        (
            make(RecurringRun, {**RUN, **DAYS, "intervalSeconds": 86400, "enabled": False}),
            spec(endTime="2024-01-02T12:00:00Z", noCatchup=True, enabled=True),
            spec(maxConcurrency=2, noCatchup=False, **{"endTime": DAYS["endTime"]}),
            ends(FIRST),
        ),
    ),
)
