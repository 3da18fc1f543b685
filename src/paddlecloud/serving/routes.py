"""Which pods answer for which host: the routing table of the gateway, from the objects of the cluster.

Pure. Only pods that are Ready, have an address and belong to a revision that gets traffic are in it; a
service without such pods stays in the table, so that its clients are told to wait and not that it is unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..api.core import Pod
from ..api.knative import SERVING, KnativeService, Revision
from ..api.meta import Key

DOMAIN = "example.com"
SERVICE_LABEL = f"{SERVING}/service"
REVISION_LABEL = f"{SERVING}/revision"


class Backend(NamedTuple):
    host: str
    port: int
    weight: float
    """The pod's share of the requests, in percent."""


@dataclass(frozen=True)
class Table:
    """Where requests go, as of one moment."""

    services: Mapping[Key, tuple[Backend, ...]]

    def by_host(self, host: str) -> Key | None:
        """The service that a Host header means, whatever its port and case."""
        name = host.partition(":")[0].rstrip(".").lower().removesuffix(f".{DOMAIN}")
        service, dot, namespace = name.partition(".")
        key = Key(namespace, service)
        return key if dot and key in self.services else None

    def hosts(self) -> list[str]:
        return sorted(host_of(key) for key in self.services)


def host_of(key: Key) -> str:
    return f"{key.name}.{key.namespace}.{DOMAIN}"


def table(services: Iterable[KnativeService], revisions: Iterable[Revision], pods: Iterable[Pod]) -> Table:
    """The routing table of what exists now."""
    alive = {r.key for r in revisions if r.metadata.deletion_timestamp is None}
    ready: defaultdict[Key, list[Pod]] = defaultdict(list)
    for pod in pods:
        if pod.ready and pod.ip and port_of(pod):
            ready[Key(pod.namespace, pod.metadata.labels.get(REVISION_LABEL, ""))].append(pod)
    routes = {}
    for service in services:
        backends: list[Backend] = []
        for revision, percent in shares(service).items():
            key = Key(service.namespace, revision)
            # A revision's pods carry the service's name too: a label put by hand must not catch requests.
            mine = [p for p in ready[key] if p.metadata.labels.get(SERVICE_LABEL) == service.name]
            if percent and key in alive:
                backends += (Backend(p.ip, port_of(p), percent / len(mine)) for p in mine)
        routes[service.key] = tuple(sorted(backends))
    return Table(routes)


def shares(service: KnativeService) -> dict[str, float]:
    """The percentage of each revision: by the status, else by the spec, else all to the newest ready one."""
    newest = str(service.status.get("latestReadyRevisionName") or "")
    traffic = service.status.get("traffic") or service.spec.get("traffic") or [{"percent": 100}]
    result: defaultdict[str, float] = defaultdict(float)
    for target in traffic:
        result[str(target.get("revisionName") or newest)] += float(target.get("percent") or 0)
    result.pop("", None)
    return dict(result)


def port_of(pod: Pod) -> int:
    """The first port of the first container; 0 when it has none."""
    containers: list[Any] = pod.spec.get("containers") or [{}]
    ports: list[Any] = containers[0].get("ports") or [{}]
    return int(ports[0].get("containerPort") or 0)


def order(backends: tuple[Backend, ...], luck: float) -> list[Backend]:
    """The backends in the order to try them: the one that *luck* (0 ≤ luck < 1) falls on, then the others."""
    reached, goal = 0.0, luck * sum(b.weight for b in backends)
    for number, backend in enumerate(backends):
        reached += backend.weight
        if goal < reached:
            return [*backends[number:], *backends[:number]]
    return list(backends)
