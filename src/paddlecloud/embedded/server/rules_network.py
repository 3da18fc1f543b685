"""Services and what leads to them: defaults and refusals; pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from .rules_pods import PROTOCOLS, one_of
from .schema import Violation

Body = dict[str, Any]
TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")


def complete_service(service: Body) -> None:
    spec = service["spec"]
    kind = spec.setdefault("type", "ClusterIP")
    if spec.setdefault("sessionAffinity", "None") == "ClientIP":
        client = spec.setdefault("sessionAffinityConfig", {}).setdefault("clientIP", {})
        client.setdefault("timeoutSeconds", 10800)
    if kind != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind in ("NodePort", "LoadBalancer"):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port["port"]
    if spec.get("clusterIP") == "None":
        spec.setdefault("clusterIPs", ["None"])


def check_service(service: Body, old: Body | None) -> Iterator[Violation]:
    spec = service["spec"]
    headless = spec.get("clusterIP") == "None"
    ports = spec.get("ports") or ()
    if not ports and not headless and spec["type"] != "ExternalName":
        yield Violation("spec.ports", "FieldValueRequired", "Required value")
    if spec["type"] == "ExternalName" and not spec.get("externalName"):
        yield Violation("spec.externalName", "FieldValueRequired", "Required value")
    seen: set[str] = set()
    for i, port in enumerate(ports):
        here = f"spec.ports[{i}]"
        name = port.get("name") or ""
        if not name and len(ports) > 1:
            yield Violation(f"{here}.name", "FieldValueRequired", "Required value")
        elif name and name in seen:
            yield Violation(f"{here}.name", "FieldValueDuplicate", f'Duplicate value: "{name}"')
        seen.add(name)
        yield from check_number(port["port"], f"{here}.port")
        yield from one_of(port["protocol"], f"{here}.protocol", PROTOCOLS)
        if isinstance(port["targetPort"], int):
            yield from check_number(port["targetPort"], f"{here}.targetPort")
    yield from one_of(spec["sessionAffinity"], "spec.sessionAffinity", ("ClientIP", "None"))
    if spec.get("clusterIP") not in (None, "None"):
        yield from check_address(spec["clusterIP"], "spec.clusterIPs[0]")
    yield from one_of(spec["type"], "spec.type", TYPES)
    before = ((old or {}).get("spec") or {}).get("clusterIP")
    if before and spec.get("clusterIP") != before and spec["type"] != "ExternalName":
        yield Violation(
            "spec.clusterIPs[0]",
            "FieldValueInvalid",
            f'Invalid value: []string{{"{spec.get("clusterIP", "")}"}}: may not change once set',
        )


def check_number(port: int, path: str) -> Iterator[Violation]:
    if not 0 < port < 65536:
        why = f"Invalid value: {port}: must be between 1 and 65535, inclusive"
        yield Violation(path, "FieldValueInvalid", why)


def check_address(address: str, path: str) -> Iterator[Violation]:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        why = f'Invalid value: "{address}": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
        yield Violation(path, "FieldValueInvalid", why)


def complete_endpoints(endpoints: Body) -> None:
    for subset in endpoints.get("subsets") or ():
        for port in subset.get("ports") or ():
            port.setdefault("protocol", "TCP")


def complete_slice(endpoints: Body) -> None:
    for port in endpoints.get("ports") or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


def complete_policy(policy: Body) -> None:
    spec = policy["spec"]
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else [])]
    for rule in (*(spec.get("ingress") or ()), *(spec.get("egress") or ())):
        for port in rule.get("ports") or ():
            port.setdefault("protocol", "TCP")


def check_ingress(ingress: Body, _: Body | None) -> Iterator[Violation]:
    spec = ingress["spec"]
    if not spec.get("rules") and not spec.get("defaultBackend"):
        yield Violation(
            "spec", "FieldValueInvalid",
            "Invalid value: []networking.IngressRule(nil): "
            "either `defaultBackend` or `rules` must be specified",
        )  # fmt: skip
    for i, rule in enumerate(spec.get("rules") or ()):
        for j, path in enumerate((rule.get("http") or {}).get("paths") or ()):
            here = f"spec.rules[{i}].http.paths[{j}]"
            kind, text = path.get("pathType"), path.get("path") or ""
            if not kind:
                yield Violation(
                    f"{here}.pathType", "FieldValueRequired", "Required value: pathType must be specified"
                )
            elif kind in ("Exact", "Prefix") and not text.startswith("/"):
                yield Violation(
                    f"{here}.path", "FieldValueInvalid", f'Invalid value: "{text}": must be an absolute path'
                )
            elif kind not in ("Exact", "Prefix", "ImplementationSpecific"):
                yield from one_of(kind, f"{here}.pathType", ("Exact", "ImplementationSpecific", "Prefix"))
            yield from check_backend(path["backend"], f"{here}.backend")


def check_backend(backend: Body, path: str) -> Iterator[Violation]:
    service = backend.get("service")
    if service is None:
        if "resource" not in backend:
            why = 'Invalid value: "": resource or service backend is required'
            yield Violation(path, "FieldValueInvalid", why)
        return
    if not service["name"]:
        yield Violation(f"{path}.service.name", "FieldValueRequired", "Required value")
    if not service["port"].get("name") and not service["port"].get("number"):
        why = "Required value: port name or number is required"
        yield Violation(path, "FieldValueRequired", why)


def check_policy(policy: Body, _: Body | None) -> Iterator[Violation]:
    for i, kind in enumerate(policy["spec"]["policyTypes"]):
        yield from one_of(kind, f"spec.policyTypes[{i}]", ("Ingress", "Egress"))


def check_slice(endpoints: Body, old: Body | None) -> Iterator[Violation]:
    kind = endpoints["addressType"]
    if not kind:
        yield Violation("addressType", "FieldValueRequired", "Required value")
    elif old is not None and kind != old["addressType"]:
        yield Violation("addressType", "FieldValueInvalid", f'Invalid value: "{kind}": field is immutable')
    elif kind in ("IPv4", "IPv6"):
        for i, endpoint in enumerate(endpoints.get("endpoints") or ()):
            for j, address in enumerate(endpoint["addresses"] or ()):
                yield from check_address(address, f"endpoints[{i}].addresses[{j}]")


def check_ingress_class(body: Body, old: Body | None) -> Iterator[Violation]:
    controller = (body.get("spec") or {}).get("controller", "")
    if old is not None and controller != (old.get("spec") or {}).get("controller", ""):
        why = f'Invalid value: "{controller}": field is immutable'
        yield Violation("spec.controller", "FieldValueInvalid", why)
