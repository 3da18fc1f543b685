"""HorizontalPodAutoscalers of `autoscaling/v1`: one target for CPU, annotations for what else v2 says; pure.

The annotations hold metrics in the words of v1 and behaviour in the words of Kubernetes' own types. One that
cannot be read is as if it were not there.
"""

from __future__ import annotations

import json
from typing import Any

Body = dict[str, Any]
PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS, BEHAVIOR = f"{PREFIX}metrics", f"{PREFIX}behavior"
CURRENT, CONDITIONS = f"{PREFIX}current-metrics", f"{PREFIX}conditions"
TARGETS = {"Utilization": "averageUtilization", "Value": "value", "AverageValue": "averageValue"}


def shown(body: Body) -> Body:
    spec, status = body["spec"], body.get("status") or {}
    metrics, measured = spec.get("metrics") or [], status.get("currentMetrics") or []
    own = {k: v for k, v in spec.items() if k not in ("metrics", "behavior")}
    target = next((m["resource"] for m in metrics if is_cpu(m)), None)
    if target and "averageUtilization" in target["target"]:
        own["targetCPUUtilizationPercentage"] = target["target"]["averageUtilization"]
    seen = {k: v for k, v in status.items() if k not in ("currentMetrics", "conditions")}
    seen = {"currentReplicas": seen.pop("currentReplicas", 0), **seen}
    found = next((m["resource"] for m in measured if is_cpu(m)), None)
    if found and "averageUtilization" in found["current"]:
        seen["currentCPUUtilizationPercentage"] = found["current"]["averageUtilization"]
    others = [m for m in metrics if not (is_cpu(m) and "averageUtilization" in m["resource"]["target"])]
    notes: Body = {}
    if others:
        notes[METRICS] = [older(m, "target", "target") for m in others]
    if measured:
        notes[CURRENT] = [older(m, "current", "current") for m in measured]
    if behavior := spec.get("behavior"):
        notes[BEHAVIOR] = {"ScaleUp": capitals(behavior.get("scaleUp")),
                           "ScaleDown": capitals(behavior.get("scaleDown"))}  # fmt: skip
    if conditions := status.get("conditions"):
        notes[CONDITIONS] = conditions
    metadata = dict(body["metadata"])
    if notes:
        texts = {k: json.dumps(v, separators=(",", ":"), ensure_ascii=False) for k, v in notes.items()}
        metadata["annotations"] = dict(sorted({**(metadata.get("annotations") or {}), **texts}.items()))
    return {**body, "metadata": metadata, "spec": own, "status": seen}


def kept(body: Body) -> Body:
    metadata, spec = dict(body["metadata"]), dict(body["spec"])
    status = dict(body.get("status") or {})
    notes = {k: v for k, v in (metadata.get("annotations") or {}).items() if k.startswith(PREFIX)}
    if notes:
        rest = {k: v for k, v in metadata["annotations"].items() if k not in notes}
        metadata["annotations"] = rest
        if not rest:
            del metadata["annotations"]
    metrics = [newer(m, "target") for m in listed(notes.get(METRICS))]
    percentage = spec.pop("targetCPUUtilizationPercentage", None)
    if percentage is not None:
        target = {"type": "Utilization", "averageUtilization": percentage}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    if metrics:
        spec["metrics"] = metrics
    if isinstance(behavior := read(notes.get(BEHAVIOR)), dict):
        spec["behavior"] = {k[:1].lower() + k[1:]: small(v) for k, v in behavior.items() if v is not None}
    percentage = status.pop("currentCPUUtilizationPercentage", None)
    measured = [newer(m, "current") for m in listed(notes.get(CURRENT))]
    if not measured and percentage is not None:
        current = {"averageUtilization": percentage}
        measured = [{"type": "Resource", "resource": {"name": "cpu", "current": current}}]
    if measured:
        status["currentMetrics"] = measured
    if conditions := listed(notes.get(CONDITIONS)):
        status["conditions"] = conditions
    return {**body, "metadata": metadata, "spec": spec, "status": status}


def is_cpu(metric: Body) -> bool:
    return metric["type"] == "Resource" and (metric.get("resource") or {}).get("name") == "cpu"


def source_of(metric: Body) -> str:
    """The field that holds the source of a metric of this type."""
    name = str(metric.get("type") or "")
    return name[:1].lower() + name[1:]


def older(metric: Body, part: str, prefix: str) -> Body:
    """A metric of v2 in the words of v1; *part* is `target` or `current`."""
    name = source_of(metric)
    source = metric.get(name) or {}
    amounts, made = source.get(part) or {}, dict[str, Any]()
    if name in ("resource", "containerResource"):
        made["name"] = source.get("name", "")
        if "averageUtilization" in amounts:
            made[f"{prefix}AverageUtilization"] = amounts["averageUtilization"]
        if "averageValue" in amounts or prefix == "current":
            made[f"{prefix}AverageValue"] = amounts.get("averageValue", "0")
        if name == "containerResource":
            made["container"] = source.get("container", "")
        return {"type": metric["type"], name: made}
    asked = source.get("metric") or {}
    if name == "object":
        made["target"] = source.get("describedObject") or {}
    made["metricName"] = asked.get("name", "")
    selector = asked.get("selector")
    if name == "external":
        made |= {"metricSelector": selector} if selector is not None else {}
        made |= {f"{prefix}Value": amounts["value"]} if "value" in amounts else {}
        made |= {f"{prefix}AverageValue": amounts["averageValue"]} if "averageValue" in amounts else {}
        return {"type": metric["type"], name: made}
    if name == "object":
        made[f"{prefix}Value"] = amounts.get("value", "0")
    else:
        made[f"{prefix}AverageValue"] = amounts.get("averageValue", "0")
    made |= {"selector": selector} if selector is not None else {}
    if name == "object" and "averageValue" in amounts:
        made["averageValue"] = amounts["averageValue"]
    return {"type": metric["type"], name: made}


def newer(metric: Body, part: str) -> Body:
    """A metric of v1 in the words of v2."""
    name = source_of(metric)
    source = metric.get(name) or {}
    amounts = {
        field: source[old]
        for field, old in (
            ("averageUtilization", f"{part}AverageUtilization"),
            ("value", f"{part}Value"),
            ("averageValue", f"{part}AverageValue"),
            ("averageValue", "averageValue"),
        )
        if source.get(old) not in (None, "0")
    }
    if part == "target":
        kind = next((t for t, field in reversed(TARGETS.items()) if field in amounts), "Value")
        if "averageUtilization" in amounts:
            kind = "Utilization"
        amounts = {"type": kind, **amounts}
    made: Body = {part: amounts}
    if name in ("resource", "containerResource"):
        made["name"] = source.get("name", "")
        if name == "containerResource":
            made["container"] = source.get("container", "")
        return {"type": metric.get("type", ""), name: made}
    asked = {"name": source.get("metricName", "")}
    selector = source.get("metricSelector") or source.get("selector")
    made["metric"] = asked | ({"selector": selector} if selector is not None else {})
    if name == "object":
        made["describedObject"] = source.get("target") or {}
    return {"type": metric.get("type", ""), name: made}


RULE = ("StabilizationWindowSeconds", "SelectPolicy", "Policies", "Tolerance")


def capitals(rules: Body | None) -> Body | None:
    """Rules of scaling as Kubernetes' internal types are written: capital letters, and every field."""
    if rules is None:
        return None
    made = {name: rules.get(name[:1].lower() + name[1:]) for name in RULE}
    if made["Policies"] is not None:
        names = ("type", "value", "periodSeconds")
        made["Policies"] = [{n[:1].upper() + n[1:]: p.get(n) for n in names} for p in made["Policies"]]
    return made


def small(value: Any) -> Any:
    """And back: without what is not set."""
    if isinstance(value, list):
        return [small(v) for v in value]
    if isinstance(value, dict):
        return {k[:1].lower() + k[1:]: small(v) for k, v in value.items() if v is not None}
    return value


def read(text: str | None) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return None


def listed(text: str | None) -> list[Body]:
    found = read(text)
    return [m for m in found if isinstance(m, dict)] if isinstance(found, list) else []
