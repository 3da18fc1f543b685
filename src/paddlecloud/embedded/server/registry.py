"""Which kinds are served now: the built-in ones and what the CustomResourceDefinitions define.

The registry is derived from the stored definitions alone: dropped and rebuilt, it is the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from . import facts
from .definitions import established, terminating
from .kinds import MEASURED, SCALE, STATUS, Kind
from .paths import Target
from .scale import BUILT_IN, paths_of


class Registry:
    def __init__(self, definitions: Iterable[dict[str, Any]] = ()) -> None:
        self.kinds = (*facts.kinds(), *MEASURED, *(k for d in definitions for k in kinds_of(d)))
        self._by_path = {(k.group, k.version, k.plural): k for k in self.kinds}
        self.etag = hashlib.sha256(repr(self.kinds).encode()).hexdigest()[:32]
        self.documents: dict[tuple[str, str], Any] = {}
        """What `openapi` has made of these kinds; it goes when they change."""

    def find(self, target: Target) -> Kind | None:
        return self._by_path.get((target.group, target.version, target.plural))

    def groups(self) -> dict[str, list[str]]:
        """The versions of every group but the core one, preferred first."""
        found: dict[str, set[str]] = {}
        for kind in self.kinds:
            if kind.group:
                found.setdefault(kind.group, set()).add(kind.version)
        return {group: sorted(found[group], key=priority, reverse=True) for group in sorted(found)}

    def in_version(self, group: str, version: str) -> list[Kind]:
        return [k for k in self.kinds if (k.group, k.version) == (group, version)]


def kinds_of(definition: dict[str, Any]) -> list[Kind]:
    """The kinds a CustomResourceDefinition defines, one a served version; none before it is established."""
    if not established(definition):
        return []
    spec = definition["spec"]
    names = spec["names"]
    found = []
    for version in spec["versions"]:
        if not version.get("served"):
            continue
        subresources = version.get("subresources") or {}
        found.append(
            Kind(
                spec["group"],
                version["name"],
                names["kind"],
                names["plural"],
                spec["scope"] == "Namespaced",
                tuple(names.get("shortNames") or ()),
                tuple(names.get("categories") or ()),
                tuple(s for s in (STATUS, SCALE) if s.name in subresources),
                names.get("singular") or names["kind"].lower(),
                custom=True,
                schema=(version.get("schema") or {}).get("openAPIV3Schema"),
                columns=tuple(version.get("additionalPrinterColumns") or ()),
                scale=paths_of(version) or BUILT_IN,
                deprecation=deprecation(spec, version),
                several=len(spec["versions"]) > 1,
                defined=int(definition["metadata"].get("resourceVersion") or 0),
                terminating=terminating(definition),
            )
        )
    return found


def deprecation(spec: dict[str, Any], version: dict[str, Any]) -> str:
    """What users of a deprecated version are warned with; empty for the others."""
    if not version.get("deprecated"):
        return ""
    group, kind = spec["group"], spec["names"]["kind"]
    plain = f"{group}/{version['name']} {kind} is deprecated"
    return str(version.get("deprecationWarning") or plain)


def priority(version: str) -> tuple[int, int, int, str]:
    """Kubernetes' order of versions: v2 before v1 before v1beta1 before v1alpha1."""
    match = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version)
    if not match:
        return (-1, 0, 0, version)
    stage = {None: 2, "beta": 1, "alpha": 0}[match[2]]
    return (stage, int(match[1]), int(match[3] or 0), version)
