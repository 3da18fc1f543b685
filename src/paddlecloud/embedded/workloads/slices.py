"""EndpointSlices of a Service: at most a hundred pods each, every pod where it was before; pure."""

from __future__ import annotations

from typing import Any

from ...api.core import Service
from ...api.endpoints import EndpointSlice
from .addressing import Port, Seat, conditions, hostname, target_of
from .naming import free_names

SERVICE, MANAGED = "kubernetes.io/service-name", "endpointslice.kubernetes.io/managed-by"
HEADLESS = "service.kubernetes.io/headless"
CONTROLLER = "endpointslice-controller.k8s.io"
LARGEST = 100
Body = dict[str, Any]


def slices(service: Service, seats: list[Seat], there: dict[str, EndpointSlice]) -> tuple[EndpointSlice, ...]:
    """The slices as they should be: those that are there keep their pods, new pods go where room is."""
    ours = {n: s for n, s in there.items() if managed(s)}
    names = free_names(f"{service.name}-", service, there.keys())
    filled: list[tuple[str, tuple[Port, ...], list[Seat]]] = []
    left = {s.pod.uid: s for s in seats}
    for name, old in sorted(ours.items()):
        uids = [(e.get("targetRef") or {}).get("uid") for e in old.endpoints]
        staying = [left[u] for u in uids if u in left and wired(left[u].ports) == canonical_ports(old)]
        for seat in staying:
            del left[seat.pod.uid]
        if staying:
            filled.append((name, staying[0].ports, staying))
    spare = [n for n in sorted(ours) if n not in {name for name, _, _ in filled}]
    for seat in left.values():
        for _, ports, held in filled:
            if ports == seat.ports and len(held) < LARGEST:
                held.append(seat)
                break
        else:
            filled.append((spare.pop(0) if spare else next(names), seat.ports, [seat]))
    if not filled:
        # One that is empty tells that somebody looked and found nobody.
        filled.append((spare[0] if spare else next(names), (), []))
    return tuple(make_slice(service, name, ports, held) for name, ports, held in filled)


def managed(found: EndpointSlice) -> bool:
    """Whether it is one of ours; others may put slices beside them."""
    return found.metadata.labels.get(MANAGED) == CONTROLLER


def wired(ports: tuple[Port, ...]) -> list[Body]:
    return [p.wire() for p in ports]


def canonical_ports(old: EndpointSlice) -> list[Body]:
    return [{k: v for k, v in p.items() if v or k == "name"} for p in old.ports]


def make_slice(service: Service, name: str, ports: tuple[Port, ...], held: list[Seat]) -> EndpointSlice:
    labels = {**service.metadata.labels, SERVICE: service.name, MANAGED: CONTROLLER}
    if service.spec.get("clusterIP") in (None, "", "None"):
        labels[HEADLESS] = ""
    family = (service.spec.get("ipFamilies") or ["IPv4"])[0]
    return EndpointSlice.read({
        "metadata": {
            "name": name,
            "namespace": service.namespace,
            "labels": labels,
            "generateName": f"{service.name}-",
        },
        "addressType": family,
        "endpoints": [endpoint(service, seat) for seat in sorted(held, key=lambda s: s.pod.name)],
        "ports": wired(ports),
    })  # fmt: skip


def endpoint(service: Service, seat: Seat) -> Body:
    pod = seat.pod
    found: Body = {
        "addresses": [pod.ip],
        "conditions": conditions(service, pod),
        "targetRef": target_of(pod),
        "nodeName": pod.node,
        "hostname": hostname(service, pod),
    }
    return {k: v for k, v in found.items() if v}
