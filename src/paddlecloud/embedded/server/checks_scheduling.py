"""Where a pod may run: selectors, affinities, tolerations, spreading; what they may not be; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .checks_words import check_label, check_qualified, check_subdomain
from .complaints import duplicate, forbidden, invalid, one_of, required, unsupported
from .names import check_labels, label_value_problems
from .schema import Violation

Body = dict[str, Any]
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution",
)  # fmt: skip


def check_selector(selector: Body | None, path: str) -> Iterator[Violation]:
    """A label selector."""
    if selector is None:
        return
    yield from check_labels(selector.get("matchLabels"), f"{path}.matchLabels")
    for i, term in enumerate(selector.get("matchExpressions") or ()):
        yield from check_requirement(term, f"{path}.matchExpressions[{i}]")


def check_requirement(term: Body, path: str, *, of_nodes: bool = False) -> Iterator[Violation]:
    operator, values = term["operator"], term.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(
                f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            )
    elif of_nodes and operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from check_qualified(term["key"], f"{path}.key")
    for i, value in enumerate(values):
        yield from (invalid(f"{path}.values[{i}]", value, p) for p in label_value_problems(value))


def check_node_field(term: Body, path: str) -> Iterator[Violation]:
    operator, values = term["operator"], term.get("values") or ()
    if operator not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        yield required(
            f"{path}.values",
            "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        )
    if term["key"] != "metadata.name":
        yield invalid(f"{path}.key", term["key"], "not a valid field selector key")
    else:
        for i, value in enumerate(values):
            yield from check_subdomain(value, f"{path}.values[{i}]")


def check_node_term(term: Body, path: str) -> Iterator[Violation]:
    for i, item in enumerate(term.get("matchExpressions") or ()):
        yield from check_requirement(item, f"{path}.matchExpressions[{i}]", of_nodes=True)
    for i, item in enumerate(term.get("matchFields") or ()):
        yield from check_node_field(item, f"{path}.matchFields[{i}]")


def check_node_selector(selector: Body, path: str) -> Iterator[Violation]:
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for i, term in enumerate(terms):
        yield from check_node_term(term, f"{path}.nodeSelectorTerms[{i}]")


def check_affinity(affinity: Body, path: str) -> Iterator[Violation]:
    if nodes := affinity.get("nodeAffinity"):
        here = f"{path}.nodeAffinity"
        if (wanted := nodes.get(REQUIRED)) is not None:
            yield from check_node_selector(wanted, f"{here}.{REQUIRED}")
        for i, item in enumerate(nodes.get(PREFERRED) or ()):
            yield from check_weight(item["weight"], f"{here}.{PREFERRED}[{i}].weight")
            yield from check_node_term(item["preference"], f"{here}.{PREFERRED}[{i}].preference")
    for kind in ("podAffinity", "podAntiAffinity"):
        pods, here = affinity.get(kind) or {}, f"{path}.{kind}"
        for i, item in enumerate(pods.get(REQUIRED) or ()):
            yield from check_pod_term(item, f"{here}.{REQUIRED}[{i}]")
        for i, item in enumerate(pods.get(PREFERRED) or ()):
            yield from check_weight(item["weight"], f"{here}.{PREFERRED}[{i}].weight")
            yield from check_pod_term(item["podAffinityTerm"], f"{here}.{PREFERRED}[{i}].podAffinityTerm")


def check_weight(weight: int, path: str) -> Iterator[Violation]:
    if not 1 <= weight <= 100:
        yield invalid(path, weight, "must be in the range 1-100")


def check_pod_term(term: Body, path: str) -> Iterator[Violation]:
    yield from check_selector(term.get("labelSelector"), f"{path}.labelSelector")
    yield from check_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for name in term.get("namespaces") or ():
        yield from check_label(name, f"{path}.namespace")
    if not term["topologyKey"]:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from check_qualified(term["topologyKey"], f"{path}.topologyKey")


def check_tolerations(tolerations: list[Body], path: str) -> Iterator[Violation]:
    for i, item in enumerate(tolerations):
        yield from check_toleration(item, f"{path}[{i}]")


def check_toleration(item: Body, path: str) -> Iterator[Violation]:
    key, operator, value = item.get("key") or "", item.get("operator") or "", item.get("value") or ""
    effect = item.get("effect") or ""
    if key:
        yield from check_qualified(key, f"{path}.key")
    elif operator != "Exists":
        why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", operator, why)
    if item.get("tolerationSeconds") is not None and effect != "NoExecute":
        why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield invalid(f"{path}.effect", effect, why)
    if operator in ("", "Equal"):
        yield from (invalid(f"{path}.operator", value, p) for p in label_value_problems(value))
    elif operator == "Exists":
        if value:
            yield invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    else:
        yield unsupported(f"{path}.operator", operator, ("Equal", "Exists"))
    if effect:
        yield from one_of(effect, f"{path}.effect", EFFECTS)


def check_spreading(constraints: list[Body], path: str) -> Iterator[Violation]:
    known: set[tuple[str, str]] = set()
    for i, item in enumerate(constraints):
        here, action, key = f"{path}[{i}]", item["whenUnsatisfiable"], item["topologyKey"]
        if item["maxSkew"] <= 0:
            yield invalid(f"{here}.maxSkew", item["maxSkew"], "must be greater than zero")
        if not key:
            yield required(f"{here}.topologyKey", "can not be empty")
        yield from one_of(action, f"{here}.whenUnsatisfiable", ("DoNotSchedule", "ScheduleAnyway"))
        # Reported at the first of the two, as on a real server.
        if (key, action) in known:
            first = next(n for n, c in enumerate(constraints) if pair(c) == (key, action))
            yield duplicate(f"{path}[{first}].{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}")
        known.add((key, action))
        if (least := item.get("minDomains")) is not None:
            if least <= 0:
                yield invalid(f"{here}.minDomains", least, "must be greater than zero")
            if action != "DoNotSchedule":
                why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
                yield invalid(f"{here}.minDomains", least, why)
        yield from check_selector(item.get("labelSelector"), f"{here}.labelSelector")


def pair(constraint: Body) -> tuple[str, str]:
    return constraint["topologyKey"], constraint["whenUnsatisfiable"]
