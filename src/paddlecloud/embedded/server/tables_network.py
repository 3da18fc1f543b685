"""Services and what leads to them, as rows of `kubectl get`; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .ages import created
from .tables_workloads import pairs, selecting

Body = dict[str, Any]
SHOWN = 3


def some(values: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = f" + {len(values) - SHOWN} more..." if len(values) > SHOWN else ""
    return ",".join(values[:SHOWN]) + more


def service(body: Body) -> list[Any]:
    spec = body.get("spec") or {}
    ports = [
        f"{p['port']}{':' + str(p['nodePort']) if p.get('nodePort') else ''}/{p.get('protocol', 'TCP')}"
        for p in spec.get("ports") or ()
    ]
    return [
        body["metadata"]["name"], spec.get("type", "ClusterIP"), spec.get("clusterIP") or "<none>",
        outside(body), ",".join(ports) or "<none>", created(body), pairs(spec.get("selector")),
    ]  # fmt: skip


def outside(body: Body) -> str:
    """Where a service is reached from outside the cluster."""
    spec = body.get("spec") or {}
    given = spec.get("externalIPs") or []
    match spec.get("type"):
        case "ExternalName":
            return str(spec.get("externalName") or "")
        case "LoadBalancer":
            found = [*balanced(body), *given]
            return ",".join(found) or "<pending>"
    return ",".join(given) or "<none>"


def balanced(body: Body) -> list[str]:
    entries = ((body.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return [e.get("ip") or e.get("hostname") or "" for e in entries]


def endpoints(body: Body) -> list[Any]:
    found = []
    for subset in body.get("subsets") or ():
        ports: list[Body] = subset.get("ports") or [{}]
        for port in ports:
            for address in subset.get("addresses") or ():
                ip = address["ip"]
                host = f"[{ip}]" if ":" in ip and port else ip
                found.append(f"{host}:{port['port']}" if port else host)
    return [body["metadata"]["name"], some(found) or "<none>", created(body)]


def endpoint_slice(body: Body) -> list[Any]:
    ports = [
        str(p["port"]) if p.get("port") is not None else p.get("name", "") for p in body.get("ports") or ()
    ]
    addresses = [a for e in body.get("endpoints") or () for a in e["addresses"]]
    return [
        body["metadata"]["name"], body["addressType"], some(ports) or "<unset>", some(addresses) or "<unset>",
        created(body),
    ]  # fmt: skip


def ingress(body: Body) -> list[Any]:
    spec = body["spec"]
    hosts = [r["host"] for r in spec.get("rules") or () if r.get("host")]
    return [
        body["metadata"]["name"], spec.get("ingressClassName") or "<none>", some(hosts) or "*",
        ",".join(balanced(body)), "80, 443" if spec.get("tls") else "80", created(body),
    ]  # fmt: skip


def ingress_class(body: Body) -> list[Any]:
    spec, shown = body.get("spec") or {}, "<none>"
    if ref := spec.get("parameters"):
        group = f".{ref['apiGroup']}" if ref.get("apiGroup") else ""
        shown = f"{ref['kind']}{group}/{ref['name']}"
    return [body["metadata"]["name"], spec.get("controller", ""), shown, created(body)]


def policy(body: Body) -> list[Any]:
    return [body["metadata"]["name"], selecting(body["spec"].get("podSelector")), created(body)]
