"""Ports of pods over WebSockets: SPDY as kubectl speaks it, channels as older clients do, plain HTTP."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import struct
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import aiohttp
import pytest
from tests.node.conversations import Conversations, conversations
from yarl import URL

from paddlecloud.cluster import spdy
from paddlecloud.cluster.portforward import PROTOCOL, Forwarder
from paddlecloud.cluster.spdy import Broken, Frame, Kind
from paddlecloud.errors import Failed

# Answers every connection with the digest of all it heard, once the other side has stopped speaking.
DIGESTS = """
import asyncio, hashlib, os, socket
async def answer(reader, writer):
    heard = hashlib.sha256(await reader.read()).hexdigest()
    writer.write(heard.encode())
    await writer.drain()
    writer.close()
async def main():
    server = await asyncio.start_server(answer, os.environ["POD_IP"], 7000)
    print("up", flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
WEB = """
import http.server, os
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = f"{self.command} {self.path} {self.headers.get('Authorization')}".encode()
        if self.headers.get("Content-Length"):
            body += b" " + self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(418)
        self.send_header("X-Mine", "yes")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
server = http.server.HTTPServer((os.environ["POD_IP"], 7000), Answer)
print("up", flush=True)
server.serve_forever()
"""


@pytest.fixture
async def pods(tmp_path: Path) -> AsyncIterator[Conversations]:
    async with conversations(tmp_path) as it:
        yield it


async def up(pods: Conversations, program: str) -> None:
    await pods.running(sys.executable, "-c", program)
    await pods.yard.until(lambda: "up" in pods.yard.log())


class Local:
    """A forwarder with a listener of its own, as a client has it."""

    def __init__(self, forwarder: Forwarder, server: asyncio.Server) -> None:
        self.forwarder, self.server = forwarder, server

    async def ask(self, data: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(*self.server.sockets[0].getsockname())
        writer.write(data)
        await writer.drain()
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        return answer


async def forwarding(
    pods: Conversations, connection: aiohttp.ClientWebSocketResponse, port: int, said: list[str]
) -> tuple[Local, asyncio.Task[None]]:
    forwarder = Forwarder(connection, said.append)

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await forwarder.carry(port, reader, writer)

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    return Local(forwarder, server), asyncio.create_task(forwarder.run())


async def test_many_large_connections_at_once_each_with_its_half_closed(pods: Conversations) -> None:
    await up(pods, DIGESTS)
    async with pods.talk(pods.url("portForward", inside=""), PROTOCOL) as socket:
        local, task = await forwarding(pods, socket, 7000, [])
        messages = [os.urandom(1_000_000 + n) for n in range(20)]
        answers = await asyncio.gather(*(local.ask(message) for message in messages))
        assert answers == [hashlib.sha256(message).hexdigest().encode() for message in messages]
        local.server.close()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_port_where_nobody_listens_is_told_in_words_and_harms_no_other(pods: Conversations) -> None:
    await up(pods, DIGESTS)
    said: list[str] = []
    async with pods.talk(pods.url("portForward", inside=""), PROTOCOL) as socket:
        dead, task = await forwarding(pods, socket, 9, said)
        assert await dead.ask(b"") == b""
        await pods.yard.until(lambda: said)
        dead.server.close()

        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await dead.forwarder.carry(7000, reader, writer)

        alive = Local(dead.forwarder, await asyncio.start_server(carry, "127.0.0.1", 0))
        assert await alive.ask(b"x") == hashlib.sha256(b"x").hexdigest().encode()
        alive.server.close()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    [complaint] = said
    assert complaint.startswith("error forwarding port 9 to pod p, uid uid-p: failed to connect to 127.")
    assert complaint.endswith(":9: connection refused")


class Told:
    """The far end of a forwarder: it takes everything and says what it was given to say."""

    def __init__(self, *says: bytes) -> None:
        self._says = says

    async def send_bytes(self, data: bytes) -> None: ...

    async def __aiter__(self) -> AsyncIterator[aiohttp.WSMessage]:
        for data in self._says:
            yield aiohttp.WSMessage(aiohttp.WSMsgType.BINARY, data, None)


async def test_a_client_that_broke_off_amid_an_answer_harms_no_other() -> None:
    end = spdy.Writer().data(3, b"", fin=True)
    forwarder = Forwarder(cast(aiohttp.ClientWebSocketResponse, Told(end)), print)
    carried: list[asyncio.Task[None]] = []

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        carried.append(asyncio.create_task(forwarder.carry(7000, reader, writer)))

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    with socket.create_connection(server.sockets[0].getsockname()) as client:
        while not carried:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        # A reset instead of a farewell, as from a browser that is killed; nobody has noticed it yet.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with pytest.raises(Failed, match="the connection to the pod was lost"):
        await forwarder.run()

    await asyncio.gather(*carried)
    server.close()


@pytest.mark.parametrize("protocol", ["v4.channel.k8s.io", ""])
async def test_ports_as_channels(pods: Conversations, protocol: str) -> None:
    await up(pods, WEB)
    query = [("ports", "7000"), ("ports", "9")]
    async with pods.talk(pods.url("portForward", query, inside=""), protocol) as socket:
        first = [await socket.receive_bytes() for _ in range(5)]
        assert first[:2] == [bytes((n,)) + struct.pack("<H", 7000) for n in (0, 1)]
        assert first[2:4] == [bytes((n,)) + struct.pack("<H", 9) for n in (2, 3)]
        assert first[4][0] == 3 and b"connection refused" in first[4]
        await socket.send_bytes(b"\0GET /x HTTP/1.0\r\n\r\n")
        answer = b""
        async for message in socket:
            assert message.data[0] == 0
            answer += message.data[1:]
    assert answer.startswith(b"HTTP/1.0 418") and answer.endswith(b"GET /x None")


async def test_http_to_a_pod_passes_through_and_credentials_stay_behind(pods: Conversations) -> None:
    await up(pods, WEB)
    url = URL("http://node/proxy/d/p/http/7000/a%20b/?q=1%2F2", encoded=True)
    async with pods.session.post(url, data=b"body", headers={"Authorization": "Bearer s"}) as answer:
        assert (answer.status, answer.headers["X-Mine"]) == (418, "yes")
        assert await answer.text() == "POST /a%20b/?q=1%2F2 None body"


async def test_http_to_a_dead_port_says_so(pods: Conversations) -> None:
    await pods.running("sleep", "1000")
    async with pods.session.get("http://node/proxy/d/p/http/9/") as answer:
        assert answer.status == 503 and answer.headers["Paddlecloud-Unreached"]
        assert (await answer.text()).endswith(":9: connect: connection refused")


def test_what_is_written_is_read_whatever_the_pieces() -> None:
    writer = spdy.Writer()
    data = b"".join(
        [
            writer.open(1, {"streamtype": "error", "port": "80"}, fin=True),
            writer.open(3, {"StreamType": "data"}),
            writer.reply(3),
            writer.data(3, b"x" * 1000),
            writer.data(3, b"", fin=True),
            writer.reset(3, spdy.CANCELLED),
            writer.pong(b"\0\0\0\1"),
        ]
    )
    wanted = [
        Frame(Kind.SYN_STREAM, 1, True, {"streamtype": "error", "port": "80"}),
        Frame(Kind.SYN_STREAM, 3, False, {"streamtype": "data"}),
        Frame(Kind.SYN_REPLY, 3, False, {}),
        Frame(Kind.DATA, 3, data=b"x" * 1000),
        Frame(Kind.DATA, 3, True),
        Frame(Kind.RST_STREAM, 3, data=struct.pack("!I", spdy.CANCELLED)),
        Frame(Kind.PING, data=b"\0\0\0\1"),
    ]
    for size in (1, 7, len(data)):
        reader = spdy.Reader()
        pieces = (data[start : start + size] for start in range(0, len(data), size))
        assert [frame for piece in pieces for frame in reader.frames(piece)] == wanted


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02\x00\x01\x00\x00\x00\x00",
        b"\x80\x03\x00\x01\x00\x00\x00\x02ab",
        b"\x80\x03\x00\x02\x00\x00\x00\x08\x00\x00\x00\x01junk",
    ],
)
def test_what_is_not_spdy_is_refused(data: bytes) -> None:
    with pytest.raises(Broken):
        list(spdy.Reader().frames(data))


def test_the_dictionary_is_the_one_everybody_has() -> None:
    # Its checksum stands at the beginning of every compressed header block.
    assert spdy.Writer().reply(1)[12:18] == bytes.fromhex("78bbe3c6a7c2")
