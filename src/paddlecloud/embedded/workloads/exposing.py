"""Where a Service of type LoadBalancer is reached from outside the cluster: on loopback; pure."""

from __future__ import annotations

from typing import Any

from ...api.core import Service

INGRESS = [{"ip": "127.0.0.1", "ipMode": "VIP"}]


def exposed(service: Service) -> dict[str, Any]:
    """The status of *service*; of a load balancer it names the address where the nodes listen for it."""
    status = dict(service.status)
    if service.spec.get("type") == "LoadBalancer" and not service.spec.get("loadBalancerClass"):
        return status | {"loadBalancer": {"ingress": INGRESS}}
    if (status.get("loadBalancer") or {}).get("ingress") == INGRESS:
        return status | {"loadBalancer": {}}
    return status
