"""The pipelines service under the names that Kubeflow gives it, for pods: `ml-pipeline.kubeflow:8888`; pure.

Both lead to the door at which callers show the token of their account, never to the one that asks the kernel:
behind the proxy of Services every caller would look like the owner.
"""

from __future__ import annotations

from ...api.core import Service
from ...api.endpoints import EndpointSlice
from ...api.meta import Metadata, Resource
from .gatewaykeeping import HOST

NAMESPACE = "kubeflow"
PORTS = {"ml-pipeline": 8888, "ml-pipeline-ui": 80}


def wanted(port: int) -> tuple[Resource, ...]:
    """*port*: where the service listens on this machine."""
    return tuple(obj for name, number in PORTS.items() for obj in announced(name, number, port))


def announced(name: str, number: int, port: int) -> tuple[Service, EndpointSlice]:
    http = {"name": "http", "protocol": "TCP"}
    labels = {"app": name}
    return (
        Service(
            metadata=Metadata(name=name, namespace=NAMESPACE, labels=labels),
            spec={"ports": [{**http, "port": number, "targetPort": port}]},
        ),
        EndpointSlice(
            metadata=Metadata(
                name=name, namespace=NAMESPACE, labels={**labels, "kubernetes.io/service-name": name}
            ),
            address_type="IPv4",
            endpoints=[{"addresses": [HOST], "conditions": {"ready": True}}],
            ports=[{**http, "port": port}],
        ),
    )
