"""Views of what tells where a Service answers: Endpoints of `v1` and EndpointSlices."""

from __future__ import annotations

from typing import Any

from .meta import Resource


class Endpoints(Resource):
    api_version, plural, short_names = "v1", "endpoints", ("ep",)
    has_status = False

    subsets: list[dict[str, Any]] = []


class EndpointSlice(Resource):
    api_version, plural = "discovery.k8s.io/v1", "endpointslices"
    has_status = False

    address_type: str = "IPv4"
    endpoints: list[dict[str, Any]] = []
    ports: list[dict[str, Any]] = []
