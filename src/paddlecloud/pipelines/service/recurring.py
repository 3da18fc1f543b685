"""Recurring runs in both generations of the API: `jobs` of v1beta1, `recurringruns` of v2beta1."""

from __future__ import annotations

import json

from ...api.workflowservice import Experiment, RecurringRun
from . import first, second
from .asking import listed
from .shared import Body, Call, Handler
from .triggers import job_v1, recurring_v2, trigger_spec


async def make_job(call: Call) -> Body:
    trigger = trigger_spec(call.body, call.text("name"), enabled=bool(call.body.get("enabled")))
    return await job(call, await call.shelf.repeat(*await first.asked_for(call), trigger))


async def make_recurring_run(call: Call) -> Body:
    enabled = call.text("mode") != "DISABLE"
    trigger = trigger_spec(call.body, call.text("display_name"), enabled=enabled)
    return await recurring_run(call, await call.shelf.repeat(*await second.asked_for(call), trigger))


async def list_jobs(call: Call) -> Body:
    wanted = call.query.get("resource_reference_key.type") == "EXPERIMENT"
    experiment = call.query.get("resource_reference_key.id") or "" if wanted else ""
    names = await experiments(call)
    return listed([job_v1(r, names) for r in await of_experiment(call, experiment)], call.query, "jobs")


async def list_recurring_runs(call: Call) -> Body:
    found = await of_experiment(call, call.query.get("experiment_id") or "")
    # The one list whose name the clients read in this way.
    return listed([recurring_v2(r) for r in found], call.query, "recurringRuns")


async def of_experiment(call: Call, experiment: str) -> list[RecurringRun]:
    found = await call.shelf.all(RecurringRun)
    return [r for r in found if not experiment or r.spec.run.experiment == experiment]


async def experiments(call: Call) -> dict[str, str]:
    return {e.name: e.spec.display_name for e in await call.shelf.all(Experiment)}


async def get_job(call: Call, id: str) -> Body:
    return await job(call, await call.shelf.recurring_run(id))


async def get_recurring_run(call: Call, id: str) -> Body:
    return await recurring_run(call, await call.shelf.recurring_run(id))


async def job(call: Call, recurring: RecurringRun) -> Body:
    text = await call.shelf.text(recurring.spec.run.pipeline)
    return job_v1(recurring, await experiments(call), json.dumps(text))


async def recurring_run(call: Call, recurring: RecurringRun) -> Body:
    text = await call.shelf.text(recurring.spec.run.pipeline)
    pipeline = await second.pipeline_of(call, recurring.spec.run.pipeline_version)
    return recurring_v2(recurring, text, pipeline)


async def enable(call: Call, id: str) -> Body:
    await call.shelf.change(await call.shelf.recurring_run(id), {"enabled": True})
    return {}


async def disable(call: Call, id: str) -> Body:
    await call.shelf.change(await call.shelf.recurring_run(id), {"enabled": False})
    return {}


async def delete(call: Call, id: str) -> Body:
    await call.shelf.remove(await call.shelf.recurring_run(id))
    return {}


FIRST: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "jobs", list_jobs),
    ("POST", "jobs", make_job),
    ("GET", "jobs/{}", get_job),
    ("DELETE", "jobs/{}", delete),
    ("POST", "jobs/{}/enable", enable),
    ("POST", "jobs/{}/disable", disable),
)
SECOND: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "recurringruns", list_recurring_runs),
    ("POST", "recurringruns", make_recurring_run),
    ("GET", "recurringruns/{}", get_recurring_run),
    ("DELETE", "recurringruns/{}", delete),
    ("POST", "recurringruns/{}:enable", enable),
    ("POST", "recurringruns/{}:disable", disable),
)
