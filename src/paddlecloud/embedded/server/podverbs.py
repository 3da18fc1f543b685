"""What is done to a pod by a sentence about it: it is given a node, it is evicted.

Both are sent as objects of their own that nobody keeps. An eviction is a deletion that says why; budgets of
disruption are not counted yet.
"""

from __future__ import annotations

from typing import Any

from aiohttp import web

from ...errors import BadRequest, NotFound
from ..store import Place
from .answers import as_json
from .bodies import read_object, write_options
from .deletion import DeleteOptions, options_of
from .kinds import Kind
from .objects import Objects
from .writing import WriteOptions

Body = dict[str, Any]
DONE = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
EVICTED = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}


async def bind(objects: Objects, request: web.Request, kind: Kind, where: Place) -> web.Response:
    """Give a pod its node; done once."""
    node = ((await read_object(request)).get("target") or {}).get("name")
    if not node:
        raise BadRequest("target.name: Required value")
    await objects.bind(kind, where, node)
    return as_json(DONE, 201)


async def evict(objects: Objects, request: web.Request, kind: Kind, where: Place) -> web.Response:
    """Let a pod go as if it were deleted, and mark it before."""
    options = write_options(request)
    eviction = await read_object(request)
    if (eviction.get("metadata") or {}).get("name") != where.name:
        raise BadRequest("name in URL does not match name in Eviction object")
    wish = eviction.get("deleteOptions") or {}
    if not isinstance(wish, dict):
        raise BadRequest("deleteOptions must be an object")
    ending = options_of(wish, dict(request.query))
    await mark(objects, kind, where, options, ending)
    await objects.delete(kind, where, ending)
    return as_json({**DONE, "code": 201}, 201)


async def mark(
    objects: Objects, kind: Kind, where: Place, options: WriteOptions, ending: DeleteOptions
) -> None:
    """Say in the status of the pod that it is evicted; raises what the deletion would raise."""
    pod = objects.get(kind, where.namespace, where.name).load()
    ending.check(kind, pod)
    if ending.dry_run:
        return
    said = {**EVICTED, "lastTransitionTime": objects.stamp()}

    def told(old: Body) -> Body:
        if old["metadata"]["uid"] != pod["metadata"]["uid"]:
            raise NotFound(f'pods "{where.name}" not found')
        kept = [c for c in old["status"].get("conditions") or () if c["type"] != EVICTED["type"]]
        return {**old, "status": {**old["status"], "conditions": [*kept, said]}}

    await objects.change(kind, where, told, options, "status")
