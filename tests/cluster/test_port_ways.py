"""Connections with pods through an API that speaks TLS: answered, refused, broken off; nothing stays open."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import threading
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest
from aiohttp import WSMsgType, web

from paddlecloud.api.meta import Key
from paddlecloud.cluster import spdy
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.cluster.portforward import PROTOCOL
from paddlecloud.cluster.spdy import Kind
from paddlecloud.embedded import certificates
from paddlecloud.errors import Forbidden
from paddlecloud.sdk.serviceways import THREADS, connected

PODS = "/api/v1/namespaces/d/pods"


async def echo(request: web.Request) -> web.StreamResponse:
    """A pod that says what it hears, and ends when it is told all."""
    told = web.WebSocketResponse(protocols=(PROTOCOL,))
    await told.prepare(request)
    reader, writer = spdy.Reader(), spdy.Writer()
    async for message in told:
        for frame in reader.frames(message.data) if message.type is WSMsgType.BINARY else ():
            if frame.kind == Kind.DATA:
                await told.send_bytes(writer.data(frame.stream, frame.data, fin=frame.fin))
    return told


async def fall_silent(request: web.Request) -> web.StreamResponse:
    """Says what it hears, and then nothing more, not even goodbye."""
    told = web.WebSocketResponse(protocols=(PROTOCOL,), autoclose=False)
    await told.prepare(request)
    reader, writer = spdy.Reader(), spdy.Writer()
    while True:
        for frame in reader.frames((await told.receive()).data):
            if frame.kind == Kind.DATA:
                await told.send_bytes(writer.data(frame.stream, frame.data, fin=frame.fin))
                if frame.fin:
                    await asyncio.Event().wait()


async def break_off(request: web.Request) -> web.StreamResponse:
    told = web.WebSocketResponse(protocols=(PROTOCOL,))
    await told.prepare(request)
    await told.receive()
    assert request.transport is not None
    request.transport.abort()
    return told


async def refuse(_: web.Request) -> web.Response:
    said = {"kind": "Status", "status": "Failure", "reason": "Forbidden", "message": "not you", "code": 403}
    return web.json_response(said, status=403)


@asynccontextmanager
async def api(folder: Path) -> AsyncIterator[Access]:
    certificates.ensure(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.crt", folder / "server.key")
    app = web.Application()
    for pod, answer in (("echo", echo), ("silent", fall_silent), ("broken", break_off), ("closed", refuse)):
        app.router.add_get(f"{PODS}/{pod}/portforward", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        server = f"https://127.0.0.1:{runner.addresses[0][1]}"
        yield Access(server, "test", ca=(folder / "ca.crt").read_text())
    finally:
        await runner.cleanup()


@contextmanager
def nothing_left_open() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always")
        yield
        gc.collect()
    assert [str(w.message) for w in noticed if w.category is ResourceWarning] == []


def ended(way: socket.socket) -> bytes:
    """All that comes until the other side has ended."""
    heard = b""
    while piece := way.recv(65536):
        heard += piece
    return heard


def conversation(access: Access, pod: str) -> bytes:
    with connected(access, Key("d", pod), 80) as way:
        way.settimeout(30)
        # A way that breaks does so before, between or after these.
        with suppress(BrokenPipeError, ConnectionResetError):
            way.sendall(b"hello")
            way.shutdown(socket.SHUT_WR)
            return ended(way)
    return b""


@pytest.mark.parametrize("pod, heard", [("echo", b"hello"), ("silent", b"hello"), ("broken", b"")])
async def test_a_way_that_has_ended_leaves_nothing_open(tmp_path: Path, pod: str, heard: bytes) -> None:
    async with api(tmp_path) as access:
        with nothing_left_open():
            assert await asyncio.to_thread(conversation, access, pod) == heard
            await threads_ended()


async def test_a_refusal_is_raised_in_the_words_of_the_api(tmp_path: Path) -> None:
    async with api(tmp_path) as access:
        with nothing_left_open():
            with pytest.raises(Forbidden, match="not you"):
                await asyncio.to_thread(connected, access, Key("d", "closed"), 80)
            await threads_ended()


async def threads_ended() -> None:
    """What passes a connection on has ended, with the loop it did so in."""
    async with asyncio.timeout(30):
        while any(thread.name.startswith(THREADS) for thread in threading.enumerate()):
            await asyncio.sleep(0.01)
