"""What a container asks for: names of resources, amounts, requests and limits; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .complaints import forbidden, invalid, required, unquoted, unsupported
from .facts.scalars import amount
from .names import qualified_problems
from .schema import Violation

Body = dict[str, Any]
HUGE = "hugepages-"
COMPUTE = ("cpu", "memory", "ephemeral-storage")
# Known as resources of something, though of no container.
ELSEWHERE = (
    "pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps", "storage",
    "persistentvolumeclaims", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory",
    "requests.storage", "limits.ephemeral-storage", "requests.ephemeral-storage", "services.nodeports",
    "services.loadbalancers",
)  # fmt: skip
SCALES = {"": 0, "m": -3, "u": -6, "n": -9, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def check_resources(resources: Body, path: str) -> Iterator[Violation]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, value in limits.items():
        yield from check_amount(name, value, f"{path}.limits[{name}]")
    for name, value in requests.items():
        yield from check_amount(name, value, f"{path}.requests[{name}]")
        limit = limits.get(name)
        if limit is None:
            if not overcommitted(name):
                yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        elif not overcommitted(name) and amount(value) != amount(limit):
            yield invalid(f"{path}.requests", value, f"must be equal to {name} limit of {limit}")
        elif amount(value) > amount(limit):
            yield invalid(f"{path}.requests", value, f"must be less than or equal to {name} limit of {limit}")
    named = {*limits, *requests}
    if any(name.startswith(HUGE) for name in named) and not named & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")


def check_amount(name: str, value: str, path: str) -> Iterator[Violation]:
    yield from check_resource_name(name, path)
    if amount(value) < 0:
        yield invalid(path, value, "must be greater than or equal to 0")
    elif extended(name) and amount(value) % 1:
        yield unquoted(path, shown(value), "must be an integer")
    elif name.startswith(HUGE):
        page = amount(name.removeprefix(HUGE))
        if page > 0 and amount(value) % page:
            yield invalid(path, value, f"{value} is not positive integer multiple of {name}")


def check_resource_name(name: str, path: str) -> Iterator[Violation]:
    problems = list(qualified_problems(name))
    yield from (unquoted(path, name, problem) for problem in problems)
    if name in COMPUTE or name.startswith(HUGE):
        return
    if "/" not in name:
        if name not in ELSEWHERE:
            yield unquoted(path, name, "must be a standard resource type or fully qualified")
        yield unquoted(path, name, "must be a standard resource for containers")
    elif problems or not extended(name):
        yield unquoted(path, name, "doesn't follow extended resource name standard")


def extended(name: str) -> bool:
    """A resource that nodes are told of, such as GPUs; whole numbers only."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def overcommitted(name: str) -> bool:
    """Whether a node may promise more of it than it has."""
    return not extended(name) and not name.startswith(HUGE)


def shown(value: str) -> str:
    """A quantity as Go prints the struct."""
    match = re.fullmatch(r"([-+]?\d+)([a-zA-Z]?)", value)
    number, scale = (match[1], SCALES.get(match[2], 0)) if match else (value, 0)
    return (
        f"resource.Quantity{{i:resource.int64Amount{{value:{number}, scale:{scale}}}, "
        f'd:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}, s:"{value}", Format:"DecimalSI"}}'
    )


def check_resizing(policies: list[Body], path: str) -> Iterator[Violation]:
    for policy in policies:
        name, action = policy["resourceName"], policy["restartPolicy"]
        if name not in ("cpu", "memory"):
            why = f'Unsupported value: {name}: supported values: "cpu", "memory"'
            yield Violation(path, "FieldValueNotSupported", why)
        if action not in ("NotRequired", "RestartContainer"):
            yield unsupported(path, action, ("NotRequired", "RestartContainer"))
