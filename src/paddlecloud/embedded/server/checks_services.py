"""Services: what they may not be, and what of them may change; pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from .checks_containers import PROTOCOLS
from .checks_words import check_address, check_label, check_port, check_port_number, check_qualified
from .checks_words import check_subdomain as check_host
from .complaints import duplicate, forbidden, invalid, one_of, required, unquoted
from .gotext import texts
from .names import check_labels
from .schema import Violation

Body = dict[str, Any]
TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
FAMILIES = ("IPv4", "IPv6")
POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
CIDR_RULE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'"
ONLY_LOCAL = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
LONGEST_AFFINITY = 86400


def check_service(service: Body, old: Body | None) -> Iterator[Violation]:
    spec, kind = service["spec"], service["spec"]["type"]
    headless = spec.get("clusterIP") == "None"
    ports = spec.get("ports") or []
    if not ports and not headless and kind != "ExternalName":
        yield required("spec.ports")
    if headless and kind in ("NodePort", "LoadBalancer"):
        yield invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    if kind == "ExternalName":
        if spec.get("clusterIP") and old is None:
            yield forbidden("spec.clusterIPs", "may not be set for ExternalName services")
        name = spec.get("externalName") or ""
        if not name:
            yield required("spec.externalName")
        else:
            yield from check_host(name.removesuffix("."), "spec.externalName")
    yield from check_ports(ports, kind)
    yield from check_labels(spec.get("selector"), "spec.selector")
    yield from one_of(spec["sessionAffinity"], "spec.sessionAffinity", ("ClientIP", "None"))
    yield from check_affinity(spec)
    yield from check_addresses(spec)
    for i, address in enumerate(spec.get("externalIPs") or ()):
        yield from check_outside(address, f"spec.externalIPs[{i}]")
    yield from one_of(kind, "spec.type", TYPES)
    yield from check_balancing(spec, kind)
    yield from check_traffic(spec, kind)
    if old is not None:
        yield from check_change(spec, old["spec"])


def check_ports(ports: list[Body], kind: str) -> Iterator[Violation]:
    names, numbers = set[str](), set[tuple[str, int]]()
    for i, port in enumerate(ports):
        here, name = f"spec.ports[{i}]", port.get("name") or ""
        if not name and len(ports) > 1:
            yield required(f"{here}.name")
        elif name:
            yield from check_label(name, f"{here}.name")
            if name in names:
                yield duplicate(f"{here}.name", name)
            names.add(name)
        yield from check_port_number(port["port"], f"{here}.port")
        yield from one_of(port["protocol"], f"{here}.protocol", PROTOCOLS)
        yield from check_port(port["targetPort"], f"{here}.targetPort")
        if protocol := port.get("appProtocol"):
            yield from check_qualified(protocol, f"{here}.appProtocol")
    if kind == "ClusterIP":
        for i, port in enumerate(ports):
            if port.get("nodePort"):
                why = "may not be used when `type` is 'ClusterIP'"
                yield forbidden(f"spec.ports[{i}].nodePort", why)
    for i, port in enumerate(ports):
        key = (port["protocol"], port["port"])
        if key in numbers:
            value = (
                f'core.ServicePort{{Name:"", Protocol:"{key[0]}", AppProtocol:(*string)(nil), Port:{key[1]}, '
                'TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}'
            )
            yield Violation(f"spec.ports[{i}]", "FieldValueDuplicate", f"Duplicate value: {value}")
        numbers.add(key)


def check_affinity(spec: Body) -> Iterator[Violation]:
    client = ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds")
    if spec["sessionAffinity"] == "ClientIP":
        path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
        if client is not None and not 0 < client <= LONGEST_AFFINITY:
            yield invalid(path, client, f"must be greater than 0 and less than {LONGEST_AFFINITY}")


def check_addresses(spec: Body) -> Iterator[Violation]:
    first, every = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    path = "spec.clusterIPs"
    if every and not first:
        yield unquoted(path, texts(every), "must be empty when `clusterIP` is not specified")
    elif every and every[0] != first:
        yield unquoted(path, texts(every), "first value must match `clusterIP`")
    elif first not in ("", "None"):
        yield from check_address(first, f"{path}[0]")
    families = spec.get("ipFamilies") or []
    for i, family in enumerate(families):
        here = f"spec.ipFamilies[{i}]"
        yield from one_of(family, here, FAMILIES)
        if family in families[:i]:
            yield duplicate(here, family)
        elif family == "IPv6" and spec.get("clusterIP") != "None":
            yield invalid(here, family, "not configured on this cluster")
    if policy := spec.get("ipFamilyPolicy"):
        yield from one_of(policy, "spec.ipFamilyPolicy", POLICIES)
        if policy == "RequireDualStack" and spec.get("clusterIP") != "None":
            why = "this cluster is not configured for dual-stack services"
            yield invalid("spec.ipFamilyPolicy", policy, why)


def check_outside(address: str, path: str) -> Iterator[Violation]:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        yield from check_address(address, path)
        return
    if parsed.is_unspecified:
        yield invalid(path, address, f"may not be unspecified ({parsed})")
    elif parsed.is_loopback:
        yield invalid(path, address, "may not be in the loopback range (127.0.0.0/8, ::1/128)")


def check_balancing(spec: Body, kind: str) -> Iterator[Violation]:
    ranges = spec.get("loadBalancerSourceRanges") or []
    if ranges and kind != "LoadBalancer":
        yield forbidden("spec.LoadBalancerSourceRanges", ONLY_BALANCED)
    elif ranges:
        for i, text in enumerate(ranges):
            if not is_network(text):
                yield invalid(f"spec.LoadBalancerSourceRanges[{i}]", text, CIDR_RULE)
    name, path = spec.get("loadBalancerClass"), "spec.loadBalancerClass"
    if name is not None:
        if kind != "LoadBalancer":
            yield forbidden(path, ONLY_BALANCED)
        else:
            yield from check_qualified(name, path)
    if spec.get("allocateLoadBalancerNodePorts") is not None and kind != "LoadBalancer":
        yield forbidden("spec.allocateLoadBalancerNodePorts", ONLY_BALANCED)


def is_network(text: str) -> bool:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return "/" in text


def check_traffic(spec: Body, kind: str) -> Iterator[Violation]:
    outside = spec.get("externalTrafficPolicy") or ""
    if outside:
        if kind not in ("NodePort", "LoadBalancer") and not spec.get("externalIPs"):
            why = "may only be set for externally-accessible services"
            yield invalid("spec.externalTrafficPolicy", outside, why)
        else:
            yield from one_of(outside, "spec.externalTrafficPolicy", ("Cluster", "Local"))
    number = spec.get("healthCheckNodePort")
    if number and (kind != "LoadBalancer" or outside != "Local"):
        yield invalid("spec.healthCheckNodePort", number, ONLY_LOCAL)
    if inside := spec.get("internalTrafficPolicy"):
        yield from one_of(inside, "spec.internalTrafficPolicy", ("Cluster", "Local"))
    if (way := spec.get("trafficDistribution")) is not None:
        yield from one_of(way, "spec.trafficDistribution", ("PreferClose",))


def check_change(spec: Body, old: Body) -> Iterator[Violation]:
    before = old.get("clusterIP")
    stays = spec["type"] != "ExternalName" and old["type"] != "ExternalName"
    if before and stays and spec.get("clusterIP") != before:
        value = texts([spec.get("clusterIP") or ""])
        yield unquoted("spec.clusterIPs[0]", value, "may not change once set")
    number, had = spec.get("healthCheckNodePort"), old.get("healthCheckNodePort")
    if had and number and number != had:
        yield forbidden("spec.healthCheckNodePort", "field is immutable")
    if old["type"] == spec["type"] == "LoadBalancer":
        name = spec.get("loadBalancerClass")
        if name != old.get("loadBalancerClass"):
            yield invalid("spec.loadBalancerClass", name, "may not change once set")
