"""Requests share a few connections while they are answered, and are never held up by slow ones."""

from __future__ import annotations

import asyncio

from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer

from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access
from paddlecloud.cluster.lanes import FIRST, Lanes
from paddlecloud.cluster.requests import Request


async def pass_through(lanes: Lanes, gone: list[int], number: int) -> None:
    async with lanes:
        await asyncio.sleep(0)
        gone.append(number)


async def test_many_short_ones_share_a_few_lanes_in_their_order() -> None:
    lanes, gone = Lanes(first=3, patience=60), list[int]()

    await asyncio.gather(*(pass_through(lanes, gone, number) for number in range(100)))

    assert gone == list(range(100)) and lanes.count == 3


async def test_whoever_waits_too_long_opens_a_further_one_and_leaves_it_to_others() -> None:
    lanes, stands = Lanes(first=2, patience=0.01), asyncio.Event()

    async def stand() -> None:
        async with lanes:
            await stands.wait()

    slow = [asyncio.create_task(stand()) for _ in range(4)]
    await asyncio.sleep(0)
    gone: list[int] = []
    await pass_through(lanes, gone, 1)
    assert gone == [1] and lanes.count == 5

    stands.set()
    await asyncio.gather(*slow)
    await asyncio.gather(*(pass_through(lanes, gone, number) for number in range(2, 100)))
    assert lanes.count == 5


async def test_one_that_was_given_up_leaves_its_lane() -> None:
    lanes = Lanes(first=1, patience=60)
    async with lanes:
        waits = asyncio.create_task(pass_through(lanes, [], 0))
        await asyncio.sleep(0)
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)

    gone: list[int] = []
    await pass_through(lanes, gone, 1)
    assert gone == [1] and lanes.count == 1


def at(server: BaseTestServer) -> Access:
    return Access(str(server.make_url("")).rstrip("/"), "test")


async def test_a_burst_opens_no_more_connections_than_were_opened_before_it() -> None:
    callers = set[object]()

    async def answer(request: web.Request) -> web.Response:
        callers.add(request.transport)
        await asyncio.sleep(0.01)
        return web.json_response({})

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    async with TestServer(app) as server, Client(at(server)) as client:
        await client.warm()
        opened = len(callers)
        await asyncio.gather(*(client.request(Request("GET", "/api/v1/pods")) for _ in range(64)))

    assert opened == len(callers) == FIRST


async def test_logs_that_nobody_answers_hold_up_no_request() -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path.endswith("/log"):
            await asyncio.Event().wait()
        return web.json_response({})

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    async with TestServer(app) as server, Client(at(server)) as client:
        slow = [asyncio.create_task(client.logs("ns", f"pod-{n}")) for n in range(2 * FIRST)]
        await asyncio.sleep(0)
        async with asyncio.timeout(10):
            assert await client.request(Request("GET", "/version")) == {}
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
