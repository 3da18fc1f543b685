"""The API over HTTP: from a request to a verb, from an error to a `Status`.

One entry for every path: the paths of the Kubernetes API are data (the registry), not routes.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from functools import partial as partial_call
from typing import Any

import orjson
from aiohttp import web

from ... import log
from ...errors import ApiError, BadRequest, MethodNotAllowed, NotFound, ServerError
from ..store import Place
from ..store.pulse import Pulse
from . import listing, metrics, podverbs, refusals, scaling, signing, watching
from .access import Access
from .answers import as_json, status_response, success, warn
from .authorization import attributes_of
from .bodies import (
    ADMIT,
    LARGEST,
    MAY_CREATE,
    read_configuration,
    read_object,
    read_options,
    read_patch,
    write_options,
)
from .configurations import force_of
from .deletion import options_of
from .documents import Documents
from .health import OPEN, Health
from .kinds import Kind
from .negotiation import Form, wanted
from .objects import Objects
from .patches import APPLY, check_type
from .paths import Target, parse
from .proxying import Proxies
from .rbac import MASTERS, RESOURCES
from .reviews import Reviews
from .rows import Printing, printed
from .selectors import outline
from .streams import NOBODY, NodeStreams
from .tables import partial
from .usage import TARGET, Usage, lasts
from .users import User

LOG = log.logger("api")
STREAMED = {"exec": "exec", "attach": "attach", "portforward": "portForward"}
"""Subresources of pods that are conversations, by the node's names for them."""
VERBS = {
    ("GET", True): "get",
    ("GET", False): "list",
    ("POST", False): "create",
    ("PUT", True): "update",
    ("PATCH", True): "patch",
    ("DELETE", True): "delete",
    ("DELETE", False): "deletecollection",
}


class Api:
    def __init__(self, objects: Objects, access: Access, streams: NodeStreams) -> None:
        self.objects = objects
        self.access = access
        self.streams = streams
        self.reviews = Reviews(access)
        self.metrics = metrics.Metrics(objects, streams)
        self.proxies = Proxies(objects, streams)
        self.health = Health(Pulse(objects.store))
        self.usage = Usage(lambda target: objects.registry.find(target))
        self.documents = Documents(objects, access.accounts, self.usage)

    def server(self, **connections: Any) -> web.Server:
        """What speaks HTTP with each client; *connections* says how (timeouts, lengths)."""

        loop = asyncio.get_running_loop()

        def made(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.Request:
            return web.Request(message, payload, protocol, writer, task, loop, client_max_size=LARGEST)

        # No application around it: its router would only be asked for the one route there is.
        return web.Server(self.usage.counting(self.entry), request_factory=made, **connections)

    async def entry(self, request: web.BaseRequest) -> web.StreamResponse:
        assert isinstance(request, web.Request)
        try:
            return await self._answer(request)
        except ApiError as error:
            return status_response(error)
        except ConnectionError:
            raise
        except (RecursionError, orjson.JSONEncodeError):
            return status_response(BadRequest("the body is nested too deeply"))
        except Exception:
            LOG.exception("%s %s failed", request.method, request.path)
            return status_response(ServerError("an error of the server; its log has the details"))

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        path = request.rel_url.raw_path.rstrip("/")
        if request.rel_url.raw_path in OPEN:
            return await self.health.answer(request)
        user = self.access.user_of(request)
        request[TARGET] = target = parse(path)
        if MASTERS not in user.groups:
            asked = attributes_of(request.method, target, path, request)
            self.access.authorizer.demand(user, asked)
            if request.method == "PATCH":
                # An apply may find nothing to change.
                creation = asked._replace(verb="create")
                request[MAY_CREATE] = partial_call(self.access.authorizer.demand, user, creation)
        if target is None:
            return await (self.health if path.startswith(OPEN) else self.documents).answer(request)
        kind = self.objects.registry.find(target)
        if kind is None or (target.namespace and not kind.namespaced):
            raise NotFound("the server could not find the requested resource")
        if lasts(request, target):
            with self.usage.staying(request, target):
                return await self._verb(request, user, kind, target)
        return await self._verb(request, user, kind, target)

    async def _verb(self, request: web.Request, user: User, kind: Kind, target: Target) -> web.StreamResponse:
        method = request.method
        if kind.resource in self.reviews.answers and method == "POST":
            return await self._review(request, user, kind, target)
        if kind.resource in RESOURCES:
            request[ADMIT] = partial_call(self.access.authorizer.demand_no_escalation, user, kind.resource)
        if kind.resource == signing.REQUESTS:
            request[ADMIT] = partial_call(signing.admit, user, self.objects.stamp())
        if kind.group == metrics.GROUP and method == "GET" and not target.subresource:
            return await self.metrics.answer(request, kind, target)
        if target.subresource:
            return await self._subresource(request, kind, target)
        if target.name:
            verbs: dict[str, Callable[..., Awaitable[web.StreamResponse]]] = {
                "GET": self._get, "PUT": self._update, "PATCH": self._patch, "DELETE": self._delete,
            }  # fmt: skip
        else:
            verbs = {"GET": self._list, "POST": self._create, "DELETE": self._delete_all}
        if (
            method not in verbs
            or VERBS[method, bool(target.name)] not in kind.verbs
            or (kind.namespaced and not target.namespace and (target.name or method == "POST"))
        ):
            raise MethodNotAllowed("the server does not allow this method on the requested resource")
        response = await verbs[method](request, kind, target)
        if kind.deprecation and not response.prepared:
            warn(response, kind.deprecation)
        return response

    async def _get(self, request: web.Request, kind: Kind, target: Target) -> web.StreamResponse:
        form = wanted(request.headers.get("Accept", ""))
        entry = self.objects.get(kind, target.namespace, target.name)
        if form is Form.PLAIN:
            return web.Response(body=entry.value, content_type="application/json")
        if form is Form.PARTIAL:
            return as_json(partial(entry.load()))
        printing = Printing(request.query.get("includeObject") or "Metadata", self.objects.clock())
        body = printed(kind, [entry], {"resourceVersion": str(entry.revision)}, printing)
        return web.Response(body=body, content_type="application/json")

    async def _list(self, request: web.Request, kind: Kind, target: Target) -> web.StreamResponse:
        parameters = dict(request.query)
        form = wanted(request.headers.get("Accept", ""))
        if parameters.get("watch", "").lower() in ("true", "1"):
            return await self._watch(request, kind, target, form)
        parameters.pop("watch", None)
        query = listing.query_of(kind, parameters)
        store, now = self.objects.store, self.objects.clock()
        body = listing.answer(store, kind, target.namespace, query, form, now)
        return web.Response(body=body, content_type="application/json")

    async def _watch(
        self, request: web.Request, kind: Kind, target: Target, form: Form
    ) -> web.StreamResponse:
        parameters = dict(request.query)
        # The server ends a watch by itself now and then, so that clients spread over servers.
        seconds = listing.whole(parameters.get("timeoutSeconds") or "0") or random.uniform(1800, 3600)
        flags = {
            k: parameters.get(k, "").lower() in ("true", "1")
            for k in ("allowWatchBookmarks", "sendInitialEvents")
        }
        watch = watching.Watching(
            kind,
            target.namespace,
            listing.query_of(kind, parameters),
            form,
            flags["allowWatchBookmarks"],
            flags["sendInitialEvents"],
            seconds,
            self.objects.clock,
        )
        return await watching.stream(request, self.objects.store, watch)

    async def _create(self, request: web.Request, kind: Kind, target: Target) -> web.StreamResponse:
        options = write_options(request)
        body = await self.objects.create(kind, target.namespace, await read_object(request, options), options)
        return as_json(body, 201, options)

    async def _update(self, request: web.Request, kind: Kind, target: Target) -> web.StreamResponse:
        options = write_options(request)
        body = await self.objects.update(
            kind, place(kind, target), await read_object(request, options), options, target.subresource
        )
        return as_json(body, 200, options)

    async def _patch(self, request: web.Request, kind: Kind, target: Target) -> web.StreamResponse:
        check_type(kind, request.content_type)
        options, force = write_options(request), force_of(request.content_type, request.query)
        if request.content_type == APPLY:
            config = await read_configuration(request)
            body, new = await self.objects.apply(
                kind, place(kind, target), config, force, options, target.subresource
            )
            return as_json(body, 201 if new else 200, options)
        patch = await read_patch(request)
        body = await self.objects.patch(
            kind, place(kind, target), patch, request.content_type, options, target.subresource
        )
        return as_json(body, 200, options)

    async def _delete(self, request: web.Request, kind: Kind, target: Target) -> web.StreamResponse:
        options = options_of(await read_options(request), dict(request.query))
        body, gone = await self.objects.delete(kind, place(kind, target), options)
        if not gone or kind.resource == "/pods":
            return as_json(body)
        details = {"name": target.name, "kind": kind.plural, "uid": body["metadata"]["uid"]}
        if kind.group:
            details["group"] = kind.group
        return success(200, details)

    async def _delete_all(self, request: web.Request, kind: Kind, target: Target) -> web.StreamResponse:
        options = options_of(await read_options(request), dict(request.query))
        query = listing.query_of(kind, dict(request.query))
        entries = [
            e
            for e in self.objects.store.entries(kind.resource, target.namespace)
            if query.selected is None or query.selected(outline(e))
        ]
        for entry in entries:
            await self.objects.delete(kind, entry.place, options)
        revision = {"resourceVersion": str(self.objects.store.revision)}
        now = self.objects.clock()
        body = listing.rendered(kind, entries, revision, Form.PLAIN, ("Metadata", now))
        return web.Response(body=body, content_type="application/json")

    async def _subresource(self, request: web.Request, kind: Kind, target: Target) -> web.StreamResponse:
        if kind.subresource(target.subresource) is None:
            if kind.custom:
                raise refusals.not_found(kind, target.name)
            raise NotFound("the server could not find the requested resource")
        match target.subresource, request.method:
            case "status" | "approval" | "ephemeralcontainers", "GET":
                return await self._get(request, kind, target)
            case "finalize", "PUT":
                # Whoever says a namespace is empty may not know a kind that was defined a moment ago.
                if self.objects.store.occupied(target.name):
                    raise refusals.content_remains(kind, target.name)
                return await self._update(request, kind, target)
            case "status" | "approval" | "ephemeralcontainers", "PUT":
                return await self._update(request, kind, target)
            case "status" | "approval" | "ephemeralcontainers", "PATCH":
                return await self._patch(request, kind, target)
            case "log", "GET" if target.name == NOBODY and "kept" in request.query:
                return await self.streams.kept_logs(request, target.namespace)
            case "log", "GET" if target.name == NOBODY and "records" in request.query:
                return await self.streams.records(request, target.namespace)
            case "log", "GET":
                pod = self.objects.get(kind, target.namespace, target.name).load()
                return await self.streams.logs(request, pod)
            case "exec" | "attach" | "portforward", "GET" | "POST":
                pod = self.objects.get(kind, target.namespace, target.name).load()
                return await self.streams.converse(request, pod, STREAMED[target.subresource])
            case "proxy", _:
                return await self.proxies.answer(request, kind, target)
            case "scale", _:
                return await scaling.answer(self.objects, request, kind, place(kind, target))
            case "binding", "POST":
                return await podverbs.bind(self.objects, request, kind, place(kind, target))
            case "eviction", "POST":
                return await podverbs.evict(self.objects, request, kind, place(kind, target))
            case "token", "POST":
                account = self.objects.get(kind, target.namespace, target.name).load()
                return as_json(self.access.accounts.issue(account, await read_object(request)), 201)
        raise MethodNotAllowed("the server does not allow this method on the requested resource")

    async def _review(self, request: web.Request, user: User, kind: Kind, target: Target) -> web.Response:
        body, now = await read_object(request), self.objects.stamp()
        return as_json(self.reviews.answer(kind.resource, body, user, target.namespace, now), 201)


def place(kind: Kind, target: Target) -> Place:
    return Place(kind.resource, target.namespace, target.name)
