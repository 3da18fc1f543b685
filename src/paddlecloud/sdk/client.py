"""The sync client for any Kubernetes, for the command line and for programs: the same requests as the
async one, sent by urllib3.

What can be repeated without harm is repeated while the server is busy or starting; everything else
surfaces at once. Only errors of `paddlecloud.errors` leave this module.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

import urllib3

from ..api.meta import Key, Resource
from ..cluster import requests
from ..cluster.credentials import Bearer, tls
from ..cluster.kubeconfig import Access
from ..cluster.objects import Listing, read
from ..cluster.requests import Kind, Labels, PatchType, Place, Request, Scope
from ..cluster.retries import retry_after
from ..cluster.watching import Lines, WatchEvent, read_event
from ..controllers.contract import difference
from ..errors import AlreadyExists, Expired, NotFound, Unreachable

R = TypeVar("R", bound=Resource)

ANSWER_WITHIN = 60.0
CONNECT_WITHIN = 5.0
WATCH_SECONDS = 300
WATCH_SILENCE = 1.0
"""Seconds beyond the end of a watch after which a silent connection is taken for dead."""
PIECE = 1 << 16


class Applied(NamedTuple):
    object: Any
    change: str
    """created, changed or unchanged."""


class Client:
    """One cluster; use it as `with Client(access) as client`."""

    def __init__(self, access: Access, *, luck: Callable[[], float] = random.random) -> None:
        self.access = access
        self._luck = luck
        self._bearer = Bearer(access)
        options: dict[str, Any] = {
            "retries": False,
            "ssl_context": tls(access),
            "cert_reqs": "CERT_NONE" if access.insecure else None,
        }
        if access.tls_name:
            options |= {"server_hostname": access.tls_name, "assert_hostname": access.tls_name}
        self._pool = (
            urllib3.ProxyManager(access.proxy, **options) if access.proxy else urllib3.PoolManager(**options)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._pool.clear()

    def get(self, kind: type[R], namespace: str, name: str) -> R:
        return read(kind, self.request(requests.get(kind, Key(namespace, name))))

    def find(self, kind: type[R], namespace: str, name: str) -> R | None:
        try:
            return self.get(kind, namespace, name)
        except NotFound:
            return None

    def list(
        self, kind: type[R], namespace: str = "", labels: Labels = None, fields: Labels = None
    ) -> Listing[R]:
        """All objects of a kind, from one consistent moment however many pages it takes."""
        raw = self.list_raw(kind, Scope(namespace, labels, fields))
        return Listing(tuple(read(kind, item) for item in raw.items), raw.resource_version)

    def list_raw(self, kind: Kind, scope: Scope) -> Listing[dict[str, Any]]:
        """The same as they are on the wire."""
        try:
            return self._pages(kind, scope, requests.PAGE)
        except Expired:
            # The moment was compacted away between two pages: take everything at once.
            return self._pages(kind, scope, 0)

    def _pages(self, kind: Kind, scope: Scope, limit: int) -> Listing[dict[str, Any]]:
        items: tuple[dict[str, Any], ...] = ()
        after = ""
        while True:
            page = self.request(requests.listing(kind, scope, limit=limit, after=after))
            items += tuple(page.get("items") or ())
            metadata = page.get("metadata") or {}
            after = metadata.get("continue") or ""
            if not after:
                return Listing(items, str(metadata.get("resourceVersion") or ""))

    def watch(
        self, kind: Kind, scope: Scope, resource_version: str, seconds: float = WATCH_SECONDS
    ) -> Iterator[WatchEvent]:
        """Changes after *resource_version*, bookmarks among them, for at most that many seconds.

        Raises `Expired` when that version is too old: list again.
        """
        request = requests.watching(kind, scope, resource_version, max(1, math.ceil(seconds)))
        for line in self._lines(request, seconds + WATCH_SILENCE):
            yield read_event(line)

    def create(self, obj: R) -> R:
        return read(type(obj), self.request(requests.creation(type(obj), obj.namespace, obj.wire())))

    def apply(self, obj: Resource) -> Applied:
        """Make the object what *obj* says; what it does not say stays as it is."""
        kind = type(obj)
        stored = self.find(kind, *obj.key)
        if stored is None:
            try:
                return Applied(self.create(obj), "created")
            except AlreadyExists:
                # Somebody else was faster: bring it to what we want like any other.
                stored = self.get(kind, *obj.key)
        patch = difference(stored, obj)
        if not patch:
            return Applied(stored, "unchanged")
        return Applied(self.patch(kind, obj.key, patch), "changed")

    def replace(self, obj: R) -> R:
        return read(type(obj), self.request(requests.replacement(type(obj), obj.key, obj.wire())))

    def patch(
        self,
        kind: type[R],
        key: Key,
        patch: Any,
        *,
        subresource: str = "",
        form: PatchType = PatchType.MERGE,
    ) -> R:
        request = requests.patching(kind, key, patch, subresource=subresource, form=form)
        return read(kind, self.request(request))

    def patch_status(self, kind: type[R], key: Key, status: Mapping[str, Any]) -> R:
        return self.patch(kind, key, {"status": dict(status)}, subresource="status")

    def delete(
        self,
        kind: Kind,
        key: Key,
        *,
        uid: str = "",
        grace: int | None = None,
        propagation: str = "Background",
    ) -> None:
        """Ask for the deletion; raises `NotFound` for no such object, `Conflict` for another uid."""
        self.request(requests.deletion(kind, key, uid=uid, grace=grace, propagation=propagation))

    def whoami(self) -> str:
        """Who the cluster says we are."""
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        place = Place("authentication.k8s.io/v1", "selfsubjectreviews", namespaced=False)
        body = self.request(requests.creation(place, "", review))
        return str(body["status"]["userInfo"]["username"])

    def logs(self, namespace: str, pod: str, container: str = "", tail: int | None = None) -> str:
        """The log of a container so far, its last *tail* lines when given."""
        request = requests.pod_log(Key(namespace, pod), container=container, tail=tail)
        status, body = self._answer(request)
        if status >= 400:
            requests.parse(status, body)
        return body.decode(errors="replace")

    def follow_logs(
        self, namespace: str, pod: str, container: str = "", tail: int | None = None
    ) -> Iterator[str]:
        """The lines of a container's log as they are written, until it ends."""
        request = requests.pod_log(Key(namespace, pod), container=container, tail=tail, follow=True)
        for line in self._lines(request, None):
            yield line.decode(errors="replace")

    def text(self, request: Request) -> Iterator[bytes]:
        """The pieces of an answer that is text, as they come; raises the `ApiError` of a refusal."""
        with self._send(request, None) as answer:
            if answer.status >= 400:
                requests.parse(answer.status, answer.data)
            yield from answer.stream(PIECE)

    def request(self, request: Request) -> dict[str, Any]:
        """Send any request and return the object of its answer."""
        return requests.parse(*self._answer(request))

    def _answer(self, request: Request) -> tuple[int, bytes]:
        attempt = 0
        while True:
            attempt += 1
            try:
                with self._send(request, ANSWER_WITHIN) as answer:
                    body = answer.data
                    advice = answer.headers.get("Retry-After", "")
                pause = retry_after(request, attempt, answer.status, advice, self._luck())
                if pause is None:
                    return answer.status, body
            except Unreachable as error:
                pause = retry_after(request, attempt, None, "", self._luck())
                # A certificate that is wrong now is wrong in a second too.
                if pause is None or isinstance(error.__cause__, urllib3.exceptions.SSLError):
                    raise
            time.sleep(pause)

    def _lines(self, request: Request, silence: float | None) -> Iterator[bytes]:
        lines = Lines()
        with self._send(request, silence) as answer:
            if answer.status >= 400:
                requests.parse(answer.status, answer.data)
            for data in answer.stream(PIECE):
                yield from lines.feed(data)
            if rest := lines.rest():
                yield rest

    @contextmanager
    def _send(self, request: Request, silence: float | None) -> Iterator[urllib3.BaseHTTPResponse]:
        answer: urllib3.BaseHTTPResponse | None = None
        try:
            answer = self._pool.request(
                request.method,
                self.access.server + request.target,
                headers={**request.headers, **self._bearer.headers()},
                body=request.body,
                timeout=urllib3.Timeout(connect=CONNECT_WITHIN, read=silence),
                preload_content=False,
                redirect=False,
            )
            yield answer
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise Unreachable(
                f"{self.access.name} at {self.access.server} does not answer: {error}",
                next_step="check that it runs: `pdc status`",
            ) from error
        finally:
            # Read to its end, the connection is back in the pool; a watch that was left is cut off here.
            if answer is not None:
                answer.close()
