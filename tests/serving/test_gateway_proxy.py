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
from paddlecloud.serving.gateway import runner_of
from paddlecloud.serving.proxy import Proxy
from paddlecloud.serving.routes import Backend, Fleet, Table, Target

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


SHOP, REVISION = Key("team", "shop"), Key("team", "shop-1")


def a_table(*ports: int, **fleet: Any) -> Table:
    backends = tuple(Backend("127.0.0.1", p) for p in ports)
    return Table({SHOP: (Target(REVISION, 100.0),)}, {REVISION: Fleet(backends, **fleet)})


@asynccontextmanager
async def proxied(*ports: int) -> AsyncIterator[str]:
    """The address of a proxy for one service whose pods listen on *ports*, tried in that order."""
    table = a_table(*ports)
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
    assert answer.headers["Paddlecloud-Revision"] == REVISION.name, "who answered"
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


async def test_the_first_request_for_a_sleeping_service_wakes_it_and_is_held_until_a_pod_answers() -> None:
    woken: list[Key] = []
    state = a_table(wakes=True)

    async with pod(echo) as port:

        def wake(revision: Key) -> None:
            nonlocal state
            woken.append(revision)
            state = a_table(port, wakes=True)
            asyncio.get_running_loop().call_soon(proxy.lanes.moved, REVISION)

        proxy = Proxy(lambda: state, wake=wake)
        async with (
            listening(proxy.app()) as front,
            asked(f"http://127.0.0.1:{front}/", data=b"x", headers=HOST, method="POST") as answer,
        ):
            assert answer.status == 201 and (await answer.json())["body"] == "x"
    assert woken == [REVISION]


@pytest.mark.parametrize(
    "fleet, status, words",
    [
        ({"wakes": True, "timeout": 0.01}, 503, "within 0.01 s"),
        ({"wakes": True, "trouble": "Container failed with: bye"}, 503, "Container failed with: bye"),
        ({}, 503, "no pod that is ready"),
    ],
    ids=["too late", "failed", "nothing to wake"],
)
async def test_a_request_that_nobody_will_answer_is_told_so(
    fleet: dict[str, Any], status: int, words: str
) -> None:
    table = a_table(**fleet)
    async with (
        listening(Proxy(lambda: table).app()) as front,
        asked(f"http://127.0.0.1:{front}/", headers=HOST) as answer,
    ):
        assert answer.status == status and words in (await answer.json())["error"]


async def test_a_pod_gets_no_more_requests_at_a_time_than_it_may() -> None:
    at_once, most, gate = 0, 0, asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await gate.wait()
        at_once -= 1
        return web.Response()

    async with pod(answer) as port:
        table = a_table(port, limit=2)
        proxy = Proxy(lambda: table)
        async with listening(proxy.app()) as front, aiohttp.ClientSession() as client:

            async def ask() -> int:
                async with client.get(f"http://127.0.0.1:{front}/", headers=HOST) as said:
                    return said.status

            asking = [asyncio.create_task(ask()) for _ in range(6)]
            async with asyncio.timeout(10):
                while at_once < 2 or sum(len(lane.held) for lane in proxy.lanes.lanes.values()) < 4:
                    await asyncio.sleep(0.01)
            gate.set()
            assert await asyncio.gather(*asking) == [200] * 6
    assert most == 2


@pytest.mark.parametrize(
    "method, headers, data, repeated",
    [
        ("GET", {}, None, True),
        ("POST", {"Idempotency-Key": "1"}, b"x", True),
        ("POST", {}, b"x", False),
        ("DELETE", {}, None, False),
    ],
)
async def test_what_may_be_repeated_goes_to_another_pod_when_one_dies_over_it(
    method: str, headers: dict[str, str], data: bytes | None, repeated: bool
) -> None:
    async def dies(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with (
        pod(dies) as first,
        pod(echo) as second,
        proxied(first, second) as url,
        asked(url, data=data, headers=HOST | headers, method=method) as answer,
    ):
        assert answer.status == (201 if repeated else 502)
        if repeated:
            assert (await answer.json())["body"] == (data or b"").decode()


async def test_a_successor_of_a_dead_pod_is_waited_for() -> None:
    """The table knows of a death a moment later than the connection."""
    state = a_table(closed_port(), wakes=True)
    async with pod(echo) as port:
        proxy = Proxy(lambda: state)
        async with listening(proxy.app()) as front, asyncio.TaskGroup() as tasks:

            async def comes() -> None:
                nonlocal state
                while not proxy.lanes.lanes:
                    await asyncio.sleep(0.01)
                state = a_table(port, wakes=True)
                proxy.lanes.moved(REVISION)

            tasks.create_task(comes())
            async with asked(f"http://127.0.0.1:{front}/", headers=HOST) as answer:
                assert answer.status == 201


async def test_a_client_that_does_not_say_what_it_wants_is_hung_up_on() -> None:
    runner = runner_of(Proxy(lambda: a_table(closed_port())).app(), idle=0.3)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        reader, writer = await asyncio.open_connection(*runner.addresses[0][:2])
        writer.write(b"POST /predict HTTP/1.1\r\nHost: shop.")
        async with asyncio.timeout(20):
            assert await reader.read() == b""
        writer.close()
    finally:
        await runner.cleanup()


async def test_a_client_that_goes_away_leaves_its_place_to_others() -> None:
    begun, over = asyncio.Event(), asyncio.Event()

    async def slow(request: web.Request) -> web.Response:
        begun.set()
        try:
            await request.read()
        finally:
            over.set()
        return web.Response()

    async with pod(slow) as port:
        table = a_table(port, limit=1)
        proxy = Proxy(lambda: table)
        async with listening(proxy.app()) as at:
            _, writer = await asyncio.open_connection("127.0.0.1", at)
            writer.write(b"POST / HTTP/1.1\r\nHost: shop.team.example.com\r\nContent-Length: 9\r\n\r\nhalf")
            async with asyncio.timeout(20):
                await begun.wait()
                assert proxy.lanes.lanes[REVISION].meter.under_way == 1
                writer.close()
                await over.wait()
                while proxy.lanes.lanes[REVISION].meter.under_way or proxy.lanes.lanes[REVISION].busy:
                    await asyncio.sleep(0)


async def test_a_canary_gets_copies_and_its_answers_reach_nobody() -> None:
    seen: list[str] = []

    async def default(request: web.Request) -> web.Response:
        seen.append(f"default: {(await request.read()).decode()}")
        return web.json_response({"result": "default"})

    async def canary(request: web.Request) -> web.Response:
        seen.append(f"canary: {(await request.read()).decode()}")
        return web.json_response({"result": "canary"})

    trial = Key("team", "shop-canary")
    async with pod(default) as one, pod(canary) as two:
        fleets = {
            REVISION: Fleet((Backend("127.0.0.1", one),)),
            trial: Fleet((Backend("127.0.0.1", two),)),
        }
        targets = (Target(REVISION, 100.0), Target(trial, 0.0, "canary"))
        table = Table({SHOP: targets}, fleets, {SHOP: 100.0})
        proxy = Proxy(lambda: table, luck=lambda: 0.0)
        async with listening(proxy.app()) as at:
            async with asked(f"http://127.0.0.1:{at}/x", "POST", headers=HOST, data=b"question") as answer:
                assert await answer.json() == {"result": "default"}
            async with asyncio.timeout(20):
                while trial not in proxy.lanes.lanes or not proxy.lanes.lanes[trial].tally.compared:
                    await asyncio.sleep(0.01)
        tally = proxy.lanes.lanes[trial].tally
        assert seen == ["default: question", "canary: question"]
        assert (tally.requests, tally.errors, tally.compared, tally.different) == (1, 0, 1, 1)
