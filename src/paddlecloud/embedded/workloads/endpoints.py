"""Endpoints and EndpointSlices of every Service with a selector; pure.

Slices are children of the Service. The Endpoints object has no owner in Kubernetes; it carries our mark,
and a mark without a Service goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from ...api.core import Pod, Service
from ...api.endpoints import Endpoints, EndpointSlice
from ...api.meta import Metadata
from ...controllers.contract import (
    Controller,
    Decision,
    Ending,
    Ref,
    Selection,
    Snapshot,
    Update,
    difference,
)
from .addressing import Seat, hostname, published, seats, target_of
from .exposing import exposed
from .podstate import ready, terminating
from .slices import HEADLESS, managed, slices
from .stamps import moment

MANAGED, CONTROLLER_NAME = "endpoints.kubernetes.io/managed-by", "endpoint-controller"
MOST = 1000
JUST_BEGUN = 5.0
Body = dict[str, Any]


def reconcile(service: Service, seen: Snapshot) -> Decision:
    there = seen.owned(EndpointSlice)
    if not service.spec.get("selector") or service.spec.get("type") == "ExternalName":
        return Decision(exposed(service), tuple(there.values()))
    old = seen.find(Endpoints, service.name)
    waits = {} if published(service) else awaited(seen.all(Pod), old, seen.now)
    found = seats(service, (p for p in seen.all(Pod) if p.uid not in waits))
    wanted = endpoints_of(service, found)
    change = changed(old, wanted) if old else None
    strangers = tuple(s for s in there.values() if not managed(s))
    return Decision(
        exposed(service),
        (*slices(service, found, there), *strangers),
        needs=() if old else (wanted,),
        changes=(change,) if change else (),
        check_again=min(waits.values(), default=None),
    )


def awaited(pods: Iterable[Pod], told: Endpoints | None, now: datetime) -> dict[str, float]:
    """Pods that have just begun, and for how many seconds yet: they are first told of when they are ready.

    Nobody sends them requests before, and two writes instead of four count where a hundred begin at once.
    """
    subsets = told.subsets if told else ()
    known = {a["ip"] for s in subsets for f in ("addresses", "notReadyAddresses") for a in s.get(f) or ()}
    left = {}
    for pod in pods:
        if pod.ip and pod.ip not in known and not ready(pod) and not terminating(pod) and not pod.finished:
            seconds = JUST_BEGUN - (now - begun(pod, now)).total_seconds()
            if seconds > 0:
                left[pod.uid] = seconds
    return left


def begun(pod: Pod, now: datetime) -> datetime:
    """When the last of it began."""
    running = ((s.get("state") or {}).get("running") or {} for s in pod.status.get("containerStatuses") or ())
    stamps = (pod.status.get("startTime"), *(r.get("startedAt") for r in running))
    known = [pod.metadata.creation_timestamp, *map(moment, stamps)]
    return max((at for at in known if at is not None), default=now)


def endpoints_of(service: Service, found: list[Seat]) -> Endpoints:
    """Ready pods and others apart, grouped by their ports; who leaves is not told of."""
    shown = [s for s in found if published(service) or not terminating(s.pod)][:MOST]
    subsets: dict[Any, Body] = {}
    for seat in shown:
        group = subsets.setdefault(seat.ports, {})
        kind = "addresses" if published(service) or ready(seat.pod) else "notReadyAddresses"
        group.setdefault(kind, []).append(address(service, seat))
    for ports, group in subsets.items():
        group["ports"] = [{k: v for k, v in p.wire().items() if v} for p in ports]
    labels = {**service.metadata.labels, MANAGED: CONTROLLER_NAME}
    if service.spec.get("clusterIP") in (None, "", "None"):
        labels[HEADLESS] = ""
    metadata = Metadata(name=service.name, namespace=service.namespace, labels=labels)
    return Endpoints(metadata=metadata, subsets=list(subsets.values()))


def address(service: Service, seat: Seat) -> Body:
    pod = seat.pod
    said = {
        "ip": pod.ip,
        "hostname": hostname(service, pod),
        "nodeName": pod.node,
        "targetRef": target_of(pod),
    }
    return {k: v for k, v in said.items() if v}


def changed(old: Endpoints, wanted: Endpoints) -> Update | None:
    patch = difference(old, wanted)
    return Update(old, patch) if patch else None


def related(service: Service) -> tuple[Ref | Selection, ...]:
    selector = service.spec.get("selector") or {}
    if not selector:
        return ()
    pods = Selection(Pod, service.namespace, tuple(sorted(selector.items())))
    return (pods, Ref(Endpoints, service.namespace, service.name))


def abandoned(found: Endpoints, seen: Snapshot) -> Decision:
    """Endpoints that we made for a Service that is not there any more."""
    ours = found.metadata.labels.get(MANAGED) == CONTROLLER_NAME
    gone = ours and seen.find(Service, found.name) is None
    return Decision({}, ending=Ending() if gone else None)


def service_of(found: Endpoints) -> tuple[Ref | Selection, ...]:
    return (Ref(Service, found.namespace, found.name),)


SERVICES = Controller(
    "endpoints",
    Service,
    reconcile,
    owns=(EndpointSlice,),
    reads=(Pod, Endpoints),
    related=related,
    component="endpoint-controller",
)
ABANDONED = Controller("abandoned-endpoints", Endpoints, abandoned, reads=(Service,), related=service_of)
