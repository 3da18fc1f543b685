"""What of a Service is told and served beyond its own address."""

from __future__ import annotations

from typing import Any

import pytest
from tests.node.test_network_routing import a_service, a_slice, at

from paddlecloud.embedded.node.network.apiservice import with_api
from paddlecloud.embedded.node.network.names import lookup, world
from paddlecloud.embedded.node.network.routing import Behind, Endpoint, Front, routes
from paddlecloud.embedded.workloads.exposing import exposed

API = Endpoint("127.0.0.1", 6443)
HERE = {"loadBalancer": {"ingress": [{"ip": "127.0.0.1", "ipMode": "VIP"}]}}


@pytest.mark.parametrize(
    "spec, status, expected",
    [
        ({"type": "LoadBalancer"}, {}, HERE),
        ({"type": "LoadBalancer"}, HERE, HERE),
        ({"type": "LoadBalancer", "loadBalancerClass": "x.example/y"}, {}, {}),
        ({"type": "NodePort"}, HERE, {"loadBalancer": {}}),
        ({}, {"loadBalancer": {}}, {"loadBalancer": {}}),
    ],
)
def test_a_load_balancer_is_said_to_be_on_loopback(
    spec: dict[str, Any], status: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert exposed(a_service(**spec).but(status=status)) == expected


def test_the_api_answers_as_a_service_and_has_its_name() -> None:
    services, slices = with_api([], [], "127.9.0.1", API)
    assert routes(services, slices) == {Front("127.9.0.1", 443): Behind((API,))}
    assert lookup("kubernetes.default.svc.cluster.local", 1, world(services, slices))


def test_a_service_of_that_name_in_the_api_wins() -> None:
    mine = a_service("kubernetes", clusterIP="127.9.0.9")
    mine = mine.but(metadata=mine.metadata.but(namespace="default"))
    piece = a_slice(at("127.8.0.1"), service="kubernetes")
    assert with_api([mine], [piece], "127.9.0.1", API) == ((mine,), (piece,))
