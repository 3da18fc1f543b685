"""HorizontalPodAutoscalers: what is filled in, and what they may not be; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .checks_resources import shown
from .complaints import forbidden, invalid, one_of, required, unquoted, unsupported
from .facts.scalars import amount
from .names import path_problem
from .schema import Violation

Body = dict[str, Any]
SOURCES = {
    "ContainerResource": "containerResource", "External": "external", "Object": "object", "Pods": "pods",
    "Resource": "resource",
}  # fmt: skip
LONGEST_WINDOW, LONGEST_PERIOD = 3600, 1800
RAW = "must set either a target raw value or a target utilization"


def complete_autoscaler(body: Body) -> None:
    spec = body["spec"]
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    if (behavior := spec.get("behavior")) is not None:
        up, down = behavior.setdefault("scaleUp", {}), behavior.setdefault("scaleDown", {})
        whole = {"type": "Percent", "value": 100, "periodSeconds": 15}
        up.setdefault("stabilizationWindowSeconds", 0)
        up.setdefault("policies", [{"type": "Pods", "value": 4, "periodSeconds": 15}, whole])
        down.setdefault("policies", [whole])
        for rules in (up, down):
            rules.setdefault("selectPolicy", "Max")


def check_autoscaler(body: Body, _: Body | None) -> Iterator[Violation]:
    spec = body["spec"]
    most, least = spec["maxReplicas"], spec["minReplicas"]
    if least < 1:
        yield invalid("spec.minReplicas", least, "must be greater than or equal to 1")
    if most < 1:
        yield invalid("spec.maxReplicas", most, "must be greater than 0")
    if most < least:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    yield from check_reference(spec["scaleTargetRef"], "spec.scaleTargetRef")
    metrics = spec.get("metrics") or ()
    for i, metric in enumerate(metrics):
        yield from check_metric(metric, f"spec.metrics[{i}]")
    if least == 0 and not any(m["type"] in ("Object", "External") for m in metrics):
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield forbidden("spec.metrics", why)
    for field in ("scaleUp", "scaleDown"):
        if rules := (spec.get("behavior") or {}).get(field):
            yield from check_scaling(rules, f"spec.behavior.{field}")


def check_reference(reference: Body, path: str) -> Iterator[Violation]:
    for field in ("kind", "name"):
        if not reference[field]:
            yield required(f"{path}.{field}")
        elif problem := path_problem(reference[field]):
            yield invalid(f"{path}.{field}", reference[field], problem)


def check_metric(metric: Body, path: str) -> Iterator[Violation]:
    kind = metric["type"]
    if not kind:
        yield required(f"{path}.type", "must specify a metric source type")
    if kind not in SOURCES:
        yield unsupported(f"{path}.type", kind, SOURCES)
        return
    given = [field for field in SOURCES.values() if metric.get(field) is not None]
    own = SOURCES[kind]
    if own not in given:
        yield required(f"{path}.{own}", "must populate information for the given metric source")
    for field in given:
        if field == own:
            yield from check_source(metric[field], field, f"{path}.{field}")
        else:
            yield forbidden(f"{path}.{field}", "must populate the given metric source only")


def check_source(source: Body, kind: str, path: str) -> Iterator[Violation]:
    target, here = source["target"], f"{path}.target"
    if kind in ("resource", "containerResource"):
        if not source["name"]:
            yield required(f"{path}.name", "must specify a resource name")
        if kind == "containerResource" and not source["container"]:
            yield required(f"{path}.container", "must specify a container")
        yield from check_target(target, here)
        use, value = target.get("averageUtilization"), target.get("averageValue")
        if use is None and value is None:
            yield required(f"{here}.averageUtilization", RAW)
        elif use is not None and value is not None:
            why = "may not set both a target raw value and a target utilization"
            yield forbidden(f"{here}.averageValue", why)
        return
    if kind == "object":
        yield from check_reference(source["describedObject"], f"{path}.describedObject")
    name = source["metric"]["name"]
    if not name:
        yield required(f"{path}.metric.name", "must specify a metric name")
    elif problem := path_problem(name):
        yield invalid(f"{path}.metric.name", name, problem)
    yield from check_target(target, here)
    value, average = target.get("value"), target.get("averageValue")
    if kind == "pods":
        if average is None:
            yield required(f"{here}.averageValue", "must specify a positive target averageValue")
    elif value is None and average is None:
        what = "value or averageValue" if kind == "object" else "value for metric or a per-pod target"
        yield required(f"{here}.averageValue", f"must set either a target {what}")
    elif kind == "external" and value is not None and average is not None:
        why = "may not set both a target value for metric and a per-pod target"
        yield forbidden(f"{here}.value", why)


def check_target(target: Body, path: str) -> Iterator[Violation]:
    kind = target.get("type") or ""
    if not kind:
        yield required(f"{path}.type", "must specify a metric target type")
    if kind not in ("Utilization", "Value", "AverageValue"):
        yield invalid(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue")
    for field in ("value", "averageValue"):
        if (text := target.get(field)) is not None and amount(text) <= 0:
            yield unquoted(f"{path}.{field}", shown(text), "must be positive")
    if (use := target.get("averageUtilization")) is not None and use < 1:
        yield invalid(f"{path}.averageUtilization", use, "must be greater than 0")


def check_scaling(rules: Body, path: str) -> Iterator[Violation]:
    window, here = rules.get("stabilizationWindowSeconds"), f"{path}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        yield invalid(here, window, "must be greater than or equal to zero")
    elif window is not None and window > LONGEST_WINDOW:
        yield invalid(here, window, f"must be less than or equal to {LONGEST_WINDOW}")
    yield from one_of(rules.get("selectPolicy") or "", f"{path}.selectPolicy", ("Disabled", "Max", "Min"))
    policies = rules.get("policies") or ()
    if not policies:
        yield required(f"{path}.policies", "must specify at least one Policy")
    for i, policy in enumerate(policies):
        below, period = f"{path}.policies[{i}]", policy["periodSeconds"]
        yield from one_of(policy["type"], f"{below}.type", ("Percent", "Pods"))
        for field in ("value", "periodSeconds"):
            if policy[field] <= 0:
                yield invalid(f"{below}.{field}", policy[field], "must be greater than zero")
        if period > LONGEST_PERIOD:
            yield invalid(f"{below}.periodSeconds", period, f"must be less than or equal to {LONGEST_PERIOD}")
