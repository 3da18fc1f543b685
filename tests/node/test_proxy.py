"""Services with real sockets; backends say who they are."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from paddlecloud.api.core import Pod, Service
from paddlecloud.embedded.node.proxy import Endpoint, Proxy, routes


def a_service(name: str = "s", *, selector: dict[str, str] | None = None, **spec: Any) -> Service:
    ports = spec.pop("ports", [{"port": 80, "targetPort": 8080}])
    body = {"clusterIP": "127.9.0.1", "selector": selector or {"app": "x"}, "ports": ports, **spec}
    return Service.read({"metadata": {"name": name, "namespace": "d"}, "spec": body})


def a_pod(ip: str, *, ready: bool = True, namespace: str = "d", **metadata: Any) -> Pod:
    return Pod.read(
        {
            "metadata": {"name": ip, "namespace": namespace, "labels": {"app": "x"}, **metadata},
            "spec": {"containers": [{"name": "c", "ports": [{"name": "http", "containerPort": 9000}]}]},
            "status": {
                "phase": "Running",
                "podIP": ip,
                "conditions": [{"type": "Ready", "status": str(ready)}],
            },
        }
    )


@pytest.mark.parametrize(
    "service, pods, behind",
    [
        (a_service(), [a_pod("127.8.0.1"), a_pod("127.8.0.2")], [("127.8.0.1", 8080), ("127.8.0.2", 8080)]),
        (a_service(), [], []),
        (a_service(), [a_pod("127.8.0.1", ready=False)], []),
        (a_service(), [a_pod("127.8.0.1", namespace="other")], []),
        (a_service(), [a_pod("127.8.0.1", labels={"app": "y"})], []),
        (a_service(), [a_pod("127.8.0.1", deletionTimestamp="2026-01-01T00:00:00Z")], []),
        (a_service(ports=[{"port": 80}]), [a_pod("127.8.0.1")], [("127.8.0.1", 80)]),
        (a_service(ports=[{"port": 80, "targetPort": "http"}]), [a_pod("127.8.0.1")], [("127.8.0.1", 9000)]),
        (a_service(ports=[{"port": 80, "targetPort": "none"}]), [a_pod("127.8.0.1")], []),
    ],
)
def test_who_stands_behind_a_service(
    service: Service, pods: list[Pod], behind: list[tuple[str, int]]
) -> None:
    assert list(routes([service], pods)[Endpoint("127.9.0.1", 80)]) == behind


@pytest.mark.parametrize(
    "spec", [{"clusterIP": "None"}, {"clusterIP": ""}, {"selector": {}, "clusterIP": None}]
)
def test_a_service_without_address_has_no_listener(spec: dict[str, Any]) -> None:
    assert routes([a_service(**spec)], [a_pod("127.8.0.1")]) == {}


class Backend:
    """Answers what it got until the caller closed its side, with its name in front."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def start(self) -> Endpoint:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self.server.sockets[0].getsockname()
        return Endpoint(host, port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = await reader.read()
        writer.write(self.name.encode() + b":" + body)
        await writer.drain()
        writer.close()


async def call(address: Endpoint, body: bytes = b"") -> bytes:
    async with asyncio.timeout(20):
        reader, writer = await asyncio.open_connection(*address)
        try:
            writer.write(body)
            writer.write_eof()
            return await reader.read()
        finally:
            writer.close()


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    it = Proxy()
    yield it
    await it.close()


@pytest.fixture
async def backends() -> AsyncIterator[dict[str, Endpoint]]:
    started = [Backend("a"), Backend("b")]
    yield {b.name: await b.start() for b in started}
    for backend in started:
        backend.server.close()


def free_port(host: str = "127.0.0.1") -> Endpoint:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return Endpoint(*probe.getsockname())


async def test_connections_go_to_the_endpoints_in_turn(proxy: Proxy, backends: dict[str, Endpoint]) -> None:
    address = free_port()
    await proxy.follow({address: tuple(backends.values())})
    answers = Counter([await call(address, b"x") for _ in range(6)])
    assert answers == {b"a:x": 3, b"b:x": 3}


async def test_a_half_close_is_passed_on_and_megabytes_arrive_whole(
    proxy: Proxy, backends: dict[str, Endpoint]
) -> None:
    address = free_port()
    await proxy.follow({address: (backends["a"],)})
    body = bytes(range(256)) * 20_000
    assert await call(address, body) == b"a:" + body


async def test_an_endpoint_that_refuses_is_passed_over(proxy: Proxy, backends: dict[str, Endpoint]) -> None:
    address, dead = free_port(), free_port("127.0.0.2")
    await proxy.follow({address: (dead, backends["b"])})
    assert [await call(address) for _ in range(4)] == [b"b:"] * 4


async def test_a_service_without_ready_pods_hangs_up_at_once(proxy: Proxy) -> None:
    address = free_port()
    await proxy.follow({address: ()})
    with pytest.raises(ConnectionError):
        await call(address)


async def test_the_listener_of_a_deleted_service_goes(proxy: Proxy, backends: dict[str, Endpoint]) -> None:
    address = free_port()
    await proxy.follow({address: (backends["a"],)})
    await proxy.follow({})
    with pytest.raises(ConnectionRefusedError):
        await call(address)


async def test_a_change_of_endpoints_holds_for_the_next_connection(
    proxy: Proxy, backends: dict[str, Endpoint]
) -> None:
    address = free_port()
    await proxy.follow({address: (backends["a"],)})
    assert await call(address) == b"a:"
    await proxy.follow({address: (backends["b"],)})
    assert await call(address) == b"b:"


async def test_an_address_that_is_taken_harms_no_other(proxy: Proxy, backends: dict[str, Endpoint]) -> None:
    address = free_port()
    await proxy.follow({backends["a"]: (), address: (backends["b"],)})
    assert await call(address) == b"b:"
