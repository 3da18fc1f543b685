"""What a client sent: the body of a request as an object, and the options of a write.

A body that cannot be read is the client's mistake, whatever it does to the reader.
"""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import yaml
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from ...errors import BadRequest, Timeout, TooLarge, UnsupportedMedia
from . import protobuf
from .configurations import configuration
from .duplicates import duplicates
from .ownership import check_manager, invalid_options, manager_of
from .writing import WriteOptions
from .yamltext import yaml_object

# What a request carries to the write it makes.
ADMIT: web.RequestKey[Any] = web.RequestKey("admit")
MAY_CREATE: web.RequestKey[Any] = web.RequestKey("may_create")
LARGEST = 3 * 1024 * 1024
PATIENCE = 60.0  # seconds in which a body must have come
LONG = 64 * 1024  # bytes that are looked through beside the loop, which others wait for
JSON = "application/json"
YAML = ("application/yaml", "application/apply-patch+yaml")
OPTIONS = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}


def write_options(request: web.Request) -> WriteOptions:
    given = request.query.get("fieldManager") or ""
    if given:
        check_manager(given, OPTIONS.get(request.method, ""))
    validation = request.query.get("fieldValidation") or ""
    if validation not in ("", "Ignore", "Strict", "Warn"):
        wrong = f'Unsupported value: "{validation}": supported values: "", "Ignore", "Strict", "Warn"'
        kind = OPTIONS.get(request.method, "")
        raise invalid_options(kind, "fieldValidation", [("FieldValueNotSupported", wrong)])
    options = WriteOptions("dryRun" in request.query, validation)
    options.manager = manager_of(given, request.headers.get("User-Agent", ""))
    options.admit, options.may_create = request.get(ADMIT), request.get(MAY_CREATE)
    return options


async def read_object(request: web.Request, options: WriteOptions | None = None) -> dict[str, Any]:
    content, repeated = await content_of(request), list[str]()
    body = await read_as(request.content_type, content, repeated)
    if not isinstance(body, dict):
        raise BadRequest("the body must be an object")
    if options and options.field_validation != "Ignore":
        options.duplicates = repeated
        if request.content_type == JSON:
            look = asyncio.to_thread(duplicates, content, body) if len(content) > LONG else None
            options.duplicates = await look if look else duplicates(content, body)
    return body


async def read_options(request: web.Request) -> dict[str, Any]:
    """The options of a deletion; most clients send none."""
    content = await content_of(request)
    body = await read_as(request.content_type, content) if content else None
    if body is not None and not isinstance(body, dict):
        raise BadRequest("the body must be DeleteOptions")
    return body or {}


async def read_patch(request: web.Request) -> Any:
    """A patch of any kind but an applied configuration; its type has been looked at."""
    return decoded(await content_of(request), JSON)


async def read_configuration(request: web.Request) -> dict[str, Any]:
    """What is to be applied."""
    content = await content_of(request)
    return await asyncio.to_thread(configuration, content) if len(content) > LONG else configuration(content)


async def content_of(request: web.Request) -> bytes:
    """The whole body; raises `TooLarge`, `Timeout` when it does not come, `BadRequest` when it is cut off."""
    if (request.content_length or 0) > LARGEST:
        raise too_large()  # before any of it is read
    if "Expect" in request.headers:
        await invite(request)
    try:
        if request.content.is_eof():
            return await request.read()
        async with asyncio.timeout(PATIENCE):
            return await request.read()
    except TimeoutError as error:
        raise Timeout("Timeout: request did not complete within the allotted timeout") from error
    except web.HTTPRequestEntityTooLarge as error:
        raise too_large() from error
    except (web.RequestPayloadError, HttpProcessingError) as error:
        raise BadRequest(f"the body cannot be read: {error}") from error


async def invite(request: web.Request) -> None:
    """Some clients send a large body only when they are told to."""
    if request.headers["Expect"].lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # the answer itself has not begun


def too_large() -> TooLarge:
    return TooLarge(f"Request entity too large: limit is {LARGEST}")


async def read_as(content_type: str, content: bytes, repeated: list[str] | None = None) -> Any:
    """What a body of a type says; fields that a YAML body says more than once are added to *repeated*."""
    if content_type in YAML and len(content) > LONG:
        return await asyncio.to_thread(decoded, content, content_type, repeated)
    return decoded(content, content_type, repeated)


def decoded(content: bytes, content_type: str, repeated: list[str] | None = None) -> Any:
    try:
        if content_type == protobuf.MEDIA_TYPE:
            return protobuf.decoded(content)
        if content_type in YAML:
            return yaml_object(content, repeated)
        # A missing type arrives as octet-stream; some clients leave it out.
        if content_type in (JSON, "application/octet-stream", "*/*"):
            return orjson.loads(content)
    except (ValueError, TypeError, yaml.YAMLError) as error:
        raise BadRequest(f"the body cannot be read: {error}") from error
    raise UnsupportedMedia(
        "the body of the request was in an unknown format - "
        f"accepted media types include: application/json, application/yaml, {protobuf.MEDIA_TYPE}"
    )
