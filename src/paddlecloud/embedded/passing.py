"""Passing an HTTP request on and its answer back, piece by piece, as a proxy does.

What concerns one connection only stays behind, and so do credentials: they were for us.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

STAYS = frozenset(
    {
        "authorization", "connection", "content-length", "host", "keep-alive", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
PIECE = 64 * 1024
Judge = Callable[[aiohttp.ClientResponse], Awaitable[None]]


async def accept(_: aiohttp.ClientResponse) -> None:
    return


async def passed(
    request: web.Request, session: aiohttp.ClientSession, url: URL, refused: Judge = accept
) -> web.StreamResponse:
    """The answer of *url* to the same request, unless *refused* raises at the sight of it.

    Raises `aiohttp.ClientError` when there is no answer.
    """
    headers = kept(request.headers)
    body = request.content.iter_chunked(PIECE) if request.body_exists else None
    if body is not None and request.content_length is not None:
        headers["Content-Length"] = str(request.content_length)
    async with session.request(
        request.method, url, headers=headers, data=body, allow_redirects=False,
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
    ) as answer:  # fmt: skip
        await refused(answer)
        response = web.StreamResponse(
            status=answer.status, reason=answer.reason, headers=kept(answer.headers)
        )
        if (size := answer.headers.get("Content-Length")) is not None:
            response.content_length = int(size)
        await response.prepare(request)
        if request.method != "HEAD":
            async for piece in answer.content.iter_any():
                await response.write(piece)
        await response.write_eof()
        return response


def kept(headers: Mapping[str, str]) -> CIMultiDict[str]:
    everything = CIMultiDict(headers)
    named = {name.strip().lower() for name in everything.get("Connection", "").split(",")}
    return CIMultiDict(
        (name, value)
        for name, value in everything.items()
        if name.lower() not in STAYS | named and not name.lower().startswith("impersonate-")
    )
