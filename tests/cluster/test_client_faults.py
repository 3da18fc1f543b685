"""The async client when things go wrong on the way."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace

import orjson
import pytest
from aiohttp import web
from tests.cluster.servers import answering

from paddlecloud.api.core import ConfigMap
from paddlecloud.api.meta import Key, Metadata
from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.errors import Expired, NotFound, ServerError, Unavailable, Unreachable

A = ConfigMap(metadata=Metadata(name="a", namespace="ml"))


def unlucky() -> float:
    """Half of every pause: tests need not wait longer."""
    return 0.0


@pytest.mark.parametrize("status", [429, 503])
async def test_a_busy_server_is_asked_again(status: int) -> None:
    asked = 0

    async def answer(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        return web.json_response(A.wire()) if asked == 3 else web.Response(status=status)

    async with answering(answer) as access, Client(access, luck=unlucky) as client:
        assert (await client.get(ConfigMap, "ml", "a")).name == "a"
    assert asked == 3


async def test_a_create_is_never_sent_twice() -> None:
    asked = 0

    async def answer(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        return web.Response(status=503, text="starting")

    async with answering(answer) as access, Client(access, luck=unlucky) as client:
        with pytest.raises(Unavailable, match="starting"):
            await client.create(A)
    assert asked == 1


async def test_a_server_that_stays_busy_is_given_up() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=503)

    async with answering(answer) as access, Client(access, luck=unlucky) as client:
        async with asyncio.timeout(10):
            with pytest.raises(Unavailable):
                await client.get(ConfigMap, "ml", "a")


async def test_the_token_is_in_the_header_and_nowhere_else() -> None:
    seen: list[tuple[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append((request.headers["Authorization"], str(request.url)))
        return web.json_response(A.wire())

    async with answering(answer) as access, Client(access) as client:
        await client.get(ConfigMap, "ml", "a")

    [(header, url)] = seen
    assert header == "Bearer t0p" and "t0p" not in url


async def test_nobody_listening_is_unreachable_and_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        access = Access(f"http://127.0.0.1:{taken.getsockname()[1]}", "my cluster")
        async with Client(access, luck=unlucky) as client:
            with pytest.raises(Unreachable, match=r"my cluster at http://127\.0\.0\.1"):
                await client.create(A)


async def test_a_server_that_starts_meanwhile_is_found() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]

        async def answer(request: web.Request) -> web.Response:
            return web.json_response(A.wire())

        async with Client(Access(f"http://127.0.0.1:{port}", "c"), luck=lambda: 1.0) as client:
            getting = asyncio.create_task(client.get(ConfigMap, "ml", "a"))
            await asyncio.sleep(0)
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", answer)
            runner = web.AppRunner(app)
            await runner.setup()
            await web.SockSite(runner, listening).start()
            try:
                assert (await asyncio.wait_for(getting, 10)).name == "a"
            finally:
                await runner.cleanup()


async def test_a_certificate_that_is_not_trusted_is_unreachable_at_once(access: Access) -> None:
    stranger = replace(access, ca=None)
    async with asyncio.timeout(2), Client(stranger) as client:
        with pytest.raises(Unreachable, match="certificate"):
            await client.get(ConfigMap, "default", "a")


async def test_a_moment_that_expires_between_two_pages_is_listed_at_once() -> None:
    async def answer(request: web.Request) -> web.Response:
        if "continue" in request.query:
            return web.json_response({"reason": "Expired", "code": 410}, status=410)
        more = {"continue": "t"} if "limit" in request.query else {}
        return web.json_response({"metadata": {"resourceVersion": "7", **more}, "items": [A.wire()]})

    async with answering(answer) as access, Client(access) as client:
        listing = await client.list(ConfigMap)

    assert ([c.name for c in listing.items], listing.resource_version) == (["a"], "7")


async def test_an_answer_without_json_is_a_fault_of_the_server() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="<html>")

    async with answering(answer) as access, Client(access) as client:
        with pytest.raises(ServerError, match="<html>"):
            await client.get(ConfigMap, "ml", "a")


async def test_an_error_in_a_watch_is_raised() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse()
        await stream.prepare(request)
        await stream.write(b'{"type":"ADDED","object":{"metadata":{"name":"' + b"n" * 3_000_000 + b'"}}}\n')
        status = {"code": 410, "reason": "Expired", "message": "too old"}
        await stream.write(orjson.dumps({"type": "ERROR", "object": status}) + b"\n")
        return stream

    seen = []
    async with answering(answer) as access, Client(access) as client:
        with pytest.raises(Expired, match="too old"):
            async for event in client.watch(ConfigMap, "ml", "5"):
                seen.append(len(event.object["metadata"]["name"]))
    assert seen == [3_000_000]


async def test_a_delete_of_nothing_is_not_found(access: Access) -> None:
    async with Client(access) as client:
        with pytest.raises(NotFound):
            await client.delete(ConfigMap, Key("default", "nobody"))
