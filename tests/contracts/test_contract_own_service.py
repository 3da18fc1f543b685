"""The Service `kubernetes`: how programs in a cluster find the API, as objects like any other."""

from __future__ import annotations

from typing import Any

from tests.kubernetes.rest import Rest

CORE, DISCOVERY = "/api/v1/namespaces/default", "/apis/discovery.k8s.io/v1/namespaces/default"


def body(rest: Rest, path: str) -> dict[str, Any]:
    found: dict[str, Any] = rest.get(path).expect(200)
    return found


def test_the_service_has_the_first_address_of_its_range_and_leads_to_the_port_of_the_server(
    rest: Rest,
) -> None:
    service = body(rest, f"{CORE}/services/kubernetes")
    assert service["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
    spec = service["spec"]
    assert spec["clusterIP"].endswith(".0.1") and spec["clusterIPs"] == [spec["clusterIP"]]
    [port] = spec["ports"]
    assert (port["name"], port["port"], port["protocol"]) == ("https", 443, "TCP")
    assert rest.server.endswith(f":{port['targetPort']}")
    assert (spec["type"], spec["sessionAffinity"]) == ("ClusterIP", "None")
    assert "selector" not in spec


def test_endpoints_and_slice_say_the_same_of_it(rest: Rest) -> None:
    endpoints = body(rest, f"{CORE}/endpoints/kubernetes")
    piece = body(rest, f"{DISCOVERY}/endpointslices/kubernetes")
    assert endpoints["metadata"]["labels"] == {"endpointslice.kubernetes.io/skip-mirror": "true"}
    assert piece["metadata"]["labels"] == {"kubernetes.io/service-name": "kubernetes"}
    [subset], [endpoint] = endpoints["subsets"], piece["endpoints"]
    assert [a["ip"] for a in subset["addresses"]] == endpoint["addresses"]
    assert endpoint["conditions"] == {"ready": True}
    assert subset["ports"] == piece["ports"]
    [port] = piece["ports"]
    assert (port["name"], port["protocol"]) == ("https", "TCP") and rest.server.endswith(f":{port['port']}")
    assert piece["addressType"] == "IPv4"
