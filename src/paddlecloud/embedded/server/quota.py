"""ResourceQuota: what an object uses, what a namespace has used, and whether one more fits; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from ...errors import BadRequest
from . import gotext
from .quantities import NOTHING, Quantity, parse
from .quotascopes import check_scopes
from .schema import Violation

Body = dict[str, Any]
Usage = dict[str, Quantity]
COUNTED = {
    "/pods": "pods",
    "/services": "services",
    "/configmaps": "configmaps",
    "/secrets": "secrets",
    "/persistentvolumeclaims": "persistentvolumeclaims",
    "/replicationcontrollers": "replicationcontrollers",
    "/resourcequotas": "resourcequotas",
}
COMPUTE = ("cpu", "memory", "ephemeral-storage")
# A limit on one of these makes every container say how much it wants.
TOLD = {
    **{name: ("requests", name) for name in COMPUTE},
    **{f"requests.{name}": ("requests", name) for name in COMPUTE},
    **{f"limits.{name}": ("limits", name) for name in COMPUTE},
}
KNOWN = {*COUNTED.values(), *TOLD, "requests.storage", "services.loadbalancers", "services.nodeports"}


def uses(resource: str, body: Body) -> Usage:
    """What an object counts for; *resource* is `group/plural`."""
    group, _, plural = resource.rpartition("/")
    found: Usage = {f"count/{plural}.{group}" if group else f"count/{plural}": Quantity(1)}
    if resource == "/pods":
        return {**found, **(pod_uses(body) if lives(body) else {})}
    if name := COUNTED.get(resource):
        found[name] = Quantity(1)
    spec = body.get("spec") or {}
    if resource == "/persistentvolumeclaims":
        asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
        found["requests.storage"] = parse(asked) if asked else NOTHING
        if storage_class := spec.get("storageClassName"):
            own = f"{storage_class}.storageclass.storage.k8s.io"
            found[f"{own}/requests.storage"] = found["requests.storage"]
            found[f"{own}/persistentvolumeclaims"] = Quantity(1)
    if resource == "/services":
        found["services.loadbalancers"] = Quantity(int(spec.get("type") == "LoadBalancer"))
        found["services.nodeports"] = Quantity(sum(1 for p in spec.get("ports") or () if p.get("nodePort")))
    return found


def lives(pod: Body) -> bool:
    return (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")


def pod_uses(pod: Body) -> Usage:
    found: Usage = {"pods": Quantity(1)}
    spec = pod.get("spec") or {}
    for kind in ("requests", "limits"):
        together: Usage = {}
        for container in spec.get("containers") or ():
            for name, text in wants(container, kind).items():
                together[name] = together.get(name, NOTHING) + parse(text)
        for container in spec.get("initContainers") or ():
            for name, text in wants(container, kind).items():
                # Before the others, one after the other: the largest counts.
                together[name] = max(together.get(name, NOTHING), parse(text), key=lambda q: q.value)
        for name, total in together.items():
            found[f"{kind}.{name}"] = total
            if kind == "requests" and name in COMPUTE:
                found[name] = total
    return found


def wants(container: Body, kind: str) -> dict[str, Any]:
    resources = container.get("resources") or {}
    given = resources.get(kind) or {}
    # What is limited and not asked for is asked for.
    return {**(resources.get("limits") or {}), **given} if kind == "requests" else given


def total(objects: Iterable[Usage], names: Iterable[str]) -> Usage:
    """The sum for the *names* a quota limits."""
    found = dict.fromkeys(names, NOTHING)
    for usage in objects:
        for name in found.keys() & usage.keys():
            found[name] = found[name] + usage[name]
    return found


def limits_of(quota: Body) -> Usage:
    return {name: parse(text) for name, text in ((quota.get("spec") or {}).get("hard") or {}).items()}


def status_of(quota: Body, used: Usage) -> Body:
    """The status that says so; amounts that nobody limits are left out."""
    hard = (quota.get("spec") or {}).get("hard") or {}
    return {"hard": dict(hard), "used": {name: str(used.get(name, NOTHING)) for name in sorted(hard)}}


def used_by(quota: Body) -> Usage:
    return {name: parse(text) for name, text in ((quota.get("status") or {}).get("used") or {}).items()}


def more_than(new: Usage, old: Usage) -> Usage:
    """What an update asks for beyond what the object has."""
    return {n: q - old[n] if n in old else q for n, q in new.items()}


def exceeded(quota: Body, asked: Usage) -> str:
    """Why *asked* does not fit any more, in Kubernetes' words; empty where it fits."""
    hard, used = limits_of(quota), used_by(quota)
    over = sorted(
        name
        for name, amount in asked.items()
        if name in hard
        and amount.value > 0
        and used.get(name, NOTHING).value + amount.value > hard[name].value
    )
    if not over:
        return ""
    name = quota["metadata"]["name"]
    parts = (listed(over, asked), listed(over, used), listed(over, hard))
    return f"exceeded quota: {name}, requested: {parts[0]}, used: {parts[1]}, limited: {parts[2]}"


def listed(names: Iterable[str], amounts: Mapping[str, Quantity]) -> str:
    return ",".join(f"{name}={amounts.get(name, NOTHING)}" for name in names)


def untold(quota: Body, pod: Body) -> str:
    """Which containers do not say what the quota limits; empty where all do."""
    missing = []
    spec = pod.get("spec") or {}
    for name in sorted(limits_of(quota)):
        kind, what = TOLD.get(name, ("", ""))
        containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
        silent = [str(c.get("name")) for c in containers if kind and what not in wants(c, kind)]
        if silent:
            missing.append(f"{name} for: {','.join(sorted(silent))}")
    return f"failed quota: {quota['metadata']['name']}: must specify {'; '.join(missing)}" if missing else ""


def check_quota(quota: Body, _: Body | None) -> Iterator[Violation]:
    yield from check_scopes(quota)
    for name, text in ((quota.get("spec") or {}).get("hard") or {}).items():
        field = f"spec.hard[{name}]"
        try:
            amount = parse(text)
        except ValueError as error:
            raise BadRequest(
                f'ResourceQuota in version "v1" cannot be handled as a ResourceQuota: {error}'
            ) from error
        if amount.value < 0:
            message = f"Invalid value: {gotext.quoted(str(text))}: must be greater than or equal to 0"
            yield Violation(field, "FieldValueInvalid", message)
        if "/" not in name and name not in KNOWN and not name.startswith(("requests.", "limits.")):
            for problem in ("must be a standard resource type or fully qualified", "must be a standard resource for quota"):  # fmt: skip # noqa: E501
                yield Violation(field, "FieldValueInvalid", f"Invalid value: {name}: {problem}")
        elif (name in COUNTED.values() or name.startswith("count/")) and Fraction(
            amount.value
        ).denominator != 1:
            yield Violation(field, "FieldValueInvalid", f"Invalid value: {text}: must be an integer")
