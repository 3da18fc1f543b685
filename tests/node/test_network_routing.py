"""Who stands behind a Service, from its EndpointSlices."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.api.core import Pod, Service
from paddlecloud.api.endpoints import EndpointSlice
from paddlecloud.embedded.node.network.balancing import Turns
from paddlecloud.embedded.node.network.routing import Behind, Endpoint, Front, left_out, routes

ADDRESS = "127.9.0.1"
HTTP = [{"port": 80, "targetPort": 8080}]


def a_service(name: str = "s", **spec: Any) -> Service:
    made = spec.pop("made", None)
    metadata = {"name": name, "namespace": "d", **({"creationTimestamp": made} if made else {})}
    return Service.read({"metadata": metadata, "spec": {"clusterIP": ADDRESS, "ports": HTTP, **spec}})


def a_slice(*endpoints: dict[str, Any], service: str = "s", **fields: Any) -> EndpointSlice:
    metadata = {"name": f"{service}-x", "namespace": "d", "labels": {"kubernetes.io/service-name": service}}
    metadata |= fields.pop("metadata", {})
    body = {"addressType": "IPv4", "ports": [{"name": "", "port": 8080, "protocol": "TCP"}], **fields}
    return EndpointSlice.read({"metadata": metadata, "endpoints": list(endpoints), **body})


def at(address: str, **conditions: bool) -> dict[str, Any]:
    return {"addresses": [address], "conditions": conditions}


A, B = Endpoint("127.8.0.1", 8080), Endpoint("127.8.0.2", 8080)
LEAVING = {"ready": False, "serving": True, "terminating": True}


@pytest.mark.parametrize(
    "slices, behind",
    [
        ([a_slice(at(A.host, ready=True), at(B.host, ready=True))], (A, B)),
        ([a_slice(at(B.host)), a_slice(at(A.host))], (A, B)),
        ([a_slice(at(A.host)), a_slice(at(A.host))], (A,)),
        ([], ()),
        ([a_slice(at(A.host, ready=False))], ()),
        ([a_slice(at(A.host, ready=True), at(B.host, **LEAVING))], (A,)),
        ([a_slice(at(B.host, **LEAVING))], (B,)),
        ([a_slice(at(A.host), service="other")], ()),
        ([a_slice(at(A.host), metadata={"namespace": "other"})], ()),
        ([a_slice(at(A.host), ports=[{"name": "", "port": 8080, "protocol": "UDP"}])], ()),
        ([a_slice(at(A.host), ports=[])], ()),
        ([a_slice(at("::1"), addressType="IPv6")], ()),
    ],
)
def test_who_stands_behind_a_service(slices: list[EndpointSlice], behind: tuple[Endpoint, ...]) -> None:
    assert routes([a_service()], slices)[Front(ADDRESS, 80)] == Behind(behind)


def test_ports_are_matched_by_name_and_protocol() -> None:
    ports = [{"name": "web", "port": 80}, {"name": "dns", "port": 53, "protocol": "UDP"}]
    offered = [{"name": "dns", "port": 5353, "protocol": "UDP"}, {"name": "web", "port": 9000}]
    found = routes([a_service(ports=ports)], [a_slice(at(A.host), ports=offered)])
    assert found == {
        Front(ADDRESS, 80): Behind((Endpoint(A.host, 9000),)),
        Front(ADDRESS, 53, "UDP"): Behind((Endpoint(A.host, 5353),)),
    }


@pytest.mark.parametrize(
    "spec, fronts",
    [
        ({"clusterIP": "None"}, []),
        ({"clusterIP": ""}, []),
        ({"type": "ExternalName", "externalName": "x"}, []),
        ({"ports": [{"port": 80, "protocol": "SCTP"}]}, []),
        ({}, [Front(ADDRESS, 80)]),
        ({"ports": [{"port": 80, "nodePort": 30080}]}, [Front(ADDRESS, 80)]),
        (
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]},
            [Front(ADDRESS, 80), Front("127.0.0.1", 30080)],
        ),
        (
            {"type": "LoadBalancer", "ports": [{"port": 80, "nodePort": 30080}]},
            [Front(ADDRESS, 80), Front("127.0.0.1", 30080), Front("127.0.0.1", 80)],
        ),
    ],
)
def test_where_a_service_answers(spec: dict[str, Any], fronts: list[Front]) -> None:
    assert list(routes([a_service(**spec)], [])) == fronts


def test_of_two_balancers_on_one_port_the_older_one_has_it() -> None:
    young = a_service("a", type="LoadBalancer", clusterIP="127.9.0.2", made="2026-02-01T00:00:00Z")
    old = a_service("b", type="LoadBalancer", clusterIP="127.9.0.3", made="2026-01-01T00:00:00Z")
    slices = [a_slice(at(A.host), service="a"), a_slice(at(B.host), service="b")]
    assert routes([young, old], slices)[Front("127.0.0.1", 80)] == Behind((B,))


@pytest.mark.parametrize(
    "spec, seconds",
    [
        ({}, 0.0),
        ({"sessionAffinity": "None"}, 0.0),
        ({"sessionAffinity": "ClientIP"}, 10800.0),
        (
            {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}},
            5.0,
        ),
    ],
)
def test_how_long_a_client_stays(spec: dict[str, Any], seconds: float) -> None:
    assert routes([a_service(**spec)], [])[Front(ADDRESS, 80)].affinity == seconds


def test_external_addresses_are_left_out_with_words() -> None:
    assert "192.0.2.7 are ignored" in left_out(a_service(externalIPs=["192.0.2.7"]))
    assert left_out(a_service()) == ""


def test_clients_take_turns() -> None:
    turns, behind = Turns(), Behind((A, B))
    assert [turns.candidates(behind, "c", 0) for _ in range(3)] == [[A, B], [B, A], [A, B]]


def test_a_client_with_affinity_stays_until_its_time_is_over() -> None:
    turns, behind = Turns(), Behind((A, B), affinity=10)
    assert turns.candidates(behind, "c", 0)[0] == A
    turns.answered(behind, "c", A, 0)
    assert [turns.candidates(behind, "c", t)[0] for t in (1, 2, 10)] == [A, A, A]
    assert turns.candidates(behind, "other", 10)[0] == B
    assert turns.candidates(Behind((B,), affinity=10), "c", 10) == [B]
    assert turns.candidates(behind, "c", 11)[0] == B, "its time was over, the turn decides"


def test_clients_whose_time_is_over_are_forgotten() -> None:
    turns, behind = Turns(), Behind((A, B), affinity=10)
    for number in range(100):
        turns.answered(behind, f"c{number}", A, float(number))
    assert len(turns._clients) == 11


def a_pod(port: dict[str, Any], address: str = A.host, phase: str = "Running", **spec: Any) -> Pod:
    container = {"name": "main", "ports": [{"containerPort": 8080, **port}]}
    return Pod.read({
        "metadata": {"name": "p", "namespace": "d"},
        "spec": {"containers": [container], **spec},
        "status": {"phase": phase, **({"podIP": address} if address else {})},
    })  # fmt: skip


@pytest.mark.parametrize(
    "pod, expected",
    [
        (a_pod({"hostPort": 9000}), {Front("127.0.0.1", 9000): Behind((A,))}),
        (a_pod({"hostPort": 9000, "hostIP": "0.0.0.0"}), {Front("127.0.0.1", 9000): Behind((A,))}),
        (a_pod({"hostPort": 9000, "hostIP": "127.0.0.7"}), {Front("127.0.0.7", 9000): Behind((A,))}),
        (a_pod({"hostPort": 9000, "protocol": "UDP"}), {Front("127.0.0.1", 9000, "UDP"): Behind((A,))}),
        (a_pod({"hostPort": 9000, "protocol": "SCTP"}), {}),
        (a_pod({}), {}),
        (a_pod({"hostPort": 9000}, address=""), {}),
        (a_pod({"hostPort": 9000}, phase="Succeeded"), {}),
        # There the program listens on the machine itself.
        (a_pod({"hostPort": 8080}, hostNetwork=True), {}),
    ],
)
def test_a_port_on_the_host_leads_to_its_pod(pod: Pod, expected: dict[Front, Behind]) -> None:
    assert routes([], [], [pod]) == expected


def test_a_port_that_a_service_has_stays_with_it() -> None:
    service = a_service(type="NodePort", ports=[{"port": 80, "nodePort": 30080}])
    found = routes([service], [a_slice(at(B.host))], [a_pod({"hostPort": 30080})])
    assert found[Front("127.0.0.1", 30080)] == Behind((B,))
