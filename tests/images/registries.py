"""A registry on loopback: the paths of the distribution protocol that a pull needs, and faults on demand."""

from __future__ import annotations

import base64
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from aiohttp import web
from tests.images.making import Made

USER, PASSWORD, TOKEN = "reader", "s3cret", "a-token"


@dataclass
class Registry:
    """What it holds, how it behaves, and what it was asked."""

    manifests: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """By repository@reference: media type and content."""
    blobs: dict[str, bytes] = field(default_factory=dict)
    auth: str = ""
    """`basic`, `bearer` or nothing."""
    ranges: bool = True
    cut: dict[str, int] = field(default_factory=dict)
    """Blobs whose first so many answers break off in the middle."""
    busy: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """Answers given before anything else, each once."""
    redirect: str = ""
    realm: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    ranges_asked: list[str] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)
    """Every `Authorization` that was sent here."""
    expired_after: int = 0
    """A token is good for so many requests; 0: for ever."""
    port: int = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def offer(self, repository: str, tag: str, made: Made) -> None:
        content = made.blobs[made.manifest.digest]
        for reference in (tag, made.manifest.digest):
            self.manifests[f"{repository}@{reference}"] = made.manifest.media_type, content
        self.blobs |= made.blobs

    async def answer(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        if path == "/token":
            return self.token(request)
        self.asked[path] += 1
        self.shown.add(request.headers.get("Authorization", ""))
        if self.busy:
            status, headers = self.busy.pop(0)
            return web.json_response(
                {"errors": [{"code": "BUSY", "message": "later"}]}, status=status, headers=headers
            )
        if refusal := self.refusal(request):
            return refusal
        repository, _, rest = path.removeprefix("/v2/").rpartition("/manifests/")
        if repository:
            return self.manifest(f"{repository}@{rest}")
        digest = path.rpartition("/blobs/")[2]
        if self.redirect:
            raise web.HTTPTemporaryRedirect(f"{self.redirect}{path}")
        return await self.blob(request, digest)

    def manifest(self, key: str) -> web.StreamResponse:
        if key not in self.manifests:
            return web.json_response({"errors": [{"code": "MANIFEST_UNKNOWN", "message": "?"}]}, status=404)
        kind, content = self.manifests[key]
        return web.Response(body=content, headers={"Content-Type": kind})

    async def blob(self, request: web.Request, digest: str) -> web.StreamResponse:
        content = self.blobs.get(digest)
        if content is None:
            return web.json_response({"errors": [{"code": "BLOB_UNKNOWN", "message": "?"}]}, status=404)
        asked = request.headers.get("Range", "")
        self.ranges_asked.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.ranges else 0
        response = web.StreamResponse(status=206 if start else 200)
        if start:
            response.headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        response.content_length = len(content) - start
        await response.prepare(request)
        if self.cut.get(digest):
            self.cut[digest] -= 1
            await response.write(content[start : start + max(1, (len(content) - start) // 2)])
            assert request.transport is not None
            request.transport.close()
            return response
        await response.write(content[start:])
        return response

    def refusal(self, request: web.Request) -> web.StreamResponse | None:
        given = request.headers.get("Authorization", "")
        if self.auth == "basic" and given != basic():
            challenge = 'Basic realm="registry"'
        elif self.auth == "bearer" and not self.good_token(given):
            realm = self.realm or f"http://{self.host}/token"
            challenge = f'Bearer realm="{realm}",service="registry",scope="repository:team/app:pull"'
        else:
            return None
        return web.json_response(
            {"errors": [{"code": "UNAUTHORIZED", "message": "who?"}]}, status=401,
            headers={"WWW-Authenticate": challenge},
        )  # fmt: skip

    def good_token(self, given: str) -> bool:
        if given != f"Bearer {TOKEN}-{self.asked['/token']}":
            return False
        self.asked["with token"] += 1
        return not self.expired_after or self.asked["with token"] % self.expired_after != 0

    def token(self, request: web.Request) -> web.StreamResponse:
        self.asked["/token"] += 1
        if (
            request.headers.get("Authorization") != basic()
            or request.query["scope"] != "repository:team/app:pull"
        ):
            return web.json_response({"details": "unknown user"}, status=401)
        return web.json_response({"token": f"{TOKEN}-{self.asked['/token']}"})


def basic() -> str:
    return "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


@contextlib.asynccontextmanager
async def serving(registry: Registry) -> AsyncIterator[Registry]:
    async def answer(request: web.Request) -> web.StreamResponse:
        return await registry.answer(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        registry.port = runner.addresses[0][1]
        yield registry
    finally:
        await runner.cleanup()
