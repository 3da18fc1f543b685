"""What workloads, budgets, autoscalers and leases may not be, in Kubernetes' words; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .names import label_problem
from .rules_pods import check_spec, one_of
from .rules_selectors import (
    is_time_zone,
    schedule_problem,
    selects,
    shown_map,
    shown_selector,
)
from .schema import Violation

Body = dict[str, Any]
SET_MAY_CHANGE = (
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
)  # fmt: skip
LISTED = ", ".join(f"'{field}'" for field in SET_MAY_CHANGE[:-1])
SET_IS_FIXED = Violation(
    "spec",
    "FieldValueForbidden",
    f"Forbidden: updates to statefulset spec for fields other than {LISTED} and 'minReadySeconds' "
    "are forbidden",
)


def required(field: str, why: str = "") -> Violation:
    return Violation(field, "FieldValueRequired", f"Required value{': ' + why if why else ''}")


def invalid(field: str, value: object, why: str) -> Violation:
    return Violation(field, "FieldValueInvalid", f"Invalid value: {value}: {why}")


def immutable(field: str, value: object) -> Violation:
    return invalid(field, value, "field is immutable")


def at_least_zero(number: int, path: str) -> Iterator[Violation]:
    if number < 0:
        yield invalid(path, number, "must be greater than or equal to 0")


def check_workload(body: Body, old: Body | None) -> Iterator[Violation]:
    """Deployments, ReplicaSets, StatefulSets and DaemonSets: one selector, one template."""
    spec, kind = body["spec"], body["kind"]
    yield from at_least_zero(spec.get("replicas", 0), "spec.replicas")
    yield from at_least_zero(spec.get("minReadySeconds", 0), "spec.minReadySeconds")
    selector, template = spec.get("selector"), spec["template"]
    # A daemon set without a selector selects nothing; the others must say what they select.
    if selector is None and kind != "DaemonSet":
        yield required("spec.selector")
    elif selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        shown = shown_selector(selector)
        yield invalid("spec.selector", shown, f"empty selector is invalid for {kind.lower()}")
    labels = template["metadata"].get("labels")
    empty = selector is not None and not any(selector.values())
    if not empty and (selector is None or not selects(selector, labels or {})):
        why = "`selector` does not match template `labels`"
        yield invalid("spec.template.metadata.labels", shown_map(labels), why)
    yield from check_spec(template["spec"], "spec.template.spec")
    if template["spec"]["restartPolicy"] in ("OnFailure", "Never"):
        yield from one_of(template["spec"]["restartPolicy"], "spec.template.spec.restartPolicy", ("Always",))
    if old is not None and kind != "StatefulSet" and selector != old["spec"].get("selector"):
        yield immutable("spec.selector", shown_selector(selector))


def check_deployment(body: Body, old: Body | None) -> Iterator[Violation]:
    yield from check_workload(body, old)
    spec, path = body["spec"], "spec.strategy"
    strategy = spec["strategy"]
    kind, rolling = strategy["type"], strategy.get("rollingUpdate")
    if kind not in ("Recreate", "RollingUpdate"):
        shown = (
            f'apps.DeploymentStrategy{{Type:"{kind}", RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}}'
        )
        why = f'Unsupported value: {shown}: supported values: "Recreate", "RollingUpdate"'
        yield Violation(path, "FieldValueNotSupported", why)
    elif kind == "Recreate" and rolling is not None:
        why = "Forbidden: may not be specified when strategy `type` is 'Recreate'"
        yield Violation(f"{path}.rollingUpdate", "FieldValueForbidden", why)
    elif rolling and rolling["maxUnavailable"] in (0, "0%") and rolling["maxSurge"] in (0, "0%"):
        shown = 'intstr.IntOrString{Type:0, IntVal:0, StrVal:""}'
        yield invalid(f"{path}.rollingUpdate.maxUnavailable", shown, "may not be 0 when `maxSurge` is 0")
    if (deadline := spec["progressDeadlineSeconds"]) <= spec.get("minReadySeconds", 0):
        yield invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def check_stateful_set(body: Body, old: Body | None) -> Iterator[Violation]:
    policy = body["spec"]["podManagementPolicy"]
    if policy not in ("OrderedReady", "Parallel"):
        yield invalid("spec.podManagementPolicy", f'"{policy}"', "must be 'OrderedReady' or 'Parallel'")
    yield from check_workload(body, old)
    if old is not None and fixed(body["spec"]) != fixed(old["spec"]):
        yield SET_IS_FIXED


def fixed(spec: Body) -> Body:
    return {k: v for k, v in spec.items() if k not in SET_MAY_CHANGE}


def check_job(body: Body, old: Body | None) -> Iterator[Violation]:
    spec = body["spec"]
    yield from check_job_spec(spec, "spec")
    yield from one_of(spec["completionMode"], "spec.completionMode", ("NonIndexed", "Indexed"))
    if old is None:
        return
    for field in ("completions", "selector", "template", "completionMode"):
        free = field == "completions" and spec.get("completionMode") == "Indexed"
        # What of a template may change while a job is suspended is for the node to find out.
        free = free or (field == "template" and bool(old["spec"].get("suspend")))
        if spec.get(field) != old["spec"].get(field) and not free:
            shown = shown_selector(spec.get(field)) if field == "selector" else spec.get(field)
            yield immutable(f"spec.{field}", shown)


def check_job_spec(spec: Body, path: str) -> Iterator[Violation]:
    for field in ("parallelism", "completions", "backoffLimit", "activeDeadlineSeconds"):
        yield from at_least_zero(spec.get(field) or 0, f"{path}.{field}")
    pod = spec["template"]["spec"]
    yield from check_spec(pod, f"{path}.template.spec")
    if pod["restartPolicy"] == "Always":
        yield required(f"{path}.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')


def check_cron_job(body: Body, _: Body | None) -> Iterator[Violation]:
    spec = body["spec"]
    schedule, zone = spec["schedule"], spec.get("timeZone")
    if not schedule:
        yield required("spec.schedule")
    elif problem := schedule_problem(schedule):
        yield invalid("spec.schedule", f'"{schedule}"', problem)
    if zone and not is_time_zone(zone):
        yield invalid("spec.timeZone", f'"{zone}"', f"unknown time zone {zone}")
    yield from one_of(spec["concurrencyPolicy"], "spec.concurrencyPolicy", ("Allow", "Forbid", "Replace"))
    yield from check_job_spec(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec")
    name = body["metadata"].get("name") or ""
    if len(name) > 52:
        yield invalid("metadata.name", f'"{name}"', "must be no more than 52 characters")


def check_autoscaler(body: Body, _: Body | None) -> Iterator[Violation]:
    spec = body["spec"]
    most, least = spec["maxReplicas"], spec["minReplicas"]
    if least < 1:
        yield invalid("spec.minReplicas", least, "must be greater than or equal to 1")
    if most < 1:
        yield invalid("spec.maxReplicas", most, "must be greater than 0")
    if most < least:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    for field in ("kind", "name"):
        if not spec["scaleTargetRef"][field]:
            yield required(f"spec.scaleTargetRef.{field}")


def check_budget(body: Body, _: Body | None) -> Iterator[Violation]:
    spec = body["spec"]
    if "minAvailable" in spec and "maxUnavailable" in spec:
        shown = "policy.PodDisruptionBudgetSpec{…}"
        yield invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set")
    for field in ("minAvailable", "maxUnavailable"):
        if isinstance(number := spec.get(field, 0), int):
            yield from at_least_zero(number, f"spec.{field}")


def check_lease(body: Body, _: Body | None) -> Iterator[Violation]:
    seconds = (body.get("spec") or {}).get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        yield invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")


def check_runtime(body: Body, old: Body | None) -> Iterator[Violation]:
    handler = body["handler"]
    if problem := label_problem(handler):
        yield invalid("handler", f'"{handler}"', problem)
    if old is not None and handler != old["handler"]:
        yield immutable("handler", f'"{handler}"')


def check_event(body: Body, _: Body | None) -> Iterator[Violation]:
    """An event lies beside what it tells of; of what has no namespace, in the default one."""
    own, of = body["metadata"].get("namespace", ""), body["involvedObject"].get("namespace", "")
    if own != (of or "default"):
        yield invalid("involvedObject.namespace", f'"{of}"', "does not match event.namespace")
