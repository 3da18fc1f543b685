"""The proxy between real clients and real servers, on ports the system chose."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from paddlecloud.api.meta import Key
from paddlecloud.errors import Unavailable
from paddlecloud.serving.proxy import Proxy
from paddlecloud.serving.routes import Backend, Table

HOST = {"Host": "shop.team.example.com"}
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def listening(app: web.Application) -> AsyncIterator[int]:
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


@asynccontextmanager
async def pod(answer: Answer) -> AsyncIterator[int]:
    app = web.Application(client_max_size=1 << 30)
    app.router.add_route("*", "/{path:.*}", answer)
    async with listening(app) as port:
        yield port


@asynccontextmanager
async def proxied(*ports: int) -> AsyncIterator[str]:
    """The address of a proxy for one service whose pods listen on *ports*, tried in that order."""
    table = Table({Key("team", "shop"): tuple(Backend("127.0.0.1", p, 1.0) for p in ports)})
    async with listening(Proxy(lambda: table, luck=lambda: 0.0).app()) as port:
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def asked(url: str, method: str = "GET", **options: Any) -> AsyncIterator[aiohttp.ClientResponse]:
    target = URL(url, encoded=True)
    async with aiohttp.ClientSession() as client, client.request(method, target, **options) as answer:
        yield answer


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def echo(request: web.Request) -> web.Response:
    return web.json_response(
        {
            "method": request.method,
            "path": request.raw_path,
            "headers": {k.lower(): v for k, v in request.headers.items()},
            "body": (await request.read()).decode(),
        },
        status=201,
        headers={"X-Answer": "yes", "Connection": "X-Private", "X-Private": "hop"},
    )


async def test_a_request_and_its_answer_go_through_unchanged() -> None:
    headers = {**HOST, "X-Mine": "1", "Connection": "X-Secret", "X-Secret": "hop", "Cookie": "a=b"}
    async with (
        pod(echo) as port,
        proxied(port) as url,
        asked(f"{url}/a%20b/c?x=%2F&y", data=b"body", headers=headers, method="PUT") as answer,
    ):
        said = await answer.json()

    assert (answer.status, answer.headers["X-Answer"]) == (201, "yes")
    assert "X-Private" not in answer.headers
    assert (said["method"], said["path"], said["body"]) == ("PUT", "/a%20b/c?x=%2F&y", "body")
    seen = said["headers"]
    assert (seen["host"], seen["x-mine"], seen["cookie"]) == ("shop.team.example.com", "1", "a=b")
    assert "x-secret" not in seen and seen["x-forwarded-for"] == "127.0.0.1"


@pytest.mark.parametrize(
    "path, seen",
    [("/services/team/shop/x/prediction?a=1", "/x/prediction?a=1"), ("/services/team/shop", "/"),
     ("/services/team/shop?a=1", "/?a=1")],
)  # fmt: skip
async def test_the_path_can_name_the_service(path: str, seen: str) -> None:
    async with pod(echo) as port, proxied(port) as url, asked(url + path) as answer:
        assert (await answer.json())["path"] == seen


@pytest.mark.parametrize(
    "headers, path", [({"Host": "other.team.example.com"}, "/"), ({}, "/"), ({}, "/services/team/other/x")]
)
async def test_an_unknown_service_is_told_with_the_known_hosts(headers: dict[str, str], path: str) -> None:
    async with proxied() as url, asked(url + path, headers=headers) as answer:
        said = await answer.json()
    assert answer.status == 404 and "shop.team.example.com" in said["error"]


async def test_a_service_without_ready_pods_is_503() -> None:
    async with proxied() as url, asked(url, headers=HOST) as answer:
        assert answer.status == 503 and "no pod that is ready" in (await answer.json())["error"]


async def test_before_the_cluster_was_seen_no_service_is_unknown() -> None:
    def starting() -> Table:
        raise Unavailable("just started")

    async with (
        listening(Proxy(starting).app()) as port,
        asked(f"http://127.0.0.1:{port}/", headers=HOST) as answer,
    ):
        assert answer.status == 503


async def test_a_pod_that_takes_no_connection_is_passed_over_with_the_body_kept() -> None:
    async with (
        pod(echo) as port,
        proxied(closed_port(), port) as url,
        asked(url, data=b"x" * 100_000, headers=HOST, method="POST") as answer,
    ):
        assert answer.status == 201 and (await answer.json())["body"] == "x" * 100_000


async def test_no_pod_that_takes_connections_is_502() -> None:
    async with (
        proxied(closed_port(), closed_port()) as url,
        asked(url, data=b"x", headers=HOST, method="POST") as answer,
    ):
        assert answer.status == 502 and "takes connections" in (await answer.json())["error"]


async def test_a_pod_that_hangs_up_is_502_and_the_request_is_not_sent_twice() -> None:
    heard: list[int] = []

    def hangs_up(number: int) -> Answer:
        async def answer(request: web.Request) -> web.StreamResponse:
            heard.append(number)
            await request.read()
            assert request.transport is not None
            request.transport.abort()
            return web.Response()

        return answer

    async with (
        pod(hangs_up(1)) as first,
        pod(hangs_up(2)) as second,
        proxied(first, second) as url,
        asked(url, data=b"x", headers=HOST, method="POST") as answer,
    ):
        assert answer.status == 502
    assert heard == [1]


async def test_both_bodies_stream() -> None:
    """The pod answers the first half before the client has sent the second."""
    halfway = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        async for chunk in request.content.iter_any():
            await response.write(chunk)
        return response

    async def body() -> AsyncIterator[bytes]:
        yield b"first"
        await asyncio.wait_for(halfway.wait(), 10)
        yield b"second"

    async with (
        pod(answer) as port,
        proxied(port) as url,
        asked(url, data=body(), headers=HOST, method="POST") as response,
    ):
        assert await response.content.readany() == b"first"
        halfway.set()
        assert await response.content.read() == b"second"


async def test_an_answer_cut_short_by_the_pod_is_cut_short_for_the_client() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"half")
        assert request.transport is not None
        request.transport.abort()
        return response

    async with pod(answer) as port, proxied(port) as url, aiohttp.ClientSession() as client:
        with pytest.raises(aiohttp.ClientError):
            async with client.get(url, headers=HOST) as response:
                await response.read()


async def test_compressed_answers_redirects_and_heads_are_left_as_they_are() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/moved":
            raise web.HTTPFound("/elsewhere")
        response = web.Response(body=b"x" * 10_000)
        response.enable_compression(web.ContentCoding.gzip)
        return response

    async with pod(answer) as port, proxied(port) as url, asked(url, headers=HOST) as packed:
        assert packed.headers["Content-Encoding"] == "gzip" and await packed.read() == b"x" * 10_000
        async with asked(f"{url}/moved", headers=HOST, allow_redirects=False) as moved:
            assert (moved.status, moved.headers["Location"]) == (302, "/elsewhere")
        async with asked(url, method="HEAD", headers=HOST) as head:
            assert head.status == 200 and await head.read() == b""
