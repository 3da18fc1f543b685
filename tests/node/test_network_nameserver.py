"""The DNS server with real sockets; resolvers of the world outside are ours, too."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest
from tests.node.test_network_names import NAME, SEEN, a_question
from tests.node.test_network_routing import a_service, a_slice, at

from paddlecloud.embedded.node.network.dnswire import NO_ERROR, NO_SUCH_NAME, SERVER_FAILURE
from paddlecloud.embedded.node.network.nameserver import Nameserver, machine_resolvers
from paddlecloud.embedded.node.network.routing import Endpoint

HOST = "127.0.0.1"


@pytest.fixture
async def server() -> AsyncIterator[Nameserver]:
    it = Nameserver()
    it.world = SEEN
    yield it
    it.close()


async def ask(port: int, question: bytes) -> bytes:
    loop = asyncio.get_running_loop()
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.setblocking(False)
        client.connect((HOST, port))
        await loop.sock_sendall(client, question)
        async with asyncio.timeout(20):
            return await loop.sock_recv(client, 4096)


async def ask_by_tcp(port: int, question: bytes) -> bytes:
    async with asyncio.timeout(20):
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(len(question).to_bytes(2, "big") + question)
        reply = await reader.readexactly(int.from_bytes(await reader.readexactly(2), "big"))
        writer.close()
        return reply


def code(reply: bytes) -> int:
    return reply[3] & 15


async def test_names_are_answered_by_both_protocols(server: Nameserver) -> None:
    port = await server.listen(HOST, (0,))
    replies = [await ask(port, a_question(NAME)), await ask_by_tcp(port, a_question(NAME))]
    assert [code(reply) for reply in replies] == [NO_ERROR] * 2
    assert all(reply.endswith(socket.inet_aton("127.9.0.7")) for reply in replies)


async def test_a_name_that_does_not_exist_is_denied_at_once(server: Nameserver) -> None:
    port = await server.listen(HOST, (0,))
    assert code(await ask(port, a_question("nobody.d.svc.cluster.local"))) == NO_SUCH_NAME


async def test_an_answer_too_long_for_a_datagram_is_whole_by_tcp(server: Nameserver) -> None:
    pods = [at(f"127.8.1.{n}") for n in range(1, 200)]
    server.world = type(SEEN)(
        {s.key: s for s in [a_service("many", clusterIP="None")]},
        {a_service("many").key: [a_slice(*pods, service="many")]},
    )
    port = await server.listen(HOST, (0,))
    question = a_question("many.d.svc.cluster.local")
    cut, whole = await ask(port, question), await ask_by_tcp(port, question)
    assert cut[2] & 0x02 and len(cut) <= 512
    assert int.from_bytes(whole[6:8], "big") == 199


class Outside(asyncio.DatagramProtocol):
    """A resolver that answers every question with itself, marked as an answer."""

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.transport.sendto(data[:2] + b"\x81\x80" + data[4:], addr)


async def test_other_names_are_asked_of_the_machines_resolvers() -> None:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(Outside, local_addr=(HOST, 0))
    server = Nameserver((Endpoint(*transport.get_extra_info("sockname")),))
    try:
        port = await server.listen(HOST, (0,))
        reply = await ask(port, a_question("example.com"))
        assert reply[2:4] == b"\x81\x80"
    finally:
        server.close()
        transport.close()


async def test_without_a_resolver_that_answers_other_names_fail_and_then_at_once() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as silent:
        silent.bind((HOST, 0))
        server = Nameserver((Endpoint(*silent.getsockname()),))
        try:
            port = await server.listen(HOST, (0,))
            assert code(await ask(port, a_question("example.com"))) == SERVER_FAILURE
            assert silent.recv(512, socket.MSG_DONTWAIT)
            for _ in range(20):
                assert code(await ask(port, a_question("example.com"))) == SERVER_FAILURE
            with pytest.raises(BlockingIOError):
                silent.recv(512, socket.MSG_DONTWAIT)
        finally:
            server.close()


async def test_a_port_that_is_closed_to_us_is_passed_over(server: Nameserver) -> None:
    with socket.socket() as squatter:
        squatter.bind((HOST, 0))
        squatter.listen()
        taken = squatter.getsockname()[1]
        port = await server.listen(HOST, (taken, 0))
        assert port not in (0, taken)
        assert await Nameserver().listen(HOST, (taken,)) == 0


def test_the_machines_resolvers_are_those_of_its_file() -> None:
    text = "# nameserver 192.0.2.7\nnameserver 192.0.2.1\nnameserver ::1\n nameserver 192.0.2.2 \n"
    assert machine_resolvers(text) == (Endpoint("192.0.2.1", 53), Endpoint("192.0.2.2", 53))
