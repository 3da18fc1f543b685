"""What roles and bindings may look like, in Kubernetes' words; pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .names import QUALIFIED, path_problem, subdomain_problem
from .rbac import GROUP
from .schema import Violation

Body = dict[str, Any]
NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


def required(field: str, why: str = "") -> Violation:
    return Violation(field, "FieldValueRequired", f"Required value: {why}" if why else "Required value")


def unsupported(field: str, value: str, *supported: str) -> Violation:
    known = ", ".join(json.dumps(s) for s in supported)
    return Violation(
        field, "FieldValueNotSupported", f"Unsupported value: {json.dumps(value)}: supported values: {known}"
    )


def check_role(role: Body, _: Body | None) -> Iterator[Violation]:
    for i, rule in enumerate(role.get("rules") or ()):
        yield from check_rule(rule, f"rules[{i}]", namespaced=True)


def check_cluster_role(role: Body, _: Body | None) -> Iterator[Violation]:
    for i, rule in enumerate(role.get("rules") or ()):
        yield from check_rule(rule, f"rules[{i}]", namespaced=False)
    aggregation = role.get("aggregationRule")
    if aggregation is None:
        return
    field = "aggregationRule.clusterRoleSelectors"
    selectors = aggregation.get("clusterRoleSelectors") or ()
    if not selectors:
        yield required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil")
    for i, selector in enumerate(selectors):
        wrong = [k for k in selector.get("matchLabels") or () if not QUALIFIED.fullmatch(k)]
        for key in wrong:
            message = f"Invalid value: {json.dumps(key)}: {NAME_PART}"
            yield Violation(f"{field}[{i}].matchLabels", "FieldValueInvalid", message)
        if wrong:
            yield Violation(
                f"{field}[{i}]", "FieldValueInvalid", 'Invalid value: "null": invalid label selector.'
            )


def check_rule(rule: Body, field: str, *, namespaced: bool) -> Iterator[Violation]:
    if not rule.get("verbs"):
        yield required(f"{field}.verbs", "verbs must contain at least one value")
    if urls := rule.get("nonResourceURLs"):
        shown = f"[]string{{{', '.join(json.dumps(u) for u in urls)}}}"
        both = any(rule.get(f) for f in ("apiGroups", "resources", "resourceNames"))
        problems = ["namespaced rules cannot apply to non-resource URLs"] if namespaced else []
        problems += ["rules cannot apply to both regular resources and non-resource URLs"] if both else []
        for problem in problems:
            yield Violation(
                f"{field}.nonResourceURLs", "FieldValueInvalid", f"Invalid value: {shown}: {problem}"
            )
        return
    if not rule.get("apiGroups"):
        yield required(f"{field}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield required(f"{field}.resources", "resource rules must supply at least one resource")


def complete_binding(binding: Body) -> None:
    """A reference without a group is to ours; users and groups belong to it as well."""
    reference = binding.setdefault("roleRef", {})
    if isinstance(reference, dict) and not reference.get("apiGroup"):
        reference["apiGroup"] = GROUP
    for subject in binding.get("subjects") or ():
        if subject.get("kind") in ("User", "Group") and not subject.get("apiGroup"):
            subject["apiGroup"] = GROUP
    if not binding.get("subjects"):
        binding.pop("subjects", None)


def check_role_binding(binding: Body, old: Body | None) -> Iterator[Violation]:
    yield from check_binding(binding, old, ("Role", "ClusterRole"), namespaced=True)


def check_cluster_binding(binding: Body, old: Body | None) -> Iterator[Violation]:
    yield from check_binding(binding, old, ("ClusterRole",), namespaced=False)


def check_binding(
    binding: Body, old: Body | None, kinds: tuple[str, ...], *, namespaced: bool
) -> Iterator[Violation]:
    reference = binding.get("roleRef") or {}
    group, kind, name = (str(reference.get(f) or "") for f in ("apiGroup", "kind", "name"))
    if group != GROUP:
        yield unsupported("roleRef.apiGroup", group, GROUP)
    if kind not in kinds:
        yield unsupported("roleRef.kind", kind, *kinds)
    if not name:
        yield required("roleRef.name")
    elif problem := path_problem(name):
        yield Violation("roleRef.name", "FieldValueInvalid", f"Invalid value: {json.dumps(name)}: {problem}")
    for i, subject in enumerate(binding.get("subjects") or ()):
        yield from check_subject(subject, f"subjects[{i}]", namespaced=namespaced)
    if old is not None and old.get("roleRef") != reference:
        shown = (
            f"rbac.RoleRef{{APIGroup:{json.dumps(group)}, Kind:{json.dumps(kind)}, Name:{json.dumps(name)}}}"
        )
        yield Violation("roleRef", "FieldValueInvalid", f"Invalid value: {shown}: cannot change roleRef")


def check_subject(subject: Body, field: str, *, namespaced: bool) -> Iterator[Violation]:
    kind, name, group = (str(subject.get(f) or "") for f in ("kind", "name", "apiGroup"))
    if not name:
        yield required(f"{field}.name")
    match kind:
        case "ServiceAccount":
            if name and (problem := subdomain_problem(name)):
                message = f"Invalid value: {json.dumps(name)}: {problem}"
                yield Violation(f"{field}.name", "FieldValueInvalid", message)
            if group:
                yield unsupported(f"{field}.apiGroup", group, "")
            if not namespaced and not subject.get("namespace"):
                yield required(f"{field}.namespace")
        case "User" | "Group":
            if group != GROUP:
                yield unsupported(f"{field}.apiGroup", group, GROUP)
        case _:
            yield unsupported(f"{field}.kind", kind, "ServiceAccount", "User", "Group")
