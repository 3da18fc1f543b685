"""The reverse proxy of the gateway: requests passed on to the pods of the service their `Host` names.

`/services/<namespace>/<name>/…` does the same for clients that cannot set the header. Bodies stream both
ways and are never kept whole. A pod that does not take the connection is passed over as long as nothing of
the request has been sent to one.
"""

from __future__ import annotations

import random
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import orjson
from aiohttp import hdrs, web
from multidict import CIMultiDict
from yarl import URL

from .. import log
from ..api.meta import Key
from ..errors import ApiError, NotFound, ServerError, Unavailable
from .routes import Backend, Table, host_of, order

PATH_PREFIX = "/services/"
CONNECT_WITHIN = 3.0
SILENCE = 300.0
# Shorter than servers keep a quiet connection: a request is not sent into one that is just being closed.
KEEP_ALIVE = 15.0
SHOWN_HOSTS = 20
HOP_BY_HOP = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
     "trailer", "transfer-encoding", "upgrade", "expect")
)  # fmt: skip
_log = log.logger("gateway")


class BadGateway(ServerError):
    """The pods of a service do not take the request, or hung up on it."""

    status, reason = 502, "BadGateway"


class Proxy:
    """Passes requests on to what *table* says at the moment of each request."""

    def __init__(
        self,
        table: Callable[[], Table],
        luck: Callable[[], float] = random.random,
        sockets: Callable[..., socket.socket] | None = None,
    ) -> None:
        self.table = table
        self.luck = luck
        self.sockets = sockets
        """What makes sockets that reach the pods, where not every socket does."""
        self._session: aiohttp.ClientSession | None = None

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
        await self._session.close()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        try:
            table = self.table()
            key, path = destination(table, request.host, request.raw_path)
            backends = order(table.services[key], self.luck())
            if not backends:
                raise Unavailable(
                    f"{host_of(key)} has no pod that is ready; `pdc why` says what it waits for"
                )
            return await self.pass_on(request, key, path, backends)
        except ApiError as error:
            return web.Response(
                body=orjson.dumps({"error": error.message}),
                status=error.status,
                content_type="application/json",
            )

    async def pass_on(
        self, request: web.Request, key: Key, path: str, backends: list[Backend]
    ) -> web.StreamResponse:
        """Give the request to the first backend that takes the connection."""
        assert self._session is not None, "the application is not running"
        headers = forwarded(request)
        refused = ""
        for backend in backends:
            url = URL(f"http://{backend.host}:{backend.port}{path}", encoded=True)
            try:
                upstream = await self._session.request(
                    request.method,
                    url,
                    headers=headers,
                    data=request.content if request.body_exists else None,
                    allow_redirects=False,
                    skip_auto_headers=(hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE),
                )
            except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
                # Nothing was sent yet: the next pod may have it.
                refused = str(error) or "no connection in time"
                continue
            except (aiohttp.ClientError, TimeoutError) as error:
                raise BadGateway(f"a pod of {host_of(key)} did not answer: {why(error)}") from error
            return await returned(request, upstream)
        raise BadGateway(f"no pod of {host_of(key)} takes connections: {refused}")


def destination(table: Table, host: str, path: str) -> tuple[Key, str]:
    """The service a request is for, and the path it gets. Raises `NotFound` with the hosts there are."""
    if key := table.by_host(host):
        return key, path
    if path.startswith(PATH_PREFIX):
        namespace, _, rest = path.removeprefix(PATH_PREFIX).partition("/")
        name = rest.partition("?")[0].partition("/")[0]
        if (key := Key(namespace, name)) in table.services:
            inner = rest[len(name) :]
            return key, inner if inner.startswith("/") else f"/{inner}"
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


async def returned(request: web.Request, upstream: aiohttp.ClientResponse) -> web.StreamResponse:
    """Stream the answer of a pod; an answer cut short by the pod is cut short for the client too."""
    async with upstream:
        response = web.StreamResponse(status=upstream.status, reason=upstream.reason)
        response.headers.extend(end_to_end(upstream.headers))
        try:
            await response.prepare(request)
            async for chunk in upstream.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
        except (aiohttp.ClientError, TimeoutError, ConnectionError) as error:
            _log.warning("an answer to %s was cut short: %s", request.path, why(error))
            if request.transport is not None:
                # The head has gone out: only a broken connection tells the client that this is not all.
                request.transport.abort()
        return response


def why(error: BaseException) -> str:
    return str(error) or type(error).__name__
