"""The names of the cluster: what the DNS knows of Services, their endpoints and pods; pure.

Follows the specification of DNS in Kubernetes. A name below the cluster's domain that nobody has does not
exist, and that is said at once; a name elsewhere is none of ours (`None`).
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ....api.core import Service
from ....api.endpoints import EndpointSlice
from ....api.meta import Key
from .dnswire import ANY, CNAME, PTR, SRV, A, Record, encode, service_record
from .routing import grouped, is_ready, port_number

DOMAIN = "cluster.local"
REVERSE = ".in-addr.arpa"
Found = tuple[Record, ...]


@dataclass(frozen=True)
class World:
    """What the names stand for."""

    services: Mapping[Key, Service] = field(default_factory=dict)
    slices: Mapping[Key, list[EndpointSlice]] = field(default_factory=dict)
    domain: str = DOMAIN


def world(services: Iterable[Service], slices: Iterable[EndpointSlice], domain: str = DOMAIN) -> World:
    return World({service.key: service for service in services}, grouped(slices), domain)


def lookup(name: str, kind: int, seen: World) -> Found | None:
    """The records of *name*, empty if it has none of that kind; None: others must be asked.

    Raises `LookupError` for a name that does not exist.
    """
    if name.endswith(REVERSE):
        return reverse(name, seen)
    if name != seen.domain and not name.endswith("." + seen.domain):
        if "." in name:
            return None
        raise LookupError(name)  # one label alone is nobody's outside either
    labels = name.removesuffix(seen.domain).rstrip(".").split(".")
    every = tuple(records(name, labels, seen))
    if not every and not is_branch(labels, seen):
        raise LookupError(name)
    # An alias answers for every kind.
    return tuple(r for r in every if kind in (r.kind, ANY) or r.kind == CNAME)


def is_branch(labels: list[str], seen: World) -> bool:
    """Whether something lies below: such a name exists although it has no records."""
    match labels:
        case [""] | ["svc"] | ["pod"]:
            return True
        case [namespace, "svc" | "pod"]:
            return any(key.namespace == namespace for key in seen.services)
        case [name, namespace, "svc"]:
            return Key(namespace, name) in seen.services
    return False


def records(name: str, labels: list[str], seen: World) -> Iterator[Record]:
    match labels:
        case [address, _, "pod"] if re.fullmatch(r"\d+-\d+-\d+-\d+", address):
            yield from addresses(name, [address.replace("-", ".")])
        case [service, namespace, "svc"]:
            yield from of_service(name, Key(namespace, service), seen)
        case [host, service, namespace, "svc"] if not host.startswith("_"):
            entries = headless_entries(Key(namespace, service), seen)
            yield from addresses(name, [address_of(e) for e in entries if host_of(e) == host])
        case [port, protocol, service, namespace, "svc"] if port.startswith("_") and protocol.startswith("_"):
            key = Key(namespace, service)
            yield from of_port(name, port[1:], protocol[1:].upper(), key, seen)


def of_service(name: str, key: Key, seen: World) -> Iterator[Record]:
    service = seen.services.get(key)
    if service is None:
        return
    if service.spec.get("type") == "ExternalName":
        yield Record(name, CNAME, encode(str(service.spec.get("externalName") or "").lower()))
    elif is_headless(service):
        yield from addresses(name, [address_of(e) for e in headless_entries(key, seen)])
    else:
        yield from addresses(name, [str(service.spec.get("clusterIP") or "")])


def of_port(name: str, port: str, protocol: str, key: Key, seen: World) -> Iterator[Record]:
    """The named port of a Service, as SRV records."""
    service = seen.services.get(key)
    full = f"{key.name}.{key.namespace}.svc.{seen.domain}"
    for offered in (service.spec.get("ports") or ()) if service else ():
        if (offered.get("name") or "").lower() != port or (offered.get("protocol") or "TCP") != protocol:
            continue
        if service and not is_headless(service):
            yield Record(name, SRV, service_record(int(offered["port"]), full))
            continue
        for piece in seen.slices.get(key, ()):
            number = port_number(piece, offered)
            for entry in piece.endpoints if number else ():
                if is_ready(entry):
                    yield Record(name, SRV, service_record(number, f"{host_of(entry)}.{full}"))


def reverse(name: str, seen: World) -> Found | None:
    """Who has an address; None for one that is not of the cluster."""
    parts = name.removesuffix(REVERSE).split(".")
    address = ".".join(reversed(parts))
    found: list[str] = []
    for key, service in seen.services.items():
        full = f"{key.name}.{key.namespace}.svc.{seen.domain}"
        if service.spec.get("clusterIP") == address:
            found.append(full)
        elif is_headless(service):
            entries = headless_entries(key, seen)
            found += [
                f"{host_of(e)}.{full}" for e in entries if address_of(e) == address and e.get("hostname")
            ]
    if not found and address.startswith("127."):
        raise LookupError(name)  # nobody outside knows more of this machine
    return tuple(Record(name, PTR, encode(target)) for target in sorted(found)) or None


def is_headless(service: Service) -> bool:
    return service.spec.get("clusterIP") == "None"


def headless_entries(key: Key, seen: World) -> list[Mapping[str, Any]]:
    service = seen.services.get(key)
    if service is None or not is_headless(service):
        return []
    return [e for piece in seen.slices.get(key, ()) for e in piece.endpoints if is_ready(e) and address_of(e)]


def host_of(entry: Mapping[str, Any]) -> str:
    """The name of an endpoint below its Service; one without gets its address, written with dashes."""
    return str(entry.get("hostname") or address_of(entry).replace(".", "-"))


def address_of(entry: Mapping[str, Any]) -> str:
    return str(next(iter(entry.get("addresses") or ()), ""))


def addresses(name: str, found: Iterable[str]) -> Iterator[Record]:
    for address in sorted(set(found)):
        try:
            yield Record(name, A, socket.inet_aton(address))
        except OSError:
            continue
