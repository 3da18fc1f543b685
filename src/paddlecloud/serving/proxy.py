"""The reverse proxy of the gateway: requests passed on to the pods of the service their `Host` names.

`/services/<namespace>/<name>/…` does the same for clients that cannot set the header. Bodies stream both
ways and are never kept whole. A pod that does not take the connection is passed over: nothing was sent to
it. A pod that dies before it answers costs the request, as with Knative, unless that may be repeated: it
has no body and only asks, or its client said so with an `Idempotency-Key`.
"""

from __future__ import annotations

import asyncio
import random
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson
from aiohttp import hdrs, web
from multidict import CIMultiDict
from yarl import URL

from .. import log
from ..api.knative import REVISION_HEADER
from ..api.meta import Key
from ..errors import ApiError, NotFound, ServerError, Unavailable
from .lanes import Lane, Lanes
from .routes import Backend, Fleet, Table, host_of
from .shadows import Copy, Shadows

PATH_PREFIX = "/services/"
CONNECT_WITHIN = 3.0
SILENCE = 300.0
# Shorter than servers keep a quiet connection: a request is not sent into one that is just being closed.
KEEP_ALIVE = 15.0
SHOWN_HOSTS = 20
PATIENCE = 20.0
"""Seconds for other pods to come while those there are take no connection."""
LOOK = 0.1
BODY_WITHIN = 60.0
SMALL = 1 << 20
"""Bytes of a body that is kept for a second try."""
ASKING = frozenset((hdrs.METH_GET, hdrs.METH_HEAD, hdrs.METH_OPTIONS, hdrs.METH_TRACE))
IDEMPOTENCY = ("Idempotency-Key", "X-Idempotency-Key")
TRIES = 3
HOP_BY_HOP = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
     "trailer", "transfer-encoding", "upgrade", "expect")
)  # fmt: skip
_log = log.logger("gateway")


class BadGateway(ServerError):
    """The pods of a service do not take the request, or hung up on it."""

    status, reason = 502, "BadGateway"


class RequestTimedOut(ApiError):
    """A client began a request and did not go on."""

    status, reason = 408, "RequestTimeout"


class Proxy:
    """Passes requests on to what *table* says at the moment of each request."""

    def __init__(
        self,
        table: Callable[[], Table],
        luck: Callable[[], float] = random.random,
        sockets: Callable[..., socket.socket] | None = None,
        wake: Callable[[Key], None] = lambda revision: None,
    ) -> None:
        self.table = table
        self.luck = luck
        self.sockets = sockets
        """What makes sockets that reach the pods, where not every socket does."""
        self.lanes = Lanes(self._fleet, wake, time.monotonic)
        self.shadows = Shadows(self.lanes, self._send)
        self._session: aiohttp.ClientSession | None = None

    def _fleet(self, revision: Key) -> Fleet | None:
        return self.table().fleets.get(revision)

    def app(self) -> web.Application:
        app = web.Application()
        app.cleanup_ctx.append(self._connections)
        app.router.add_route("*", "/{path:.*}", self.answer)
        return app

    async def _connections(self, _: web.Application) -> AsyncIterator[None]:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, keepalive_timeout=KEEP_ALIVE, socket_factory=self.sockets
            ),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_WITHIN, sock_read=SILENCE),
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        yield
        await self.shadows.close()
        await self._session.close()

    async def _send(self, copy: Copy, backend: Backend) -> tuple[int, bytes]:
        assert self._session is not None, "the application is not running"
        url = URL(f"http://{backend.host}:{backend.port}{copy.path}", encoded=True)
        async with self._session.request(
            copy.method, url, headers=copy.headers, data=copy.body or None, allow_redirects=False
        ) as answer:
            return answer.status, await answer.read()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        try:
            table = self.table()
            key, tag, path = destination(table, request.host, request.raw_path)
            revision = self.chosen(table, key, tag)
            copied = await self.to_copy(request, table, key, tag, revision)
            with self.lanes.place(revision) as lane:
                errand = Errand(key, revision, lane, path, copied)
                began = time.perf_counter()
                try:
                    answer = await self.pass_on(request, errand)
                except ApiError as error:
                    lane.tally.answered(error.status, time.perf_counter() - began)
                    raise
                lane.tally.answered(answer.status, time.perf_counter() - began)
            if copied is not None and errand.said is not None and (canary := table.canary(key)):
                self.shadows.begin(
                    Copy(key, canary, request.method, path, forwarded(request), copied), errand.said
                )
            return answer
        except ApiError as error:
            return web.Response(
                body=orjson.dumps({"error": error.message}),
                status=error.status,
                content_type="application/json",
            )

    async def to_copy(
        self, request: web.Request, table: Table, key: Key, tag: str, revision: Key
    ) -> bytes | None:
        """The body of a request that the canary gets, too; None: it does not."""
        part, length = table.mirrored.get(key, 0.0), request.content_length
        if tag or self.shadows.full or self.luck() * 100 >= part or table.canary(key) in (None, revision):
            return None
        return await whole(request) if length is not None and length <= SMALL else None

    def chosen(self, table: Table, key: Key, tag: str) -> Key:
        """The revision for a request; of one that cannot answer the others take the share."""
        candidates = table.choice(key, tag, self.luck())
        fleets = [(revision, table.fleets.get(revision)) for revision in candidates]
        usable = (revision for revision, fleet in fleets if fleet and fleet.usable)
        if revision := next(usable, None):
            return revision
        troubles = [fleet.trouble for _, fleet in fleets if fleet and fleet.trouble]
        why = troubles[0] if troubles else "`pdc why` says what it waits for"
        raise Unavailable(f"{host_of(key)} has no pod that is ready; {why}")

    async def pass_on(self, request: web.Request, errand: Errand) -> web.StreamResponse:
        """Give the request to the first pod that takes it."""
        headers, body = forwarded(request), await repeatable_body(request, errand.copied)
        passed_over: set[Backend] = set()
        refused, end, tries = "", time.monotonic() + PATIENCE, 0
        while True:
            fleet = self._fleet(errand.revision)
            if fleet and fleet.backends and passed_over.issuperset(fleet.backends):
                if not fleet.wakes or time.monotonic() > end:
                    raise BadGateway(f"no pod of {host_of(errand.key)} takes connections: {refused}")
                # A pod that died is in the table for a moment longer, and its successor not yet.
                await asyncio.sleep(LOOK)
                passed_over = {b for b in passed_over if b not in fleet.backends}
            backend = await self.lanes.pod(errand.revision, errand.lane, passed_over)
            async with AsyncExitStack() as stack:
                stack.enter_context(self.lanes.seat(errand.lane, backend))
                try:
                    upstream = await self._ask(request, backend, errand, headers, body)
                except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
                    # Nothing was sent yet: the next pod may have it.
                    refused = str(error) or "no connection in time"
                    passed_over.add(backend)
                    continue
                except (aiohttp.ClientError, TimeoutError) as error:
                    tries += 1
                    if body is None or tries >= TRIES:
                        raise BadGateway(
                            f"a pod of {host_of(errand.key)} did not answer: {why(error)}"
                        ) from error
                    passed_over.add(backend)
                    continue
                return await returned(request, upstream, errand)

    async def _ask(
        self,
        request: web.Request,
        backend: Backend,
        errand: Errand,
        headers: CIMultiDict[str],
        body: bytes | None,
    ) -> aiohttp.ClientResponse:
        assert self._session is not None, "the application is not running"
        streamed: Any = request.content if request.body_exists else None
        if errand.copied is not None:
            streamed = errand.copied or None
        return await self._session.request(
            request.method,
            URL(f"http://{backend.host}:{backend.port}{errand.path}", encoded=True),
            headers=headers,
            data=streamed if body is None else body or None,
            allow_redirects=False,
            skip_auto_headers=(hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE),
        )


@dataclass
class Errand:
    """A request on its way: for which service, to which revision, with which path."""

    key: Key
    revision: Key
    lane: Lane
    path: str
    copied: bytes | None = None
    """The body, where it is kept for the canary."""
    said: tuple[int, bytes] | None = None
    """What was answered to a request that is copied, if it is small."""


async def repeatable_body(request: web.Request, kept: bytes | None = None) -> bytes | None:
    """The whole body of a request that may be sent twice; None: it may not."""
    if kept is not None:
        return kept if keyed(request) else None
    if not request.body_exists:
        return b"" if request.method in ASKING or keyed(request) else None
    length = request.content_length
    if not keyed(request) or length is None or length > SMALL:
        return None
    return await whole(request)


async def whole(request: web.Request) -> bytes:
    """The body of a request that is kept; raises `RequestTimedOut` for a client that does not send it."""
    try:
        async with asyncio.timeout(BODY_WITHIN):
            return await request.content.read()
    except TimeoutError:
        raise RequestTimedOut(f"the body did not come within {BODY_WITHIN:g} s") from None


def keyed(request: web.Request) -> bool:
    return any(name in request.headers for name in IDEMPOTENCY)


def destination(table: Table, host: str, path: str) -> tuple[Key, str, str]:
    """The service a request is for, a tag, the path it gets. Raises `NotFound` with the hosts there are."""
    if found := table.by_host(host):
        return *found, path
    if path.startswith(PATH_PREFIX):
        namespace, _, rest = path.removeprefix(PATH_PREFIX).partition("/")
        name = rest.partition("?")[0].partition("/")[0]
        if (key := Key(namespace, name)) in table.services:
            inner = rest[len(name) :]
            return key, "", inner if inner.startswith("/") else f"/{inner}"
    hosts = table.hosts()
    known = ", ".join(hosts[:SHOWN_HOSTS]) + (", …" if len(hosts) > SHOWN_HOSTS else "")
    raise NotFound(
        f"no service answers to the host {host!r}; known are: {known or 'none yet'}. "
        f"Send the header `Host: NAME.NAMESPACE.example.com` or ask {PATH_PREFIX}NAMESPACE/NAME/…"
    )


def forwarded(request: web.Request) -> CIMultiDict[str]:
    """The headers a pod gets: the client's own, but for those of its connection, and where it came from."""
    headers = end_to_end(request.headers)
    before = request.headers.get(hdrs.X_FORWARDED_FOR)
    peer = request.remote or "unknown"
    headers[hdrs.X_FORWARDED_FOR] = f"{before}, {peer}" if before else peer
    headers.setdefault(hdrs.X_FORWARDED_HOST, request.host)
    headers.setdefault(hdrs.X_FORWARDED_PROTO, request.scheme)
    return headers


def end_to_end(headers: Any) -> CIMultiDict[str]:
    named = {n.strip().lower() for value in headers.getall(hdrs.CONNECTION, ()) for n in value.split(",")}
    return CIMultiDict((k, v) for k, v in headers.items() if k.lower() not in HOP_BY_HOP | named)


async def returned(
    request: web.Request, upstream: aiohttp.ClientResponse, errand: Errand
) -> web.StreamResponse:
    """Stream the answer of a pod; an answer cut short by the pod is cut short for the client too."""
    kept = bytearray()
    async with upstream:
        response = web.StreamResponse(status=upstream.status, reason=upstream.reason)
        response.headers.extend(end_to_end(upstream.headers))
        response.headers[REVISION_HEADER] = errand.revision.name
        try:
            await response.prepare(request)
            async for chunk in upstream.content.iter_any():
                await response.write(chunk)
                if errand.copied is not None and len(kept) <= SMALL:
                    kept += chunk
            await response.write_eof()
            if errand.copied is not None and len(kept) <= SMALL:
                errand.said = upstream.status, bytes(kept)
        except (aiohttp.ClientError, TimeoutError, ConnectionError) as error:
            _log.warning("an answer to %s was cut short: %s", request.path, why(error))
            if request.transport is not None:
                # The head has gone out: only a broken connection tells the client that this is not all.
                request.transport.abort()
        return response


def why(error: BaseException) -> str:
    return str(error) or type(error).__name__
