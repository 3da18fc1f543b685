"""What the server offers: the aggregated documents newer clients ask for and the legacy ones; pure."""

from __future__ import annotations

from typing import Any

from .kinds import Kind, Subresource
from .registry import Registry

VERSION = {
    "major": "1",
    "minor": "33",
    "gitVersion": "v1.33.13+paddlecloud",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": "cpython",
    "platform": "linux/amd64",
}


def aggregated(registry: Registry, *, core: bool) -> dict[str, Any]:
    groups = {"": ["v1"]} if core else registry.groups()
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [
            {
                "metadata": {"name": group} if group else {},
                "versions": [
                    {
                        "version": version,
                        "freshness": "Current",
                        "resources": [resource(k) for k in registry.in_version(group, version)],
                    }
                    for version in versions
                ],
            }
            for group, versions in groups.items()
        ],
    }


def resource(kind: Kind) -> dict[str, Any]:
    return {
        "resource": kind.plural,
        "responseKind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": list(kind.verbs),
        "shortNames": list(kind.short_names),
        "categories": list(kind.categories),
        "subresources": [
            {"subresource": s.name, "responseKind": response_kind(kind, s), "verbs": list(s.verbs)}
            for s in kind.subresources
        ],
    }


def response_kind(kind: Kind, subresource: Subresource) -> dict[str, str]:
    if not subresource.kind:
        return {"group": kind.group, "version": kind.version, "kind": kind.kind}
    owner = subresource if subresource.group else kind
    return {"group": owner.group, "version": owner.version, "kind": subresource.kind}


def core_versions() -> dict[str, Any]:
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def group_list(registry: Registry) -> dict[str, Any]:
    groups = [group_document(name, versions) for name, versions in registry.groups().items()]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group_document(name: str, versions: list[str]) -> dict[str, Any]:
    listed = [{"groupVersion": f"{name}/{v}", "version": v} for v in versions]
    return {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": name,
        "versions": listed,
        "preferredVersion": listed[0],
    }


def resource_list(registry: Registry, group: str, version: str) -> dict[str, Any] | None:
    kinds = registry.in_version(group, version)
    if not kinds:
        return None
    found = []
    for kind in kinds:
        entry: dict[str, Any] = {
            "name": kind.plural,
            "singularName": kind.singular,
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": list(kind.verbs),
        }
        if kind.short_names:
            entry["shortNames"] = list(kind.short_names)
        if kind.categories:
            entry["categories"] = list(kind.categories)
        found.append(entry)
        for sub in kind.subresources:
            answer = response_kind(kind, sub)
            found.append(
                {
                    "name": f"{kind.plural}/{sub.name}",
                    "singularName": "",
                    "namespaced": kind.namespaced,
                    "kind": answer["kind"],
                    "verbs": list(sub.verbs),
                }
                | ({"group": answer["group"], "version": answer["version"]} if sub.group else {})
            )
    name = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": found}
