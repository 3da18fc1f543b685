"""Which pods answer for which host: the routing table of the gateway, from the objects of the cluster.

Pure. A request is for a revision first, by the shares of its service, and for one of its pods then: only
pods that are Ready and have an address are in the table. A revision without such pods stays in it, so that
its requests are held or told what is wrong, and not that the service is unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..api.apps import Deployment
from ..api.core import Pod
from ..api.knative import DOMAIN, MIRROR, REVISION_LABEL, SERVICE_LABEL, KnativeService, Revision
from ..api.meta import Key

TIMEOUT = 300.0
CANARY = "canary"
"""The tag of a revision that is tried."""


class Backend(NamedTuple):
    """A pod, by the address it takes requests at."""

    host: str
    port: int


class Target(NamedTuple):
    """What a revision gets of the requests of a service."""

    revision: Key
    percent: float
    tag: str = ""


@dataclass(frozen=True)
class Fleet:
    """The pods of a revision, and how they may be asked."""

    backends: tuple[Backend, ...] = ()
    limit: int = 0
    """Requests at a time for a pod; 0: any number."""
    timeout: float = TIMEOUT
    """Seconds a request is held at most."""
    wakes: bool = False
    """Whether pods come when they are asked for."""
    trouble: str = ""
    """Why none will come."""

    @property
    def usable(self) -> bool:
        return bool(self.backends) or (self.wakes and not self.trouble)


@dataclass
class Changed:
    """What is other than in the last table."""

    services: set[Key] = field(default_factory=set)
    revisions: set[Key] = field(default_factory=set)


@dataclass(frozen=True)
class Table:
    """Where requests go, as of one moment."""

    services: dict[Key, tuple[Target, ...]]
    fleets: dict[Key, Fleet] = field(default_factory=dict)
    mirrored: dict[Key, float] = field(default_factory=dict)
    """What of its requests, in percent, the canary of a service gets as copies; 0 is left out."""

    def by_host(self, host: str) -> tuple[Key, str] | None:
        """The service that a Host header means, and a tag, whatever its port and case."""
        name = host.partition(":")[0].rstrip(".").lower().removesuffix(f".{DOMAIN}")
        first, dot, namespace = name.partition(".")
        key = Key(namespace, first)
        if not dot or key in self.services:
            return (key, "") if dot else None
        return self._tagged(first, namespace)

    def _tagged(self, first: str, namespace: str) -> tuple[Key, str] | None:
        for place, letter in enumerate(first):
            key, tag = Key(namespace, first[place + 1 :]), first[:place]
            if letter == "-" and any(t.tag == tag for t in self.services.get(key, ())):
                return key, tag
        return None

    def choice(self, key: Key, tag: str, luck: float) -> list[Key]:
        """The revisions to try: the one that *luck* (0 ≤ luck < 1) falls on, then who else has a share."""
        targets = self.services.get(key, ())
        if tag:
            return [t.revision for t in targets if t.tag == tag]
        shared = [t for t in targets if t.percent > 0]
        reached, goal = 0.0, luck * sum(t.percent for t in shared)
        for number, target in enumerate(shared):
            reached += target.percent
            if goal < reached:
                return [t.revision for t in (*shared[number:], *shared[:number])]
        return [t.revision for t in shared]

    def but(self, changed: Changed, part: Table) -> Table:
        """The table in which all that is known of what *changed* is what *part* says."""
        return Table(
            {k: v for k, v in self.services.items() if k not in changed.services} | part.services,
            {k: v for k, v in self.fleets.items() if k not in changed.revisions} | part.fleets,
            {k: v for k, v in self.mirrored.items() if k not in changed.services} | part.mirrored,
        )

    def canary(self, key: Key) -> Key | None:
        """The revision that is tried, if there is one."""
        return next((t.revision for t in self.services.get(key, ()) if t.tag == CANARY), None)

    def hosts(self) -> list[str]:
        return sorted(host_of(key) for key in self.services)


def host_of(key: Key) -> str:
    return f"{key.name}.{key.namespace}.{DOMAIN}"


@dataclass(frozen=True)
class Cluster:
    """The objects that a table is made of."""

    services: Iterable[KnativeService]
    revisions: Iterable[Revision]
    pods: Iterable[Pod] = ()
    deployments: Iterable[Deployment] = ()


def table(seen: Cluster) -> Table:
    """The routing table of what exists now."""
    ready: defaultdict[Key, list[Pod]] = defaultdict(list)
    for pod in seen.pods:
        if pod.ready and pod.ip and port_of(pod):
            ready[revision_of(pod)].append(pod)
    woken = {revision_of(d) for d in seen.deployments if d.metadata.deletion_timestamp is None}
    fleets = {
        revision.key: fleet(revision, ready[revision.key], revision.key in woken)
        for revision in seen.revisions
        if revision.metadata.deletion_timestamp is None
    }
    copied = {s.key: part for s in seen.services if (part := mirrored_part(s))}
    return Table({s.key: targets(s) for s in seen.services}, fleets, copied)


def fleet(revision: Revision, pods: Iterable[Pod], wakes: bool) -> Fleet:
    service = revision.metadata.labels.get(SERVICE_LABEL)
    # A revision's pods carry the service's name too: a label put by hand must not catch requests.
    mine = (p for p in pods if service and p.metadata.labels.get(SERVICE_LABEL) == service)
    said = revision.condition("Ready")
    return Fleet(
        backends=tuple(sorted(Backend(p.ip, port_of(p)) for p in mine)),
        limit=int(revision.spec.get("containerConcurrency") or 0),
        timeout=float(revision.spec.get("timeoutSeconds") or TIMEOUT),
        wakes=wakes,
        trouble=str(said.get("message") or "it failed") if said.get("status") == "False" else "",
    )


def mirrored_part(service: KnativeService) -> float:
    text = service.metadata.annotations.get(MIRROR, "")
    return float(text) if text.isascii() and text.isdecimal() else 0.0


def targets(service: KnativeService) -> tuple[Target, ...]:
    """Who gets what: by the status, else by the spec, else all to the newest ready revision."""
    newest = str(service.status.get("latestReadyRevisionName") or "")
    traffic: list[Any] = (
        service.status.get("traffic") or service.spec.get("traffic") or [{"percent": 100}]
    )  # fmt: skip
    named = ((str(t.get("revisionName") or newest), t) for t in traffic)
    return tuple(
        Target(Key(service.namespace, name), float(t.get("percent") or 0), str(t.get("tag") or ""))
        for name, t in named
        if name
    )


def revision_of(obj: Pod | Deployment) -> Key:
    return Key(obj.namespace, obj.metadata.labels.get(REVISION_LABEL, ""))


def port_of(pod: Pod) -> int:
    """The first port of the first container; 0 when it has none."""
    containers: list[Any] = pod.spec.get("containers") or [{}]
    ports: list[Any] = containers[0].get("ports") or [{}]
    return int(ports[0].get("containerPort") or 0)
