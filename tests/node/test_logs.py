"""Logs through the node's own socket, of pods that really run."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import aiohttp
import pytest
from tests.node.pod_yard import Yard

from paddlecloud.embedded.node.kubelet import serving
from paddlecloud.embedded.node.logfile import KEPT_FILES, name_of
from paddlecloud.embedded.node.logplaces import BLOCK
from paddlecloud.embedded.node.logs import Joiner, LogQuery, beginning, numbers, stream


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
        serving(path, yard.roster, yard.shop),
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
        ("previous=true", "p", "main", 400, 'previous terminated container "main" in pod "p" not found'),
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


T = "2026-11-16T01:47:{:02}.000000000Z"


def written(*pieces: str) -> bytes:
    """Lines of a log file: `F text` or `P text`, a second apart."""
    return "".join(f"{T.format(second)} stdout {text}\n" for second, text in enumerate(pieces)).encode()


def begins(tmp_path: Path, files: list[bytes], query: LogQuery) -> bytes:
    for number, content in enumerate(files):
        (tmp_path / name_of(number)).write_bytes(content)
    number, offset = beginning(tmp_path, query)
    rest = (tmp_path / name_of(number)).read_bytes()[offset:]
    return rest + b"".join(files[number + 1 :])


LONG = "x" * (2 * BLOCK)


@pytest.mark.parametrize(
    "files, lines, first",
    [
        ([()], 3, None),
        ([("F a", "F b")], 1, "F b"),
        ([("F a", "F b")], 2, "F a"),
        ([("F a", "F b")], 9, "F a"),
        ([("F a", "P b", "F c")], 1, "P b"),
        ([("F a", "P b", "P c")], 1, "P b"),
        ([("F a", "P b", "P c")], 2, "F a"),
        ([(f"F {LONG}",)], 1, f"F {LONG}"),
        ([("F a", f"F {LONG}")], 1, f"F {LONG}"),
        ([("F a", "F b"), ("F c",)], 1, "F c"),
        ([("F a", "F b"), ("F c",)], 2, "F b"),
        ([("F a", "F b"), ()], 1, "F b"),
        ([("F a b P c", "F ")], 1, "F "),
    ],
)
def test_where_the_tail_begins(
    tmp_path: Path, files: list[tuple[str, ...]], lines: int, first: str | None
) -> None:
    rest = begins(tmp_path, [written(*texts) for texts in files], LogQuery(tail_lines=lines))
    assert rest.decode().split(" ", 2)[2:] == [] if first is None else rest.decode()[38:].startswith(first)


def test_no_lines_are_the_end_of_the_log(tmp_path: Path) -> None:
    assert begins(tmp_path, [written("F a", "F b")], LogQuery(tail_lines=0)) == b""


@pytest.mark.parametrize("files", [[10], [3, 7], [1, 8, 1], [10, 0]])
@pytest.mark.parametrize("second", [0, 1, 4, 9, 10])
def test_where_the_lines_of_a_time_begin(tmp_path: Path, files: list[int], second: int) -> None:
    lines = written(*(f"F {n}" for n in range(10))).splitlines(keepends=True)
    parts = [b"".join(lines[sum(files[:n]) : sum(files[: n + 1])]) for n in range(len(files))]
    assert begins(tmp_path, parts, LogQuery(since=T.format(second))) == b"".join(lines[second:])


@pytest.mark.parametrize(
    "timestamps, told",
    [
        (False, "one\nbcd\n F x P y\n\nend"),
        (
            True,
            f"{T.format(0)} one\n{T.format(1)} bcd\n{T.format(4)}  F x P y\n"
            f"{T.format(5)} \n{T.format(6)} end",
        ),
    ],
)
@pytest.mark.parametrize("at_once", [1, 2, 9])
def test_pieces_become_lines_again(timestamps: bool, told: str, at_once: int) -> None:
    lines = written("F one", "P b", "P c", "F d", "F  F x P y", "F ", "P end").splitlines(keepends=True)
    joiner = Joiner(timestamps)
    pieces = [b"".join(lines[n : n + at_once]) for n in range(0, len(lines), at_once)]
    assert b"".join(joiner.told(piece) for piece in pieces).decode() == told


async def test_a_line_of_ten_megabytes_comes_out_whole_and_rotated_files_leave_no_hole(ask: Asking) -> None:
    program = (
        "import sys; sys.stdout.write('x' * 10_000_000 + '\\n'); [print('y' * 99) for _ in range(200_000)]"
    )
    ask.yard.run(sys.executable, "-c", program)
    await ask.yard.finished()
    status, text = await ask()
    lines = text.splitlines()
    assert (status, len(lines[0]), len(lines), set(lines[1:])) == (200, 10_000_000, 200_001, {"y" * 99})
    assert await ask("tailLines=1") == (200, "y" * 99 + "\n")


async def test_what_is_followed_across_files_has_neither_hole_nor_copy(ask: Asking) -> None:
    ask.yard.run(sys.executable, "-c", "for n in range(250_000): print(n, 'z' * 80)")
    folder = ask.yard.roster.find("d", "p")
    assert folder is not None
    run_folder = folder.run_folder("main", 0)
    await ask.yard.until(lambda: (run_folder / "log").exists())
    url = "http://node/containerLogs/d/p/main?follow=1"
    async with asyncio.timeout(60), ask.session.get(url) as answer:
        seen = [int(line.split()[0]) async for line in answer.content]
    assert seen == list(range(250_000))
    assert len(numbers(run_folder)) > 1


async def test_the_oldest_files_of_a_long_log_go(ask: Asking) -> None:
    ask.yard.run(sys.executable, "-c", "for n in range(600_000): print(n, 'z' * 80)")
    await ask.yard.finished()
    folder = ask.yard.roster.find("d", "p")
    assert folder is not None
    kept = numbers(folder.run_folder("main", 0))
    assert len(kept) == KEPT_FILES and kept[0] > 0
    seen = [int(line.split()[0]) for line in (await ask())[1].splitlines()]
    assert seen == list(range(seen[0], 600_000))


async def test_times_come_with_the_lines_on_demand(ask: Asking) -> None:
    ask.yard.run("sh", "-c", "echo out; echo err >&2; printf end")
    await ask.yard.finished()
    _, text = await ask("timestamps=true")
    lines = [line.partition(" ") for line in text.splitlines()]
    assert sorted(line for _, _, line in lines) == ["end", "err", "out"]
    assert all(datetime.fromisoformat(time).tzinfo for time, _, _ in lines)
    assert (await ask(f"sinceTime={lines[-1][0]}"))[1].endswith("end")
    assert await ask("sinceTime=2999-01-01T00:00:00Z") == (200, "")
    assert (await ask("sinceTime=yesterday"))[0] == 400


async def test_a_log_that_is_followed_ends_when_its_pod_is_removed(tmp_path: Path) -> None:
    run = tmp_path / "0"
    run.mkdir()
    (run / "log").write_bytes(written("F last words"))
    heard = []
    async with asyncio.timeout(20):
        async for piece in stream(run, LogQuery(follow=True)):
            heard.append(piece)
            shutil.rmtree(run)
    assert heard and b"last words" in heard[0]
