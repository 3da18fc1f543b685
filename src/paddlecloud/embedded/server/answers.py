"""Answers over HTTP: an object, a list of warnings, a document that may be kept, an error as a `Status`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import orjson
from aiohttp import web

from ...errors import ApiError, NotFound
from . import openapi
from .writing import WriteOptions

MOST, LONGEST = 4096, 256  # characters of all warnings, and of one where there are more


def as_json(body: Any, status: int = 200, options: WriteOptions | None = None) -> web.Response:
    response = web.Response(body=orjson.dumps(body), status=status, content_type="application/json")
    for warning in fitting(options.warnings) if options and options.warnings else ():
        warn(response, warning)
    return response


def fitting(warnings: list[str]) -> list[str]:
    """As many warnings as clients are sent, each once: all of them, or the beginnings of the first ones."""
    distinct = list(dict.fromkeys(warnings))
    if sum(map(len, distinct)) <= MOST:
        return distinct
    shown, written = list[str](), 0
    for warning in distinct:
        if written >= MOST:
            break
        shown.append(warning[:LONGEST])
        written += len(shown[-1])
    return shown


def success(status: int, details: dict[str, Any] | None = None) -> web.Response:
    """A `Status` where there is no object to show."""
    told = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return as_json({**told, "details": details} if details else told, status)


def warn(response: web.StreamResponse, warning: str) -> None:
    # A field may be called anything, a header may not hold everything.
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in warning)
    text = shown.replace("\\", "\\\\").replace('"', '\\"')
    response.headers.add("Warning", f'299 - "{text}"')


def document(request: web.Request, found: openapi.Document | None) -> web.Response:
    """An OpenAPI document; asked for by its digest it never changes."""
    if found is None:
        raise NotFound("the server could not find the requested resource")
    headers = {"ETag": f'"{found.digest}"', "Vary": "Accept, Accept-Encoding"}
    asked = request.query.get("hash")
    if asked not in (None, "", found.digest):
        headers["Location"] = f"{request.path}?hash={found.digest}"
        return web.Response(status=301, headers=headers)
    headers["Cache-Control"] = "public, immutable" if asked else "no-cache, private"
    if asked:
        headers["Expires"] = format_datetime(datetime.now(UTC) + timedelta(days=365), usegmt=True)
    if request.headers.get("If-None-Match") == headers["ETag"]:
        return web.Response(status=304, headers=headers)
    headers["Content-Type"] = "application/json"
    if "gzip" not in request.headers.get("Accept-Encoding", ""):
        return web.Response(body=found.content, headers=headers)
    return web.Response(body=found.packed, headers={**headers, "Content-Encoding": "gzip"})


def found(body: dict[str, Any] | None) -> web.Response:
    if body is None:
        raise NotFound("the server could not find the requested resource")
    return as_json(body)


def status_response(error: ApiError) -> web.Response:
    return web.Response(
        body=orjson.dumps(error.as_status()), status=error.status, content_type="application/json"
    )
