"""Services with real sockets; backends say who they are."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator

import pytest
import uvloop

from paddlecloud.api.meta import Key
from paddlecloud.embedded.node.network.proxy import Proxy
from paddlecloud.embedded.node.network.routing import Behind, Endpoint, Front, Routes
from paddlecloud.embedded.node.network.waking import IDLE, sleepy


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


class Echo(asyncio.DatagramProtocol):
    def __init__(self, name: str) -> None:
        self.name = name

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.transport.sendto(self.name.encode() + b":" + data, addr)


def to(*endpoints: Endpoint, affinity: float = 0.0) -> Behind:
    return Behind(endpoints, affinity)


async def call(front: Front, body: bytes = b"", source: str = "127.0.0.1") -> bytes:
    async with asyncio.timeout(20):
        reader, writer = await asyncio.open_connection(front.host, front.port, local_addr=(source, 0))
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


def free_front(host: str = "127.0.0.1", protocol: str = "TCP") -> Front:
    with socket.socket(type=socket.SOCK_STREAM if protocol == "TCP" else socket.SOCK_DGRAM) as probe:
        probe.bind((host, 0))
        found, port = probe.getsockname()
        return Front(found, port, protocol)


async def test_connections_go_to_the_endpoints_in_turn(proxy: Proxy, backends: dict[str, Endpoint]) -> None:
    front = free_front()
    await proxy.follow({front: to(*backends.values())})
    answers = Counter([await call(front, b"x") for _ in range(6)])
    assert answers == {b"a:x": 3, b"b:x": 3}


async def test_a_client_with_affinity_comes_back_to_its_endpoint(
    proxy: Proxy, backends: dict[str, Endpoint]
) -> None:
    front = free_front()
    await proxy.follow({front: to(*backends.values(), affinity=60)})
    one = [await call(front, source="127.0.0.1") for _ in range(3)]
    two = [await call(front, source="127.0.0.2") for _ in range(3)]
    assert (one, two) == ([b"a:"] * 3, [b"b:"] * 3)


async def test_a_half_close_is_passed_on_and_megabytes_arrive_whole(
    proxy: Proxy, backends: dict[str, Endpoint]
) -> None:
    front = free_front()
    await proxy.follow({front: to(backends["a"])})
    body = bytes(range(256)) * 20_000
    assert await call(front, body) == b"a:" + body


async def test_an_endpoint_that_refuses_is_passed_over(proxy: Proxy, backends: dict[str, Endpoint]) -> None:
    front, dead = free_front(), free_front("127.0.0.2")
    await proxy.follow({front: to(Endpoint(dead.host, dead.port), backends["b"])})
    assert [await call(front) for _ in range(4)] == [b"b:"] * 4


async def test_when_every_endpoint_refuses_the_caller_is_reset(proxy: Proxy) -> None:
    front, dead = free_front(), free_front("127.0.0.2")
    await proxy.follow({front: to(Endpoint(dead.host, dead.port))})
    with pytest.raises(ConnectionError):
        await call(front)


async def test_a_service_without_ready_pods_refuses_at_once_and_answers_when_one_is(
    proxy: Proxy, backends: dict[str, Endpoint]
) -> None:
    front = free_front()
    await proxy.follow({front: to()})
    with pytest.raises(ConnectionRefusedError):
        await call(front)
    await proxy.follow({front: to(backends["a"])})
    assert await call(front) == b"a:"
    await proxy.follow({front: to()})
    with pytest.raises(ConnectionRefusedError):
        await call(front)


async def test_the_listener_of_a_deleted_service_goes_and_its_open_connections_stay(
    proxy: Proxy, backends: dict[str, Endpoint]
) -> None:
    front = free_front()
    await proxy.follow({front: to(backends["a"])})
    reader, writer = await asyncio.open_connection(front.host, front.port)
    writer.write(b"before ")
    await proxy.follow({})
    with pytest.raises(ConnectionRefusedError):
        await call(front)
    writer.write(b"after")
    writer.write_eof()
    async with asyncio.timeout(20):
        assert await reader.read() == b"a:before after"
    writer.close()


async def test_a_change_of_endpoints_holds_for_the_next_connection(
    proxy: Proxy, backends: dict[str, Endpoint]
) -> None:
    front = free_front()
    await proxy.follow({front: to(backends["a"])})
    assert await call(front) == b"a:"
    await proxy.follow({front: to(backends["b"])})
    assert await call(front) == b"b:"


async def test_a_place_that_is_taken_harms_no_other_and_is_tried_again(
    proxy: Proxy, backends: dict[str, Endpoint]
) -> None:
    front = free_front()
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", 0))
        squatter.listen()
        taken = Front(*squatter.getsockname())
        wanted: Routes = {taken: to(backends["a"]), front: to(backends["b"])}
        await proxy.follow(wanted)
        assert await call(front) == b"b:"
        assert list(proxy.refused) == [taken]
    await proxy.follow(wanted)
    assert await call(taken) == b"a:"
    assert proxy.refused == {}


async def test_a_hundred_services_answer_each_with_its_own(
    proxy: Proxy, backends: dict[str, Endpoint]
) -> None:
    fronts = [Front(f"127.9.7.{n}", 20080) for n in range(1, 101)]
    a, b = backends["a"], backends["b"]
    await proxy.follow({front: to(a if n % 2 else b) for n, front in enumerate(fronts)})
    answers = await asyncio.gather(*(call(front) for front in fronts))
    assert answers == [b"a:" if n % 2 else b"b:" for n in range(100)]


def test_what_a_caller_says_before_it_is_connected_arrives_on_the_loop_of_the_node() -> None:
    async def calls() -> list[bytes]:
        proxy, backend, front = Proxy(), Backend("a"), free_front()
        await proxy.follow({front: to(await backend.start())})
        try:
            return await asyncio.gather(*(call(front, b"%d" % n) for n in range(64)))
        finally:
            await proxy.close()
            backend.server.close()

    assert uvloop.run(calls()) == [b"a:%d" % n for n in range(64)]


async def test_datagrams_of_a_client_stay_with_one_endpoint_and_answers_come_back(proxy: Proxy) -> None:
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_datagram_endpoint(lambda n=name: Echo(n), local_addr=("127.0.0.1", 0))  # type: ignore[misc]
        for name in ("a", "b")
    ]
    endpoints = [Endpoint(*transport.get_extra_info("sockname")) for transport, _ in made]
    front = free_front(protocol="UDP")
    await proxy.follow({front: to(*endpoints)})
    try:
        answers = []
        for _ in range(2):
            with socket.socket(type=socket.SOCK_DGRAM) as client:
                client.setblocking(False)
                client.connect((front.host, front.port))
                async with asyncio.timeout(20):
                    for word in (b"1", b"2"):
                        await loop.sock_sendall(client, word)
                        answers.append(await loop.sock_recv(client, 100))
        assert answers == [b"a:1", b"a:2", b"b:1", b"b:2"]
    finally:
        for transport, _ in made:
            transport.close()


async def test_a_call_wakes_who_is_asleep_and_is_held() -> None:
    front, backend = free_front(), Backend("a")
    key, woken = Key("ns", "minio"), list[Key]()
    started = await backend.start()

    async def wake(asked: Key) -> None:
        woken.append(asked)
        await held.follow({front: Behind((started,), wakes=key)})

    held = Proxy(wake=wake)
    await held.follow({front: Behind(wakes=key)})
    try:
        assert await call(front, b"first") == b"a:first"
        assert await call(front, b"second") == b"a:second"
        assert woken == [key], "who is awake is not woken"
    finally:
        await held.close()
        backend.server.close()


@pytest.mark.parametrize(
    "endpoints, since, sleeps", [(1, IDLE, True), (1, IDLE - 1, False), (0, IDLE, False), (1, None, False)]
)
def test_who_is_not_called_for_long_may_sleep(endpoints: int, since: float | None, sleeps: bool) -> None:
    key = Key("ns", "minio")
    behind = Behind((Endpoint("127.0.0.1", 1),) * endpoints, wakes=key)
    calls = {} if since is None else {key: 1000.0 - since}
    assert (sleepy({Front("127.0.0.1", 9): behind}, calls, 1000.0) == [key]) is sleeps


async def test_a_conversation_counts_as_a_call() -> None:
    front, key = free_front(), Key("ns", "minio")
    backend = Backend("a")
    proxy = Proxy()
    await proxy.follow({front: Behind((await backend.start(),), wakes=key)})
    try:
        _, writer = await asyncio.open_connection(front.host, front.port)
        writer.write(b"x")
        async with asyncio.timeout(20):
            while proxy.last_calls(12345.0)[key] != 12345.0:
                await asyncio.sleep(0)
        writer.close()
    finally:
        await proxy.close()
        backend.server.close()


async def test_a_visitor_of_the_pod_itself_counts_as_a_call() -> None:
    front, key = free_front(), Key("ns", "minio")
    there = Endpoint("127.9.9.9", 1)
    visitors = {there.host: 1}
    proxy = Proxy(visitors=visitors)
    await proxy.follow({front: Behind((there,), wakes=key)})
    try:
        assert [proxy.last_calls(at)[key] for at in (10.0, 20.0)] == [10.0, 20.0]
        del visitors[there.host]
        assert proxy.last_calls(30.0)[key] == 20.0
    finally:
        await proxy.close()
