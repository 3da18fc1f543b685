"""Clients that send too much, too slowly, or do not read: they are dropped, nobody else notices."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.contracts.objects import config_map, core
from tests.contracts.wire import Wire, connected
from tests.embedded.lone_api import Lone, lone_api, tls
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

MIB = 1024 * 1024
SETTINGS = core("default", "configmaps")
QUICK = ("serve.IDLE=1.5", "serve.LINGER=0.2", "bodies.PATIENCE=1", "watching.STALLED=1")
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture(scope="module")
def api() -> Iterator[Lone]:
    with tempfile.TemporaryDirectory(prefix="pdc-bad-") as folder, lone_api(Path(folder) / "h") as started:
        yield started


@pytest.fixture(scope="module")
def hasty() -> Iterator[Lone]:
    """An API that waits a second where it should wait a minute."""
    with (
        tempfile.TemporaryDirectory(prefix="pdc-bad-") as folder,
        lone_api(Path(folder) / "h", *QUICK) as started,
    ):
        yield started


def pushed(rest: Rest, content_type: str, size: int) -> int:
    """The status of a body of *size*, sent until nobody takes it."""
    headers = {"Content-Type": content_type, "Content-Length": str(size)}
    with connected(rest) as wire:
        wire.begin("POST", SETTINGS, headers)
        with contextlib.suppress(OSError):
            for _ in range(size // MIB):
                wire.send(b" " * MIB)
        return wire.answer().status


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"]
)
def test_a_hundred_megabytes_leave_the_server_as_small_as_it_was(api: Lone, content_type: str) -> None:
    assert pushed(api.rest, content_type, 4 * MIB) == 413  # what the first such body loads is not counted
    before = api.memory
    assert pushed(api.rest, content_type, 100 * MIB) == 413
    assert api.memory - before < 20 * MIB


async def test_a_long_text_that_is_being_read_holds_nobody_up(api: Lone) -> None:
    def read() -> float:
        begun = time.monotonic()
        headers = {"Content-Type": "application/yaml"}
        api.rest.send("POST", SETTINGS, b"- a\n" * 700_000, headers=headers).expect(400)
        return time.monotonic() - begun

    reading = asyncio.create_task(asyncio.to_thread(read))
    longest = 0.0
    while not reading.done():
        begun = time.monotonic()
        assert (await asyncio.to_thread(api.rest.get, "/livez")).status == 200
        longest = max(longest, time.monotonic() - begun)
    assert longest < await reading / 2


def test_a_head_that_is_never_finished_is_dropped(hasty: Lone) -> None:
    with connected(hasty.rest) as wire:
        wire.send(b"GET /api/v1/pods HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        others_are_served(hasty)
        assert wire.ended()


def test_a_head_that_trickles_in_is_dropped(hasty: Lone) -> None:
    with connected(hasty.rest) as wire:
        wire.socket.settimeout(0.1)
        wire.send(b"GET /api/v1/pods HTTP/1.1\r\n")

        def hung_up() -> bool:
            try:
                wire.send(b"X-Slow: a\r\n")
                return wire.socket.recv(1) == b""
            except TimeoutError:
                return False
            except OSError:
                return True

        until(hung_up, what="the end of the connection", limit=10)


def test_a_body_that_is_never_finished_is_dropped(hasty: Lone) -> None:
    with connected(hasty.rest) as wire:
        wire.begin("POST", SETTINGS, {"Content-Length": "100"}, b'{"metadata":')
        others_are_served(hasty)
        answer = wire.answer()
        assert (answer.status, answer.body["reason"]) == (504, "Timeout")
        assert wire.ended()


def test_a_connection_without_a_request_is_dropped(hasty: Lone) -> None:
    with connected(hasty.rest) as wire:
        assert wire.ended()


def others_are_served(api: Lone) -> None:
    for _ in range(3):
        api.rest.get("/api/v1/pods").expect(200)


def watching(rest: Rest, wire: Wire) -> None:
    """Ask for a watch of all settings, and never read a byte of it."""
    version = rest.get(SETTINGS).version
    wire.begin("GET", f"{SETTINGS}?watch=1&resourceVersion={version}", {})


def test_a_watcher_that_never_reads_is_dropped_and_others_miss_nothing(api: Lone) -> None:
    large = config_map("changing", text="x" * 500_000)
    api.rest.post(SETTINGS, large).expect(201)
    files, before = api.files, api.memory
    count = 120
    with (
        connected(api.rest, receive_buffer=4096) as deaf,
        connected(api.rest, receive_buffer=4096) as deaf_too,
    ):
        watching(api.rest, deaf)
        watching(api.rest, deaf_too)
        version = api.rest.get(SETTINGS).version
        with api.rest.watch(SETTINGS, resourceVersion=version) as events:
            for i in range(count):
                api.rest.merge(f"{SETTINGS}/changing", {"data": {"count": str(i)}}).expect(200)
                assert next(events).object["data"]["count"] == str(i)
        until(lambda: api.files <= files + 1, what="the end of both watches")
        # Eight of each, and what is kept for watches that come back; not sixty of each.
        grown = api.memory - before
    api.rest.delete(f"{SETTINGS}/changing").expect(200)
    assert grown < 100 * MIB


def test_a_watcher_that_never_reads_what_is_there_is_dropped(hasty: Lone) -> None:
    for i in range(20):
        hasty.rest.post(SETTINGS, config_map(f"large-{i}", text="x" * 900_000)).expect(201)
    files = hasty.files
    with connected(hasty.rest, receive_buffer=4096) as wire:
        wire.begin("GET", f"{SETTINGS}?watch=1", {})
        until(lambda: hasty.files == files + 1, what="the connection of the watch")
        others_are_served(hasty)
        until(lambda: hasty.files <= files, what="the end of the watch", limit=10)


@contextlib.asynccontextmanager
async def many(rest: Rest, count: int) -> AsyncIterator[list[Streams]]:
    """Connections that are all open at once."""
    context, where = tls(rest), urlsplit(rest.server)
    opening = (asyncio.open_connection(where.hostname, where.port, ssl=context) for _ in range(count))
    streams = await asyncio.gather(*opening)
    try:
        yield streams
    finally:
        for _, writer in streams:
            writer.transport.abort()


async def status_of(streams: Streams, path: str, headers: str = "") -> int:
    reader, writer = streams
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode())
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
    return int(head.split()[1])


async def test_five_hundred_connections_at_once_are_all_served(api: Lone) -> None:
    files, before = api.files, api.memory
    async with many(api.rest, 500) as streams:
        answers = await asyncio.gather(*(status_of(s, SETTINGS) for s in streams))
        assert answers == [200] * 500
        assert api.files >= files + 500
    await asyncio.to_thread(until, lambda: api.files <= files, what="the end of every connection")
    assert api.memory - before < 60 * MIB


async def test_a_thousand_idle_watchers_cost_little_and_all_hear_of_a_change(api: Lone) -> None:
    files, before = api.files, api.memory
    path = f"{SETTINGS}?watch=1&resourceVersion={api.rest.get(SETTINGS).version}"
    async with many(api.rest, 1000) as streams:
        assert set(await asyncio.gather(*(status_of(s, path) for s in streams))) == {200}
        await asyncio.to_thread(api.rest.post, SETTINGS, config_map("heard"))
        lines = await asyncio.gather(*(asyncio.wait_for(event(r), 20) for r, _ in streams))
        assert {(e["type"], e["object"]["metadata"]["name"]) for e in lines} == {("ADDED", "heard")}
        assert api.memory - before < 120 * MIB
    await asyncio.to_thread(until, lambda: api.files <= files, what="the end of every watch")
    api.rest.delete(f"{SETTINGS}/heard").expect(200)


async def event(reader: asyncio.StreamReader) -> dict[str, Any]:
    size = int(await reader.readline(), 16)
    found: dict[str, Any] = json.loads(await reader.readexactly(size))
    return found
