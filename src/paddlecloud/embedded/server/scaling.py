"""The scale of an object over HTTP: read, replaced, patched or applied, and printed as a table."""

from __future__ import annotations

from aiohttp import web

from ...errors import MethodNotAllowed
from ..store import Place
from . import scale, scaletables
from .answers import as_json
from .bodies import read_configuration, read_object, read_patch, write_options
from .configurations import force_of, of_a_scale
from .kinds import Kind
from .negotiation import Form, wanted
from .objects import Objects
from .patches import APPLY, check_type, patched


async def answer(objects: Objects, request: web.Request, kind: Kind, where: Place) -> web.Response:
    if request.method == "GET":
        return read(objects, request, kind, where)
    options, form = write_options(request), request.content_type
    match request.method:
        case "PUT":
            sent = await read_object(request)
            body = await objects.rescale(kind, where, lambda _: sent, options)
        case "PATCH" if form == APPLY:
            config = of_a_scale(await read_configuration(request), kind)
            body, _ = await objects.apply(
                kind, where, config, force_of(form, request.query), options, "scale"
            )
        case "PATCH":
            check_type(kind, form)
            patch = await read_patch(request)
            body = await objects.rescale(kind, where, lambda old: patched(old, patch, form), options)
        case _:
            raise MethodNotAllowed("the server does not allow this method on the requested resource")
    return as_json(scale.scale_of(body, kind.scale), 200, options)


def read(objects: Objects, request: web.Request, kind: Kind, where: Place) -> web.Response:
    found = scale.scale_of(objects.get(kind, where.namespace, where.name).load(), kind.scale)
    if wanted(request.headers.get("Accept", "")) is not Form.TABLE:
        return as_json(found)
    include = request.query.get("includeObject") or "Metadata"
    return as_json(scaletables.table(found, include, objects.clock()))
