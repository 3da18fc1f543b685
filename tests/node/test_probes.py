from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from paddlecloud.embedded.node.probes import Target, Verdict, ask, judged, probe_of


@pytest.mark.parametrize(
    "answers, verdicts",
    [
        ("+", "R"),
        ("-", "."),
        ("+-", "RR"),
        ("+--", "RR."),
        ("+-+-", "RRRR"),
        ("+--+", "RR.R"),
    ],
)
def test_one_success_is_enough_and_two_failures_in_a_row_are(answers: str, verdicts: str) -> None:
    probe = probe_of({"failureThreshold": 2})
    verdict, told = Verdict(), ""
    for answer in answers:
        verdict = judged(verdict, answer == "+", probe)
        told += "R" if verdict.ready else "."
    assert told == verdicts


def test_several_successes_may_be_asked_for() -> None:
    probe = probe_of({"successThreshold": 2})
    once = judged(Verdict(), True, probe)
    assert not once.ready
    assert judged(once, True, probe).ready
    assert not judged(judged(once, False, probe), True, probe).ready


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


@pytest.mark.parametrize(
    "action, complaint",
    [
        ({"httpGet": {"path": "/ok"}}, ""),
        ({"httpGet": {"path": "ok"}}, ""),
        ({"httpGet": {"path": "/no"}}, "statuscode: 503"),
        ({"httpGet": {"path": "/no", "httpHeaders": [{"name": "X-Key", "value": "k"}]}}, ""),
        ({"httpGet": {"path": "/slow"}}, "no answer within 0.2 s"),
        ({"tcpSocket": {}}, ""),
        ({"tcpSocket": {"port": "web"}}, ""),
        ({"tcpSocket": {"port": "unknown"}}, "no port named unknown"),
        ({"tcpSocket": {"port": 1}}, "refused|Connect call failed"),
        ({"exec": {"command": ["test", "-d", "."]}}, ""),
        ({"exec": {"command": ["sh", "-c", "echo $WHY; exit 1"]}}, "because"),
        ({"exec": {"command": ["sleep", "60"]}}, "no answer"),
        ({"exec": {"command": ["no-such-command"]}}, "No such file"),
        ({}, "neither"),
    ],
)
async def test_what_an_answer_says(port: int, tmp_path: Path, action: dict[str, Any], complaint: str) -> None:
    (tmp_path / "run.json").write_text('{"env": {"PATH": "/usr/bin:/bin", "WHY": "because"}, "cwd": "/"}')
    for details in action.values():
        if "command" not in details:
            details.setdefault("port", port)
    target = Target("127.0.0.1", {"web": port}, tmp_path)
    got = await ask(probe_of({"timeoutSeconds": 0.2, **action}), target)
    assert bool(got) == bool(complaint) and re.search(complaint, got)
