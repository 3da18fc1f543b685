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
    async with lanes.one():
        await asyncio.sleep(0)
        gone.append(number)


async def busiest(lanes: Lanes) -> int:
    """How many of many are under way at the same time; they go in their order."""
    under_way, most, gone = 0, 0, list[int]()

    async def count(number: int) -> None:
        nonlocal under_way, most
        async with lanes.one():
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            gone.append(number)
            under_way -= 1

    await asyncio.gather(*(count(number) for number in range(100)))
    assert gone == list(range(100))
    return most


async def test_many_short_ones_share_a_few_lanes_in_their_order() -> None:
    assert await busiest(Lanes(count=3, patience=60)) == 3


async def test_a_slow_one_holds_up_nobody_and_leaves_no_lane_too_many() -> None:
    lanes, stands = Lanes(count=2, patience=0.05), asyncio.Event()

    async def stand() -> None:
        async with lanes.one():
            await stands.wait()

    slow = [asyncio.create_task(stand()) for _ in range(8)]
    await asyncio.sleep(0)
    gone: list[int] = []
    await pass_through(lanes, gone, 1)
    assert gone == [1]

    stands.set()
    await asyncio.gather(*slow)
    assert await busiest(lanes) == 2


async def test_one_that_was_given_up_leaves_its_lane() -> None:
    lanes = Lanes(count=1, patience=60)
    async with lanes.one():
        waits = asyncio.create_task(pass_through(lanes, [], 0))
        await asyncio.sleep(0)
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)

    gone: list[int] = []
    await pass_through(lanes, gone, 1)
    assert gone == [1]


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
    async with TestServer(app) as server, Client(at(server), lanes=Lanes(patience=60)) as client:
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
