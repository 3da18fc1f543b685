"""A RecurringRun: a WorkflowRun for every moment of its trigger, as far as its rules allow; pure.

What was begun is read from the runs themselves, which carry their moment in their names, and one run is made
a look, the oldest moment first: killed between any two writes, no moment is begun twice and none is lost.
"""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from ..api.meta import Condition, Metadata
from ..api.workflowrun import WorkflowRun, WorkflowRunSpec
from ..api.workflowservice import RecurringRun, RecurringRunSpec, RecurringRunStatus
from ..errors import Invalid
from .conditions import condition, progressing, set_conditions, waiting
from .contract import Controller, Decision, Note, Snapshot
from .schedule import Schedule, after, blank, missed, moments, parse_with_seconds
from .workflowrun import ID_LABEL

LONGEST_NAME = 52
"""Of what the moment comes after."""
FORMAT = "%Y%m%d%H%M%S"
"""Of moments in parameters."""


def reconcile(recurring: RecurringRun, seen: Snapshot) -> Decision:
    runs = kept(recurring.spec, recurring.status, seen)
    spec = recurring.spec
    try:
        schedule = trigger_of(spec.cron, spec.interval_seconds, spec.start_time, spec.end_time)
    except Invalid as error:
        why = f"{error.message}; edit the RecurringRun, or delete it"
        told = status_of(recurring, runs, seen, condition("Ready", False, "UnparseableSchedule", why))
        return Decision(told, tuple(runs), asides=(Note("Warning", "UnparseableSchedule", why),))
    if not spec.enabled:
        rests = waiting("Disabled", "nothing is begun; enable it to go on")
        return Decision(status_of(recurring, runs, seen, rests), tuple(runs))
    known = newest(recurring, runs) or spec.start_time or recurring.metadata.creation_timestamp
    # Names of runs tell whole seconds.
    since = (known or seen.now).replace(microsecond=0)
    due = next_due(spec, schedule, since, seen.now)
    active = [run.name for run in runs if not run.status.phase.final]
    if due is not None and len(active) >= spec.max_concurrency:
        limit = f"maxConcurrency is {spec.max_concurrency}"
        full = waiting("RunsUnderWay", f"a run is due and waits until {active[0]} has ended: {limit}")
        return Decision(status_of(recurring, runs, seen, full), tuple(runs))
    if due is not None:
        told = status_of(recurring, runs, seen, progressing("Scheduled"))
        return Decision(told, (*runs, make_run(recurring, due, seen.now)))
    later = within(spec, after(schedule, since))
    if later is None:
        over = condition("Progressing", False, "Over", "its schedule names no later moment")
        return Decision(status_of(recurring, runs, seen, over), tuple(runs))
    told = status_of(recurring, runs, seen, progressing("Scheduled"))
    return Decision(told, tuple(runs), check_again=(later - seen.now).total_seconds())


def kept(spec: RecurringRunSpec, status: RecurringRunStatus, seen: Snapshot) -> list[WorkflowRun]:
    """Its runs, the oldest first, without those beyond its history.

    The newest moment is read from the runs: they go only once the status tells it.
    """
    runs = sorted(seen.owned(WorkflowRun).values(), key=moment_of)
    told = status.last_trigger_time
    if spec.max_history is None or told is None or (runs and moment_of(runs[-1]) > told):
        return runs
    over = [run.name for run in runs if run.status.phase.final and not run.spec.archived]
    gone = set(over[: -spec.max_history])
    return [run for run in runs if run.name not in gone]


def trigger_of(cron: str, interval: int, start: datetime | None, end: datetime | None) -> Schedule:
    """Raises `Invalid`."""
    if bool(cron) == bool(interval):
        raise Invalid("a trigger is either cron or an interval in seconds")
    if start and end and end <= start:
        raise Invalid(f"the end {end} is not after the start {start}")
    if interval:
        return blank(None, timedelta(seconds=interval))
    try:
        return parse_with_seconds(cron)
    except Invalid as error:
        raise Invalid(f"cron {cron!r}: {error.message}") from error


def next_due(spec: RecurringRunSpec, schedule: Schedule, since: datetime, now: datetime) -> datetime | None:
    """The moment to make a run for: the oldest that was missed, or without catch-up the last."""
    until = min(now, spec.end_time) if spec.end_time else now
    if since >= until:
        return None
    if spec.no_catchup:
        return missed(schedule, since, until).last
    return next(moments(schedule, since, until), None)


def within(spec: RecurringRunSpec, moment: datetime | None) -> datetime | None:
    return None if moment is None or (spec.end_time and moment > spec.end_time) else moment


def make_run(recurring: RecurringRun, when: datetime, now: datetime) -> WorkflowRun:
    id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{recurring.uid}/{int(when.timestamp())}"))
    words = {
        "[[ScheduledTime]]": when.strftime(FORMAT),
        "[[CurrentTime]]": now.strftime(FORMAT),
        "[[RunUUID]]": id,
    }
    said: WorkflowRunSpec = recurring.spec.run
    title = recurring.spec.display_name or recurring.name
    return WorkflowRun(
        metadata=Metadata(
            name=run_name(recurring.name, when), namespace=recurring.namespace, labels={ID_LABEL: id}
        ),
        spec=said.but(
            parameters={name: filled(value, words) for name, value in said.parameters.items()},
            display_name=f"{title} {when.strftime('%Y-%m-%dT%H:%M:%SZ')}",
            recurring_run=recurring.metadata.labels.get(ID_LABEL) or recurring.name,
        ),
    )


def filled(value: Any, words: dict[str, str]) -> Any:
    """A parameter with what stands for the moment in it, as Kubeflow Pipelines fills it in."""
    if isinstance(value, str):
        for word, meaning in words.items():
            value = value.replace(word, meaning)
    return value


def run_name(name: str, when: datetime) -> str:
    if len(name) > LONGEST_NAME:
        digest = hashlib.sha256(name.encode()).hexdigest()[:10]
        name = f"{name[: LONGEST_NAME - 11]}-{digest}"
    return f"{name}-{int(when.timestamp())}"


def moment_of(run: WorkflowRun) -> datetime:
    """The moment that a run stands for; of one that carries none the beginning of time."""
    number = run.name.rpartition("-")[2]
    return datetime.fromtimestamp(int(number) if number.isdecimal() and len(number) <= 10 else 0, UTC)


def newest(recurring: RecurringRun, runs: list[WorkflowRun]) -> datetime | None:
    begun = (moment_of(run) for run in runs)
    return max(filter(None, (*begun, recurring.status.last_trigger_time)), default=None)


def status_of(
    recurring: RecurringRun, runs: list[WorkflowRun], seen: Snapshot, current: Condition
) -> RecurringRunStatus:
    return RecurringRunStatus(
        last_trigger_time=newest(recurring, runs),
        active=[run.name for run in runs if not run.status.phase.final],
        conditions=set_conditions(recurring.status.conditions, [current], seen.now),
    )


CONTROLLER = Controller("recurringrun", RecurringRun, reconcile, owns=(WorkflowRun,))
