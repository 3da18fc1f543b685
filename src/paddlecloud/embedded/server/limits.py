"""LimitRanges: what a container gets that asks for nothing, and what is too little or too much; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .quantities import NOTHING, Quantity, parse

Body = dict[str, Any]
NOTE = "kubernetes.io/limit-ranger"


def fill(pod: Body, ranges: Iterable[Body]) -> None:
    """Give the containers of a pod the defaults of the namespace, and note what was given."""
    limits = [item for r in ranges for item in r["spec"].get("limits") or () if item["type"] == "Container"]
    notes = []
    for field, word in (("containers", "container"), ("initContainers", "init container")):
        for container in pod["spec"].get(field) or ():
            resources = container.setdefault("resources", {})
            for part, source in (("requests", "defaultRequest"), ("limits", "default")):
                given = {k: v for item in limits for k, v in (item.get(source) or {}).items()}
                added = sorted(given.keys() - (resources.get(part) or {}).keys())
                if added:
                    own = {name: given[name] for name in added}
                    resources[part] = {**(resources.get(part) or {}), **own}
                    notes.append(f"{', '.join(added)} {part[:-1]} for {word} {container['name']}")
    if notes:
        annotations = pod["metadata"].setdefault("annotations", {})
        annotations[NOTE] = f"LimitRanger plugin set: {'; '.join(notes)}"


def problems(resource: str, body: Body, ranges: Iterable[Body]) -> list[str]:
    """Why the object is outside the limits of its namespace; empty where it is inside."""
    items = [item for r in ranges for item in r["spec"].get("limits") or ()]
    spec = body["spec"]
    if resource == "/persistentvolumeclaims":
        asked = amounts((spec.get("resources") or {}).get("requests"))
        return [p for item in items if item["type"] == "PersistentVolumeClaim" for p in sized(item, asked)]
    found: list[str] = []
    for item in items:
        if item["type"] == "Container":
            for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
                resources = container.get("resources") or {}
                found += outside(item, amounts(resources.get("requests")), amounts(resources.get("limits")))
        elif item["type"] == "Pod":
            found += outside(item, together(spec, "requests"), together(spec, "limits"))
    return found


Amounts = dict[str, Quantity]


def outside(item: Body, requests: Amounts, limits: Amounts) -> Iterator[str]:
    kind = item["type"]
    for name, least in sorted(amounts(item.get("min")).items()):
        rule = f"minimum {name} usage per {kind} is {least}"
        if name not in requests:
            yield f"{rule}.  No request is specified"
        elif requests[name].value < least.value:
            yield f"{rule}, but request is {requests[name]}"
    for name, most in sorted(amounts(item.get("max")).items()):
        rule = f"maximum {name} usage per {kind} is {most}"
        if name not in limits:
            yield f"{rule}.  No limit is specified"
        elif limits[name].value > most.value:
            yield f"{rule}, but limit is {limits[name]}"
    for name, ratio in sorted(amounts(item.get("maxLimitRequestRatio")).items()):
        rule = f"{name} max limit to request ratio per {kind} is {ratio}"
        asked, limit = requests.get(name, NOTHING), limits.get(name, NOTHING)
        if not asked.value:
            yield f"{rule}, but no request is specified or request is 0"
        elif not limit.value:
            yield f"{rule}, but no limit is specified or limit is 0"
        elif limit.value / asked.value > ratio.value:
            yield f"{rule}, but provided ratio is {float(limit.value / asked.value):.6f}"


def sized(item: Body, asked: Amounts) -> Iterator[str]:
    """A claim has no limit of its own: what it asks for is both."""
    for word, field in (("minimum", "min"), ("maximum", "max")):
        bound, own = amounts(item.get(field)).get("storage"), asked.get("storage", NOTHING)
        if bound is None:
            continue
        if (own.value < bound.value) if field == "min" else (own.value > bound.value):
            yield f"{word} storage usage per {item['type']} is {bound}, but request is {own}"


def together(spec: Body, part: str) -> Amounts:
    """What a whole pod asks for: all containers at once, or the largest of those that run before."""
    total: Amounts = {}
    for container in spec.get("containers") or ():
        for name, amount in amounts((container.get("resources") or {}).get(part)).items():
            total[name] = total.get(name, NOTHING) + amount
    for container in spec.get("initContainers") or ():
        for name, amount in amounts((container.get("resources") or {}).get(part)).items():
            total[name] = max(total.get(name, NOTHING), amount, key=lambda q: q.value)
    return total


def amounts(texts: Body | None) -> Amounts:
    return {name: parse(text) for name, text in (texts or {}).items()}
