"""Visits to containers that run: hearing them, speaking to them, terminals of their own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.node.conversations import Conversations, conversations, heard
from tests.node.isolation_levels import LEVELS, levels_or_skip

ALL = [("stdin", "true"), ("stdout", "true"), ("stderr", "true")]
ECHO = ("sh", "-c", "while read line; do echo got $line; echo $line >&2; done; echo over")


@pytest.fixture(params=LEVELS)
async def pods(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Conversations]:
    async with conversations(tmp_path, levels_or_skip(request.param)) as it:
        yield it


async def test_who_speaks_once_is_heard_to_the_end(pods: Conversations) -> None:
    await pods.running(*ECHO, container={"stdin": True, "stdinOnce": True})
    async with pods.talk(pods.url("attach", ALL)) as socket:
        await socket.send_bytes(b"\0one\n")
        await socket.send_bytes(b"\xff\0")
        assert await heard(socket) == (0, "got one\nover\n", "one\n")
    await pods.yard.finished()
    assert sorted(pods.yard.log().splitlines()) == ["got one", "one", "over"]


async def test_input_stays_open_for_the_next_visitor(pods: Conversations) -> None:
    await pods.running(*ECHO, container={"stdin": True})
    for word in ("one", "two"):
        async with pods.talk(pods.url("attach", ALL[:2])) as socket:
            await socket.send_bytes(b"\0" + word.encode() + b"\n")
            assert await socket.receive_bytes() == b"\1got " + word.encode() + b"\n"
    assert pods.yard.now().status["phase"] == "Running"


async def test_a_visitor_that_leaves_takes_the_only_input_along(pods: Conversations) -> None:
    await pods.running(*ECHO, container={"stdin": True, "stdinOnce": True})
    async with pods.talk(pods.url("attach", ALL)) as socket:
        await socket.send_bytes(b"\0one\n")
        await socket.receive_bytes()
    await pods.yard.finished()
    # Two streams reach the log, in whatever order they are read.
    assert "over" in pods.yard.log().splitlines()


async def test_several_hear_the_same(pods: Conversations) -> None:
    await pods.running(*ECHO, container={"stdin": True})
    async with pods.talk(pods.url("attach", ALL[1:2])) as one, pods.talk(pods.url("attach", ALL[:2])) as two:
        await two.send_bytes(b"\0x\n")
        assert await one.receive_bytes() == await two.receive_bytes() == b"\1got x\n"


async def test_a_container_with_a_terminal(pods: Conversations) -> None:
    await pods.running("sh", container={"stdin": True, "tty": True})
    async with pods.talk(pods.url("attach", [*ALL[:2], ("tty", "true")])) as socket:
        await socket.send_bytes(b"\4" + json.dumps({"Width": 70, "Height": 20}).encode())
        await socket.send_bytes(b"\0stty size; tty; echo $TERM; exit\n")
        code, out, _ = await heard(socket)
    lines = out.replace("\r", "").splitlines()
    # A prompt may stand before what a command prints.
    assert code == 0 and {"20 70", "xterm"} <= {line.removeprefix("# ").removeprefix("$ ") for line in lines}
    await pods.yard.finished()
    assert "20 70" in pods.yard.log().replace("\r", "")


async def test_a_visitor_that_does_not_listen_is_sent_away_and_the_container_goes_on(
    pods: Conversations,
) -> None:
    await pods.running("sh", "-c", "read go; yes | head -c 20000000; echo end", container={"stdin": True})
    async with pods.talk(pods.url("attach", ALL[:2])) as deaf:
        await deaf.send_bytes(b"\0go\n")
        await pods.yard.finished()


async def test_no_input_for_a_container_that_wants_none(pods: Conversations) -> None:
    await pods.running("sh", "-c", "cat; echo up; exec sleep 1000")
    async with pods.talk(pods.url("attach", ALL)) as socket:
        await socket.send_bytes(b"\0ignored\n")
    assert pods.yard.now().status["phase"] == "Running"
