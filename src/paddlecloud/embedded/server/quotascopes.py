"""Scopes of ResourceQuotas: which objects a quota speaks of, and which scopes make sense; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .complaints import invalid, required, unquoted
from .gotext import texts
from .rules_pods import quality
from .schema import Violation

Body = dict[str, Any]
SCOPES = (
    "Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass",
    "CrossNamespacePodAffinity",
)  # fmt: skip
OPPOSITES = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
COMPUTE = ("cpu", "memory", "ephemeral-storage")
OF_PODS = {"pods", "count/pods", *COMPUTE, *(f"{k}.{n}" for k in ("requests", "limits") for n in COMPUTE)}
ONLY_EXISTS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
    "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
    "ResourceQuotaScopeCrossNamespacePodAffinity"
)


def covers(quota: Body, resource: str, body: Body) -> bool:
    """Whether the quota counts this object; one without scopes counts everything."""
    wanted = list(selectors(quota))
    if not wanted:
        return True
    return resource == "/pods" and all(fits(term, body["spec"]) for term in wanted)


def selectors(quota: Body) -> Iterator[Body]:
    spec = quota.get("spec") or {}
    for scope in spec.get("scopes") or ():
        yield {"scopeName": scope, "operator": "Exists"}
    yield from (spec.get("scopeSelector") or {}).get("matchExpressions") or ()


def fits(term: Body, pod: Body) -> bool:
    match term["scopeName"]:
        case "Terminating":
            return pod.get("activeDeadlineSeconds") is not None
        case "NotTerminating":
            return pod.get("activeDeadlineSeconds") is None
        case "BestEffort":
            return quality(pod) == "BestEffort"
        case "NotBestEffort":
            return quality(pod) != "BestEffort"
        case "PriorityClass":
            return chosen(term, pod.get("priorityClassName") or "")
        case "CrossNamespacePodAffinity":
            return crosses(pod)
    return False


def chosen(term: Body, name: str) -> bool:
    values = term.get("values") or ()
    return {
        "Exists": bool(name), "DoesNotExist": not name, "In": name in values, "NotIn": name not in values,
    }.get(term["operator"], False)  # fmt: skip


def crosses(pod: Body) -> bool:
    """Whether the pod looks at pods of other namespaces to find its place."""
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity = (pod.get("affinity") or {}).get(kind) or {}
        terms = list(affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += (item["podAffinityTerm"] for item in preferred)
        if any(t.get("namespaces") or t.get("namespaceSelector") is not None for t in terms):
            return True
    return False


def check_scopes(quota: Body) -> Iterator[Violation]:
    spec = quota.get("spec") or {}
    hard, scopes = spec.get("hard") or {}, spec.get("scopes") or []
    shown = f"[]core.ResourceQuotaScope{{{', '.join(f'{chr(34)}{s}{chr(34)}' for s in scopes)}}}"
    for scope in scopes:
        if scope not in SCOPES:
            yield unquoted("spec.scopes", shown, "unsupported scope")
        elif any(not limits(scope, name) for name in hard):
            yield unquoted("spec.scopes", shown, "unsupported scope applied to resource")
    if any(pair <= set(scopes) for pair in OPPOSITES):
        yield unquoted("spec.scopes", shown, "conflicting scopes")
    for term in (spec.get("scopeSelector") or {}).get("matchExpressions") or ():
        yield from check_term(term, "spec.scopeSelector.matchExpressions")


def limits(scope: str, name: str) -> bool:
    """Whether a resource can be limited in a scope: what best-effort pods ask for is nothing."""
    return name in ("pods", "count/pods") if scope == "BestEffort" else name in OF_PODS


def check_term(term: Body, path: str) -> Iterator[Violation]:
    scope, operator, values = term["scopeName"], term["operator"], term.get("values") or []
    if scope not in SCOPES:
        yield invalid(f"{path}.scopeName", scope, "unsupported scope")
    elif scope != "PriorityClass" and operator != "Exists":
        yield invalid(f"{path}.operator", operator, ONLY_EXISTS)
        return
    if operator in ("In", "NotIn"):
        if not values:
            why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            yield required(f"{path}.values", why)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            yield unquoted(f"{path}.values", texts(values), why)
    else:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
