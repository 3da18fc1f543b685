"""Logs through the node's own socket, of pods that really run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from tests.node.pod_yard import Yard

from paddlecloud.embedded.node.kubelet import serving
from paddlecloud.embedded.node.logs import PIECE, tail_position


class Asking:
    def __init__(self, yard: Yard, session: aiohttp.ClientSession) -> None:
        self.yard, self.session = yard, session

    async def __call__(self, query: str = "", pod: str = "p", container: str = "main") -> tuple[int, str]:
        url = f"http://node/containerLogs/d/{pod}/{container}?{query}"
        async with asyncio.timeout(20), self.session.get(url) as answer:
            return answer.status, await answer.text()


@pytest.fixture
async def ask(tmp_path: Path) -> AsyncIterator[Asking]:
    yard = Yard(tmp_path)
    path = yard.home.run / "node.sock"
    async with (
        serving(path, yard.roster.find),
        aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(path))) as session,
    ):
        yield Asking(yard, session)
        await yard.close()


@pytest.mark.parametrize(
    "query, text",
    [
        ("", "one\ntwo\nthree\n"),
        ("tailLines=1", "three\n"),
        ("tailLines=2", "two\nthree\n"),
        ("tailLines=9", "one\ntwo\nthree\n"),
        ("tailLines=0", ""),
        ("limitBytes=5", "one\nt"),
        ("sinceSeconds=3600", "one\ntwo\nthree\n"),
        ("follow=true", "one\ntwo\nthree\n"),
        ("follow=true&limitBytes=3", "one"),
    ],
)
async def test_the_log_of_a_finished_pod(ask: Asking, query: str, text: str) -> None:
    ask.yard.run("printf", "one\ntwo\nthree\n")
    await ask.yard.finished()
    assert await ask(query) == (200, text)


async def test_a_followed_log_comes_as_it_is_written_and_ends_with_the_container(ask: Asking) -> None:
    ask.yard.run("sh", "-c", "echo one; while ! test -e $HOME/go; do sleep 0.02; done; echo two")
    await ask.yard.until(lambda: ask.yard.log())
    url = "http://node/containerLogs/d/p/main?follow=1"
    async with asyncio.timeout(20), ask.session.get(url) as answer:
        assert await answer.content.readline() == b"one\n"
        folder = ask.yard.roster.find("d", "p")
        assert folder is not None
        (folder.home / "go").touch()
        assert await answer.content.read() == b"two\n"


async def test_the_previous_run_has_its_own_log(ask: Asking) -> None:
    ask.yard.run(
        "sh", "-c", "echo run; test -e $HOME/a || { touch $HOME/a; exit 1; }", restartPolicy="OnFailure"
    )
    await ask.yard.finished()
    assert await ask("previous=true") == (200, "run\n")
    assert await ask() == (200, "run\n")


@pytest.mark.parametrize(
    "query, pod, container, status, complaint",
    [
        ("", "q", "main", 404, "pod d/q is not on this node"),
        ("", "p", "side", 404, "has no container side; it has: main"),
        ("previous=true", "p", "main", 400, "has no previous run"),
        ("tailLines=-1", "p", "main", 400, "tailLines must be a whole number"),
    ],
)
async def test_what_cannot_be_answered_is_said_in_a_sentence(
    ask: Asking, query: str, pod: str, container: str, status: int, complaint: str
) -> None:
    ask.yard.run("true")
    await ask.yard.finished()
    got, text = await ask(query, pod, container)
    assert got == status and complaint in text


@pytest.mark.parametrize(
    "content, lines, position",
    [
        (b"", 3, 0),
        (b"a\nb", 1, 2),
        (b"a\nb\n", 1, 2),
        (b"\n\n", 1, 1),
        (b"x" * (2 * PIECE), 1, 0),
        (b"a\n" + b"x" * (2 * PIECE) + b"\n", 1, 2),
        (b"a\n" * PIECE, 3, 2 * PIECE - 6),
    ],
)
def test_where_the_tail_begins(tmp_path: Path, content: bytes, lines: int, position: int) -> None:
    (tmp_path / "log").write_bytes(content)
    with (tmp_path / "log").open("rb") as file:
        assert tail_position(file.fileno(), lines) == position
