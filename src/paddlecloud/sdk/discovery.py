"""From what a user types (`pdj`, `paddlejobs`, `svc`) to a kind the cluster serves."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..api.meta import Key
from ..cluster import requests
from ..cluster.requests import Place, Request
from ..errors import NotFound
from .client import Client

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


@dataclass(frozen=True)
class Served:
    """A kind as the cluster offers it."""

    group: str
    version: str
    kind: str
    plural: str
    names: frozenset[str]
    namespaced: bool
    categories: tuple[str, ...]

    @property
    def place(self) -> Place:
        return Place(self.api_version, self.plural, self.namespaced)

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def ours(self) -> bool:
        return self.group.endswith("paddlepaddle.org")


def served(client: Client) -> list[Served]:
    """All kinds of the cluster, the preferred version of each."""
    found: dict[tuple[str, str], Served] = {}
    for path in ("/api", "/apis"):
        body = client.request(Request("GET", path, headers={"Accept": AGGREGATED}))
        for kind in read(body):
            found.setdefault((kind.group, kind.plural), kind)
    return list(found.values())


def read(body: dict[str, Any]) -> Iterable[Served]:
    for group in body.get("items") or ():
        for version in group.get("versions") or ():
            for resource in version.get("resources") or ():
                kind = resource["responseKind"]
                names = {resource["resource"], resource.get("singularResource") or "", kind["kind"].lower()}
                yield Served(
                    group["metadata"].get("name") or "",
                    version["version"],
                    kind["kind"],
                    resource["resource"],
                    frozenset({*names, *(resource.get("shortNames") or ())} - {""}),
                    resource.get("scope") == "Namespaced",
                    tuple(resource.get("categories") or ()),
                )


def find(kinds: Iterable[Served], typed: str) -> Served:
    """The kind meant by a name, a short name or `plural.group`.

    Raises `NotFound` with the nearest names.
    """
    return fitting(kinds, typed)[0]


def fitting(kinds: Iterable[Served], typed: str) -> list[Served]:
    """All kinds of that name, the likeliest first: two groups may share one (PaddleService)."""
    kinds = list(kinds)
    name, _, group = typed.lower().partition(".")
    found = [k for k in kinds if name in k.names and (not group or k.group.startswith(group))]
    if not found:
        near = difflib.get_close_matches(name, {n for k in kinds for n in k.names}, 3)
        hint = f"did you mean {', '.join(near)}?" if near else "kubectl api-resources lists them"
        raise NotFound(f"the cluster has no kind {typed!r}", next_step=hint)
    # Knative's Service and the core one share a name: the core one is what people mean.
    return sorted(found, key=lambda k: (not k.ours, k.group != "", len(k.group)))


def holder(client: Client, kinds: Iterable[Served], typed: str, key: Key) -> tuple[Served, dict[str, Any]]:
    """The object of that name and its kind, whichever of several kinds has it; raises `NotFound`."""
    missing: NotFound | None = None
    for kind in fitting(kinds, typed):
        inside = Key(key.namespace if kind.namespaced else "", key.name)
        try:
            return kind, client.request(requests.get(kind.place, inside))
        except NotFound as error:
            missing = missing or error
    assert missing
    raise missing
