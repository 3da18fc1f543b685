"""Ways to a service and who may use them: ingresses, policies, endpoints; what they may not be; pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from .checks_containers import PROTOCOLS
from .checks_jobs import domain_path
from .checks_scheduling import check_selector
from .checks_services import CIDR_RULE, is_network
from .checks_words import check_address, check_label, check_port, check_port_number, check_subdomain
from .complaints import duplicate, forbidden, immutable, invalid, one_of, required, unquoted
from .names import host_label_problem
from .schema import Violation

Body = dict[str, Any]
PATHS = ("Exact", "ImplementationSpecific", "Prefix")
WILDCARD_RULE = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must "
    "consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. "
    "'*.example.com', regex used for validation is "
    "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
UNSAFE = ("//", "/./", "/../", "%2f", "%2F")


def check_ingress(ingress: Body, _: Body | None) -> Iterator[Violation]:
    spec = ingress["spec"]
    if not spec.get("rules") and not spec.get("defaultBackend"):
        why = "either `defaultBackend` or `rules` must be specified"
        yield unquoted("spec", "[]networking.IngressRule(nil)", why)
    for i, rule in enumerate(spec.get("rules") or ()):
        if host := rule.get("host"):
            yield from check_ingress_host(host, f"spec.rules[{i}].host")
        if (http := rule.get("http")) is not None:
            paths, here = http.get("paths") or [], f"spec.rules[{i}].http.paths"
            if not paths:
                yield required(here)
            for j, path in enumerate(paths):
                yield from check_path(path, f"{here}[{j}]")
    if backend := spec.get("defaultBackend"):
        yield from check_backend(backend, "spec.defaultBackend")
    for i, tls in enumerate(spec.get("tls") or ()):
        for j, host in enumerate(tls.get("hosts") or ()):
            yield from check_host_name(host, f"spec.tls[{i}].hosts[{j}]")
        if name := tls.get("secretName"):
            yield from check_subdomain(name, f"spec.tls[{i}].secretName")
    if name := spec.get("ingressClassName"):
        yield from check_subdomain(name, "spec.ingressClassName")


def check_ingress_host(host: str, path: str) -> Iterator[Violation]:
    try:
        ipaddress.ip_address(host)
        yield invalid(path, host, "must be a DNS name, not an IP address")
    except ValueError:
        yield from check_host_name(host, path)


def check_host_name(host: str, path: str) -> Iterator[Violation]:
    if "*" not in host:
        yield from check_subdomain(host, path)
    elif not host.startswith("*.") or list(check_subdomain(host[2:], path)):
        yield invalid(path, host, WILDCARD_RULE)


def check_path(path: Body, here: str) -> Iterator[Violation]:
    kind, text = path.get("pathType"), path.get("path") or ""
    if not kind:
        yield required(f"{here}.pathType", "pathType must be specified")
    elif kind not in PATHS:
        yield from one_of(kind, f"{here}.pathType", PATHS)
    elif kind == "ImplementationSpecific":
        if text and not text.startswith("/"):
            yield invalid(f"{here}.path", text, "must be an absolute path")
    elif not text.startswith("/"):
        yield invalid(f"{here}.path", text, "must be an absolute path")
    else:
        for part in UNSAFE:
            if part in text:
                yield invalid(f"{here}.path", text, f"must not contain '{part}'")
        for end in ("/..", "/."):
            if text.endswith(end):
                yield invalid(f"{here}.path", text, f"cannot end with '{end}'")
    yield from check_backend(path["backend"], f"{here}.backend")


def check_backend(backend: Body, path: str) -> Iterator[Violation]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        yield invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from check_reference(resource, f"{path}.resource")
    elif service is None:
        yield invalid(path, "", "resource or service backend is required")
    else:
        name, port = service["name"], service["port"]
        if not name:
            yield required(f"{path}.service.name")
        elif problem := host_label_problem(name):
            yield invalid(f"{path}.service.name", name, problem)
        if port.get("name") and port.get("number"):
            yield invalid(path, "", "cannot set both port name & port number")
        elif port.get("name"):
            yield from check_port(port["name"], f"{path}.service.port.name")
        elif port.get("number"):
            yield from check_port_number(port["number"], f"{path}.service.port.number")
        else:
            yield required(path, "port name or number is required")


def check_reference(reference: Body, path: str) -> Iterator[Violation]:
    for field in ("kind", "name"):
        if not reference.get(field):
            yield required(f"{path}.{field}", f"{field} is required")


def check_ingress_class(body: Body, old: Body | None) -> Iterator[Violation]:
    spec = body.get("spec") or {}
    controller = spec.get("controller", "")
    if old is not None and controller != (old.get("spec") or {}).get("controller", ""):
        yield immutable("spec.controller", controller)
        return
    if not controller:
        yield required("spec.controller")
    elif not domain_path(controller):
        why = 'must be a domain-prefixed path (such as "acme.io/foo")'
        yield invalid("spec.controller", controller, why)
    if (parameters := spec.get("parameters")) is not None:
        path = "spec.parameters"
        yield from check_reference(parameters, path)
        scope = parameters.get("scope") or "Cluster"
        yield from one_of(scope, f"{path}.scope", ("Cluster", "Namespace"))
        if scope == "Namespace" and not parameters.get("namespace"):
            yield required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'")
        elif scope == "Cluster" and parameters.get("namespace"):
            yield forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'")


def check_policy(policy: Body, _: Body | None) -> Iterator[Violation]:
    spec = policy["spec"]
    yield from check_selector(spec.get("podSelector"), "spec.podSelector")
    for way, side in (("ingress", "from"), ("egress", "to")):
        for i, rule in enumerate(spec.get(way) or ()):
            here = f"spec.{way}[{i}]"
            for j, port in enumerate(rule.get("ports") or ()):
                yield from check_policy_port(port, f"{here}.ports[{j}]")
            for j, peer in enumerate(rule.get(side) or ()):
                yield from check_peer(peer, f"{here}.{side}[{j}]")
    kinds = spec["policyTypes"]
    if len(kinds) > 2:
        value = f"[]networking.PolicyType{{{', '.join(f'{chr(34)}{k}{chr(34)}' for k in kinds)}}}"
        yield unquoted("spec.policyTypes", value, "may not specify more than two policyTypes")
        return
    for i, kind in enumerate(kinds):
        yield from one_of(kind, f"spec.policyTypes[{i}]", ("Ingress", "Egress"))


def check_policy_port(port: Body, path: str) -> Iterator[Violation]:
    yield from one_of(port["protocol"], f"{path}.protocol", ("TCP", "UDP", "SCTP"))
    number, last = port.get("port"), port.get("endPort")
    if number is not None:
        yield from check_port(number, f"{path}.port")
    if last is None:
        return
    if number is None:
        yield invalid(f"{path}.endPort", last, "may not be specified when `port` is not specified")
    elif isinstance(number, str):
        yield invalid(f"{path}.endPort", last, "may not be specified when `port` is non-numeric")
    elif last < number:
        yield invalid(f"{path}.endPort", number, "must be greater than or equal to `port`")


def check_peer(peer: Body, path: str) -> Iterator[Violation]:
    given = [
        field for field in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(field) is not None
    ]
    for field in given:
        if field != "ipBlock":
            yield from check_selector(peer[field], f"{path}.{field}")
    if "ipBlock" in given:
        yield from check_block(peer["ipBlock"], f"{path}.ipBlock")
    if not given:
        yield required(path, "must specify a peer")
    elif len(given) > 1 and "ipBlock" in given:
        yield forbidden(path, "may not specify both ipBlock and another peer")


def check_block(block: Body, path: str) -> Iterator[Violation]:
    text = block["cidr"]
    if not text:
        yield required(f"{path}.cidr")
        return
    if not is_network(text):
        yield invalid(f"{path}.cidr", text, CIDR_RULE)
        return
    whole = ipaddress.ip_network(text, strict=False)
    for i, part in enumerate(block.get("except") or ()):
        if not is_network(part):
            yield invalid(f"{path}.except[{i}]", part, CIDR_RULE)
            continue
        inner = ipaddress.ip_network(part, strict=False)
        if inner.version != whole.version or inner == whole or not inner.subnet_of(whole):  # type: ignore[arg-type]
            yield invalid(f"{path}.except[{i}]", part, "must be a strict subset of `cidr`")


def check_endpoints(endpoints: Body, _: Body | None) -> Iterator[Violation]:
    """Addresses of loopback are good here: pods of an embedded cluster have no others."""
    for i, subset in enumerate(endpoints.get("subsets") or ()):
        here, ports = f"subsets[{i}]", subset.get("ports") or ()
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            yield required(here, "must specify `addresses` or `notReadyAddresses`")
        for field in ("addresses", "notReadyAddresses"):
            for j, address in enumerate(subset.get(field) or ()):
                path = f"{here}.{field}[{j}].ip"
                problems = list(check_address(address["ip"], path))
                yield from problems
                if problems:
                    yield invalid(path, address["ip"], "must be a valid IP address")
        for j, port in enumerate(ports):
            if not port.get("name") and len(ports) > 1:
                yield required(f"{here}.ports[{j}].name")
            yield from check_port_number(port["port"], f"{here}.ports[{j}].port")
            yield from one_of(port["protocol"], f"{here}.ports[{j}].protocol", PROTOCOLS)


def check_slice(body: Body, old: Body | None) -> Iterator[Violation]:
    kind = body["addressType"]
    if not kind:
        yield required("addressType")
    elif old is not None and kind != old["addressType"]:
        yield immutable("addressType", kind)
    else:
        yield from one_of(kind, "addressType", ("FQDN", "IPv4", "IPv6"))
    names: set[str] = set()
    for i, port in enumerate(body.get("ports") or ()):
        name = port.get("name") or ""
        if name:
            yield from check_label(name, f"ports[{i}].name")
        if name in names:
            yield duplicate(f"ports[{i}].name", name)
        names.add(name)
        yield from one_of(port["protocol"], f"ports[{i}].protocol", PROTOCOLS)
    for i, endpoint in enumerate(body.get("endpoints") or ()):
        here, addresses = f"endpoints[{i}]", endpoint.get("addresses") or ()
        if not addresses:
            yield required(f"{here}.addresses", "must contain at least 1 address")
        for j, address in enumerate(addresses):
            if kind == "FQDN":
                yield from check_subdomain(address, f"{here}.addresses[{j}]")
            elif kind in ("IPv4", "IPv6"):
                yield from check_address(address, f"{here}.addresses[{j}]")
        if name := endpoint.get("nodeName"):
            yield from check_subdomain(name, f"{here}.nodeName")
        if name := endpoint.get("hostname"):
            yield from check_label(name, f"{here}.hostname")
