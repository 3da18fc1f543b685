"""What Services get from the cluster: an address of its range, ports on the nodes; remembered by the object.

What is in use is read from the stored Services; what is given to one that is not stored yet is remembered
until it is. So nothing is given twice, nothing is lost with a crash, and what a deleted Service had is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, ip_address
from typing import Any
from zlib import crc32

from ...errors import Invalid, ServerError, Unavailable
from ..identity import is_free
from ..ranges import Ranges
from ..store import Store
from .complaints import invalid, unquoted
from .gotext import texts
from .schema import Violation

Body = dict[str, Any]
FIRST_PORT, LAST_PORT = 30000, 32767
RANGE = f"The range of valid ports is {FIRST_PORT}-{LAST_PORT}"
TAKEN = "provided port is already allocated"
EXPOSED = ("NodePort", "LoadBalancer")


class ServiceAddresses:
    def __init__(self, store: Store, ranges: Ranges) -> None:
        self._store = store
        self._network, self._reserved = ranges.services, (ranges.api, ranges.names)
        self._under_way: list[Body] = []
        self._next = 1
        # Clusters of one machine share its ports, and rarely a range: each begins somewhere else.
        self._next_port = crc32(str(ranges.services).encode()) % (LAST_PORT - FIRST_PORT + 1)

    def allocate(self, service: Body) -> Callable[[], None]:
        """Fill in what the service lacks, refuse what another has; call the answer once it is stored."""
        spec, others = service["spec"], list(self._others(service))
        if spec.get("type") != "ExternalName":
            self._address(service, {s.get("clusterIP") for s in others})
        self._ports(service, {p for s in others for p in ports_of(s)})
        self._under_way.append(service)
        return lambda: self._under_way.remove(service)

    async def settle(self) -> None:
        """Give the Services that have an address of another range one of this: the network has changed."""
        for entry in self._store.entries("/services"):
            service = entry.load()
            spec = service["spec"]
            address = spec.get("clusterIP") or "None"
            if address != "None" and ip_address(address) not in self._network:
                del spec["clusterIP"]
                self._address(service, {other.get("clusterIP") for other in self._others(service)})
                await self._store.put(entry.place, service, entry.revision)

    def _others(self, service: Body) -> Iterator[Body]:
        uid = service["metadata"].get("uid")
        for entry in self._store.entries("/services"):
            body = entry.load()
            if body["metadata"]["uid"] != uid:
                yield body["spec"]
        yield from (s["spec"] for s in self._under_way if s["metadata"].get("uid") != uid)

    def _address(self, service: Body, used: set[str | None]) -> None:
        spec = service["spec"]
        address = spec.get("clusterIP")
        if not address:
            spec["clusterIP"] = self._free_address(used)
        elif address != "None":
            why = ""
            if address in used:
                why = "provided IP is already allocated"
            elif ip_address(address) not in self._network:
                why = "the provided network does not match the current range"
            if why:
                shown = texts([address])
                raise refused(
                    service, unquoted("spec.clusterIPs", shown, f"failed to allocate IP {address}: {why}")
                )
        spec["clusterIPs"] = [spec["clusterIP"]]
        bare = spec["clusterIP"] == "None" and not spec.get("selector")
        spec.setdefault("ipFamilies", ["IPv4", "IPv6"] if bare else ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "RequireDualStack" if bare else "SingleStack")

    def _free_address(self, used: set[str | None]) -> str:
        size = self._network.num_addresses - 2
        for _ in range(size):
            self._next = self._next % size + 1
            address = str(IPv4Address(int(self._network.network_address) + self._next))
            # The ends of the smaller blocks look like the address of a network to some programs.
            if not address.endswith((".0", ".255")) and address not in {*used, *self._reserved}:
                return address
        raise Unavailable("no cluster address is free", next_step="delete Services that are not used")

    def _ports(self, service: Body, used: set[int]) -> None:
        spec = service["spec"]
        if spec.get("type") not in EXPOSED:
            return
        mine: dict[int, set[str]] = {}
        for i, port in enumerate(spec.get("ports") or ()):
            number, path = port.get("nodePort") or 0, f"spec.ports[{i}].nodePort"
            if not number:
                continue
            if not FIRST_PORT <= number <= LAST_PORT:
                why = f"provided port is not in the valid range. {RANGE}"
                raise refused(service, invalid(path, number, why))
            # One number may serve two protocols of one service.
            if number in used or port["protocol"] in mine.get(number, ()):
                raise refused(service, invalid(path, number, TAKEN))
            mine.setdefault(number, set()).add(port["protocol"])
        wanted = spec["type"] == "NodePort" or spec.get("allocateLoadBalancerNodePorts") is not False
        for port in spec.get("ports") or () if wanted else ():
            if not port.get("nodePort"):
                port["nodePort"] = self._shared(spec, port) or self._free_port(used | mine.keys())
                mine.setdefault(port["nodePort"], set()).add(port["protocol"])
        if needs_health_check(spec):
            number = spec.get("healthCheckNodePort") or 0
            if number and number in used | mine.keys():
                raise ServerError(
                    "Internal error occurred: failed to allocate requested HealthCheck NodePort "
                    f"{number}: {TAKEN}"
                )
            spec["healthCheckNodePort"] = number or self._free_port(used | mine.keys())

    def _shared(self, spec: Body, port: Body) -> int:
        """The number that the same port has for another protocol."""
        return next(
            (
                int(p["nodePort"])
                for p in spec["ports"]
                if p.get("nodePort") and p["port"] == port["port"] and p["protocol"] != port["protocol"]
            ),
            0,
        )

    def _free_port(self, used: set[int]) -> int:
        count = LAST_PORT - FIRST_PORT + 1
        for _ in range(count):
            # Not the lowest first: people choose those by hand.
            self._next_port = (self._next_port + 1031) % count
            found = FIRST_PORT + self._next_port
            # Another cluster on this machine, or any program, may listen there.
            if found not in used and is_free(found):
                return found
        raise Unavailable("no node port is free", next_step="delete Services that are not used")


def needs_health_check(spec: Body) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def ports_of(spec: Body) -> Iterator[int]:
    for port in spec.get("ports") or ():
        if port.get("nodePort"):
            yield port["nodePort"]
    if spec.get("healthCheckNodePort"):
        yield spec["healthCheckNodePort"]


def refused(service: Body, violation: Violation) -> Invalid:
    name = service["metadata"].get("name") or ""
    cause = {"reason": violation.reason, "message": violation.message, "field": violation.field}
    return Invalid(
        f'Service "{name}" is invalid: {violation.field}: {violation.message}',
        details={"name": name, "kind": "Service", "causes": [cause]},
    )


def carry_service(service: Body, old: Body) -> None:
    """What an update of a service keeps of what it was given, and what it loses with its type."""
    spec, before = service["spec"], old["spec"]
    own = spec["type"] != "ExternalName" and before["type"] != "ExternalName"
    if spec.get("clusterIP") != before.get("clusterIP") and spec.get("clusterIPs") == before.get(
        "clusterIPs"
    ):
        spec.pop("clusterIPs", None)
        if spec.get("clusterIP"):
            spec["clusterIPs"] = [spec["clusterIP"]]
    if own and not spec.get("clusterIP") and before.get("clusterIP"):
        spec["clusterIP"], spec["clusterIPs"] = before["clusterIP"], before.get("clusterIPs") or []
    if own:
        for field in ("ipFamilies", "ipFamilyPolicy"):
            if field not in spec and field in before:
                spec[field] = before[field]
    lose(spec, before)
    if spec["type"] in EXPOSED and before["type"] in EXPOSED:
        known = {(p["protocol"], p["port"]): p.get("nodePort") for p in before.get("ports") or ()}
        for port in spec.get("ports") or ():
            if not port.get("nodePort") and (number := known.get((port["protocol"], port["port"]))):
                port["nodePort"] = number
    if needs_health_check(spec) and needs_health_check(before) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = before.get("healthCheckNodePort", 0)


def lose(spec: Body, before: Body) -> None:
    """Drop what belongs to the type the service had, where the client left it as it was."""
    gone: list[str] = []
    if spec["type"] == "ExternalName" and before["type"] != "ExternalName":
        gone += ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]
    if spec["type"] not in EXPOSED and before["type"] in EXPOSED:
        gone += ["externalTrafficPolicy", "allocateLoadBalancerNodePorts", "loadBalancerClass"]
        numbers = set(ports_of(before))
        for port in spec.get("ports") or ():
            if port.get("nodePort") in numbers:
                del port["nodePort"]
    if spec["type"] != "LoadBalancer" and before["type"] == "LoadBalancer":
        gone += ["allocateLoadBalancerNodePorts", "loadBalancerClass"]
    if not needs_health_check(spec) and needs_health_check(before):
        gone.append("healthCheckNodePort")
    for field in gone:
        if spec.get(field) == before.get(field):
            spec.pop(field, None)
