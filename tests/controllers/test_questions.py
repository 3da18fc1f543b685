"""Questions to the outside: an answer, or None, and never a token of ours."""

from __future__ import annotations

import pytest
from aiohttp import web
from tests.cluster.servers import answering

from paddlecloud.cluster.client import Client
from paddlecloud.controllers.contract import HttpQuestion, LogQuestion
from paddlecloud.controllers.questions import LONGEST_ANSWER, ask


@pytest.mark.parametrize(
    "status, text, answer",
    [
        (200, '{"a": [1]}', {"a": [1]}),
        (200, "hello", None),
        (404, '{"a": 1}', None),
        (302, "", None),
        (200, f'"{"x" * LONGEST_ANSWER}"', None),
    ],
)
async def test_only_json_of_a_success_is_an_answer(status: int, text: str, answer: object) -> None:
    seen: list[bool] = []

    async def reply(request: web.Request) -> web.Response:
        seen.append("Authorization" in request.headers)
        return web.Response(status=status, text=text, headers={"Location": "/elsewhere"})

    async with answering(reply) as access, Client(access) as client:
        question = HttpQuestion(f"{access.server}/state")

        assert await ask(client, [question, question]) == {question: answer}
    assert seen == [False]


async def test_a_log_is_asked_for_through_the_cluster() -> None:
    async def reply(request: web.Request) -> web.Response:
        return web.Response(text=f"{request.path} {request.query_string}\n")

    async with answering(reply) as access, Client(access) as client:
        question = LogQuestion("ml", "p", "main", 7)

        answers = await ask(client, [question])
    assert answers[question] == "/api/v1/namespaces/ml/pods/p/log container=main&tailLines=7\n"


@pytest.mark.parametrize("url", ["http://", "no address", "ftp://h/x"])
async def test_an_address_that_is_none_is_answered_with_none(url: str) -> None:
    async def reply(request: web.Request) -> web.Response:
        return web.Response()

    async with answering(reply) as access, Client(access) as client:
        assert await ask(client, [HttpQuestion(url)]) == {HttpQuestion(url): None}
