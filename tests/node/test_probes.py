from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from paddlecloud.embedded.node.asking import Answer, Target, ask
from paddlecloud.embedded.node.probes import Streak, between, extended, probe_of, turn, verdict, watch


@pytest.mark.parametrize(
    "answers, verdicts",
    [
        ("+", "R"),
        ("-", "?"),
        ("--", "?."),
        ("+-", "R?"),
        ("+--", "R?."),
        ("+-+-", "R?R?"),
        ("--+", "?.R"),
        ("+-!-", "R??."),
        ("!!!", "???"),
    ],
)
def test_one_success_is_enough_and_two_failures_in_a_row_are(answers: str, verdicts: str) -> None:
    probe = probe_of({"failureThreshold": 2})
    streak, told = Streak(), ""
    for answer in answers:
        streak = extended(streak, {"+": True, "-": False, "!": None}[answer])
        told += {True: "R", False: ".", None: "?"}[verdict(streak, probe)]
    assert told == verdicts


def test_several_successes_may_be_asked_for() -> None:
    probe = probe_of({"successThreshold": 2})
    once = extended(Streak(), True)
    assert verdict(once, probe) is None
    assert verdict(extended(once, True), probe) is True
    assert verdict(extended(extended(once, False), True), probe) is None


@pytest.mark.parametrize(
    "spec, hurry, seconds",
    [
        ({}, True, 1),
        ({}, False, 10),
        ({"periodSeconds": 0.5}, True, 0.5),
        ({"successThreshold": 2}, True, 10),
    ],
)
def test_who_was_never_ready_is_asked_more_often(spec: dict[str, Any], hurry: bool, seconds: float) -> None:
    assert turn(probe_of(spec), hurry) == seconds


@pytest.mark.parametrize(
    "waited, took, seconds",
    [(0, 0.001, 0.03), (0.6, 0.001, 0.06), (5, 0.001, 0.5), (0.6, 0.05, 0.5)],
)
def test_between_two_turns_it_is_looked_at_ever_less_often(
    waited: float, took: float, seconds: float
) -> None:
    assert between(waited, took) == pytest.approx(seconds)


async def test_between_two_turns_good_news_are_told_and_bad_ones_are_not(
    tmp_path: Path,
) -> None:
    """Nobody listens at first; the period is a minute."""
    heard: list[tuple[bool | None, bool | None]] = []
    good = asyncio.Event()

    async def tell(found: bool | None, answer: Answer) -> None:
        heard.append((found, answer.good))
        good.set()

    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        probe = probe_of({"tcpSocket": {"port": port}, "periodSeconds": 60})
        watching = asyncio.create_task(watch(probe, Target("127.0.0.1", {}, tmp_path), True, tell))
        await asyncio.sleep(0.2)
        held.listen()
        async with asyncio.timeout(30):
            await good.wait()
    watching.cancel()
    assert heard == [(True, True)]


def test_the_defaults_are_those_of_kubernetes() -> None:
    probe = probe_of({"tcpSocket": {"port": 1}})
    assert (probe.initial_delay, probe.period, probe.timeout, probe.successes, probe.failures) == (
        0,
        10,
        1,
        1,
        3,
    )


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/slow":
            await asyncio.Event().wait()
        if target := request.query.get("to"):
            return web.Response(status=302, headers={"Location": target})
        return web.Response(
            status=200 if request.headers.get("X-Key") == "k" or request.path == "/ok" else 503
        )

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner.addresses[0][1]
    await runner.cleanup()


GOOD, BAD, UNASKED = True, False, None


@pytest.mark.parametrize(
    "action, good, words",
    [
        ({"httpGet": {"path": "/ok"}}, GOOD, ""),
        ({"httpGet": {"path": "ok"}}, GOOD, ""),
        ({"httpGet": {"path": "/ok?a=b"}}, GOOD, ""),
        ({"httpGet": {"path": "/no"}}, BAD, "^HTTP probe failed with statuscode: 503$"),
        ({"httpGet": {"path": "/no", "httpHeaders": [{"name": "X-Key", "value": "k"}]}}, GOOD, ""),
        ({"httpGet": {"path": "/slow"}}, BAD, r'^Get "http://127.0.0.1:\d+/slow": context deadline exceeded'),
        ({"httpGet": {"path": "/?to=/ok"}}, GOOD, ""),
        ({"httpGet": {"path": "/?to=/no"}}, BAD, "statuscode: 503"),
        ({"httpGet": {"path": "/?to=%2F%3Fto%3D/no"}}, BAD, "statuscode: 503"),
        ({"httpGet": {"path": "/?to=http://elsewhere.invalid/"}}, GOOD, "Probe terminated redirects"),
        ({"httpGet": {"port": 1}}, BAD, r"dial tcp 127.0.0.1:1: connect: connection refused$"),
        ({"httpGet": {"scheme": "HTTPS"}}, BAD, 'Get "https://'),
        ({"httpGet": {"port": "unknown"}}, UNASKED, "couldn't find port: unknown"),
        ({"tcpSocket": {}}, GOOD, ""),
        ({"tcpSocket": {"port": "web"}}, GOOD, ""),
        ({"tcpSocket": {"port": "unknown"}}, UNASKED, "couldn't find port: unknown"),
        ({"tcpSocket": {"port": 1}}, BAD, "^dial tcp 127.0.0.1:1: connect: connection refused$"),
        ({"exec": {"command": ["test", "-d", "."]}}, GOOD, ""),
        ({"exec": {"command": ["sh", "-c", "echo $WHY; exit 1"]}}, BAD, "^because$"),
        ({"exec": {"command": ["sh", "-c", "exit 3"]}}, BAD, "^exit code 3$"),
        ({"exec": {"command": ["sleep", "60"]}}, BAD, '^command "sleep 60" timed out$'),
        ({"exec": {"command": ["no-such-command"]}}, BAD, "No such file"),
        ({}, UNASKED, "neither"),
    ],
)
async def test_what_an_answer_says(
    port: int, tmp_path: Path, action: dict[str, Any], good: bool | None, words: str
) -> None:
    (tmp_path / "run.json").write_text('{"env": {"PATH": "/usr/bin:/bin", "WHY": "because"}, "cwd": "/"}')
    for details in action.values():
        if "command" not in details:
            details.setdefault("port", port)
    target = Target("127.0.0.1", {"web": port}, tmp_path)
    got = await ask(probe_of(action).action, target, 0.5)
    assert got == Answer(good, got.words) and re.search(words, got.words)


@pytest.mark.parametrize(
    "said", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20000]
)
async def test_whoever_speaks_no_http_is_not_well(tmp_path: Path, said: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        got = await ask({"httpGet": {"port": port}}, Target("127.0.0.1", {}, tmp_path), 2.0)
    assert got.good is False and got.words
