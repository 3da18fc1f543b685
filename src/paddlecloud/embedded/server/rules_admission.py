"""Priorities, webhooks and policies of admission: kept and completed, though nothing calls them; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .schema import Violation

Body = dict[str, Any]
HIGHEST = 1_000_000_000


def complete_priority(body: Body) -> None:
    body.setdefault("preemptionPolicy", "PreemptLowerPriority")


def check_priority(body: Body, old: Body | None) -> Iterator[Violation]:
    if not body["metadata"].get("name", "").startswith("system-") and body["value"] > HIGHEST:
        why = f"Forbidden: maximum allowed value of a user defined priority is {HIGHEST}"
        yield Violation("value", "FieldValueForbidden", why)
    if old is not None and body["value"] != old["value"]:
        yield Violation("value", "FieldValueForbidden", "Forbidden: may not be changed in an update.")


def complete_webhooks(body: Body) -> None:
    for hook in body.get("webhooks") or ():
        for field, value in (
            ("failurePolicy", "Fail"),
            ("matchPolicy", "Equivalent"),
            ("timeoutSeconds", 10),
        ):
            hook.setdefault(field, value)
        hook.setdefault("namespaceSelector", {})
        hook.setdefault("objectSelector", {})
        if body["kind"].startswith("Mutating"):
            hook.setdefault("reinvocationPolicy", "Never")
        if service := hook["clientConfig"].get("service"):
            service.setdefault("port", 443)
        for rule in hook.get("rules") or ():
            rule.setdefault("scope", "*")


def complete_policy(body: Body) -> None:
    """Admission policies in CEL and their bindings."""
    spec = body["spec"]
    if body["kind"] == "ValidatingAdmissionPolicy":
        spec.setdefault("failurePolicy", "Fail")
        constraints = spec.get("matchConstraints")
    else:
        constraints = spec.get("matchResources")
    if constraints is not None:
        constraints.setdefault("matchPolicy", "Equivalent")
        constraints.setdefault("namespaceSelector", {})
        constraints.setdefault("objectSelector", {})
