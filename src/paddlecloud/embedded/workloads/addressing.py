"""Where a Service answers: which of its pods, at which ports, and how well each of them does; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ...api.core import Pod, Service
from .podstate import ready, terminating

Body = dict[str, Any]


class Port(NamedTuple):
    name: str
    protocol: str
    number: int
    app: str = ""

    def wire(self) -> Body:
        said = {"name": self.name, "protocol": self.protocol, "port": self.number, "appProtocol": self.app}
        return {k: v for k, v in said.items() if v or k == "name"}


class Seat(NamedTuple):
    """One pod behind a Service."""

    pod: Pod
    ports: tuple[Port, ...]


def seats(service: Service, pods: Iterable[Pod]) -> list[Seat]:
    """The pods that have an address and have not ended, by name."""
    there = [p for p in pods if p.ip and not p.finished]
    return [Seat(p, tuple(ports_of(service, p))) for p in sorted(there, key=lambda p: p.name)]


def ports_of(service: Service, pod: Pod) -> Iterator[Port]:
    """The ports of a Service as the pod has them; a name that the pod does not know is left out."""
    for port in service.spec.get("ports") or ():
        protocol = port.get("protocol") or "TCP"
        target = port.get("targetPort") or port.get("port")
        number = named_port(pod, target, protocol) if isinstance(target, str) else target
        if number:
            yield Port(port.get("name") or "", protocol, int(number), port.get("appProtocol") or "")


def named_port(pod: Pod, name: str, protocol: str) -> int | None:
    ports = (p for c in pod.spec.get("containers") or () for p in c.get("ports") or ())
    found = (p for p in ports if p.get("name") == name and (p.get("protocol") or "TCP") == protocol)
    return next((int(p["containerPort"]) for p in found), None)


def published(service: Service) -> bool:
    """Pods are told of whether they are ready or not."""
    return bool(service.spec.get("publishNotReadyAddresses"))


def hostname(service: Service, pod: Pod) -> str:
    """The name a pod has of its own below the Service's name."""
    return str(pod.spec.get("hostname") or "") if pod.spec.get("subdomain") == service.name else ""


def target_of(pod: Pod) -> Body:
    return {"kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid}


def conditions(service: Service, pod: Pod) -> Body:
    serving, leaves = ready(pod), terminating(pod)
    return {
        "ready": published(service) or (serving and not leaves),
        "serving": serving,
        "terminating": leaves,
    }
