"""Jobs and what starts them at times: what they may not be, and what of them may change; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .checks_pods import check_template
from .checks_words import check_qualified
from .complaints import at_least_zero, duplicate, invalid, one_of, required, unquoted
from .names import qualified_problems
from .rules_selectors import is_time_zone, schedule_problem, selects, shown_map, shown_selector
from .rules_workloads import JOB_LABELS, NAME_LABELS
from .schema import Violation

Body = dict[str, Any]
MOST_INDEXED = 100_000
ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
UNMATCHED = "`selector` does not match template `labels`"
INDEXED = "requires indexed completion mode"


def check_job(body: Body, old: Body | None) -> Iterator[Violation]:
    spec = body["spec"]
    if old is None:
        yield from check_generated(body)
    yield from check_job_spec(spec, "spec")
    if old is None:
        return
    for field in ("completions", "selector", "template", "completionMode"):
        free = field == "completions" and spec.get("completionMode") == "Indexed"
        # A job that has not begun may still be told where to run.
        free = free or (field == "template" and bool(old["spec"].get("suspend")))
        if spec.get(field) != old["spec"].get(field) and not free:
            value = shown_selector(spec.get(field)) if field == "selector" else spec.get(field)
            yield unquoted(f"spec.{field}", value, "field is immutable")


def check_generated(body: Body) -> Iterator[Violation]:
    """The selector of a new job, made by the server or by hand."""
    spec, uid, name = body["spec"], body["metadata"].get("uid", ""), body["metadata"].get("name", "")
    selector, labels = spec.get("selector"), spec["template"]["metadata"].get("labels")
    if selector is None:
        yield required("spec.selector")
    if not spec.get("manualSelector"):
        path = "spec.template.metadata.labels"
        for key, value in (*((k, uid) for k in JOB_LABELS), *((k, name) for k in NAME_LABELS)):
            if (labels or {}).get(key) != value:
                yield unquoted(f"{path}[{key}]", shown_map(labels), f"must be '{value}'")
        wanted = {"matchLabels": {JOB_LABELS[1]: uid}}
        if selector is not None and selector != wanted:
            yield unquoted("spec.selector", shown_selector(selector), "`selector` not auto-generated")
    if selector is None or not selects(selector, labels or {}):
        yield unquoted("spec.template.metadata.labels", shown_map(labels), UNMATCHED)


def check_job_spec(spec: Body, path: str) -> Iterator[Violation]:
    for field in (
        "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
        "backoffLimitPerIndex", "maxFailedIndexes",
    ):  # fmt: skip
        yield from at_least_zero(spec.get(field), f"{path}.{field}")
    if (manager := spec.get("managedBy")) is not None and not domain_path(manager):
        why = 'must be a domain-prefixed path (such as "acme.io/foo")'
        yield invalid(f"{path}.managedBy", manager, why)
    yield from check_indexes(spec, path)
    yield from check_failures(spec, path)
    yield from check_success(spec, path)
    allowed = ("Failed",) if spec.get("podFailurePolicy") else ("Failed", "TerminatingOrFailed")
    if (policy := spec.get("podReplacementPolicy")) is not None:
        yield from one_of(policy, f"{path}.podReplacementPolicy", allowed)
    yield from check_template(spec["template"], f"{path}.template")
    policy, here = spec["template"]["spec"]["restartPolicy"], f"{path}.template.spec.restartPolicy"
    if policy == "Always":
        yield required(here, 'valid values: "OnFailure", "Never"')
    elif policy == "OnFailure" and spec.get("podFailurePolicy") is not None:
        yield invalid(here, policy, 'only "Never" is supported when podFailurePolicy is specified')


def domain_path(text: str) -> bool:
    return "/" in text and not list(qualified_problems(text)) and not text.startswith("/")


def check_indexes(spec: Body, path: str) -> Iterator[Violation]:
    # The template of a job that is made later has no defaults yet.
    mode, completions = spec.get("completionMode") or "NonIndexed", spec.get("completions")
    yield from one_of(mode, f"{path}.completionMode", ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        if completions is None:
            yield required(f"{path}.completions", "when completion mode is Indexed")
        if (spec.get("parallelism") or 0) > MOST_INDEXED:
            why = f"must be less than or equal to {MOST_INDEXED} when completion mode is Indexed"
            yield invalid(f"{path}.parallelism", spec["parallelism"], why)
        most = spec.get("maxFailedIndexes")
        if most is not None and completions is not None and most > completions:
            yield invalid(f"{path}.maxFailedIndexes", most, "must be less than or equal to completions")
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
        if mode == "NonIndexed" and spec.get(field) is not None:
            yield invalid(f"{path}.{field}", spec[field], INDEXED)


def check_failures(spec: Body, path: str) -> Iterator[Violation]:
    pod = spec["template"]["spec"]
    names = {c["name"] for f in ("containers", "initContainers") for c in pod.get(f) or ()}
    for i, rule in enumerate((spec.get("podFailurePolicy") or {}).get("rules") or ()):
        here, action = f"{path}.podFailurePolicy.rules[{i}]", rule["action"]
        if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            why = "requires the backoffLimitPerIndex to be set"
            yield invalid(f"{here}.action", action, why)
        elif not action:
            yield required(f"{here}.action", 'valid values: "Count", "FailIndex", "FailJob", "Ignore"')
        else:
            yield from one_of(action, f"{here}.action", ACTIONS)
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
        if codes is not None:
            yield from check_codes(codes, f"{here}.onExitCodes", names)
        for j, condition in enumerate(conditions):
            below = f"{here}.onPodConditions[{j}]"
            yield from check_qualified(condition["type"], f"{below}.type")
            status = condition.get("status") or "True"
            yield from one_of(status, f"{below}.status", ("False", "True", "Unknown"))
        if codes is not None and conditions:
            why = "specifying both OnExitCodes and OnPodConditions is not supported"
            yield Violation(here, "FieldValueInvalid", f"Invalid value: {why}")
        elif codes is None and not conditions:
            why = "specifying one of OnExitCodes and OnPodConditions is required"
            yield Violation(here, "FieldValueInvalid", f"Invalid value: {why}")


def check_codes(codes: Body, path: str, containers: set[str]) -> Iterator[Violation]:
    operator, values = codes["operator"], codes.get("values") or []
    yield from one_of(operator, f"{path}.operator", ("In", "NotIn"))
    name = codes.get("containerName")
    if name is not None and name not in containers:
        why = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{path}.containerName", name, why)
    shown = f"[]int32{{{', '.join(map(str, values))}}}"
    if not values:
        yield unquoted(f"{path}.values", shown, "at least one value is required")
    for i, value in enumerate(values):
        if operator == "In" and value == 0:
            yield invalid(f"{path}.values[{i}]", value, "must not be 0 for the In operator")
        if value in values[:i]:
            yield duplicate(f"{path}.values[{i}]", value)
    if values != sorted(values):
        yield unquoted(f"{path}.values", shown, "must be ordered")


def check_success(spec: Body, path: str) -> Iterator[Violation]:
    policy, here = spec.get("successPolicy"), f"{path}.successPolicy"
    if policy is None:
        return
    if spec.get("completionMode") != "Indexed":
        value = "batch.SuccessPolicy{Rules:[]batch.SuccessPolicyRule{}}"
        yield unquoted(here, value if not policy.get("rules") else "batch.SuccessPolicy{…}", INDEXED)
        return
    total = spec.get("completions") or 0
    for i, rule in enumerate(policy.get("rules") or ()):
        below, count, indexes = f"{here}.rules[{i}]", rule.get("succeededCount"), rule.get("succeededIndexes")
        if count is None and indexes is None:
            yield required(below, "at least one of succeededCount or succeededIndexes must be specified")
        known, problem = counted_indexes(indexes, total)
        if problem:
            why = f"error parsing succeededIndexes: {problem}"
            yield invalid(f"{below}.succeededIndexes", indexes, why)
        if count is not None:
            yield from at_least_zero(count, f"{below}.succeededCount")
            if count > total:
                why = f"must be less than or equal to {total} (the number of specified completions)"
                yield invalid(f"{below}.succeededCount", count, why)
            if indexes is not None and count > known:
                what = "the number of indexes in the specified succeededIndexes field"
                why = f"must be less than or equal to {known} ({what})"
                yield invalid(f"{below}.succeededCount", count, why)


def counted_indexes(text: str | None, total: int) -> tuple[int, str]:
    """How many indexes `0-2,5` names, and what is wrong with it."""
    count = 0
    for part in (text or "").split(",") if text else ():
        numbers = part.split("-")
        for number in numbers:
            if not re.fullmatch(r"\d+", number):
                return 0, f'cannot convert string to integer for index: "{number}"'
            if int(number) >= total:
                return 0, f'too large index: "{number}"'
        count += int(numbers[-1]) - int(numbers[0]) + 1
    return count, ""


def check_cron_job(body: Body, _: Body | None) -> Iterator[Violation]:
    spec = body["spec"]
    schedule, zone = spec["schedule"], spec.get("timeZone")
    if not schedule:
        yield required("spec.schedule")
    elif "TZ" in schedule:
        why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        yield invalid("spec.schedule", schedule, why)
    elif problem := schedule_problem(schedule):
        yield invalid("spec.schedule", schedule, problem)
    yield from at_least_zero(spec.get("startingDeadlineSeconds"), "spec.startingDeadlineSeconds")
    if zone == "":
        yield invalid("spec.timeZone", zone, "timeZone must be nil or non-empty string")
    elif zone is not None:
        if zone.lower() == "local":
            why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
            yield invalid("spec.timeZone", zone, why)
        if not is_time_zone(zone):
            yield invalid("spec.timeZone", zone, f"unknown time zone {zone}")
    yield from one_of(spec["concurrencyPolicy"], "spec.concurrencyPolicy", ("Allow", "Forbid", "Replace"))
    job, path = spec["jobTemplate"]["spec"], "spec.jobTemplate.spec"
    yield from check_job_spec(job, path)
    if (selector := job.get("selector")) is not None:
        yield unquoted(f"{path}.selector", shown_selector(selector), "`selector` will be auto-generated")
    if job.get("manualSelector"):
        why = 'Unsupported value: true: supported values: "nil", "false"'
        yield Violation(f"{path}.manualSelector", "FieldValueNotSupported", why)
    for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        yield from at_least_zero(spec.get(field), f"spec.{field}")
    name = body["metadata"].get("name") or ""
    if len(name) > 52:
        yield invalid("metadata.name", name, "must be no more than 52 characters")
