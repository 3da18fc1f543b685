"""The Service `kubernetes` in `default`: the API server, by the name and port that programs expect; pure.

Until the API itself holds that Service, the nodes act as if it did: its name resolves and its address leads
to the API. One that is in the API wins.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....api.core import Service
from ....api.endpoints import EndpointSlice
from ....api.meta import Key
from .routing import SERVICE_NAME, Endpoint

KEY = Key("default", "kubernetes")
PORT = {"name": "https", "port": 443, "protocol": "TCP"}


def with_api(
    services: Iterable[Service], slices: Iterable[EndpointSlice], address: str, api: Endpoint
) -> tuple[tuple[Service, ...], tuple[EndpointSlice, ...]]:
    """The same Services and slices, and the one of the API server if it is missing."""
    known, pieces = tuple(services), tuple(slices)
    if any(service.key == KEY for service in known):
        return known, pieces
    metadata = {"name": KEY.name, "namespace": KEY.namespace}
    labels = {SERVICE_NAME: KEY.name}
    service = Service.read({"metadata": metadata, "spec": {"clusterIP": address, "ports": [PORT]}})
    piece = EndpointSlice.read({
        "metadata": {**metadata, "labels": labels},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [api.host], "conditions": {"ready": True}}],
        "ports": [{**PORT, "port": api.port}],
    })  # fmt: skip
    return (*known, service), (*pieces, piece)
