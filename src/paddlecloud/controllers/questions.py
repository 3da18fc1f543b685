"""Asks the outside what a decision wants to know; nobody answering is an answer: None.

Addresses come from objects anybody may write, so our token is never sent and nothing is followed; what a
question is asked with is the token that it names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import aiohttp
import orjson

from ..api.core import Event
from ..api.meta import Key
from ..cluster.client import Client
from ..cluster.requests import pod_log, pod_records
from ..errors import BadRequest, NotFound, PaddleCloudError
from .keyring import Keyring
from .outside import (
    Asked,
    HttpQuestion,
    KeptLogQuestion,
    LogQuestion,
    ObjectQuestion,
    Question,
    Recorded,
    RecordsQuestion,
    SecretQuestion,
    WarningQuestion,
)
from .packing import KEPT_BYTES, KEPT_LINES, packed

ANSWER_WITHIN = 2.0
LOG_WITHIN = 5.0
WITHIN = aiohttp.ClientTimeout(total=ANSWER_WITHIN)
LONGEST_ANSWER = 4 << 20
NOT_LET_IN = 401


async def ask(
    client: Client, questions: Iterable[Question], keyring: Keyring | None = None
) -> Mapping[Question, Any]:
    """The answers to all questions, asked at the same time."""
    asked = tuple(dict.fromkeys(questions))
    keyring = keyring or Keyring(client)
    web = [q for q in asked if isinstance(q, HttpQuestion)]
    others = [q for q in asked if not isinstance(q, HttpQuestion)]
    fetched, read = await asyncio.gather(
        asyncio.gather(*(fetch(client.to_pods, keyring, question) for question in web)),
        asyncio.gather(*(answer_of(client, keyring, question) for question in others)),
    )
    return {**dict(zip(web, fetched, strict=True)), **dict(zip(others, read, strict=True))}


async def answer_of(
    client: Client,
    keyring: Keyring,
    question: Asked,
) -> object:
    if isinstance(question, ObjectQuestion):
        # Not being answered is no answer here: a decision must not take it for an object that is not there.
        return await client.find(question.kind, question.namespace, question.name)
    if isinstance(question, SecretQuestion):
        return await keyring.sight(question)
    if isinstance(question, WarningQuestion):
        return await warning(client, question)
    if isinstance(question, LogQuestion):
        return await tail(client, question)
    if isinstance(question, RecordsQuestion):
        return await recorded(client, question)
    return await ending(client, question)


async def fetch(session: aiohttp.ClientSession, keyring: Keyring, question: HttpQuestion) -> Any:
    status, body = await get(session, keyring, question)
    if status == NOT_LET_IN and keyring.forget(question.token):
        status, body = await get(session, keyring, question)
    if status != 200:
        return None
    try:
        return orjson.loads(body)
    except ValueError:
        return None


async def get(session: aiohttp.ClientSession, keyring: Keyring, question: HttpQuestion) -> tuple[int, bytes]:
    """Status and body; 0 where nobody answered, or too much."""
    headers = await keyring.headers(question.token)
    try:
        async with session.get(
            question.url, headers=headers, timeout=WITHIN, allow_redirects=False
        ) as answer:
            body = bytearray()
            async for piece in answer.content.iter_chunked(1 << 16):
                body += piece
                if len(body) > LONGEST_ANSWER:
                    return 0, b""
            return answer.status, bytes(body)
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
        return 0, b""


async def warning(client: Client, question: WarningQuestion) -> str | None:
    of = {"involvedObject.uid": question.uid, "type": "Warning"}
    if question.reason:
        of["reason"] = question.reason
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            found = (await client.list(Event, question.namespace, fields=of)).items
    except (PaddleCloudError, TimeoutError):
        return None
    last = max(found, key=told_at, default=None)
    return last.message if last else None


def told_at(event: Event) -> str:
    """As a text that sorts by time; events of newer reporters have only that of their making."""
    made = event.metadata.creation_timestamp
    return event.last_timestamp or (made.isoformat() if made else "")


async def tail(client: Client, question: LogQuestion) -> str | None:
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            pod = Key(question.namespace, question.pod)
            request = pod_log(pod, container=question.container, tail=question.lines)
            # Once: a node that is away keeps nobody else waiting.
            status, body = await client.once(request)
    except (PaddleCloudError, TimeoutError):
        return None
    return body.decode(errors="replace") if status < 400 else None


async def recorded(client: Client, question: RecordsQuestion) -> tuple[Recorded, ...] | None:
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            request = pod_records(Key(question.namespace, question.pod), question.container)
            status, body = await client.once(request)
    except (PaddleCloudError, TimeoutError):
        return None
    if status >= 400:
        return None
    try:
        found = orjson.loads(body)["scalars"]
        return tuple(Recorded(str(one["tag"]), int(one["step"]), number(one["value"])) for one in found)
    except (ValueError, TypeError, LookupError):
        return None  # not one of ours


def number(value: Any) -> float | None:
    return None if value is None else float(value)


async def ending(client: Client, question: KeptLogQuestion) -> bytes | None:
    try:
        async with asyncio.timeout(LOG_WITHIN):
            pod = Key(question.namespace, question.pod)
            content = await client.log_end(pod, question.container, lines=KEPT_LINES, size=KEPT_BYTES)
            return await asyncio.to_thread(packed, content) if content else b""
    except (NotFound, BadRequest):
        return b""
    except (PaddleCloudError, TimeoutError):
        return None
