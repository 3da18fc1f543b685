"""LimitRanges themselves: what they may not say; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .checks_resources import check_resource_name, shown
from .complaints import duplicate, forbidden, invalid, required, unquoted
from .facts.scalars import amount
from .names import qualified_problems
from .schema import Violation

Body = dict[str, Any]
TYPES = ("Pod", "Container", "PersistentVolumeClaim")
FIELDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


def check_limits(body: Body, _: Body | None) -> Iterator[Violation]:
    seen: set[str] = set()
    for i, item in enumerate(body["spec"].get("limits") or ()):
        path, kind = f"spec.limits[{i}]", item["type"]
        problems = list(qualified_problems(kind))
        yield from (invalid(f"{path}.type", kind, problem) for problem in problems)
        if not problems and kind not in TYPES and "/" not in kind:
            yield invalid(f"{path}.type", kind, "must be a standard limit type or fully qualified")
        if kind in seen:
            yield duplicate(f"{path}.type", kind)
        seen.add(kind)
        yield from check_item(item, kind, path)


def check_item(item: Body, kind: str, path: str) -> Iterator[Violation]:
    parts = {field: item.get(field) or {} for field in FIELDS}
    for field in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
        if field.startswith("default") and kind == "Pod" and parts[field]:
            yield forbidden(f"{path}.{field}", "may not be specified when `type` is 'Pod'")
        elif kind == "Container":
            for name in parts[field]:
                yield from check_resource_name(name, f"{path}.{field}[{name}]")
    if kind == "PersistentVolumeClaim" and not any("storage" in parts[f] for f in ("min", "max")):
        why = "either minimum or maximum storage value is required, but neither was provided"
        yield required(f"{path}.limits", why)
    for name in sorted({name for field in FIELDS for name in parts[field]}):
        yield from check_order(name, parts, path)


def check_order(name: str, parts: dict[str, Body], path: str) -> Iterator[Violation]:
    """The least, what is asked for by default, the default limit and the most must come in this order."""
    least, most = parts["min"].get(name), parts["max"].get(name)
    given, asked = parts["default"].get(name), parts["defaultRequest"].get(name)
    ratio = parts["maxLimitRequestRatio"].get(name)

    def wrong(field: str, value: str, why: str) -> Violation:
        return unquoted(f"{path}.{field}[{name}]", shown(value), why)

    def above(one: str | None, other: str | None) -> bool:
        return one is not None and other is not None and amount(one) > amount(other)

    if above(least, most):
        yield wrong("min", least or "", f"min value {least} is greater than max value {most}")
    if above(least, asked):
        why = f"min value {least} is greater than default request value {asked}"
        yield wrong("defaultRequest", asked or "", why)
    if above(asked, most):
        why = f"default request value {asked} is greater than max value {most}"
        yield wrong("defaultRequest", asked or "", why)
    if above(asked, given):
        why = f"default request value {asked} is greater than default limit value {given}"
        yield wrong("defaultRequest", asked or "", why)
    if above(least, given):
        yield wrong("default", least or "", f"min value {least} is greater than default value {given}")
    if above(given, most):
        yield wrong("default", most or "", f"default value {given} is greater than max value {most}")
    if ratio is None:
        return
    if amount(ratio) < 1:
        yield wrong("maxLimitRequestRatio", ratio, f"ratio {ratio} is less than 1")
    if (
        least is not None
        and most is not None
        and amount(least)
        and amount(ratio) > amount(most) / amount(least)
    ):
        bound = float(amount(most) / amount(least))
        why = f"ratio {ratio} is greater than max/min = {bound:.6f}"
        yield wrong("maxLimitRequestRatio", ratio, why)
