"""The async client for any Kubernetes: typed objects in and out, one connection pool, bounded patience.

What can be repeated without harm is repeated while the server is busy or starting; everything else
surfaces at once. Only errors of `paddlecloud.errors` leave this module.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import aiohttp
from yarl import URL

from .. import localsockets
from ..api.meta import Key, Resource
from ..errors import Expired, NotFound, Unreachable
from . import requests
from .credentials import Bearer, tls
from .kubeconfig import Access
from .lanes import Lanes
from .objects import Listing, read
from .requests import Kind, Labels, PatchType, Request, Scope
from .retries import retry_after
from .watching import Lines, WatchEvent, read_event

R = TypeVar("R", bound=Resource)
T = TypeVar("T")

ANSWER_WITHIN = 60.0
CONNECT_WITHIN = 5.0
WATCH_SECONDS = 300
WATCH_SILENCE = 30.0
"""Seconds beyond the end of a watch after which a silent connection is taken for dead."""
AT_A_TIME = 50
"""Objects of a list that are read in one go."""
KEPT_OPEN = 75.0
"""Seconds that a connection without a request stays open: kube-apiserver hangs up after 90."""


class Client:
    """One cluster; use it as `async with Client(access) as client`.

    What may take long, watches and logs, waits for no lane and takes none.
    """

    def __init__(
        self,
        access: Access,
        *,
        luck: Callable[[], float] = random.random,
        sockets: Callable[..., socket.socket] | None = None,
        lanes: Lanes | None = None,
    ) -> None:
        self.access = access
        self.sockets = sockets
        """What makes sockets that reach the pods of this cluster, where not every socket does."""
        self._luck = luck
        self._bearer = Bearer(access)
        self._lanes = lanes or Lanes()
        self._session: aiohttp.ClientSession | None = None
        self._to_pods: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        timeout = aiohttp.ClientTimeout(total=ANSWER_WITHIN, sock_connect=CONNECT_WITHIN)
        self._session = aiohttp.ClientSession(connector=connector(self.access), timeout=timeout)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._to_pods is not None:
            await self._to_pods.close()
            self._to_pods = None
        if self._session is not None:
            # Nothing is under way any more: a TLS farewell would only keep the sockets a while longer.
            if self._session.connector is not None:
                await self._session.connector.close(abort_ssl=True)
            await self._session.close()
            self._session = None

    @property
    def to_pods(self) -> aiohttp.ClientSession:
        """Connections to what runs in the cluster; nothing of our own access is ever sent there, nor kept."""
        if self._to_pods is None:
            connector = aiohttp.TCPConnector(limit=0, socket_factory=self.sockets)
            self._to_pods = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        return self._to_pods

    async def get(self, kind: type[R], namespace: str, name: str) -> R:
        return read(kind, await self.request(requests.get(kind, Key(namespace, name))))

    async def find(self, kind: type[R], namespace: str, name: str) -> R | None:
        try:
            return await self.get(kind, namespace, name)
        except NotFound:
            return None

    async def list(
        self, kind: type[R], namespace: str = "", labels: Labels = None, fields: Labels = None
    ) -> Listing[R]:
        """All objects of a kind, from one consistent moment however many pages it takes."""
        return await self.list_read(kind, Scope(namespace, labels, fields), partial(read, kind))

    async def list_raw(self, kind: Kind, scope: Scope) -> Listing[dict[str, Any]]:
        """The same as they are on the wire."""
        return await self.list_read(kind, scope, lambda item: item)

    async def list_read(
        self,
        kind: Kind,
        scope: Scope,
        reading: Callable[[dict[str, Any]], T],
        parse: Callable[[int, bytes], dict[str, Any]] = requests.parse,
    ) -> Listing[T]:
        """The same as *reading* makes of each; of what came over the wire no more than a page is kept."""

        async def page(limit: int, after: str) -> dict[str, Any]:
            return parse(*await self._answer(requests.listing(kind, scope, limit=limit, after=after)))

        try:
            return await pages(partial(page, requests.PAGE), reading)
        except Expired:
            # The moment was compacted away between two pages: take everything at once.
            return await pages(partial(page, 0), reading)

    async def watch(
        self,
        kind: Kind,
        namespace: str,
        resource_version: str,
        *,
        labels: Labels = None,
        fields: Labels = None,
    ) -> AsyncGenerator[WatchEvent, None]:
        """Changes after *resource_version*, bookmarks among them, until the server ends the watch.

        Raises `Expired` when that version is too old: list again. Whoever leaves early closes it with
        `contextlib.aclosing`.
        """
        scope = Scope(namespace, labels, fields)
        request = requests.watching(kind, scope, resource_version, WATCH_SECONDS)
        patient = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_WITHIN, sock_read=WATCH_SECONDS + WATCH_SILENCE
        )
        lines = Lines()
        async with self._send(request, patient) as answer:
            if answer.status >= 400:
                requests.parse(answer.status, await answer.read())
            async for data in answer.content.iter_any():
                for line in lines.feed(data):
                    yield read_event(line)

    async def create(self, obj: R) -> R:
        body = await self.request(requests.creation(type(obj), obj.namespace, obj.wire()))
        return read(type(obj), body)

    async def replace(self, obj: R) -> R:
        body = await self.request(requests.replacement(type(obj), obj.key, obj.wire()))
        return read(type(obj), body)

    async def patch(
        self,
        kind: type[R],
        key: Key,
        patch: Any,
        *,
        subresource: str = "",
        form: PatchType = PatchType.MERGE,
    ) -> R:
        request = requests.patching(kind, key, patch, subresource=subresource, form=form)
        return read(kind, await self.request(request))

    async def patch_status(
        self, kind: type[R], key: Key, status: Mapping[str, Any], *, resource_version: str = ""
    ) -> R:
        """Merge *status* into the stored one, if the object is still at *resource_version* (when given)."""
        body: dict[str, Any] = {"status": dict(status)}
        if resource_version:
            body["metadata"] = {"resourceVersion": resource_version}
        return await self.patch(kind, key, body, subresource="status")

    async def delete(
        self,
        kind: Kind,
        key: Key,
        *,
        uid: str = "",
        grace: int | None = None,
        propagation: str = "Background",
    ) -> None:
        """Ask for the deletion; raises `NotFound` for no such object, `Conflict` for another uid."""
        await self.request(requests.deletion(kind, key, uid=uid, grace=grace, propagation=propagation))

    async def logs(
        self, namespace: str, pod: str, container: str = "", tail: int | None = None, *, stamped: bool = False
    ) -> str:
        """The log of a container, its last *tail* lines when given; *stamped*: every line with its time."""
        request = requests.pod_log(Key(namespace, pod), container=container, tail=tail, stamped=stamped)
        status, body = await self._answer(request)
        if status >= 400:
            requests.parse(status, body)
        return body.decode(errors="replace")

    async def log_end(self, pod: Key, container: str, *, lines: int, size: int) -> bytes:
        """The end of a log with the times of its lines: at most *lines*, and not much over *size*."""
        kept = bytearray()
        request = requests.pod_log(pod, container=container, tail=lines, stamped=True)
        async with self._send(request) as answer:
            if answer.status >= 400:
                requests.parse(answer.status, await answer.read())
            async for data in answer.content.iter_any():
                kept += data
                if len(kept) > 2 * size:
                    # One more than wanted tells that it was cut.
                    del kept[: -size - 1]
        return bytes(kept)

    async def request(self, request: Request) -> dict[str, Any]:
        """Send any request and return the object of its answer."""
        return requests.parse(*await self._answer(request))

    async def warm(self) -> None:
        """Open the connections that a burst of requests shares, while nobody waits for them."""
        if self.access.socket is not None:
            return
        asked = (self.once(requests.version()) for _ in range(self._lanes.count))
        opening = asyncio.gather(*asked, return_exceptions=True)
        try:
            await asyncio.shield(opening)
        except asyncio.CancelledError:
            # A handshake that is given up half-way leaves its socket behind.
            await opening
            raise

    async def once(self, request: Request) -> tuple[int, bytes]:
        """The status and body of the answer, whatever it is; nothing is repeated."""
        async with self._lane(request), self._send(request) as answer:
            return answer.status, await answer.read()

    async def _answer(self, request: Request) -> tuple[int, bytes]:
        attempt = 0
        while True:
            attempt += 1
            try:
                async with self._lane(request), self._send(request) as answer:
                    status, body = answer.status, await answer.read()
                    advice = answer.headers.get("Retry-After", "")
                pause = retry_after(request, attempt, status, advice, self._luck())
                if pause is None:
                    return status, body
            except Unreachable as error:
                pause = retry_after(request, attempt, None, "", self._luck())
                # A certificate that is wrong now is wrong in a second too.
                if pause is None or isinstance(error.__cause__, aiohttp.ClientConnectorCertificateError):
                    raise
            await asyncio.sleep(pause)

    def _lane(self, request: Request) -> AbstractAsyncContextManager[None]:
        return nullcontext() if request.slow else self._lanes.one()

    @asynccontextmanager
    async def _send(
        self, request: Request, timeout: aiohttp.ClientTimeout | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._session is None:
            raise RuntimeError("the client is not open: use `async with Client(access)`")
        sending = self._session.request(
            request.method,
            # Encoded already: a second encoding would spoil selectors and names.
            URL(self.access.base + request.target, encoded=True),
            headers={**request.headers, **self._bearer.headers()},
            data=request.body,
            proxy=self.access.proxy or None,
            server_hostname=self.access.tls_name or None,
            timeout=timeout if timeout is not None else self._session.timeout,
            allow_redirects=False,
        )
        try:
            async with sending as answer:
                yield answer
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            cause = str(error) or type(error).__name__
            raise Unreachable(
                f"{self.access.name} at {self.access.server} does not answer: {cause}",
                next_step="check that it runs: `pdc status`",
            ) from error


async def pages(
    asked: Callable[[str], Awaitable[dict[str, Any]]], reading: Callable[[dict[str, Any]], T]
) -> Listing[T]:
    """All pages of a list; *asked* gets the one after what the page before said."""
    items: list[T] = []
    page = await asked("")
    while True:
        metadata = page.get("metadata") or {}
        after = metadata.get("continue") or ""
        if not after:
            await read_page(page, reading, items)
            return Listing(tuple(items), str(metadata.get("resourceVersion") or ""))
        # The server makes the next page while this one is read.
        following = asyncio.ensure_future(asked(after))
        try:
            await read_page(page, reading, items)
            page = await following
        finally:
            following.cancel()


async def read_page(page: dict[str, Any], reading: Callable[[dict[str, Any]], T], into: list[T]) -> None:
    """Some at a time: what else is to be sent or heard is not held up by a long page."""
    found = page.get("items") or []
    for first in range(0, len(found), AT_A_TIME):
        await asyncio.sleep(0)
        into += map(reading, found[first : first + AT_A_TIME])


def connector(access: Access) -> aiohttp.BaseConnector:
    if access.socket is not None:
        return to_socket(access.socket)
    context = tls(access)
    checked = context if context is not None else True
    return aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_OPEN, ssl=checked)


def to_socket(path: Path) -> aiohttp.UnixConnector:
    """Connections to the socket at *path*, which may be longer than a name of a socket."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    made = aiohttp.UnixConnector(localsockets.name_in(folder, path.name), limit=0)
    weakref.finalize(made, os.close, folder)
    return made
