"""Endpoints and EndpointSlices of every Service with a selector; pure.

Slices are children of the Service. The Endpoints object has no owner in Kubernetes; it carries our mark,
and a mark without a Service goes.
"""

from __future__ import annotations

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

MANAGED, CONTROLLER_NAME = "endpoints.kubernetes.io/managed-by", "endpoint-controller"
MOST = 1000
Body = dict[str, Any]


def reconcile(service: Service, seen: Snapshot) -> Decision:
    there = seen.owned(EndpointSlice)
    if not service.spec.get("selector") or service.spec.get("type") == "ExternalName":
        return Decision(exposed(service), tuple(there.values()))
    found = seats(service, seen.all(Pod))
    wanted = endpoints_of(service, found)
    old = seen.find(Endpoints, service.name)
    change = changed(old, wanted) if old else None
    strangers = tuple(s for s in there.values() if not managed(s))
    return Decision(
        exposed(service),
        (*slices(service, found, there), *strangers),
        needs=() if old else (wanted,),
        changes=(change,) if change else (),
    )


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
