"""What a client sent: the body of a request as an object, and the options of a write.

A body that cannot be read is the client's mistake, whatever it does to the reader.
"""

from __future__ import annotations

from typing import Any

import orjson
import yaml
from aiohttp import web

from ...errors import BadRequest, UnsupportedMedia
from . import protobuf
from .duplicates import duplicates
from .ownership import check_manager, invalid_options, manager_of
from .writing import WriteOptions
from .yamltext import yaml_object

ADMIT, MAY_CREATE = "admit", "may_create"  # what a request carries to the write it makes
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
    content = await request.read()
    body = decoded(content, request.content_type)
    if not isinstance(body, dict):
        raise BadRequest("the body must be an object")
    if options and options.field_validation != "Ignore" and request.content_type.endswith("json"):
        options.duplicates = duplicates(content, body)
    return body


async def read_options(request: web.Request) -> dict[str, Any]:
    """The options of a deletion; most clients send none."""
    content = await request.read()
    body = decoded(content, request.content_type) if content else None
    if body is not None and not isinstance(body, dict):
        raise BadRequest("the body must be DeleteOptions")
    return body or {}


def decoded(content: bytes, content_type: str) -> Any:
    try:
        if content_type == protobuf.MEDIA_TYPE:
            return protobuf.decoded(content)
        if content_type in ("application/yaml", "application/apply-patch+yaml"):
            return yaml_object(content)
        # A missing type arrives as octet-stream; some clients leave it out.
        if content_type.endswith("json") or content_type in ("application/octet-stream", "*/*"):
            return orjson.loads(content)
    except (ValueError, TypeError, yaml.YAMLError) as error:
        raise BadRequest(f"the body cannot be read: {error}") from error
    raise UnsupportedMedia(
        "the body of the request was in an unknown format - "
        f"accepted media types include: application/json, application/yaml, {protobuf.MEDIA_TYPE}"
    )
