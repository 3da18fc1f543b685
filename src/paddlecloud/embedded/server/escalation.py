"""Nobody hands out more than they hold: which wanted rules are not covered by the held ones; pure.

Without this a user who may write roles could give themselves everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .rbac import Rule, rule_of

Body = Mapping[str, Any]


def missing(held: Iterable[Rule], wanted: Iterable[Body]) -> list[Body]:
    """The smallest parts of *wanted* that no single held rule covers, put together where that reads well."""
    owned = list(held)
    parts = [part for rule in wanted for part in broken_down(rule)]
    lacking = [p for p in parts if not any(covers(o, p) for o in owned)]
    return compact(lacking)


def broken_down(rule: Body) -> Iterator[dict[str, Any]]:
    """One verb on one resource (or one path), for one name if the rule has names."""
    for resource in rule.get("resources") or ():
        for group in rule.get("apiGroups") or ():
            for verb in rule.get("verbs") or ():
                one = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                names = rule.get("resourceNames") or ()
                yield from ({**one, "resourceNames": [name]} for name in names) if names else (one,)
    for url in rule.get("nonResourceURLs") or ():
        for verb in rule.get("verbs") or ():
            yield {"nonResourceURLs": [url], "verbs": [verb]}


def covers(held: Rule, part: Body) -> bool:
    wanted = rule_of(part)
    [verb] = wanted.verbs
    if wanted.urls:
        return held.covers_path(verb, wanted.urls[0])
    [group], [resource] = wanted.groups, wanted.resources
    if held.names and not (wanted.names and wanted.names <= held.names):
        return False
    return held.covers(verb, group, resource)


def compact(parts: Iterable[Body]) -> list[Body]:
    """Rules that differ in their verbs alone become one; in the order in which they are shown."""
    together: dict[tuple[str, str, str], dict[str, Any]] = {}
    found: list[Body] = []
    for part in parts:
        if "nonResourceURLs" in part:
            found += [part] if part not in found else []
            continue
        key = (part["apiGroups"][0], part["resources"][0], (part.get("resourceNames") or [""])[0])
        if key not in together:
            together[key] = {**part, "verbs": []}
            found.append(together[key])
        verbs = together[key]["verbs"]
        verbs += [v for v in part["verbs"] if v not in verbs]
    return sorted(found, key=shown)


def shown(rule: Body) -> str:
    """A rule as the refusal names it: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`."""
    fields = (
        ("APIGroups", "apiGroups"),
        ("Resources", "resources"),
        ("NonResourceURLs", "nonResourceURLs"),
        ("ResourceNames", "resourceNames"),
        ("Verbs", "verbs"),
    )
    parts = [
        f"{title}:[{' '.join(quoted(v) for v in rule[name])}]" for title, name in fields if rule.get(name)
    ]
    return "{" + ", ".join(parts) + "}"


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
