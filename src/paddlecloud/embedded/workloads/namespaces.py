"""What is left in a namespace that goes, told in its conditions as Kubernetes tells it; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ...api.meta import Resource

Body = dict[str, Any]
WELL = (
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    (
        "NamespaceDeletionGroupVersionParsingFailure",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
)


def conditions(remaining: Iterable[Resource], old: Iterable[Body], now: str) -> list[Body]:
    """The conditions of a namespace in which the *remaining* objects wait for somebody to let them go."""
    left = list(remaining)
    kinds = Counter(f"{o.plural}.{o.group()}" for o in left)
    finalizers = Counter(f for o in left for f in o.metadata.finalizers)
    told = [condition(kind, "False", reason, message) for kind, reason, message in WELL]
    told += [
        content(kinds)
        if kinds
        else condition(
            "NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed"
        ),
        held(finalizers)
        if finalizers
        else condition(
            "NamespaceFinalizersRemaining",
            "False",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
    ]
    before = {c["type"]: c for c in old}
    for made in told:
        same = before.get(made["type"], {}).get("status") == made["status"]
        made["lastTransitionTime"] = before[made["type"]]["lastTransitionTime"] if same else now
    return told


def content(kinds: Counter[str]) -> Body:
    listed = ", ".join(f"{kind} has {count} resource instances" for kind, count in sorted(kinds.items()))
    message = f"Some resources are remaining: {listed}"
    return condition("NamespaceContentRemaining", "True", "SomeResourcesRemain", message)


def held(finalizers: Counter[str]) -> Body:
    listed = ", ".join(f"{name} in {count} resource instances" for name, count in sorted(finalizers.items()))
    message = f"Some content in the namespace has finalizers remaining: {listed}"
    return condition("NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", message)


def condition(kind: str, status: str, reason: str, message: str) -> Body:
    return {"type": kind, "status": status, "reason": reason, "message": message}
