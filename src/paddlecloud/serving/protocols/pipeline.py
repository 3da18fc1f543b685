"""Paddle Serving's pipeline over HTTP: `POST /<name>/prediction` with keys and values, all of them texts.

    {"key": ["image"], "value": ["…"]}
      →  {"err_no": 0, "err_msg": "", "key": […], "value": […], "tensors": []}

The HTTP status is 200 even for a refusal, as its clients expect: `err_no` tells.
"""

from __future__ import annotations

from typing import Any

import orjson

from ...errors import ApiError, BadRequest, TooManyRequests, Unavailable
from ..http1 import Response
from .dialect import Fed, FeedDialect, dumped
from .servingtensors import array_of

INPUT_ERROR, TIMED_OUT, UNKNOWN = 5000, 6000, 10000
NO_SERVICE = 3002


def is_pipeline(body: dict[str, Any]) -> bool:
    return "feed" not in body and ("key" in body or "tensors" in body)


def read(body: dict[str, Any]) -> Fed:
    keys, values = body.get("key") or [], body.get("value") or []
    for name, texts in (("key", keys), ("value", values)):
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise BadRequest(f'"{name}" must be a list of texts')
    if len(keys) != len(values):
        raise BadRequest(f'"key" has {len(keys)} entries and "value" {len(values)}: they go in pairs')
    tensors = body.get("tensors") or []
    if not isinstance(tensors, list):
        raise BadRequest('"tensors" must be a list')
    feed: dict[str, Any] = {key: meaning(value) for key, value in zip(keys, values, strict=True)}
    feed |= dict(array_of(tensor, f'"tensors"[{n}]') for n, tensor in enumerate(tensors))
    if not feed:
        raise BadRequest('"key" and "value" are empty')
    return Fed(feed, [])


def meaning(text: str) -> Any:
    """A list of numbers where the text is one, else the text itself."""
    if text[:1] != "[":
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def write(_: Fed, result: Any) -> Response:
    pairs = result if isinstance(result, dict) else {"result": result}
    return Response(200, answer(0, "", {key: worded(value) for key, value in pairs.items()}))


def worded(value: Any) -> str:
    plain = value.tolist() if hasattr(value, "tolist") else value
    return plain if isinstance(plain, str) else str(plain)


def refuse(error: ApiError) -> Response:
    number = UNKNOWN
    if error.status < 500 and not isinstance(error, TooManyRequests):
        number = INPUT_ERROR
    elif isinstance(error, Unavailable):
        number = NO_SERVICE
    return Response(200, answer(number, error.message, {}))


def answer(number: int, message: str, pairs: dict[str, str]) -> bytes:
    return dumped(
        {
            "err_no": number,
            "err_msg": message,
            "key": list(pairs),
            "value": list(pairs.values()),
            "tensors": [],
        }
    )


DIALECT = FeedDialect("pipeline", read, write, refuse)
