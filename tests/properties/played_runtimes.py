"""The runtimes of data sets without any data: they answer as real ones do, and do at once what they are told.

Each address is a runtime with a disk of its own, which a pod that comes back at that address finds again. All
of them are one server on some port; whoever connects to the port of a runtime anywhere is led there.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

SIZES = {"a": 1000, "b": 24}
KINDS = "sync|warmup|rmr|clear"


@dataclass
class Disk:
    """What one runtime holds and remembers."""

    operations: dict[tuple[str, str], str] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    near: bool = False

    def report(self) -> dict[str, Any]:
        total = sum(self.known.values())
        phase = "Idle" if not self.known else "Synced" if self.near else "Cleared"
        return {
            "phase": phase,
            "totalSize": total,
            "totalFiles": len(self.known),
            "cachedSize": total if self.near else 0,
            "diskSize": 1 << 20,
            "diskUsed": total,
            "diskAvail": (1 << 20) - total,
            "revision": "-".join(sorted(self.known)),
        }

    def told(self, kind: str, name: str, options: dict[str, Any]) -> None:
        if (kind, name) in self.operations:
            return
        if options.get("leave"):
            self.operations.clear()
            self.known.clear()
        self.operations[kind, name] = "success"
        if kind == "sync":
            self.known = dict(SIZES)
        if kind == "rmr":
            self.known = {n: s for n, s in self.known.items() if n not in options["paths"]}
        self.near = kind != "clear" if kind != "rmr" else self.near


class PlayedRuntimes:
    """*heard* is called with each thing a runtime is told, after it was done."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        self.disks: dict[str, Disk] = {}
        self.tokens: set[str] = set()
        """What they were spoken to with: one, for the token of a set never changes."""
        self._heard, self._port = heard, 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[PlayedRuntimes]:
        app = web.Application()
        app.router.add_get("/cacheStatus/cacheInfo.json", self._report)
        app.router.add_post("/upload/{kind:" + KINDS + "}Options", self._upload)
        app.router.add_get("/{kind:" + KINDS + "}Result/{id}", self._result)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self._port = runner.addresses[0][1]
            yield self
        finally:
            await runner.cleanup()

    def sockets(self, _: Any) -> socket.socket:
        """A socket that leads here, whatever it is connected to."""
        made = Led(socket.AF_INET, socket.SOCK_STREAM)
        made.setblocking(False)
        made.to = ("127.0.0.1", self._port)
        return made

    async def _report(self, request: web.Request) -> web.Response:
        return self._answer(request, self._disk(request).report())

    async def _result(self, request: web.Request) -> web.Response:
        status = self._disk(request).operations.get((request.match_info["kind"], request.match_info["id"]))
        return self._answer(request, {"status": status}, 200 if status else 404)

    async def _upload(self, request: web.Request) -> web.Response:
        kind, name = request.match_info["kind"], request.headers.get("filename", "")
        said = await request.json()
        if self._let_in(request) and not request.query.get("terminate"):
            self._disk(request).told(kind, name, said or {})
            self._heard(kind)
        return self._answer(request, {"message": "stored"})

    def _answer(self, request: web.Request, body: dict[str, Any], code: int = 200) -> web.Response:
        return web.json_response(body, status=code) if self._let_in(request) else web.Response(status=401)

    def _let_in(self, request: web.Request) -> bool:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme == "Bearer" and token:
            self.tokens.add(token)
        return scheme == "Bearer" and self.tokens == {token}

    def _disk(self, request: web.Request) -> Disk:
        return self.disks.setdefault(request.host, Disk())


class Led(socket.socket):
    to: tuple[str, int]

    def connect(self, address: Any) -> None:
        super().connect(self.to)
