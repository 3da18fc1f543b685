"""Questions to the outside: an answer, or None, and never a token of ours."""

from __future__ import annotations

import pytest
from aiohttp import web
from tests.cluster.servers import answering

from paddlecloud.api.meta import Key
from paddlecloud.cluster.client import Client
from paddlecloud.controllers.contract import (
    HttpQuestion,
    KeptLogQuestion,
    LogQuestion,
    Recorded,
    RecordsQuestion,
    WarningQuestion,
)
from paddlecloud.controllers.packing import KEPT_LINES, unpacked
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


@pytest.mark.parametrize(
    "status, text, answer",
    [
        (200, "2024 a\n2024 b\n", b"2024 a\n2024 b\n"),
        (200, "", b""),
        (404, "gone", b""),
        (400, "not begun", b""),
        (500, "the node is away", None),
    ],
)
async def test_the_end_of_a_log_is_there_or_not_to_be_had_or_not_now(
    status: int, text: str, answer: bytes | None
) -> None:
    async def reply(request: web.Request) -> web.Response:
        assert request.query["timestamps"] == "true" and request.query["tailLines"] == str(KEPT_LINES)
        return web.Response(status=status, text=text)

    async with answering(reply) as access, Client(access) as client:
        question = KeptLogQuestion("ml", "p", "main")

        found = (await ask(client, [question]))[question]
    assert (found and unpacked(found)) == answer


async def test_of_a_long_log_only_the_end_is_held() -> None:
    async def reply(request: web.Request) -> web.Response:
        return web.Response(text="".join(f"line {n:07}\n" for n in range(200_000)))

    async with answering(reply) as access, Client(access) as client:
        found = await client.log_end(Key("ml", "p"), "main", lines=9, size=10_000)
    assert 10_000 < len(found) <= 20_000 and found.endswith(b"line 0199999\n")


LOSS = '{"tag": "train/loss", "step": 3, "value": 0.5, "time": 1}'


@pytest.mark.parametrize(
    "status, text, answer",
    [
        (200, f'{{"scalars": [{LOSS}]}}', (Recorded("train/loss", 3, 0.5),)),
        (200, '{"scalars": [{"tag": "a", "step": 1, "value": null}]}', (Recorded("a", 1, None),)),
        (200, '{"scalars": []}', ()),
        (404, '{"kind": "Status", "message": "pods \\"-\\" not found"}', None),
        (503, f'{{"scalars": [{LOSS}]}}', None),
        (200, "step 3/9 loss 0.5\n", None),
        (200, '{"scalars": 3}', None),
        (200, '{"scalars": [{"tag": "a"}]}', None),
        (200, '["scalars"]', None),
    ],
)
async def test_records_are_asked_of_nobody_and_told_by_those_who_have_them(
    status: int, text: str, answer: tuple[Recorded, ...] | None
) -> None:
    asked = []

    async def reply(request: web.Request) -> web.Response:
        asked.append(f"{request.path} {request.query_string}")
        return web.Response(status=status, text=text)

    async with answering(reply) as access, Client(access) as client:
        question = RecordsQuestion("ml", "p", "main")

        assert await ask(client, [question]) == {question: answer}
    assert asked == ["/api/v1/namespaces/ml/pods/-/log records=p&container=main"]


def an_event(message: str, made: str, last: str | None) -> dict[str, object]:
    metadata = {"name": message, "namespace": "ml", "creationTimestamp": made}
    return {"metadata": metadata, "type": "Warning", "message": message, "lastTimestamp": last}


MORNING, NOON, NIGHT = ("2024-06-01T06:00:00Z", "2024-06-01T12:00:00Z", "2024-06-01T23:00:00Z")


@pytest.mark.parametrize(
    "status, events, answer",
    [
        (200, [], None),
        (200, [an_event("old", MORNING, MORNING), an_event("again", MORNING, NIGHT)], "again"),
        (200, [an_event("old", MORNING, NOON), an_event("without", NIGHT, None)], "without"),
        (403, [], None),
    ],
)  # fmt: skip
async def test_the_last_warning_about_a_pod_is_told(
    status: int, events: list[dict[str, object]], answer: str | None
) -> None:
    async def reply(request: web.Request) -> web.Response:
        assert request.path == "/api/v1/namespaces/ml/events"
        assert request.query["fieldSelector"] == "involvedObject.uid=uid-1,type=Warning"
        return web.json_response({"metadata": {}, "items": events}, status=status)

    async with answering(reply) as access, Client(access) as client:
        question = WarningQuestion("ml", "uid-1")

        assert await ask(client, [question]) == {question: answer}
