"""Two ways to ask: with feeds, which a processor may turn into arrays, and with tensors, which are arrays.

A dialect is a set of pure functions: how its requests are read, and how answers and refusals are written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from ...errors import ApiError, BadRequest
from ..http1 import Request, Response
from ..signature import Arrays, Signature


@dataclass(frozen=True)
class Fed:
    """A request of feeds."""

    feed: Any
    fetch: Any
    extra: Any = None


@dataclass(frozen=True)
class Asked:
    """A request of tensors."""

    arrays: Arrays
    wanted: list[str]
    extra: Any = None
    """What only the dialect itself understands, for its answer."""


def refused(error: ApiError) -> Response:
    return Response(error.status, orjson.dumps({"error": error.message}))


@dataclass(frozen=True)
class FeedDialect:
    name: str
    read: Callable[[dict[str, Any]], Fed]
    write: Callable[[Fed, Any], Response]
    refuse: Callable[[ApiError], Response] = field(default=refused)


@dataclass(frozen=True)
class TensorDialect:
    name: str
    read: Callable[[Request, Signature], Asked]
    write: Callable[[Asked, Arrays, str], Response]
    """The last argument is the model's name."""
    refuse: Callable[[ApiError], Response] = field(default=refused)


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object of a body. Raises `BadRequest`."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"the body is no JSON: {error}") from error
    if not isinstance(content, dict):
        raise BadRequest("the body must be a JSON object")
    return content


def dumped(content: Any) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY, default=plain)


def plain(value: Any) -> Any:
    """What orjson does not write by itself: arrays that are not contiguous, or half floats."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be answered as JSON")
