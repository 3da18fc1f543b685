"""Asks the outside what a decision wants to know; nobody answering is an answer: None.

Addresses come from objects anybody may write, so our token is never sent and nothing is followed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import aiohttp
import orjson

from ..cluster.client import Client
from ..errors import PaddleCloudError
from .contract import HttpQuestion, LogQuestion, Question

ANSWER_WITHIN = 2.0
LONGEST_ANSWER = 4 << 20


async def ask(client: Client, questions: Iterable[Question]) -> Mapping[Question, Any]:
    """The answers to all questions, asked at the same time."""
    asked = tuple(dict.fromkeys(questions))
    if not asked:
        return {}
    timeout = aiohttp.ClientTimeout(total=ANSWER_WITHIN)
    connector = aiohttp.TCPConnector(socket_factory=client.sockets)
    async with aiohttp.ClientSession(timeout=timeout, connector=connector) as session:
        answers = await asyncio.gather(
            *(fetch(session, q) if isinstance(q, HttpQuestion) else tail(client, q) for q in asked)
        )
    return dict(zip(asked, answers, strict=True))


async def fetch(session: aiohttp.ClientSession, question: HttpQuestion) -> Any:
    try:
        async with session.get(question.url, allow_redirects=False) as answer:
            if answer.status != 200:
                return None
            body = bytearray()
            async for piece in answer.content.iter_chunked(1 << 16):
                body += piece
                if len(body) > LONGEST_ANSWER:
                    return None
            return orjson.loads(body)
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
        return None


async def tail(client: Client, question: LogQuestion) -> str | None:
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            return await client.logs(
                question.namespace, question.pod, question.container, tail=question.lines
            )
    except (PaddleCloudError, TimeoutError):
        return None
