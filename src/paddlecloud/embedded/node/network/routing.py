"""Where Services and host ports answer and who stands behind them; pure.

The EndpointSlices say who is ready, on which port: this module joins them with the addresses and ports of
the Services. A place that nobody stands behind has an empty tuple, and nothing listens there. A port that a
pod has on the host leads to that pod, ready or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ....api.core import WAKES, Pod, Service
from ....api.endpoints import EndpointSlice
from ....api.meta import Key

SERVICE_NAME = "kubernetes.io/service-name"
LOOPBACK = "127.0.0.1"
EVERYWHERE = ("", "0.0.0.0")
EXPOSED = ("NodePort", "LoadBalancer")
AFFINITY_SECONDS = 10800
"""How long a client stays with its endpoint unless the Service says otherwise."""


class Endpoint(NamedTuple):
    host: str
    port: int


class Front(NamedTuple):
    """A place where a Service answers."""

    host: str
    port: int
    protocol: str = "TCP"


@dataclass(frozen=True)
class Behind:
    endpoints: tuple[Endpoint, ...] = ()
    affinity: float = 0.0
    """Seconds that a client stays with the endpoint it had; 0: every connection takes its turn."""
    wakes: Key | None = None
    """The Deployment to wake while there are no endpoints."""


Routes = dict[Front, Behind]
Slices = Mapping[Key, list[EndpointSlice]]


def routes(services: Iterable[Service], slices: Iterable[EndpointSlice], pods: Iterable[Pod] = ()) -> Routes:
    """For every place of every Service those who may answer there; of two that claim one place the older.

    Then the host ports of pods: what a Service has is not taken from it.
    """
    by_service = grouped(slices)
    found: Routes = {}
    for service in sorted(services, key=lambda s: (str(s.metadata.creation_timestamp or ""), s.key)):
        for port in service.spec.get("ports") or ():
            there = endpoints_of(by_service.get(service.key, []), port)
            behind = Behind(there, affinity(service.spec), wakes(service))
            for front in fronts(service, port):
                found.setdefault(front, behind)
    for pod in sorted(pods, key=lambda p: (str(p.metadata.creation_timestamp or ""), p.key)):
        for front, endpoint in host_ports(pod):
            found.setdefault(front, Behind((endpoint,)))
    return found


def wakes(service: Service) -> Key | None:
    name = service.metadata.annotations.get(WAKES)
    return Key(service.namespace, name) if name else None


def host_ports(pod: Pod) -> Iterator[tuple[Front, Endpoint]]:
    """Which places of the machine lead to which ports of a pod; none once it has ended."""
    address = str(pod.status.get("podIP") or "")
    if not address or pod.finished or pod.spec.get("hostNetwork"):
        return
    for container in (*(pod.spec.get("initContainers") or ()), *(pod.spec.get("containers") or ())):
        for port in container.get("ports") or ():
            protocol = str(port.get("protocol") or "TCP")
            if port.get("hostPort") and protocol in ("TCP", "UDP"):
                # Nothing of a cluster on a laptop listens beyond the machine unless it is asked to.
                host = str(port.get("hostIP") or "")
                front = Front(LOOPBACK if host in EVERYWHERE else host, int(port["hostPort"]), protocol)
                yield front, Endpoint(address, int(port["containerPort"]))


def grouped(slices: Iterable[EndpointSlice]) -> dict[Key, list[EndpointSlice]]:
    """The slices by the Service they belong to."""
    found: dict[Key, list[EndpointSlice]] = {}
    for piece in slices:
        if name := piece.metadata.labels.get(SERVICE_NAME):
            found.setdefault(Key(piece.namespace, name), []).append(piece)
    return found


def fronts(service: Service, port: Mapping[str, Any]) -> Iterator[Front]:
    """Where one port of a Service answers: at its address, and on loopback when it is exposed."""
    protocol = str(port.get("protocol") or "TCP")
    kind = service.spec.get("type") or "ClusterIP"
    if kind == "ExternalName" or protocol not in ("TCP", "UDP"):
        return
    address = str(service.spec.get("clusterIP") or "")
    if address not in ("", "None"):
        yield Front(address, int(port["port"]), protocol)
    if kind in EXPOSED and port.get("nodePort"):
        yield Front(LOOPBACK, int(port["nodePort"]), protocol)
    if kind == "LoadBalancer":
        yield Front(LOOPBACK, int(port["port"]), protocol)


def endpoints_of(slices: Iterable[EndpointSlice], port: Mapping[str, Any]) -> tuple[Endpoint, ...]:
    """Those that are ready; if nobody is, those that leave but still answer, as on Kubernetes."""
    ready: set[Endpoint] = set()
    leaving: set[Endpoint] = set()
    for piece in slices:
        number = port_number(piece, port)
        if piece.address_type != "IPv4" or not number:
            continue
        for entry in piece.endpoints:
            states = entry.get("conditions") or {}
            group = ready if is_ready(entry) else leaving
            if group is ready or (states.get("serving") and states.get("terminating")):
                # The addresses of one entry are one endpoint: the first stands for it.
                group.update(Endpoint(str(a), number) for a in (entry.get("addresses") or ())[:1])
    return tuple(sorted(ready or leaving))


def is_ready(entry: Mapping[str, Any]) -> bool:
    """An endpoint that does not say so is ready."""
    return (entry.get("conditions") or {}).get("ready") is not False


def port_number(piece: EndpointSlice, port: Mapping[str, Any]) -> int:
    """The number behind a port of the Service in this slice, known by its name; 0: the slice has none."""
    wanted = (port.get("name") or "", port.get("protocol") or "TCP")
    for offered in piece.ports:
        if (offered.get("name") or "", offered.get("protocol") or "TCP") == wanted:
            return int(offered.get("port") or 0)
    return 0


def affinity(spec: Mapping[str, Any]) -> float:
    if spec.get("sessionAffinity") != "ClientIP":
        return 0.0
    config = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
    return float(config.get("timeoutSeconds") or AFFINITY_SECONDS)


def left_out(service: Service) -> str:
    """What of a Service is not done here, in words; empty: nothing."""
    addresses = service.spec.get("externalIPs") or ()
    if addresses:
        return (
            f"externalIPs {', '.join(addresses)} are ignored: nothing of this cluster listens beyond the "
            "machine; use a NodePort on 127.0.0.1"
        )
    return ""
