"""Services that cannot be reached where they ask to be: which, why, and the ways out."""

from __future__ import annotations

from typing import Any

import pytest

from paddlecloud.api.core import Pod, Service
from paddlecloud.embedded.node.network.following import LOW_WAYS_OUT, closed_to, lost_by
from paddlecloud.embedded.node.network.routing import Front, routes


def a_service(port: int, **spec: Any) -> Service:
    metadata = {"name": "web", "namespace": "default"}
    return Service.read(
        {"metadata": metadata, "spec": {"clusterIP": "127.1.0.9", "ports": [{"port": port}], **spec}}
    )


@pytest.mark.parametrize(
    "service, refused, said",
    [
        (a_service(80), {}, ""),
        (a_service(80), {Front("127.1.0.8", 80): "Permission denied"}, ""),
        (
            a_service(80),
            {Front("127.1.0.9", 80): "Permission denied"},
            f"nobody can listen on 127.1.0.9:80 here: Permission denied{LOW_WAYS_OUT}",
        ),
        (
            a_service(8000, type="NodePort", ports=[{"port": 8000, "nodePort": 30080}]),
            {Front("127.0.0.1", 30080): "Address already in use"},
            "nobody can listen on 127.0.0.1:30080 here: Address already in use",
        ),
        (a_service(80, clusterIP="None"), {Front("127.1.0.9", 80): "Permission denied"}, ""),
    ],
    ids=["reached", "somebody else's", "low port", "taken port", "without address"],
)
def test_a_service_says_where_it_cannot_be_reached(
    service: Service, refused: dict[Front, str], said: str
) -> None:
    assert closed_to(service, refused) == said


def a_pod(name: str, address: str, made: str = "2026-01-01T00:00:00Z", **port: Any) -> Pod:
    container = {"name": "main", "ports": [{"containerPort": 80, **port}]}
    return Pod.read(
        {
            "metadata": {"name": name, "namespace": "default", "creationTimestamp": made},
            "spec": {"containers": [container]},
            "status": {"phase": "Running", "podIP": address},
        }
    )


FIRST = a_pod("first", "10.0.0.1", hostPort=9000)
SECOND = a_pod("second", "10.0.0.2", "2026-01-01T00:00:01Z", hostPort=9000)
EXPOSED = a_service(8000, type="NodePort", ports=[{"port": 8000, "nodePort": 9000}])


@pytest.mark.parametrize(
    "pod, services, refused, said",
    [
        (FIRST, [], {}, ""),
        (SECOND, [], {}, "port 9000 of this machine, which all nodes share, leads to 10.0.0.1:80 already"),
        (
            FIRST,
            [EXPOSED],
            {},
            "port 9000 of this machine, which all nodes share, leads to a Service already",
        ),
        (a_pod("other", "10.0.0.3", hostPort=9001), [], {}, ""),
        (a_pod("none", "10.0.0.3"), [], {}, ""),
        (
            FIRST,
            [],
            {Front("127.0.0.1", 9000): "Address already in use"},
            "nobody can listen on 127.0.0.1:9000 here: Address already in use",
        ),
    ],
    ids=["has it", "came later", "a Service has it", "has another", "asks for none", "taken by a program"],
)
def test_a_pod_says_which_port_of_the_machine_it_did_not_get(
    pod: Pod, services: list[Service], refused: dict[Front, str], said: str
) -> None:
    assert lost_by(pod, routes(services, [], [SECOND, FIRST]), refused) == said
