"""How the server is used: requests by what they were about, how they ended, how long they took.

Counted on the way of every request, so counting is a look-up and a few additions; names and labels are made
for whoever asks (`exposition`). Only what the server knows is told apart: no client can make the book grow.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from aiohttp import web

from .kinds import Kind
from .patches import APPLY
from .paths import Target

Entry = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
TARGET: web.RequestKey[Target | None] = web.RequestKey("target")
"""Under which a request carries what it is about."""
BOUNDS = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
)  # fmt: skip
VERBS = {
    "GET": "GET", "HEAD": "GET", "POST": "POST", "PUT": "PUT", "PATCH": "PATCH", "DELETE": "DELETE",
    "OPTIONS": "OPTIONS",
}  # fmt: skip
GONE = 499  # the status of a request whose client went away
READING = ("GET", "HEAD")
LONG = ("attach", "exec", "log", "portforward", "proxy")
"""Subresources that last as long as somebody listens."""
PLACES = {
    "healthz": "/healthz", "livez": "/livez", "readyz": "/readyz", "metrics": "/metrics", "api": "api",
    "apis": "apis", "openapi": "/openapi", "openid": "/openid", "version": "/version",
}  # fmt: skip
"""What is asked for beside resources, by the first word of its path."""


class Subject(NamedTuple):
    """What requests have in common that are counted together, in the order of Kubernetes' labels."""

    group: str
    resource: str
    scope: str
    subresource: str
    verb: str
    version: str
    dry_run: str = ""


class Tally:
    """The requests about one subject."""

    __slots__ = ("codes", "seconds", "within")

    def __init__(self) -> None:
        self.codes: dict[int, int] = {}
        self.seconds = 0.0
        self.within = [0] * (len(BOUNDS) + 1)
        """How many took no longer than each bound but longer than the one before it."""


class Usage:
    def __init__(self, find: Callable[[Target], Kind | None]) -> None:
        self._find = find
        self._plain: dict[tuple[str, str, str, str, str, bool, bool], Tally] = {}
        """Where requests without a query are counted, found without asking what they are about."""
        self.tallies: dict[Subject, Tally] = {}
        self.reading = self.writing = 0
        """Requests under way."""
        self.lasting: dict[Subject, int] = {}

    def counting(self, entry: Entry) -> Entry:
        """The same entry; what goes through it is counted."""

        async def counted(request: web.BaseRequest) -> web.StreamResponse:
            began, method, status = time.perf_counter(), request.method, GONE
            reads = method in READING
            self._under_way(reads, 1)
            try:
                response = await entry(request)
                status = response.status
                return response
            finally:
                self._under_way(reads, -1)
                self._ended(request, method, status, time.perf_counter() - began)

        return counted

    def _under_way(self, reads: bool, more: int) -> None:
        if reads:
            self.reading += more
        else:
            self.writing += more

    def _ended(self, request: web.BaseRequest, method: str, status: int, seconds: float) -> None:
        target = request.get(TARGET)
        if target is None or request.query_string or method == "PATCH":
            tally = self._tally(self._subject(request, target))
        else:
            key = (
                method,
                target.group,
                target.version,
                target.plural,
                target.subresource,
                target.name == "",
                target.namespace == "",
            )
            known = self._plain.get(key)
            if known is None:
                subject = self._subject(request, target)
                known = self._tally(subject)
                if subject.resource and subject.subresource == target.subresource and method in VERBS:
                    self._plain[key] = known
            tally = known
        codes = tally.codes
        codes[status] = codes.get(status, 0) + 1
        tally.seconds += seconds
        tally.within[bisect_left(BOUNDS, seconds)] += 1

    def _tally(self, subject: Subject) -> Tally:
        tally = self.tallies.get(subject)
        if tally is None:
            tally = self.tallies[subject] = Tally()
        return tally

    @contextmanager
    def staying(self, request: web.BaseRequest, target: Target) -> Iterator[None]:
        """A request that lasts is not one of those that are being answered."""
        subject = self._subject(request, target)
        reads = request.method in READING
        self._under_way(reads, -1)
        self.lasting[subject] = self.lasting.get(subject, 0) + 1
        try:
            yield
        finally:
            self.lasting[subject] -= 1
            self._under_way(reads, 1)

    def _subject(self, request: web.BaseRequest, target: Target | None) -> Subject:
        verb = VERBS.get(request.method, "OTHER")
        if target is None or (kind := self._find(target)) is None:
            first = request.rel_url.raw_path.split("/", 2)[1] if target is None else ""
            return Subject("", "", "", PLACES.get(first, ""), verb, "")
        sub = target.subresource
        if sub and kind.subresource(sub) is None:
            sub = ""
        if target.name or verb == "POST":
            scope = "resource"
        else:
            scope = "namespace" if target.namespace else "cluster"
        dry_run = ""
        if query := request.query_string:
            if verb == "GET" and not target.name and watches(query):
                verb = "WATCH"
            dry_run = "All" if "dryRun=" in query and verb != "GET" else ""
        if verb == "GET" and not target.name:
            verb = "LIST"
        elif verb == "PATCH" and request.content_type == APPLY:
            verb = "APPLY"
        elif sub in LONG and sub != "log":
            verb = "CONNECT"
        return Subject(kind.group, kind.plural, scope, sub, verb, kind.version, dry_run)


def lasts(request: web.BaseRequest, target: Target) -> bool:
    """Whether a request stays for as long as its client likes."""
    return target.subresource in LONG or (request.query_string != "" and watches(request.query_string))


def watches(query: str) -> bool:
    return "watch=" in query and ("watch=true" in query or "watch=1" in query)
