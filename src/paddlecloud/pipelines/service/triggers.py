"""Recurring runs as the two generations of clients write and read them; pure.

The older calls them jobs. One record, two views, as with runs.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ...api.workflowservice import RecurringRun
from ...controllers.recurringrun import trigger_of
from ...controllers.workflowvalues import text_of
from ...errors import BadRequest, Invalid
from .views import Body, created, id_of, owned, said, time_of

MOST_AT_ONCE = 10
"""As Kubeflow Pipelines has it."""


def trigger_spec(body: Body, name: str, *, enabled: bool) -> Body:
    """What a body says of when runs are made; raises `BadRequest`."""
    if not name:
        raise BadRequest("a recurring run needs a name")
    trigger = body.get("trigger") or {}
    cron, periodic = trigger.get("cron_schedule") or {}, trigger.get("periodic_schedule") or {}
    when = periodic or cron
    spec = said({
        "display_name": name, "description": str(body.get("description") or ""), "enabled": enabled,
        "cron": str(cron.get("cron") or ""),
        "interval_seconds": whole(periodic.get("interval_second") or 0, "interval_second", 0),
        "start_time": moment(when.get("start_time"), "start_time"),
        "end_time": moment(when.get("end_time"), "end_time"),
        "max_concurrency": whole(body.get("max_concurrency") or 1, "max_concurrency", 1, MOST_AT_ONCE),
        "no_catchup": bool(body.get("no_catchup")),
    })  # fmt: skip
    try:
        trigger_of(spec["cron"], spec["interval_seconds"], spec.get("start_time"), spec.get("end_time"))
    except Invalid as error:
        raise BadRequest(error.message) from error
    return spec


def whole(value: Any, field: str, least: int, most: int | None = None) -> int:
    """A number, which clients send as a text too."""
    try:
        number = int(value)
    except (TypeError, ValueError) as error:
        raise BadRequest(f"{field} is {value!r}, which is no whole number") from error
    if number < least or (most is not None and number > most):
        bounds = f"from {least} to {most}" if most is not None else f"of at least {least}"
        raise BadRequest(f"{field} is {number}; it may be a number {bounds}")
    return number


def moment(value: Any, field: str) -> datetime | None:
    if not value:
        return None
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise BadRequest(f"{field} {value!r} is no time such as 2030-01-31T00:00:00Z") from error
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def trigger_of_view(recurring: RecurringRun) -> Body:
    spec = recurring.spec
    times = {"start_time": time_of(spec.start_time), "end_time": time_of(spec.end_time)}
    if spec.cron:
        return {"cron_schedule": said({"cron": spec.cron, **times})}
    return {"periodic_schedule": said({"interval_second": str(spec.interval_seconds), **times})}


def problem_of(recurring: RecurringRun) -> str:
    return next((c.message for c in recurring.status.conditions if c.type == "Ready"), "")


def recurring_v2(recurring: RecurringRun, text: Body | None = None, pipeline: str = "") -> Body:
    spec, run = recurring.spec, recurring.spec.run
    problem = problem_of(recurring)
    reference = {"pipeline_id": pipeline, "pipeline_version_id": run.pipeline_version}
    return said({
        "recurring_run_id": id_of(recurring), "display_name": spec.display_name or recurring.name,
        "description": spec.description, "experiment_id": run.experiment, "namespace": recurring.namespace,
        "mode": "ENABLE" if spec.enabled else "DISABLE", "status": "ENABLED" if spec.enabled else "DISABLED",
        "trigger": trigger_of_view(recurring), "max_concurrency": str(spec.max_concurrency),
        "no_catchup": spec.no_catchup, "service_account": run.service_account,
        "created_at": created(recurring), "updated_at": created(recurring),
        "runtime_config": {"parameters": run.parameters},
        "pipeline_spec": text if text is not None and not run.pipeline_version else None,
        "pipeline_version_reference": reference if run.pipeline_version else None,
        "error": {"code": 3, "message": problem} if problem else None,
    })  # fmt: skip


def job_v1(recurring: RecurringRun, experiments: dict[str, str], manifest: str | None = None) -> Body:
    spec, run = recurring.spec, recurring.spec.run
    references = [owned("EXPERIMENT", run.experiment, experiments.get(run.experiment, ""))]
    if run.pipeline_version:
        references.append(owned("PIPELINE_VERSION", run.pipeline_version, "", "CREATOR"))
    return said({
        "id": id_of(recurring), "name": spec.display_name or recurring.name, "description": spec.description,
        "enabled": spec.enabled, "mode": "ENABLED" if spec.enabled else "DISABLED",
        "status": "Enabled" if spec.enabled else "Disabled",
        "trigger": trigger_of_view(recurring), "max_concurrency": str(spec.max_concurrency),
        "no_catchup": spec.no_catchup, "service_account": run.service_account,
        "created_at": created(recurring), "updated_at": created(recurring),
        "pipeline_spec": said({
            "workflow_manifest": manifest,
            "parameters": [{"name": n, "value": text_of(v)} for n, v in run.parameters.items()],
        }),
        "resource_references": references, "error": problem_of(recurring) or None,
    })  # fmt: skip
