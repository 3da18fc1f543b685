"""Roles made of roles: an aggregated ClusterRole has the rules of every role its selectors find.

`aggregated` is pure. The server keeps the rules itself, in the step after a role changed: a controller
would need the right to grant everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any

from ..store import Place
from .kinds import Kind
from .objects import Objects
from .rbac import CLUSTER_ROLES
from .settling import settled
from .writing import WriteOptions

Body = dict[str, Any]


def aggregated(roles: Iterable[Body]) -> dict[str, list[Body]]:
    """The rules that aggregated roles should have and do not have, by the name of the role."""
    everything = sorted(roles, key=lambda r: str(r["metadata"]["name"]))
    rules = {r["metadata"]["name"]: r.get("rules") or [] for r in everything}
    chosen = [r for r in everything if r.get("aggregationRule")]
    changed: dict[str, list[Body]] = {}
    # Aggregated roles may be parts of one another: again until nothing changes.
    for _ in range(len(chosen) + 1):
        settled = True
        for role in chosen:
            name = role["metadata"]["name"]
            selectors = role["aggregationRule"].get("clusterRoleSelectors") or ()
            wanted: list[Body] = []
            for other in everything:
                if other is role or not any(selects(s, other) for s in selectors):
                    continue
                wanted += (r for r in rules[other["metadata"]["name"]] if r not in wanted)
            if wanted != rules[name]:
                rules[name] = changed[name] = wanted
                settled = False
        if settled:
            break
    return changed


def selects(selector: Body, role: Body) -> bool:
    labels = role["metadata"].get("labels") or {}
    if any(labels.get(k) != v for k, v in (selector.get("matchLabels") or {}).items()):
        return False
    return all(fits(e, labels) for e in selector.get("matchExpressions") or ())


def fits(expression: Body, labels: Body) -> bool:
    key, values = expression.get("key"), expression.get("values") or ()
    tests: dict[str, Callable[[], bool]] = {
        "In": lambda: key in labels and labels[key] in values,
        "NotIn": lambda: key not in labels or labels[key] not in values,
        "Exists": lambda: key in labels,
        "DoesNotExist": lambda: key not in labels,
    }
    test = tests.get(str(expression.get("operator")))
    return test is not None and test()


async def settle(objects: Objects) -> None:
    """Write every aggregated role whose rules are not what they should be."""
    kind = role_kind(objects)
    for name, rules in aggregated(e.load() for e in objects.store.entries(CLUSTER_ROLES)).items():
        place = Place(CLUSTER_ROLES, "", name)
        entry = objects.store.get(place)
        if entry is not None:
            await objects.update(kind, place, entry.load() | {"rules": rules}, WriteOptions())


def kept(objects: Objects) -> AbstractAsyncContextManager[None]:
    """Inside this block aggregated roles follow their parts."""
    return settled(objects.store, CLUSTER_ROLES, lambda: settle(objects), "aggregated roles")


def role_kind(objects: Objects) -> Kind:
    return next(k for k in objects.registry.kinds if k.resource == CLUSTER_ROLES)
