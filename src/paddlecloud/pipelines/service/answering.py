"""From an HTTP request to a handler of one of the two generations, and back.

Both are served under `/apis/` and under `/pipeline/apis/`, where the interface of Kubeflow has them. Empty
values of a query count as absent: the clients send them.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import orjson
from aiohttp import web

from ... import log
from ...cluster.client import Client
from ...errors import (
    ApiError,
    BadRequest,
    MethodNotAllowed,
    NotFound,
    PaddleCloudError,
    TooLarge,
    Unreachable,
    WrongUse,
)
from ..reading import LARGEST
from . import first, recurring, second
from .shared import Call, Handler, Upload
from .shelf import Shelf

_log = log.logger("pipelines")
PATH = re.compile(r"^(?:/pipeline)?/apis/(v1beta1|v2beta1)/(.+?)/?$")
Table = list[tuple[str, re.Pattern[str], Handler]]


def table(routes: tuple[tuple[str, str, Handler], ...]) -> Table:
    """Literal paths before those with a name in them."""
    ordered = sorted(routes, key=lambda r: r[1].count("{}"))
    return [(m, re.compile("^" + re.escape(p).replace(r"\{\}", "([^/:]+)") + "$"), h) for m, p, h in ordered]


TABLES = {
    "v1beta1": table((*first.ROUTES, *recurring.FIRST)),
    "v2beta1": table((*second.ROUTES, *recurring.SECOND)),
}
CODES = {400: 3, 404: 5, 409: 6, 403: 7, 401: 16, 413: 8, 501: 12, 503: 14}


async def answer(request: web.Request, client: Client) -> web.Response:
    try:
        handler, names = route(request.method, request.rel_url.raw_path)
        query = {k: v for k, v in request.query.items() if v != ""}
        upload, body = await content(request)
        told = await handler(Call(Shelf(client), query, body, upload), *names)
        return web.Response(body=orjson.dumps(told), content_type="application/json")
    except PaddleCloudError as error:
        return refused(error)


def route(method: str, path: str) -> tuple[Handler, list[str]]:
    """Raises `NotFound`, `MethodNotAllowed`."""
    found = PATH.match(path)
    if not found:
        raise NotFound(f"nothing is served at {path}; the API is under /apis/v1beta1 and /apis/v2beta1")
    fitting = [(m, match, h) for m, p, h in TABLES[found[1]] if (match := p.match(found[2]))]
    for allowed, match, handler in fitting:
        if allowed == method:
            return handler, [unquote(name) for name in match.groups()]
    if fitting:
        raise MethodNotAllowed(f"{method} is not possible at {path}")
    raise NotFound(f"{found[1]} has no {found[2]} here")


async def content(request: web.Request) -> tuple[Upload | None, dict[str, Any]]:
    if request.content_type.startswith("multipart/"):
        async for part in await request.multipart():
            if getattr(part, "name", None) == "uploadfile":
                return Upload(part.filename or "", await whole(part)), {}  # type: ignore[union-attr]
        return None, {}
    text = await request.read()
    if not text:
        return None, {}
    try:
        body = orjson.loads(text)
    except ValueError as error:
        raise BadRequest(f"the body is no JSON: {error}") from error
    if not isinstance(body, dict):
        raise BadRequest("the body is no JSON object")
    return None, body


async def whole(part: Any) -> bytes:
    found = bytearray()
    while chunk := await part.read_chunk(1 << 16):
        found += chunk
        if len(found) > LARGEST:
            raise TooLarge(f"the file is larger than {LARGEST >> 20} MiB")
    return bytes(found)


def refused(error: PaddleCloudError) -> web.Response:
    status = error.status if isinstance(error, ApiError) else 500
    if isinstance(error, WrongUse):
        status = 400
    if isinstance(error, Unreachable):
        status = 503
    if status >= 500:
        _log.warning("a request failed: %s", error)
    text = str(error)
    body = {"error": text, "message": text, "code": CODES.get(status, 13), "details": []}
    return web.Response(status=status, body=orjson.dumps(body), content_type="application/json")
