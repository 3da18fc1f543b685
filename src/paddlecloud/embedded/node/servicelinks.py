"""The services of a namespace as environment variables, in the forms Kubernetes took over from older links.

Pure. `REDIS_SERVICE_HOST` and `REDIS_SERVICE_PORT` for who knows Kubernetes, `REDIS_PORT_6379_TCP_ADDR` and
the like for older programs. A service without an address of its own has none of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...api.core import Service


def links(services: Iterable[Service]) -> dict[str, str]:
    result: dict[str, str] = {}
    for service in services:
        address = str(service.spec.get("clusterIP") or "")
        ports = service.spec.get("ports") or ()
        if address and address != "None" and ports:
            result |= of_service(spelled(service.name), address, ports)
    return result


def of_service(name: str, address: str, ports: Iterable[dict[str, object]]) -> dict[str, str]:
    result: dict[str, str] = {}
    for place, port in enumerate(ports):
        number, protocol = str(port["port"]), str(port.get("protocol") or "TCP")
        url = f"{protocol.lower()}://{address}:{number}"
        if place == 0:
            first = {f"{name}_SERVICE_HOST": address, f"{name}_SERVICE_PORT": number, f"{name}_PORT": url}
            result |= first
        if port.get("name"):
            result[f"{name}_SERVICE_PORT_{spelled(str(port['name']))}"] = number
        one = f"{name}_PORT_{number}_{protocol.upper()}"
        result |= {one: url, f"{one}_PROTO": protocol.lower(), f"{one}_PORT": number, f"{one}_ADDR": address}
    return result


def spelled(name: str) -> str:
    return name.upper().replace("-", "_")
